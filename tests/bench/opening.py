#!/usr/bin/env python3
"""How soon a log can be looked at: `export --format pprof` and `go tool pprof -top` of what it wrote, and `browse`.

usage: tests/bench/opening.py BUILD LOG [--rounds N]

In `make bench` LOG is of the F# compiler, every allocation an event. `browse` is on a terminal of 40 lines; it is open when its
first screen stands.
"""
import argparse
import os
import shutil
import sys
import tempfile
import time

import show
from runs import MODE, Child, Missing

PPROF_MOST = 20  # seconds


def record(bench, program, say):
    """A log of one run; '' and why not."""
    log = os.path.join(bench.logs, 'opening.ndjson')
    say('a log of %s to open' % program.label)
    argv, env = bench.start_of(program, MODE['events3'], log)
    made = Child(argv, env, os.path.join(bench.out, 'output'), 600)
    status, _, _ = made.wait()
    if status:
        raise Missing('no log: ' + made.output()[-300:])
    return log


def timed(argv, env, folder, limit=600):
    """Seconds by the clock and of CPU, and bytes of memory, of a program that has to end well."""
    child = Child(argv, env, os.path.join(folder, 'output'), limit)
    status, usage, wall = child.wait()
    if status:
        raise Missing('%s: %s' % (argv[0], child.output()[-300:]))
    return {'wall': wall, 'cpu': usage.ru_utime + usage.ru_stime, 'rss': usage.ru_maxrss * 1024}


def open_browse(command, log):
    """The same of browse, until its first screen stands."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, 'e2e'))
    from test_control import Terminal
    start = time.perf_counter()
    terminal = Terminal(40, 120, [command, 'browse', '--quiet', log], TERM='xterm')
    try:
        terminal.until(lambda screen: 'overview]' in screen)
        wall = time.perf_counter() - start
        with open('/proc/%d/status' % terminal.pid, encoding='ascii', errors='replace') as file:
            memory = [int(line.split()[1]) * 1024 for line in file if line.startswith('VmHWM')]
        with open('/proc/%d/stat' % terminal.pid, encoding='ascii', errors='replace') as file:
            ticks = file.read().rsplit(')', 1)[1].split()[11:13]
    finally:
        terminal.press('q')
        terminal.end()
    return {'wall': wall, 'cpu': sum(map(int, ticks)) / os.sysconf('SC_CLK_TCK'), 'rss': memory[0]}


def open_log(command, log, rounds, say):
    """All samples of each way, and the size of what was exported."""
    go = shutil.which('go')
    if not go:
        say('go tool pprof is missing: `make deps-tests` installs it')
    found = {'log_bytes': os.path.getsize(log), **{way: [] for way in show.OPENED}}
    with tempfile.TemporaryDirectory() as folder:
        made = os.path.join(folder, 'log.pb.gz')
        env = dict(os.environ, HOME=folder, PPROF_TMPDIR=folder, GOPROXY='off', GOTOOLCHAIN='local', GOFLAGS='')
        for _ in range(rounds):
            if os.path.exists(made):
                os.unlink(made)
            found['export'].append(timed([command, 'export', '--quiet', '--format', 'pprof', '-o', made, log], env, folder))
            found['export_bytes'] = os.path.getsize(made)
            if go:
                found['pprof'].append(timed([go, 'tool', 'pprof', '-top', made], env, folder))
            found['browse'].append(open_browse(command, log))
    return found


def measure(bench, program, rounds, say):
    log = record(bench, program, say)
    try:
        return open_log(bench.command, log, rounds, say)
    finally:
        os.unlink(log)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('log')
    parser.add_argument('--rounds', type=int, default=9)
    options = parser.parse_args()
    found = open_log(os.path.join(os.path.abspath(options.build), 'shadowtrace'), options.log, options.rounds, print)
    print(show.opening(found))


if __name__ == '__main__':
    main()
