"""What dynamic methods make, and what they call: marked, and with the line of the hooked code that called them."""
import collections
import os
import re

from harness import HOOKS, OUT, PROGRAM, PROGRAMS, SDK_FRAMEWORK, each, needs, publishes, tool_json
from logfile import plain
from portable_pdb import Pdb

SOURCE = os.path.join(PROGRAMS, 'DynamicLines', 'Program.cs')
ROUNDS = 3


def expected():
    """{kind of mark: Counter((line, type))}"""
    marked = collections.defaultdict(collections.Counter)
    with open(SOURCE, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            for kind, items in re.findall(r'^ .*// ([DHL]): (.*?)$', line):
                for name, count in re.findall(r'(\w+)(?:\*(\d+))?', items):
                    marked[kind][number, name] += ROUNDS * int(count or 1)
    return marked



def found(log, pdb):
    """The same of a log: by the members of its lines alone."""
    seen = collections.defaultdict(collections.Counter)
    types = {name for table in expected().values() for _, name in table}
    for a in log.allocs or log.sites:
        name = log.type(a).replace('DynamicLines.', '')
        if name not in types:
            continue
        node, objects = log.nodes[a['node']], a.get('allocs', 1)
        seen['D' if a.get('call') == 'dynamic' else 'L'][line_of(log, pdb, node['method'], a), name] += objects
        if name == 'Called':
            parent = log.nodes[node['parent']]
            seen['H' if node.get('call') == 'dynamic' else 'not marked'][
                line_of(log, pdb, parent['method'], node), name] += objects
    return seen


def line_of(log, pdb, method, record):
    """Of its instruction; of several instructions the first and the last line, if they differ; else the method's name."""
    il = [record[key] for key in ('il', 'il_last') if key in record]
    lines = [pdb.line(log.methods[method]['token'], at) for at in il]
    if not il or not all(lines):
        return plain(log.methods[method]['name'])
    first, last = lines[0][1], lines[-1][1]
    return first if first == last else (first, last)


def differences(seen):
    for kind, marked in expected().items():
        for key in sorted(set(marked) | set(seen[kind]), key=str):
            if marked[key] != seen[kind][key]:
                yield '%s: %s, line %s: %d, expected %d' % (kind, key[1], key[0], seen[kind][key], marked[key])


def by_line(r):
    """Rows of report --by line: (line, or the first and last of several, type) by number of objects."""
    rows = collections.Counter()
    for row in tool_json('report', '--format', 'json', '--by', 'line', r.path)['rows']:
        line, last = row.get('line'), row.get('line_last')
        rows[(line, last) if last else line, row['type'].replace('DynamicLines.', '')] += row['allocs']
    return rows


def run_marked_lines(t, command, hooks, *options):
    r = t.record(command + [str(ROUNDS)], *options, hooks=hooks)
    t.equal(r.status, 0, r)
    wrong = list(differences(found(r.log, Pdb(re.sub(r'(\.dll)?$', '.pdb', command[-1], count=1)))))
    rows = by_line(r)
    # What hooked code makes, called by a dynamic method, is its own line's.
    wrong += ['--by line: %s: %d, expected %d' % (key, rows[key], count)
              for kind in 'DL' for key, count in expected()[kind].items() if rows[key] != count]
    if wrong:
        raise AssertionError('%d lines differ:\n%s' % (len(wrong), '\n'.join(wrong)))
    return r


@needs('DynamicLines')
@each('hooks', *HOOKS)
def test_what_a_dynamic_method_makes_is_on_the_line_that_called_it(t, hooks):
    run_marked_lines(t, PROGRAM.command('DynamicLines'), hooks, '--check', '1')


@needs('DynamicLines')
def test_the_same_with_hooks_in_the_program_only(t):
    run_marked_lines(t, PROGRAM.command('DynamicLines'), 'elt3', '--only', 'DynamicLines.*')


@needs('DynamicLines')
def test_the_same_with_hooks_in_own_code_only(t):
    run_marked_lines(t, PROGRAM.command('DynamicLines'), 'elt3', '--own', '--check', '1')


@needs('DynamicLines')
def test_the_same_in_sums_by_site(t):
    run_marked_lines(t, PROGRAM.command('DynamicLines'), 'elt3', '--log', 'sites')


@needs('DynamicLines')
def test_in_optimised_code_a_line_is_right_or_not_known(t):
    r = t.record(PROGRAM.command('DynamicLines') + [str(ROUNDS)], '--optimized', hooks='elt3')
    seen = found(r.log, Pdb(os.path.join(OUT, SDK_FRAMEWORK, 'DynamicLines.pdb')))
    known = 0
    for kind, marked in expected().items():
        for (line, name), count in seen[kind].items():
            if isinstance(line, int):
                known += count
                t.true(count <= marked[line, name], '%s: %s on line %d' % (kind, name, line))
            elif isinstance(line, tuple):
                inside = sum(marked[at, name] for at in range(line[0], line[1] + 1))
                t.true(count <= inside, '%s: %s on lines %d to %d' % (kind, name, *line))
        names = [collections.Counter() for _ in range(2)]
        for sums, table in zip(names, (seen[kind], marked)):
            for (_, name), count in table.items():
                sums[name] += count
        t.equal(*names, 'objects of mark %s' % kind)
    t.true(known > 50, 'only %d lines are known' % known)
    lines = {key for table in expected().values() for key in table}
    for line, name in by_line(r):
        first, last = line if isinstance(line, tuple) else (line, line)
        t.true(line is None or any((at, name) in lines for at in range(first, last + 1)) or name not in {n for _, n in lines},
               '--by line: %s on line %s' % (name, line))


DEBUG = ('DynamicLines', 'dynamic-lines-debug', 'E2EFramework=' + SDK_FRAMEWORK, 'Optimize=false')


@publishes(lambda: [DEBUG])
def test_the_same_in_code_that_was_built_for_debugging(t):
    program = PROGRAM.publish(*DEBUG)
    run_marked_lines(t, [program], 'elt3')


@needs('DynamicLines')
@each('framework', 'net9.0', 'net8.0')
def test_the_same_of_older_runtimes(t, framework):
    run_marked_lines(t, PROGRAM.command('DynamicLines', framework), {'net9.0': 'elt3', 'net8.0': 'elt2'}[framework])
