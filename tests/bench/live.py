#!/usr/bin/env python3
"""What --live costs, beside the same recording without it, concurrent collection off in both.

usage: tests/bench/live.py BUILD [--rounds N]

The two take turns, in random order. A program of 2 million live objects (programs/Live) measures what dies young and the
collections, with each allocation counted (--log sites) so that no writer competes for the processors; then the F# compiler
and a Kestrel server under load, with every allocation in the log, and counted.
"""
import argparse
import random
import sys

import show
from runs import Mode, Program, alone, median

OFF = {'DOTNET_gcConcurrent': '0'}
OBJECTS = 2000000
# Of Kestrel, whatever the mode: more than the fastest is asked for otherwise. Its sums of sites hardly grow with them.
REQUESTS = 400000
# The runtime's own nursery depends on the processor's cache: this is about that of 32 MB.
NURSERY = {'DOTNET_GCgen0size': '0x1400000'}
YOUNG_NS, COMPACTING, SWEEPING, GEN0_MS, REST, PEAK, CPU, LOG = 8, 1.3, 1.4, 0.5, 24, 32, 1.1, 1.3
PHASES = [('young', 'an object that dies young, ns', 1), ('compacting', 'full compacting collection, ms', 1),
          ('sweeping', 'full sweeping collection, ms', 1), ('gen0', 'collection of gen0, ms', 1)]


def pair(key, *options):
    """Modes without and with --live."""
    return [Mode(key, key, 'ours', *options), Mode(key + '-live', key + ', --live', 'ours', *options, '--live')]


COUNTED = pair('sites-0', '--log', 'sites', '--check', '0')
LOGS = pair('events', '--log', 'events') + pair('sites', '--log', 'sites')


def programs(table):
    """Program and its modes, in turn."""
    own = Program('live', 'Live', 'collection', ['dotnet', '{out}/programs/Live.dll', '--objects', str(OBJECTS)], 3, [],
                  env={**OFF, **NURSERY})
    others = [program for program in table if program.key in ('fsc', 'kestrel')]
    for program in others:
        program.env = {**program.env, **OFF}
        program.requests = REQUESTS if program.key == 'kestrel' else 0
    return [(own, COUNTED), *((program, LOGS) for program in others)]


def measure(bench, table, rounds, no_wrk, say):
    """{'samples': [...]}, as those of the other programs; of Live the lists of each phase are their medians."""
    samples = []
    for program, modes in programs(table):
        if no_wrk and program.key == 'kestrel':
            continue
        for number in range(rounds):
            for mode in random.sample(modes, len(modes)):
                sample = bench.run(program, mode, number)
                for phase, found in sample.pop('phases', {}).items():
                    sample[phase] = median(found)
                total = sample.get('live_total', {})
                if total.get('allocs'):
                    sample['objects'] = total['allocs']
                    sample['rest'], sample['peak'] = (total[name] / total['allocs'] for name in ('memory', 'memory_most'))
                    if not total['exact']:
                        sample['error'] = 'the table was not exact: ' + total['why']
                samples.append(sample)
                if 'error' in sample:
                    say('live, %s, %s: %s' % (program.label, mode.label, sample['error']))
        say('live objects, %s: %d rounds' % (program.label, rounds))
    return {'samples': samples}


# ---- what is shown


def cell(found, program, mode, metric, scale=1.0):
    """Median and its spread."""
    values = [value * scale for value in show.values(found, program, mode, metric)]
    if not values:
        return '', ''
    low, high = show.quartiles(values)
    return show.number(median(values)), '%s to %s' % (show.number(low), show.number(high))


HEADS = ['', 'n', 'without', 'spread', '--live', 'spread', 'times', 'more']


def line(found, label, program, metric, modes, scale=1.0):
    off, on = modes
    above = show.values(found, program, on, metric)
    if not above or not show.values(found, program, off, metric):
        return []
    times, more = show.ratio(found, program, metric, on, off), show.difference(found, program, metric, on, off)
    return [[label, str(len(above)), *cell(found, program, off, metric, scale), *cell(found, program, on, metric, scale),
             '%.3f' % times[0], show.number(more[0] * scale)]]


