#!/usr/bin/env python3
"""What each event family costs: a Kestrel server that answers a fixed number of requests, CPU time and log bytes.

usage: tests/bench/families.py [ROUNDS]     (default 3; the families take turns, the least of each is shown)
"""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(TOP, 'build', 'shadowtrace')
SERVER = os.path.join(TOP, 'build', 'e2e', 'net10.0', 'WebServer.dll')
REQUESTS = ['--scale', '5']
FAMILIES = ['alloc', 'threads', 'modules', 'classes', 'jit', 'exceptions', 'gc', 'suspend', 'transitions',
            'finalizers', 'calls', 'all']


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def once(family, folder):
    """(CPU seconds, bytes of log)"""
    log = os.path.join(folder, 'log.ndjson')
    command = ['dotnet', SERVER] + REQUESTS
    if family == 'none':
        # hooks, and nothing recorded: a family of which the program causes no event
        command = [TOOL, 'record', '--quiet', '--check', '0', '--types', 'No.Such.Type', '-o', log, '--'] + command
    elif family:
        command = [TOOL, 'record', '--quiet', '--check', '0', '--events', family, '-o', log, '--'] + command
    before = cpu()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=600)
    used = cpu() - before
    size = os.path.getsize(log) if family else 0
    if family:
        os.unlink(log)
    return used, size


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    folder = tempfile.mkdtemp(prefix='shadowtrace-bench-')
    least = {}
    try:
        for _ in range(rounds):
            for family in ['', 'none'] + FAMILIES:
                used = once(family, folder)
                least[family] = min(least.get(family, used), used)
    finally:
        shutil.rmtree(folder)
    plain = least[''][0]
    print('%-14s %9s %9s %12s' % ('', 'CPU s', 'ratio', 'log bytes'))
    for family, (used, size) in least.items():
        name = family if family not in ('', 'none') else 'no profiler' if not family else 'hooks only'
        print('%-14s %9.2f %9.2f %12d' % (name, used, used / plain, size))


if __name__ == '__main__':
    main()
