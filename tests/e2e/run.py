#!/usr/bin/env python3
"""
End-to-end tests on the real runtime: one line per test, and a last line that counts them.

usage: tests/e2e/run.py [-k TEXT]... [-j N] [--lane NAME]... [--keep] [--list] [--build] [--framework F]

-k TEXT        only tests whose name contains TEXT, or is TEXT if one is (several: any of them)
-j N           N at once (default: one more than there are processors, at most 4), and in addition a few that only
               wait; 1: one after the other, with the CPU time of each
--lane NAME    only tests of this lane of `make check-all`, in full (selection.py)
--keep         keep the logs of tests that passed, too: build/e2e/run/<test>/
--build        only build the programs that the tests and the examples need, and install what they open our files with
--framework F  run the programs on net8.0, net9.0, net11.0, … where a test does not say which itself

Exit status 1 when a test failed. SHADOWTRACE_BUILD names the build folder (default build); SHADOWTRACE_ALL the lanes to run
in full.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import importlib
import os
import shlex
import shutil
import sys
import threading
import time
import traceback

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import consumers  # noqa: E402
import harness  # noqa: E402
import selection  # noqa: E402

WAITING = 3  # of those that only wait (@waits), beside the others


def discover():
    for file in sorted(os.listdir(harness.HERE)):
        if file.startswith('test_') and file.endswith('.py'):
            module = importlib.import_module(file[:-3])
            for key, function in list(vars(module).items()):
                if key.startswith('test_') and callable(function) and function.__module__ == module.__name__:
                    for name, arguments, runs in selection.variants(function):
                        yield file[len('test_'):-3] + '.' + name, function, arguments, runs


def programs_of(function, arguments):
    """What a test needs built. An argument of @each wins: `framework`, and `program`, whose other values other variants need."""
    axes = dict(getattr(function, 'each', []))
    for program, framework in getattr(function, 'needs', []):
        if program not in axes.get('program', ()) or program == arguments['program']:
            yield arguments.get(program, program), arguments.get('framework', framework)


def published_by(function, arguments):
    for asked in getattr(function, 'publishes', []):
        yield from asked(**arguments)


def left_out(tests):
    """One line about the tests that only lanes of `make check-all` run."""
    lanes = collections.Counter(lane for _, function, _, runs in tests if not runs for lane in function.lanes)
    return '%d tests run in `make check-all` only: %s' % (sum(not runs for _, _, _, runs in tests), ', '.join(
        'LANE=%s (%d)' % lane for lane in sorted(lanes.items())))


def alone(name, arguments):
    """The command that runs one test as it was run here."""
    words = ['python3', 'tests/e2e/run.py', '-j', '1', '-k', name]
    for lane in arguments.lane:
        words += ['--lane', lane]
    if arguments.framework != harness.SDK_FRAMEWORK:
        words += ['--framework', arguments.framework]
    given = {'SHADOWTRACE_BUILD': os.path.relpath(harness.BUILD, harness.ROOT), 'SHADOWTRACE_ALL': os.environ.get('SHADOWTRACE_ALL')}
    return ' '.join(['%s=%s' % (name, shlex.quote(value)) for name, value in given.items() if value not in (None, '', 'build')] +
                    [shlex.quote(word) for word in words])


def examples():
    """Builds the programs of examples/, which do it themselves if this fails: with a compiler that is warm, in a fifth of the time."""
    harness.run(['sh', os.path.join(harness.ROOT, 'examples/build.sh')], timeout=600, env=dict(
        harness.BUILDING, SHADOWTRACE_BUILD=harness.BUILD, BUILD_WITH=' '.join(harness.PROGRAM.server.properties())))


class Runner:
    def __init__(self, keep):
        self.keep = keep
        self.cpu = 0.0
        self.lock = threading.Lock()
        self.passed = self.skipped = 0
        self.failed = []  # their names

    def one(self, name, function, arguments):
        start, cpu = time.monotonic(), harness.cpu_used() + time.thread_time()
        outcome, detail = 'ok', ''
        t = harness.Test(name)
        try:
            function(t, **arguments)
            t.finish()
        except harness.Skip as skip:
            outcome, detail = 'skip', str(skip)
        except Exception as error:  # a test may fail in any way; the others go on
            outcome = 'FAIL'
            detail = str(error) if isinstance(error, AssertionError) else traceback.format_exc()
            detail += '\nkept in %s' % os.path.relpath(t.folder, harness.ROOT)
        finally:
            t.close()
        if outcome != 'FAIL' and not self.keep:
            shutil.rmtree(t.folder, ignore_errors=True)
        cpu = harness.cpu_used() + time.thread_time() - cpu
        line = '%-6s %-60s %5.1f s %6.1f s of CPU' % (outcome, 'e2e ' + name, time.monotonic() - start, cpu)
        if outcome == 'ok' and t.notes:
            line += '  ' + '; '.join(t.notes)
        if outcome == 'skip':
            line += '  ' + detail
        elif detail:
            line += '\n       ' + detail.strip().replace('\n', '\n       ')
        with self.lock:
            print(line, flush=True)
            self.cpu += cpu
            self.passed += outcome == 'ok'
            self.failed += [name] if outcome == 'FAIL' else []
            self.skipped += outcome == 'skip'


def main():
    parser = argparse.ArgumentParser(description='End-to-end tests on the real runtime.')
    parser.add_argument('-k', action='append', default=[], metavar='TEXT')
    parser.add_argument('-j', type=int, default=min(4, (os.cpu_count() or 1) + 1), metavar='N')
    parser.add_argument('--lane', action='append', default=[], metavar='NAME')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--build', action='store_true')
    parser.add_argument('--framework', default=harness.DEFAULT_FRAMEWORK)
    arguments = parser.parse_args()
    if arguments.framework != harness.DEFAULT_FRAMEWORK:
        harness.use_framework(arguments.framework)

    if arguments.lane:
        selection.use_lanes(arguments.lane)
    found = [test for test in discover() if not arguments.lane or getattr(test[1], 'lanes', set()) & set(arguments.lane)]
    found = selection.named(arguments.k, found)
    tests = [test[:3] for test in found if test[3]]
    if arguments.list:
        for name, _, _ in tests:
            print(name)
        return 0
    for needed in harness.TOOL, harness.LIBRARY:
        if not arguments.build and not os.path.exists(needed):
            print('%s is missing: run make first' % os.path.relpath(needed, harness.ROOT), file=sys.stderr)
            return 1
    runner = Runner(arguments.keep)
    wanted = {need for _, function, values in tests for need in programs_of(function, values)}
    published = {tuple(one) for _, function, values in tests for one in published_by(function, values)}
    if arguments.build:
        threading.Thread(target=consumers.prepare).start()  # it waits for a network, building does not
    harness.PROGRAM.build(wanted, published, say=lambda text: print('       ' + text, flush=True))
    if arguments.build:
        examples()
        for make in {make for test in tests for make in getattr(test[1], 'prepares', [])}:
            with contextlib.suppress(harness.Skip, AssertionError):  # the test that needs it will say what is missing
                make()
        return 0
    many = [test for test in tests if not getattr(test[1], 'heavy', False)]
    many.sort(key=lambda test: not getattr(test[1], 'early', False))
    beside = [test for test in many if arguments.j > 1 and getattr(test[1], 'waits', False)]
    with concurrent.futures.ThreadPoolExecutor(WAITING) as waiting, concurrent.futures.ThreadPoolExecutor(max(1, arguments.j)) as pool:
        jobs = [(waiting if test in beside else pool).submit(runner.one, *test) for test in many]
        for job in jobs:
            job.result()
    harness.PROGRAM.server.end()
    for test in tests:
        if getattr(test[1], 'heavy', False):
            runner.one(*test)
    if len(tests) < len(found):
        print(left_out(found))
    for name in runner.failed:
        print('failed: e2e %s   run: %s' % (name, alone(name, arguments)))
    print('%d passed, %d failed%s' % (runner.passed, len(runner.failed),
                                      ', %d skipped' % runner.skipped if runner.skipped else ''))
    if not arguments.keep:
        harness.SHARED.end()
    return 1 if runner.failed or not runner.passed + runner.skipped else 0


if __name__ == '__main__':
    sys.exit(main())
