"""Which line of own code allocates, and why: plain words for what compilers make, generated code, what is made once."""
import os

from harness import PROGRAM, PROGRAMS, needs, tool, tool_json


def marked(mark):
    """{line: what stands behind the mark} of the program's source."""
    with open(os.path.join(PROGRAMS, 'Origins', 'Program.cs')) as source:
        lines = source.read().split('\n')
    return {number: line.split(mark)[1].strip() for number, line in enumerate(lines, 1)
            if mark in line and not line.startswith('//')}


@needs('Origins')
def test_lines_say_what_they_make_and_why(t):
    r = t.record(PROGRAM.command('Origins'))
    t.true(r.text.endswith('ok\n'), r)
    sorts = {c['name']: c['sort'] for c in r.log.classes.values() if 'sort' in c}
    t.equal(sorts.get('Origins.Key'), 'value')
    t.equal({sort for name, sort in sorts.items() if '<Items>' in name}, {'iterator'})
    made = {}
    for row in tool_json('report', '--view', 'line-types', '--format', 'json', '--names', 'short', '--top', '0', r.path)['rows']:
        if (row.get('file') or '').endswith('Program.cs'):
            made.setdefault(row['line'], []).append(row['type'])
    for line, words in marked('// W: ').items():
        t.true(words in made.get(line, []), (line, words, made.get(line)))
    rows = {row.get('line'): row for row in tool_json('report', '--by', 'own', '--format', 'json', '--top', '0', r.path)['rows']
            if (row.get('file') or '').endswith('Program.cs')}
    for line, size in marked('// G: ').items():
        t.equal(rows[line]['bytes'], int(size))
        t.true(rows[line]['generated']['file'].endswith(('Made.g.cs', 'Marked.cs')), rows[line])
    shown = tool('report', '--by', 'own', '--generated', '--top', '0', r.path).text
    t.true('Made.g.cs:10' in shown and 'Marked.cs:11' in shown, shown)
    everything, once, rest = (tool_json('report', '--view', 'types', '--format', 'json', *options, r.path)['total']
                              for options in ((), ('--once',), ('--no-once',)))
    t.equal(once['bytes'] + rest['bytes'], everything['bytes'])
    t.true(once['bytes'] >= 40024, once)
