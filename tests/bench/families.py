#!/usr/bin/env python3
"""What each event family costs: a Kestrel server that answers a fixed number of requests, CPU time and log bytes.

usage: tests/bench/families.py BUILD [ROUNDS]     (default 3; the families take turns, in random order)
"""
import json
import os
import random
import sys

from runs import ROOT, Bench, Child, Missing, alone, median

REQUESTS = ['--scale', '5']
FAMILIES = ['alloc', 'threads', 'modules', 'classes', 'jit', 'exceptions', 'gc', 'suspend', 'transitions',
            'finalizers', 'calls', 'all']
# No profiler; hooks with nothing recorded: `alloc`, of a type that no object has.
BASES = {'plain': None, 'hooks': ['--types', 'No.Such.Type']}


def build(bench, program='WebServer'):
    """A program of tests/e2e, the server, built into the bench's own folder."""
    out = os.path.join(bench.out, 'server')
    made = os.path.join(out, 'net10.0', program + '.dll')
    folder = os.path.join(ROOT, 'tests/e2e/programs', program)
    newest = max(os.path.getmtime(os.path.join(folder, name)) for name in os.listdir(folder))
    if not os.path.exists(made) or os.path.getmtime(made) < newest:
        bench.compile(['dotnet', 'build', '-v', 'q', '--nologo', '-p:E2EOut=' + out, os.path.join(folder, program + '.csproj')])
    return made


def once(bench, server, family):
    """CPU seconds, bytes of the log, and what its end says of the family: written and lost."""
    log = os.path.join(bench.logs, 'families.ndjson')
    argv = ['dotnet', server] + REQUESTS
    if family != 'plain':
        options = BASES.get(family) or ['--events', family]
        argv = [bench.command, 'record', '--quiet', '--check', '0', *options, '-o', log, '--', *argv]
    if os.path.exists(log):
        os.unlink(log)
    child = Child(argv, os.environ, os.path.join(bench.out, 'output'), 300)
    status, usage, _ = child.wait()
    if status:
        raise Missing('%s with --events %s failed: %s' % (os.path.basename(server), family, child.output()[-300:]))
    sample = {'cpu': usage.ru_utime + usage.ru_stime, 'bytes': 0, 'written': 0, 'lost': 0}
    if family == 'plain':
        return sample
    sample['bytes'] = os.path.getsize(log)
    with open(log, 'rb') as file:
        file.seek(max(0, sample['bytes'] - 65536))
        end = json.loads(file.read().splitlines()[-1])
    os.unlink(log)
    others = [counts for name, counts in end.get('events', {}).items() if name != 'calls']
    sample['written'] = end['written'] + sum(other['written'] for other in others) + end.get('calls', {}).get('entered', 0)
    sample['lost'] = end['lost'] + sum(other['lost'] for other in others) + end.get('calls', {}).get('missing', 0)
    return sample


def measure(bench, rounds, say):
    """{family: [sample, ...]}, `plain` and `hooks` among them."""
    server = build(bench)
    found = {family: [] for family in [*BASES, *FAMILIES]}
    for _ in range(rounds):
        order = list(found)
        random.shuffle(order)
        for family in order:
            found[family].append(once(bench, server, family))
    say('event families: %d rounds' % rounds)
    return found


def rows(found):
    """Cells for a table: CPU, its spread, times no profiler and times hooks alone, log bytes, events, lost."""
    base = {key: median(sample['cpu'] for sample in found[key]) for key in BASES}
    lines = []
    for family, samples in found.items():
        cpu = sorted(sample['cpu'] for sample in samples)
        middle = median(cpu)
        name = {'plain': 'no profiler', 'hooks': 'hooks only (--types of none)'}.get(family, '--events ' + family)
        last = samples[-1]
        lines.append([name, str(len(cpu)), '%.2f' % middle,
                      '-%.0f +%.0f %%' % (100 * (1 - cpu[0] / middle), 100 * (cpu[-1] / middle - 1)),
                      '%.2f' % (middle / base['plain']), '%.2f' % (middle / base['hooks']),
                      '{:,}'.format(last['bytes']), '{:,}'.format(last['written']), '{:,}'.format(last['lost'])])
    return lines


HEADS = ['', 'n', 'CPU s', 'spread', 'x plain', 'x hooks', 'log bytes', 'events', 'lost']


def main(build_folder, arguments):
    from show import table_of # which shows these rows too
    found = measure(Bench(build_folder, False), int(arguments[0]) if arguments else 3, print)
    print(table_of(HEADS, rows(found)))
    return 0


if __name__ == '__main__':
    sys.exit(alone('families', '[ROUNDS]', main))
