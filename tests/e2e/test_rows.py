"""
export --format rows: many recordings in DuckDB, as examples/fleet has it. Totals are those of the logs, to the byte; a file that
is loaded twice changes nothing; two runs of one build share the ids of their stacks.
"""
import collections
import json
import os

import consumers
import harness
from harness import ENVIRONMENT, PROGRAM, needs, tool, tool_json
from readback import export
from test_sql import rows, same_sums

RUN = os.path.join(harness.ROOT, 'examples/sql/run.cjs')
FLEET = os.path.join(harness.ROOT, 'examples/fleet')
FIXTURES = os.path.join(harness.ROOT, 'tests/fixtures/logs')


def fixture(name):
    return os.path.join(FIXTURES, name + '.ndjson')


def ask(*arguments):
    return consumers.node_json(RUN, '--schema', FLEET, '--json', *arguments)


def total(log):
    return {key: tool_json('report', '--by', 'type', '--format', 'json', log)['total'][key] for key in ('bytes', 'allocs')}


def whole(found):
    return {key: sum(row[key] for row in found) for key in ('bytes', 'allocs')}


def recorded_twice(t):
    """Two runs of one build; without tiers, since when a method is compiled again, and what it inlines, is a matter of load."""
    return [t.record(PROGRAM.command('KnownAllocs'), '--check', '0', log='run-%d.ndjson' % i,
                     env=dict(ENVIRONMENT, DOTNET_TieredCompilation='0')).path for i in (1, 2)]


def test_totals_are_those_of_the_logs(t):
    """Logs of each kind together, packed in three ways, and each of them a second time."""
    names = ('small', 'sites', 'alive', 'shop-events')
    files = []
    for i, name in enumerate(names):
        files.append(t.path(name + ('.rows.ndjson', '.rows.ndjson.gz', '.rows.ndjson.zst')[i % 3]))
        t.equal(tool('export', '--format', 'rows', '--host', 'host-%d' % i, '-o', files[-1], fixture(name)).status, 0, name)
    expected = [total(fixture(name)) for name in names]
    found = ask('--ask', 'hosts', '--ask', 'programs', '--ask', 'complete', '--ask', 'alive', *files)
    t.equal({row['host']: {key: row[key] for key in ('bytes', 'allocs')} for row in found['hosts']},
            {'host-%d' % i: sums for i, sums in enumerate(expected)}, 'by host')
    t.equal(whole(found['programs']), {key: sum(sums[key] for sums in expected) for key in ('bytes', 'allocs')}, 'in all')
    t.equal([row['bytes'] for row in found['complete'] if row['bytes'] != row['loaded']], [], 'what was loaded')
    live = tool_json('report', '--view', 'end', '--format', 'json', fixture('alive'))['total']
    t.equal(whole(found['alive']), {key: live['live_' + key] + live['young_' + key] for key in ('bytes', 'allocs')}, 'alive')
    again = ask('--ask', 'hosts', '--ask', 'programs', '--ask', 'complete', '--ask', 'alive', *files, *files)
    t.equal(again, found, 'loaded twice')


@needs('KnownAllocs')
def test_ranges_of_samples_are_those_of_the_report(t):
    made = t.record(PROGRAM.command('KnownAllocs'), '--check', '0', '--sample', '4K').path
    found = ask('--ask', 'estimates', export(t, 'rows', [made]))['estimates']
    same_ranges(t, found, made)


def same_ranges(t, found, log):
    """Of each type, the sum and between what it lies; sums are rounded row by row in one, and as a whole in the other."""
    expected = {row['type']: row for row in tool_json('report', '--by', 'type', '--top', '0', '--format', 'json', log)['rows']}
    t.true(len(found) > 3 and {row['type'] for row in found} <= set(expected), found)
    t.true(any(row['bytes_low'] < row['bytes'] < row['bytes_high'] for row in found), found)
    for row in found:
        there = expected[row['type']]
        for key, value in zip(('bytes', 'bytes_low', 'bytes_high'), (there['bytes'], *there.get('bytes_range', 2 * [there['bytes']]))):
            t.true(abs(row[key] - value) <= 2 + value / 1000, (key, row, there))


