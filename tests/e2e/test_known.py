"""A program whose allocations are known: the log and the report say exactly that."""
import collections
import json
import os
import random
import re

from harness import HOOKS, PROGRAM, PROGRAMS, each, needs, sampled
from logfile import plain

# Three seeds a run, printed; E2E_SEEDS="1 2 3" repeats them.
SEEDS = [int(s) for s in os.environ.get('E2E_SEEDS', '').split()] or [random.randrange(1, 1 << 31) for _ in range(3)]


def expectations(result):
    return [json.loads(line) for line in result.text.splitlines() if line.startswith('{')]


def matches(row, frames, type_name):
    """frames: the program's own methods on the stack, plain, nearest first."""
    wanted = [row['method']] + row.get('path', [])
    return (len(frames) >= len(wanted) and re.fullmatch(row['type'], type_name) and
            all(re.fullmatch(w, f) for w, f in zip(wanted, frames)))


def differences(expected, found):
    """found: {(own frames, type, heap): [allocs, bytes]}; heap None where the source does not tell it."""
    wrong = []
    for row in expected:
        allocs = sum_bytes = 0
        for (frames, type_name, heap), (count, size) in found.items():
            if heap != 'any' and heap != row.get('heap'):
                continue
            if matches(row, frames, type_name):
                allocs += count
                sum_bytes += size
        if allocs != row['allocs'] or sum_bytes != row.get('bytes', sum_bytes):
            wrong.append('%s of %s: %d allocations, %d bytes; expected %d, %s' % (
                row['type'], row['method'], allocs, sum_bytes, row['allocs'], row.get('bytes', 'any')))
    return wrong


@sampled
@needs('KnownAllocs')
@each('hooks', *HOOKS)
@each('seed', 0, 1, 2)
def test_counts_and_bytes_are_exact(t, hooks, seed):
    known_is_exact(t, SEEDS[seed], hooks, PROGRAM.command('KnownAllocs'))


def known_is_exact(t, seed, hooks, command, *options):
    """All that the program says of itself holds in the log and in the report."""
    r = t.record(command + ['--seed', str(seed)], *options, hooks=hooks, check=1)
    t.note('seed %d' % seed)
    t.exact(r)
    printed = expectations(r)
    expected = [row for row in printed if row['kind'] == 'expect']
    t.true(len(expected) > 50, 'too few expectations')
    log = r.log
    own = {m for m, d in log.methods.items() if log.modules.get(d.get('module'), {}).get('name') == 'KnownAllocs'}
    names = {m: plain(log.methods[m]['name']) for m in own}

    # The log.
    found = collections.defaultdict(lambda: [0, 0])
    frames_of = {}
    for event in log.allocs:
        node = event['node']
        if node not in frames_of:
            frames_of[node] = tuple(names[m] for m in log.stack(node) if m in own)
        entry = found[frames_of[node][:6], log.type(event), event.get('heap')]
        entry[0] += 1
        entry[1] += event['bytes']
    wrong = differences(expected, found)

    # The report.
    reported = collections.defaultdict(lambda: [0, 0])
    report = r.report('--by', 'site', '--names=raw')
    t.equal(report['total']['allocs'], len(log.allocs), 'allocations in the report')
    t.equal(report['total']['bytes'], log.end['bytes'], 'bytes in the report')
    for row in report['rows']:
        frames = tuple(plain(f) for f in row['stack'] if f.startswith('Known.'))
        entry = reported[frames[:6], row['type'], 'any']
        entry[0] += row['allocs']
        entry[1] += row['bytes']
    wrong += ['report: ' + text for text in differences(expected, reported)]

    # Each thread, to the byte; objects on the frozen heap lie outside what the runtime counts.
    threads = {d['os']: i for i, d in log.threads.items()}
    for row in printed:
        if row['kind'] == 'thread':
            thread = threads[row['os']]
            t.equal(log.threads[thread].get('name'), row['name'], 'name of thread %d' % thread)
            region = row['region'].replace('\\', '')
            total = sum(e['bytes'] for e in log.allocs if e['thread'] == thread and e.get('heap') != 'frozen' and
                        region in frames_of[e['node']])
            if total != row['bytes']:
                wrong.append('%s, %s: %d bytes in the log, the runtime says %d' % (
                    row['name'], region, total, row['bytes']))
    if wrong:
        raise AssertionError('seed %d, %d differences:\n%s' % (seed, len(wrong), '\n'.join(wrong)))


@needs('KnownAllocs')
@each('hooks', *HOOKS)
def test_lines_are_those_of_the_source(t, hooks):
    """The allocating line of each marked method holds what it allocates."""
    r = t.record(PROGRAM.command('KnownAllocs') + ['--seed', '5', '--threads', '2'], hooks=hooks)
    with open(os.path.join(PROGRAMS, 'KnownAllocs/Program.cs'), encoding='utf-8') as file:
        source = file.read().splitlines()
    seen = 0
    for row in r.report('--by', 'site')['rows']:
        if row['type'].startswith('Known.') and row['stack'] and row['stack'][0].startswith((
                'Known.Places.Make', 'Known.Places.Nest', 'Known.Places.Handlers')):
            seen += 1
            t.true('line' in row, 'no line for %s' % row['stack'][0])
            text = source[row['line'] - 1]
            kind = re.sub(r'^.*\.|[\[<].*$', '', re.sub(r'<.*>', '', row['type']))
            t.true('new ' in text and kind in text or '+= ' in text,
                   '%s of %s: line %d is %r' % (row['type'], row['stack'][0], row['line'], text))
    t.true(seen > 20, 'only %d sites seen' % seen)


@needs('KnownAllocs')
@each('hooks', *HOOKS)
def test_inline_stacks_say_the_same(t, hooks):
    command = PROGRAM.command('KnownAllocs') + ['--seed', '9', '--threads', '2']
    by_node = t.record(command, hooks=hooks)
    inline = t.record(command, '--stacks', 'inline', hooks=hooks)

    def counted(rows):
        sums = collections.Counter()
        for stack, type_name, size in rows:
            own = [f for f in stack if f.startswith('Known.')]
            if own and type_name.startswith('Known.'):
                sums[tuple(own), type_name] += size
        return sums

    first = counted((by_node.log.names(e['node']), by_node.log.type(e), e['bytes']) for e in by_node.log.allocs)
    second = counted((e['stack'], e['type'], e['bytes']) for e in inline.log.allocs)
    t.true(len(first) > 50, 'too few stacks')
    t.equal(second, first, 'inline stacks')


@needs('KnownAllocs')
def test_sites_add_up_to_the_events(t):
    command = PROGRAM.command('KnownAllocs') + ['--seed', '11', '--threads', '3']
    r = t.record(command, '--log', 'sites')
    t.equal(r.status, 0)
    log = r.log
    t.equal(log.allocs, [])
    t.equal(sum(s['allocs'] for s in log.sites), log.end['written'])
    t.equal(sum(s['bytes'] for s in log.sites), log.end['bytes'])
    expected = [row for row in expectations(r) if row['kind'] == 'expect']
    found = collections.defaultdict(lambda: [0, 0])
    for s in log.sites:
        frames = tuple(plain(f) for f in log.names(s['node']) if f.startswith('Known.'))
        entry = found[frames[:6], log.type(s), s.get('heap')]
        entry[0] += s['allocs']
        entry[1] += s['bytes']
    wrong = differences(expected, found)
    t.true(not wrong, '\n'.join(wrong))
