#!/usr/bin/env python3
"""Do the intervals of --sample hold? The same program again and again, each run with a different seed.

usage: tests/bench/sampling.py BUILD [RUNS]

One whole recording of programs/Sites gives the exact bytes of each call site; then RUNS (50) sampled recordings are
reported, and each site's 95 % interval is held against them. Sites a run did not meet have no interval and are not
counted; `met` counts them too, as an interval from nothing to what a Poisson count of 0 allows.
"""
import json
import os
import subprocess
import sys

from runs import Bench, Child, Missing, alone

RATE = 65536
NONE_SEEN = 3.689 # upper 97.5 % limit of a Poisson mean when nothing was seen


def sites_of(bench, log):
    """{(stack, instruction, type): row} of the program's own call sites."""
    text = subprocess.run([bench.command, 'report', '--format', 'json', '--inline-stacks', log], stdout=subprocess.PIPE,
                          check=True).stdout
    return {(tuple(row['stack']), row.get('il'), row['type']): row for row in json.loads(text)['rows']
            if row['stack'] and row['stack'][0].startswith('Bench.Sites.Allocate')}


def record(bench, log, *options):
    if os.path.exists(log):
        os.unlink(log)
    child = Child([bench.command, 'record', '--quiet', *options, '-o', log, '--', 'dotnet',
                   os.path.join(bench.out, 'programs/Sites.dll')], os.environ, os.path.join(bench.out, 'output'), 120)
    status, _, _ = child.wait()
    if status:
        raise Missing('recording programs/Sites failed: ' + child.output()[-300:])
    return sites_of(bench, log)


def measure(bench, runs, say):
    log = os.path.join(bench.logs, 'sampling.ndjson')
    exact = {key: row['bytes'] for key, row in record(bench, log, '--log', 'sites').items()}
    again = {key: row['bytes'] for key, row in record(bench, log, '--log', 'sites').items()}
    if exact != again:
        raise Missing('programs/Sites did not allocate the same twice')
    inside = intervals = met = strangers = 0
    total = 0.0
    for _ in range(runs):
        found = record(bench, log, '--sample', str(RATE))
        strangers += sum(key not in exact for key in found)
        for key, bytes_exact in exact.items():
            if key in found:
                low, high = found[key].get('bytes_range') or (found[key]['bytes'], found[key]['bytes'])
                holds = low <= bytes_exact <= high
                intervals += 1
                inside += holds
                met += holds
            else:
                met += bytes_exact <= NONE_SEEN * RATE
        total += sum(row['bytes'] for row in found.values()) / sum(exact.values())
    os.unlink(log)
    result = {'runs': runs, 'rate': RATE, 'sites': len(exact), 'intervals': intervals, 'share': inside / max(1, intervals),
              'share_met': met / (runs * len(exact)), 'total': total / runs, 'strangers': strangers}
    say('sampling: %d runs, %d sites, %d intervals, %.1f %% contain the exact bytes; unseen sites counted too %.1f %%; '
        'all bytes %.4f of the exact ones%s' % (runs, len(exact), intervals, 100 * result['share'], 100 * result['share_met'],
                                               result['total'],
                                               '; %d sites were in no whole recording' % strangers if strangers else ''))
    return result


def main(build, arguments):
    bench = Bench(build, False)
    bench.prepare(print)
    result = measure(bench, int(arguments[0]) if arguments else 50, print)
    return 0 if result['share'] >= 0.9 and not result['strangers'] else 1


if __name__ == '__main__':
    sys.exit(alone('sampling', '[RUNS]', main))