def own_stacks(t, path):
    """Of stacks that end in own code the ids, and what their methods are called."""
    tables, own, named, made = {}, set(), set(), collections.defaultdict(set)
    with open(path, encoding='utf-8') as file:
        for line in file:
            row = json.loads(line)
            tables.setdefault(row['kind'], {})[row.get('id') or row['stack']] = row
            if row['kind'] == 'allocated':
                made[row['stack']].add((row['type'], row['bytes'], row['allocs']))
    ints = [id for id, row in tables['type'].items() if row['name'] == 'System.Int32[]']
    # The runtime's table of casts grows where addresses collide: an int[] of 24 bytes for each of 2^n entries, and 48 more.
    grown = {(id, 24 * 2 ** n + 48, 1) for id in ints for n in range(1, 13)}
    (recording,), methods = tables['recording'].values(), tables['method']
    t.equal((recording['version'], recording['file_version']), ('1.0.0', '1.0.0.0'), recording)
    t.true(recording['mvid'] and recording['complete'], recording)
    for row in tables['ancestors'].values():
        names = tuple(methods[method]['name'] for method in row['methods'])
        # By which of its helpers the runtime comes to a class constructor depends on what it has compiled by then.
        if methods[row['methods'][-1]].get('owner') == 'own' and not any(name.endswith('..cctor()') for name in names) and (
                not made[row['stack']] <= grown):
            own.add(row['stack'])
            named.add(names)
    return own, named


@needs('KnownAllocs')
def test_two_runs_of_one_build(t):
    logs = recorded_twice(t)
    files = [export(t, 'rows', [log]) for log in logs]
    own, named = zip(*(own_stacks(t, path) for path in files), strict=True)
    t.equal(named[0] ^ named[1], set(), 'stacks of own code, by names')
    # The instruction of a few calls is known in one of them only: logs say which of several it can be.
    t.true(len(own[0] & own[1]) >= 0.95 * len(own[0] | own[1]) > 100, 'ids: %d, %d, both %d' % (
        len(own[0]), len(own[1]), len(own[0] & own[1])))

    found = ask('--ask', 'programs', '--ask', 'types', '--ask', 'methods', '--ask', 'inclusive', *files)
    sums = [total(log) for log in logs]
    t.equal([(row['recordings'], row['hosts']) for row in found['programs']], [(2, 1)], found['programs'])
    t.equal(whole(found['programs']), {key: sum(one[key] for one in sums) for key in ('bytes', 'allocs')}, 'both runs')
    for key, question in ('type', 'types'), ('method', 'methods'):
        report = tool_json('report', '--by', key, '--top', '0', '--format', 'json', *logs)['rows']
        for row in report:
            row[key] = row[key] or '(no managed frame)'
        same_sums(t, rows(found[question], (key,)), rows(report, (key,)), question)
    view = tool_json('report', '--view', 'methods', '--top', '0', '--format', 'json', *logs)['rows']
    same_sums(t, rows([row for row in found['inclusive'] if row['method'][0] != '('], ('method',)),
              rows([dict(row, bytes=row['total_bytes'], allocs=row['total_allocs']) for row in view
                    if row.get('method') and row['method'][0] != '('], ('method',)), 'with calls')

    grown = ask('--ask', 'deployment', '--set', 'before=1.0.0', '--set', 'after=1.0.0', *files)['deployment']
    t.equal(grown, [], 'a version beside itself')
    most = max(found['types'], key=lambda row: row['bytes'])
    who = ask('--ask', 'who', '--set', 'type=' + most['type'], *files)['who']
    t.equal(whole(who), {key: most[key] for key in ('bytes', 'allocs')}, 'who allocates ' + most['type'])

    parquet = t.path('named.parquet')
    script = "copy named to '%s' (format parquet, compression zstd)" % parquet
    ask('--ask', script, *files)
    t.equal(whole(ask('--ask', "select bytes, allocs from read_parquet('%s')" % parquet, *files).popitem()[1]),
            whole(found['programs']), 'by Parquet')
