"""examples/sql: DuckDB reads logs as they are, and its answers are those of the command, to the byte."""
import collections
import glob
import gzip
import json
import os
import shutil
import sys

import consumers
import harness
from harness import PROGRAM, each, early, full, lane, longer, needs, tool_json
from test_compiler import command

RUN = os.path.join(harness.ROOT, 'examples/sql/run.cjs')
FIXTURES = os.path.join(harness.ROOT, 'tests/fixtures/logs')
KEYS = {'type': ('types', ('type', 'module')), 'method': ('methods', ('method', 'module')), 'thread': ('threads', ('thread',)),
        'module': ('modules', ('module',))}


def ask(*arguments):
    return consumers.node_json(RUN, '--json', *arguments)


def rows(found, names):
    """Of a report or an answer: rows by name. What has no module is one with the rest that has none."""
    sums = collections.Counter()
    for row in found:
        name = tuple(None if row.get(n) == '(unknown module)' else row.get(n) for n in names)
        for what in 'bytes', 'allocs':
            sums[name, what] += row[what]
    return sums


def inclusive(paths):
    """Bytes and objects by method, in it or below: from the lines, without our code."""
    sums = collections.Counter()
    for path in paths:
        methods, nodes, of_node = {}, {0: frozenset()}, collections.Counter()
        with open(path, encoding='utf-8') as file:
            for line in file:
                record = json.loads(line)
                if record['kind'] == 'method':
                    methods[record['id']] = record['name']
                elif record['kind'] == 'node':
                    nodes[record['id']] = nodes[record['parent']] | {methods[record['method']]}
                elif record['kind'] in ('alloc', 'site'):
                    inside = nodes[record['node']] if 'node' in record else frozenset(record['stack'])
                    for what, much in ('bytes', record['bytes']), ('allocs', record.get('allocs', 1)):
                        of_node[inside, what] += much
        for (inside, what), much in of_node.items():
            for method in inside:
                sums[(method,), what] += much
    return sums


def same_sums(t, found, expected, what):
    t.equal([(name, found[name], expected[name]) for name in found.keys() | expected.keys() if found[name] != expected[name]][:3],
            [], what)


def same(t, *paths, sampled=False):
    """DuckDB and the command say the same of these logs; and this test, if it can read them."""
    asked = [word for key in KEYS for word in ('--ask', KEYS[key][0])]
    found = ask(*asked, '--ask', 'inclusive', '--ask', 'complete', *paths)
    for key, (question, names) in KEYS.items():
        report = tool_json('report', '--by', key, '--names=raw', '--physical', '--top', '0', '--format', 'json', *paths)
        if key != 'thread' or len(paths) == 1:
            same_sums(t, rows(found[question], names), rows(report['rows'], names), '%s of %s' % (question, paths))
        t.true(sampled or sum(row['bytes'] for row in found[question]) == report['total']['bytes'], 'total of %s' % question)
    if not sampled and all(path.endswith('.ndjson') for path in paths):
        same_sums(t, rows(found['inclusive'], ('method',)), inclusive(paths), 'inclusive of %s' % (paths,))
    view = tool_json('report', '--view', 'methods', '--names=raw', '--physical', '--top', '0', '--format', 'json', *paths)['rows']
    same_sums(t, rows(found['inclusive'], ('method', 'module')),
              rows([dict(row, bytes=row['total_bytes'], allocs=row['total_allocs']) for row in view
                    if row.get('method') and not row['method'].startswith('(')], ('method', 'module')),
              'the view of methods of %s' % (paths,))
    return found


# Of events, by site, with whole stacks, sampled, with live objects, with calls and events of the runtime, several processes.
DIFFERENT = ('small', 'sites', 'inline', 'sampled', 'alive', 'shop-events', 'native', 'late-sampled')


@longer('programs')
def test_fixtures(t):
    """Logs of each kind, also of versions before this one. Each takes a start of node: all of them in the lane programs."""
    good = {os.path.basename(path)[:-len('.ndjson')] for path in glob.glob(os.path.join(FIXTURES, '*.ndjson'))} - {
        'damaged', 'invalid', 'version2'}
    t.true(len(good) >= 15, '%d logs' % len(good))
    for name in full('programs', DIFFERENT, sorted(good)):
        same(t, os.path.join(FIXTURES, name + '.ndjson'), sampled=name.endswith('sampled'))


def test_several_logs_and_damaged_ones(t):
    small, sites = (os.path.join(FIXTURES, name + '.ndjson') for name in ('small', 'sites'))
    found = same(t, small, sites)
    t.equal([(row['ended'], row['all_here']) for row in found['complete']], [(True, True)] * 2, 'complete')

    cut = t.path('cut.ndjson.gz')
    with open(small, 'rb') as file, gzip.open(cut, 'wb') as packed:
        lines = file.read().splitlines(keepends=True)
        packed.write(b''.join(lines[:-2]) + lines[-2][:30])  # what a program that is killed leaves
    found = ask('--ask', 'types', '--ask', 'complete', cut)
    t.equal(sum(row['bytes'] for row in found['types']), 221360, 'bytes of a cut log')
    t.true(not found['complete'][0]['ended'], found['complete'])