def rows(found):
    lines = []
    for phase, label, _ in PHASES:
        for clock in ('cpu', 'wall') if phase == 'young' else ('cpu', 'wall', 'pause'):
            lines += line(found, '%s, %s' % (label, {'cpu': 'CPU', 'wall': 'wall', 'pause': "the runtime's pause"}[clock]),
                          'live', '%s_%s' % (phase, clock), [mode.key for mode in COUNTED])
    for key in ('rest', 'peak'):
        middle, spread = cell(found, 'live', COUNTED[1].key, key)
        if middle:
            lines.append(['memory of the table a live object, bytes, %s' % ('at rest' if key == 'rest' else 'the most'),
                          str(len(show.values(found, 'live', COUNTED[1].key, key))), '', '', middle, spread, '', ''])
    for log in ('events', 'sites'):
        modes = [log, log + '-live']
        lines += line(found, 'F# compiler, --log %s, CPU s' % log, 'fsc', 'cpu', modes)
        lines += line(found, 'F# compiler, --log %s, log MB' % log, 'fsc', 'log_bytes', modes, 1e-6)
        lines += line(found, 'Kestrel, --log %s, CPU us a request' % log, 'kestrel', 'op_cpu', modes, 1e-3)
        lines += line(found, 'Kestrel, --log %s, log bytes an allocation' % log, 'kestrel', 'bytes_event', modes)
    return lines


def must(found, lines):
    """What must hold: lines.add, lines.ratio, lines.none of must.py."""
    off, on = (mode.key for mode in COUNTED)
    more = show.difference(found, 'live', 'young_cpu', on, off)
    if more is None:
        lines.none('--live: a program of 2 million live objects')
    else:
        lines.add('--live: ns more of an object that dies young', 'ok' if more[0] <= YOUNG_NS else 'not reached',
                  '%.1f [%.1f, %.1f] CPU, at most %d' % (*more[:3], YOUNG_NS))
        for phase, limit in (('compacting', COMPACTING), ('sweeping', SWEEPING)):
            lines.ratio(found, '--live: full %s collection / without' % phase, 'live',
                        [(phase + '_wall', 'wall'), (phase + '_cpu', 'CPU')], on, off, limit)
        more = show.difference(found, 'live', 'gen0_cpu', on, off)
        lines.add('--live: ms more of a collection of gen0', 'ok' if more[0] <= GEN0_MS else 'not reached',
                  '%.3f [%.3f, %.3f] CPU, at most %.1f' % (*more[:3], GEN0_MS))
        for key, limit, name in (('rest', REST, 'at rest'), ('peak', PEAK, 'at the peak')):
            middle, spread = cell(found, 'live', on, key)
            lines.add('--live: bytes a live object %s' % name, 'ok' if float(middle) <= limit else 'not reached',
                      '%s, %s, at most %d' % (middle, spread, limit))
    lines.ratio(found, '--live: F# compiler / without', 'fsc', [('cpu', 'CPU')], 'events-live', 'events', CPU,
                beside(found, 'fsc', 'cpu'))
    for program, name, metric in (('fsc', 'F# compiler', 'log_bytes'), ('kestrel', 'Kestrel', 'bytes_event')):
        lines.ratio(found, '--live: log of %s / without' % name, program, [(metric, 'bytes')], 'events-live', 'events', LOG,
                    beside(found, program, metric))


def beside(found, program, metric):
    counted = show.ratio(found, program, metric, 'sites-live', 'sites')
    return '; with --log sites %.3f' % counted[0] if counted else ''


def main(build, arguments):
    import bench as whole # which shows these rows, too
    from runs import Bench
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=3)
    rounds = parser.parse_args(arguments).rounds
    bench = Bench(build, False)
    bench.prepare(print)
    found = measure(bench, whole.programs(False), rounds, bench.want_package('wrk', print), print)
    print(show.table_of(HEADS, rows(found)))
    return 0


if __name__ == '__main__':
    sys.exit(alone('live', '[--rounds N]', main))
