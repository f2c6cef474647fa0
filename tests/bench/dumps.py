#!/usr/bin/env python3
"""What looking into a busy process costs it: 64 threads that call at full speed, and dumps of their stacks.

usage: tests/bench/dumps.py BUILD [SECONDS]     (of each of the two; default 60)

Work: in turn a quarter of a second with 100 dumps a second and one without, in one process. Work is calls made, CPU that of
all threads of the process. Pause: copying all stacks, and at the same moments suspending the runtime and walking them.
"""
import json
import os
import subprocess
import sys
import time

from runs import ROOT, Missing, alone


def started(e2e, name, *options):
    """Towers under `record`, by the harness of tests/e2e; imported late: it looks for the SDK."""
    sys.path.insert(0, os.path.join(ROOT, 'tests/e2e'))
    import control
    import harness
    harness.PROGRAM.build([('Towers', harness.DEFAULT_FRAMEWORK)])
    return control.Living(e2e.setdefault(name, harness.Test('bench/' + name)),
                          harness.PROGRAM.command('Towers') + (['--depth', '50'] if name == 'work' else []),
                          '--check', '0', '--min-size', '1G', *options, stdin=subprocess.PIPE)


class Cpu:
    """CPU time of a process, ns: of all its threads, ours in it included; and of the one that answers."""

    def __init__(self, pid):
        self.all = self.ours = 0
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/schedstat' % (pid, task), encoding='ascii') as file:
                spent = int(file.read().split()[0])
            with open('/proc/%d/task/%s/comm' % (pid, task), encoding='ascii') as file:
                self.ours += spent if file.read() == 'shadowtrace-ctl\n' else 0
            self.all += spent


def work(e2e, seconds):
    towers = started(e2e, 'work')
    pid, out = towers.wait(), towers.process.stdout
    client = towers.client()

    def so_far():
        towers.process.stdin.write(b'\n')
        towers.process.stdin.flush()
        return int(out.readline()), Cpu(pid)

    if out.readline() != b'ready\n':
        raise Missing('Towers does not begin')
    time.sleep(3)  # until its code is compiled
    done, spent, ours, dumps, rates = {True: 0, False: 0}, {True: 0, False: 0}, 0, 0, []
    for slot in range(4 * max(1, int(seconds))):
        dumping = slot % 4 in (1, 2)  # off, on, on, off: drifts cancel
        first, end = so_far(), time.monotonic() + 0.25
        next_dump = time.monotonic()
        while time.monotonic() < end:
            if dumping:
                client.send(b'{"command":"dump"}\n')
                client.text()
                dumps += 1
            next_dump += 0.01
            time.sleep(max(0, next_dump - time.monotonic()))
        last = so_far()
        done[dumping] += last[0] - first[0]
        spent[dumping] += last[1].all - first[1].all
        ours += last[1].ours - first[1].ours if dumping else 0
        rates.append((last[0] - first[0]) / (last[1].all - first[1].all))
    towers.end()
    by_four = sorted((rates[i + 1] + rates[i + 2]) / (rates[i] + rates[i + 3]) for i in range(0, len(rates), 4))
    quarter = len(by_four) // 4
    return {'ratio': done[True] / spent[True] / (done[False] / spent[False]), 'median': by_four[len(by_four) // 2],
            'quartiles': [by_four[quarter], by_four[-1 - quarter]], 'dumps': dumps, 'dump_us': ours / dumps / 1000,
            'answering': ours / spent[True]}


def pauses(e2e, seconds):
    towers = started(e2e, 'pauses', '--profile', '20', '--profile-snapshot')
    towers.wait()
    time.sleep(seconds)
    towers.end()
    command = [os.path.join(os.environ['SHADOWTRACE_BUILD'], 'shadowtrace'), 'compare', '--format=json', towers.path]
    beside = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout)['profile']
    return {source: {'moments': beside[source]['samples'], **beside[source]['cost_ns']} for source in ('shadow', 'snapshot')}


def measure(build, seconds):
    os.environ['SHADOWTRACE_BUILD'] = os.path.abspath(build)
    e2e = {}
    try:
        return {'work': work(e2e, seconds), 'pauses': pauses(e2e, seconds)}
    finally:
        for test in e2e.values():
            test.close()


def main(build, arguments):
    found = measure(build, float(arguments[0]) if arguments else 60)
    print('work per CPU second, dumped / not: %(ratio).4f (of four slots: median %(median).4f)' % found['work'])
    print('half of them within %.4f to %.4f; %d dumps, answering took %.1f us each, %.2f %% of the CPU' % (
        *found['work']['quartiles'], found['work']['dumps'], found['work']['dump_us'], 100 * found['work']['answering']))
    for source, figures in found['pauses'].items():
        print('%s: %d stacks, a moment: median %d us, worst %d us' % (
            source, figures['moments'], figures['p50'] // 1000, figures['worst'] // 1000))
    return 0


if __name__ == '__main__':
    sys.exit(alone('dumps', '[SECONDS]', main))