def test_marks_and_builds(t):
    marks = os.path.join(FIXTURES, 'marks.ndjson')
    found = ask('--ask', 'marks', '--set', 'from=warm', '--set', 'to=one request', marks)['marks']
    report = tool_json('report', '--by', 'type', '--names=raw', '--from', 'warm', '--to', 'one request', '--format', 'json', marks)
    t.equal(rows(found, ('type',)), rows(report['rows'], ('type',)), 'between two marks')
    t.true(report['total']['allocs'] > 0, 'nothing between the marks')

    old, new = (os.path.join(FIXTURES, name + '.ndjson') for name in ('small', 'newer'))
    found = {row['type']: (row['grew'], row['more']) for row in ask('--old', old, new)['builds']}
    diff = tool_json('diff', '--by', 'type', '--format', 'json', '--top', '0', old, new)
    t.true(found, 'nothing grew')
    t.equal(found, {row['type']: (row['new']['bytes'] - row['old']['bytes'], row['new']['allocs'] - row['old']['allocs'])
                    for row in diff['rows']}, 'between two builds')


@lane('programs')
@early
def test_the_compiler_plain_and_packed(t):
    r = t.record(command(t, 'made')[0])
    found = same(t, r.path)
    if shutil.which('zstd'):
        packed = t.path('packed.ndjson.zst')
        harness.run(['zstd', '-q', r.path, '-o', packed])
        t.equal(ask('--ask', 'types', '--ask', 'inclusive', packed),
                {name: found[name] for name in ('types', 'inclusive')}, 'the same log, packed')

    # The commands that the README shows print what it says of this compiler.
    os.makedirs(t.path('readme'))
    for name in 'csc.ndjson', 'csc-before.ndjson':
        os.symlink(r.path, t.path('readme', name))
    shown = harness.run([sys.executable, os.path.join(harness.ROOT, 'examples/tutorial/blocks.py'), 'check',
                         os.path.join(os.path.dirname(RUN), 'README.md'), t.path('readme')],
                        env=dict(harness.ENVIRONMENT, SQL=os.path.dirname(RUN), NODE_PATH=consumers.packages(),
                                 SHADOWTRACE_BUILD=harness.BUILD))
    t.equal(shown.status, 0, str(shown))


@needs('KnownAllocs')
def test_a_packed_log_by_site(t):
    r = t.record(PROGRAM.command('KnownAllocs'), '--compress', '--log', 'sites', log='log.ndjson.zst')
    found = same(t, r.path)
    t.true(sum(row['allocs'] for row in found['types']) > 1000, 'little is recorded')


def test_every_question_has_an_answer(t):
    """With all that a log can hold, each question that can be asked without more is one that DuckDB understands."""
    logs = [os.path.join(FIXTURES, 'shop-events.ndjson')]
    text = consumers.node(RUN, *logs).text
    for line in consumers.node(RUN, '--list').text.splitlines():
        name = line.split()[0]
        t.true(name in ('builds', 'marks') or '%s: ' % name in text, '%s is not answered\n%s' % (line, text))
    found = ask('--ask', 'exceptions', '--ask', 'collections', *logs)
    exceptions = tool_json('events', 'exceptions', '--format', 'json', *logs)['rows']
    t.equal(sum(row['thrown'] for row in found['exceptions']), sum(row['thrown'] for row in exceptions), 'exceptions')
    gcs = tool_json('events', 'gc', '--format', 'json', *logs)['rows']
    t.equal([(row['gc'], row['generation'], row['before'], row['after']) for row in found['collections']],
            [(row['gc'], max(row['generations']), sum(row['before']), sum(row['after'])) for row in gcs], 'collections')


def test_a_hostile_name_stays_a_name(t):
    """Quotes in the file's name, control characters in the program's."""
    path = t.path("it's.ndjson")
    with open(os.path.join(FIXTURES, 'small.ndjson'), encoding='utf-8') as file, open(path, 'w', encoding='utf-8') as made:
        made.write(file.read().replace('"System.String"', r'"Bad\u001b[31m\u202eName"'))
    text = consumers.node(RUN, '--ask', 'types', path).text
    t.true('Bad?[31m?Name' in text and '\x1b' not in text, text)


CLICKHOUSE = '''
    const {Session} = require('chdb');
    const [schema, log] = process.argv.slice(2);
    const text = require('fs').readFileSync(schema, 'utf8').replaceAll('LOG.ndjson', log);
    const session = new Session();
    const answers = text.split(/;\\n/).filter(query => query.replace(/--.*/g, '').trim())
        .map(query => session.query(query, 'JSONCompact')).filter(Boolean).map(text => JSON.parse(text).data);
    session.cleanup();
    console.log(JSON.stringify(answers));
'''


@lane('clickhouse')
@needs('KnownAllocs')
@each('options', '', '--log=sites', '--stacks=inline')
def test_clickhouse(t, options):
    """Its packages are half a gigabyte."""
    r = t.record(PROGRAM.command('KnownAllocs'), *options.split(), '--compress', log='log.ndjson.zst')
    script = t.path('clickhouse.cjs')
    with open(script, 'w', encoding='utf-8') as file:
        file.write(CLICKHOUSE)
    types, methods = consumers.node_json(script, os.path.join(harness.ROOT, 'examples/sql/clickhouse.sql'), r.path, what='clickhouse')
    for found, key in (types, 'type'), (methods, 'method'):
        report = tool_json('report', '--by', key, '--names=raw', '--physical', '--top', '0', '--format', 'json', r.path)
        same_sums(t, rows([{'bytes': int(row[0]), 'allocs': int(row[1]), key: row[2] or None} for row in found], (key,)),
                  rows(report['rows'], (key,)), 'by ' + key)
