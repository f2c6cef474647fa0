#!/usr/bin/env python3
"""Runs every test of a build and ends with one line that counts them, below the names of those that failed.

usage: tests/check.py BUILD [--only PART]...

Parts: lint (levels, circles and sizes of the sources: tests/lint.py), unit (cmocka programs), fuzz (corpora replayed),
product (exported symbols, thread-local size, headers that compile alone), examples (each run), e2e (the real runtime;
tests/e2e/run.py). The programs of e2e are built while the others run, of which there are as many at once as there are
processors, and one more: many only wait.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def take_signals():
    """As in tests/e2e/harness.py: what nohup ignores, the tests are to get as usual."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


class Totals:
    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.names = []  # of what failed

    def one(self, name, ok, output='', seconds=0.0, passed=0, failed=0):
        """passed, failed: how many tests it stands for; one at least."""
        line = '%-6s %-60s %5.1f s' % ('ok' if ok else 'FAIL', name, seconds)
        if not ok:
            line += '\n       ' + output.strip().replace('\n', '\n       ')
        with self.lock:
            print(line, flush=True)
            self.passed += max(passed, ok)
            self.failed += max(failed, not ok)
            if not ok:
                self.names.append(name)


def run(command, timeout, **more):
    """(exit status, output) of a command; its whole process group is killed when it takes too long."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               cwd=ROOT, start_new_session=True, **more)
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        return 124, output.decode(errors='replace') + '\nno end after %d s' % timeout
    return process.returncode, output.decode(errors='replace')


def files_in(folder, ending=''):
    for path, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if name.endswith(ending):
                yield os.path.join(path, name)


def unit_one(program, name, totals):
    """A cmocka program counts each of its tests; one that dies counts as one failure more."""
    start = time.monotonic()
    status, output = run([program], 300) if os.path.exists(program) else (127, 'not built')
    passed = len(re.findall(r'^\[       OK \]', output, re.M))
    failed = len(set(re.findall(r'^\[  FAILED  \] (?:\S+: )?(\w+)$', output, re.M)))
    totals.one('unit %s (%d tests)' % (name, passed + failed), status == 0 and passed > 0, output, time.monotonic() - start,
               passed, failed)


def unit(build, totals):
    for source in files_in(os.path.join(ROOT, 'tests/unit'), '.c'):
        name = os.path.relpath(source, os.path.join(ROOT, 'tests/unit'))[:-2]
        if not os.path.basename(name).startswith('test_'):
            continue
        yield unit_one, os.path.join(build, 'unit', name), name, totals


def timed(name, command, timeout, totals, env=None):
    start = time.monotonic()
    status, output = run(command, timeout, env=env)
    totals.one(name, status == 0, output, time.monotonic() - start)


def lint(_, totals):
    """Also that it finds what it looks for."""
    for name, more in ('lint: levels, circles, lengths', []), ('lint: what it looks for is found', ['--self-test']):
        yield timed, name, [sys.executable, 'tests/lint.py'] + more, 60, totals


def fuzz(build, totals):
    for target in files_in(os.path.join(build, 'fuzz')):
        name = os.path.basename(target)
        corpus = os.path.join(ROOT, 'tests/fuzz/corpus', name.replace('fuzz_', '', 1))
        if not os.access(target, os.X_OK) or not os.path.isdir(corpus):
            continue
        inputs = {'fuzz_readers': '200', 'fuzz_client': '500'}.get(name, '2000')  # those run whole commands
        yield timed, 'fuzz ' + name, [target, '--mutate', inputs, '--seed', '1', corpus], 300, totals
    yield corpora, totals


def corpora(totals):
    """Lines of every kind there is lie in the corpora of both readers of logs."""
    with open(os.path.join(ROOT, 'include/shadowtrace/log_schema.json'), encoding='utf-8') as file:
        kinds = {record['$ref'].rsplit('/', 1)[1] for record in json.load(file)['oneOf']}
    for what in 'log', 'readers':
        found = set()
        for path in files_in(os.path.join(ROOT, 'tests/fuzz/corpus', what)):
            with open(path, 'rb') as file:
                found.update(re.findall(rb'"kind":"(\w+)"', file.read()))
        missing = sorted(kinds - {kind.decode() for kind in found})
        totals.one('fuzz corpus/%s has every kind of line' % what, not missing, 'missing: %s' % missing)


def product(build, totals):
    library = os.path.join(build, 'libshadowtrace.so')
    status, output = run(['nm', '-D', '--defined-only', library], 60)
    exported = sorted(line.split()[-1] for line in output.splitlines() if line)
    with open(os.path.join(ROOT, 'tests/exports'), encoding='utf-8') as listed:
        expected = sorted(line.strip() for line in listed if line.strip() and not line.startswith('#'))
    totals.one('product: exported symbols are those of tests/exports', status == 0 and exported == expected,
               'exported %s, listed %s' % (exported, expected))
    status, output = run([os.path.join(ROOT, 'tests/tls-size'), library], 60)
    totals.one('product: thread-local data fits an initial-exec library', status == 0, output)
    for header in files_in(os.path.join(ROOT, 'include/shadowtrace'), '.h'):
        name = os.path.relpath(header, os.path.join(ROOT, 'include'))
        status, output = run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-Werror', '-Iinclude', '-xc',
                              '-fsyntax-only', header], 60)
        totals.one('product: <%s> compiles alone' % name, status == 0, output)


def examples(build, totals):
    for script in files_in(os.path.join(ROOT, 'examples'), 'run.sh'):
        name = os.path.relpath(os.path.dirname(script), ROOT)
        yield timed, name, ['sh', script], 600, totals, dict(os.environ, SHADOWTRACE_BUILD=build)


def run_e2e(build, totals):
    command = [sys.executable, 'tests/e2e/run.py']
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=ROOT,
                               env=dict(os.environ, SHADOWTRACE_BUILD=build))
    found = None
    for line in process.stdout:
        text = line.decode(errors='replace')
        match = re.match(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', text.strip())
        if match:
            found = match
        else:
            print(text, end='', flush=True)
            totals.names += re.findall(r'^FAIL +(e2e \S+)', text)
    status = process.wait()
    if found:
        totals.passed += int(found.group(1))
        totals.failed += int(found.group(2))
        totals.skipped += int(found.group(3) or 0)
    if not found or (status != 0) != (int(found.group(2)) > 0):
        totals.one('e2e: the runner itself', False, 'exit status %d' % status)


# What runs beside others: (function, arguments...), one each. Examples first, they take longest.
MANY = {'examples': examples, 'lint': lint, 'unit': unit, 'fuzz': fuzz}
PARTS = list(MANY) + ['product', 'e2e']


@contextlib.contextmanager
def e2e_building(build):
    """Beside what runs within: the programs of e2e. What fails to build is told by the tests that need it."""
    process = subprocess.Popen([sys.executable, 'tests/e2e/run.py', '--build'], stdin=subprocess.DEVNULL, cwd=ROOT,
                               env=dict(os.environ, SHADOWTRACE_BUILD=build))
    try:
        yield
    finally:
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build')
    parser.add_argument('--only', action='append', choices=PARTS)
    arguments = parser.parse_args()
    take_signals()
    totals = Totals()
    build, chosen = os.path.abspath(arguments.build), arguments.only or PARTS
    with e2e_building(build) if 'e2e' in chosen else contextlib.nullcontext():
        with concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
            jobs = [pool.submit(*job) for name, part in MANY.items() if name in chosen for job in part(build, totals)]
        for job in jobs:
            job.result()
        if 'product' in chosen:
            product(build, totals)
    if 'e2e' in chosen:
        run_e2e(build, totals)
    for name in totals.names:
        print('failed: %s' % name)
    print('%d passed, %d failed%s' % (totals.passed, totals.failed,
                                      ', %d skipped' % totals.skipped if totals.skipped else ''))
    return 1 if totals.failed or not totals.passed else 0


if __name__ == '__main__':
    sys.exit(main())
