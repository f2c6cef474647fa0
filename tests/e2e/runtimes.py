#!/usr/bin/env python3
"""
The newest patch of each runtime, with each hook set: one line per row.

usage: tests/e2e/runtimes.py [-k TEXT]... [-j N] [--fresh] [--list]

Compilers and a server under load, every program of the tests, all threads stopped and walked; logical stacks; then the groups
of tests that depend on the runtime, in full, and the live objects of large programs on the newest runtime. A row that passed
on these sources and this build does not run again; --fresh runs it anyway. A row that cannot run is a failure.

-k TEXT  only rows whose name contains TEXT (several: any of them)
-j N     N at once (default 1)
"""
import argparse
import concurrent.futures
import contextlib
import functools
import json
import os
import re
import shutil
import sys
import time

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
import lanes  # noqa: E402
import matrix  # noqa: E402
import test_logical  # noqa: E402
import volume  # noqa: E402
from harness import BUILD, ENVIRONMENT, FRAMEWORKS, HERE, HOOKS, PROGRAM, PROGRAMS, ROOT, SDK_FRAMEWORK, SDK_PATCHED  # noqa: E402

RUNTIMES = tuple(SDK_PATCHED if framework == SDK_FRAMEWORK else framework for framework in FRAMEWORKS)
NEWEST = RUNTIMES[0]

# Programs that need words, and those that are not recorded as they are: libraries, compilers and a server (separate rows), packages
# of others, what is published in several builds, waits for samples, or ends by a crash or a signal; tests record these.
WORDS = {'Collectible': ['contexts', '100', '0'], 'Echo': ['out', 'one'], 'LineTruth': ['60'], 'Ticker': ['--seconds', '1']}
NOT_RECORDED = {'Blogging', 'Compilers', 'Endpoints', 'HardEnd', 'LostBase', 'NoMain', 'OwnLib', 'OwnPlugin', 'Sampled', 'Spawner',
                'StartupHook', 'ThrowingStart', 'Towers', 'Unhandled', 'Values', 'Weather', 'WebServer'}
ONLY_FROM = {'RuntimeAsync': 10, 'RuntimeAsyncDebug': 10, 'LogicalRuntime': 10}

# Groups of tests: the default runtime, and texts of names. Tests with a parameter `framework` run on each value of it; in the first
# row, .NET 10 has its newest patch.
GROUPS = (('every runtime', SDK_PATCHED, ('runtime_async.', 'families.', 'threads.', 'steady.', 'values.', 'negative.random',
                                          'negative.all_rules', 'nested.', 'logical.', 'own.a_server_allocated')),
          ('newest runtime', NEWEST, ('families.', 'threads.threads_of', 'torture.', 'logical.', 'origin.', 'dynamic.', 'known.',
                                      'own.stacks', 'negative.without', 'sampler.', 'attach.')))


def major(framework):
    return int(re.match(r'net(\d+)', framework)[1])


def programs():
    """Names of those that are recorded as they are."""
    for name in sorted(os.listdir(PROGRAMS)):
        if name not in NOT_RECORDED and any(os.path.exists(os.path.join(PROGRAMS, name, name + end)) for end in ('.csproj', '.fsproj')):
            yield name


def program_rows():
    for framework in RUNTIMES:
        for hooks in HOOKS:
            for name in programs():
                if major(framework) < ONLY_FROM.get(name, 0):
                    continue

                def judged(folder, name=name, framework=framework, hooks=hooks):
                    return matrix.judge(PROGRAM.command(name, framework) + WORDS.get(name, []), folder, hooks,
                                        dict(ENVIRONMENT, DOTNET_RuntimeAsync='1'), 1)
                yield '%s %s %s check=1' % (name, framework, hooks), judged


def reaching_main(program, framework, folder):
    """(rows, those of them whose stack ends in Main) of the program's own types; raises if a path is wrong."""
    t = harness.Test('runtimes.%s.%s' % (program, framework))
    r = t.record(PROGRAM.command(program, framework), env=dict(ENVIRONMENT, DOTNET_RuntimeAsync='1', DOTNET_GCgen0size='0x20000'))
    t.equal(r.status, 0, r)
    test_logical.check(t, r)
    rows = [row for row in r.report()['rows'] if row['type'].startswith('Logical.')]
    shutil.rmtree(t.folder)
    return len(rows), sum(test_logical.own(row['stack'])[-1:] == ('Program.Main',) for row in rows)


def logical_rows():
    """The share of rows that reach Main is the same on the newest runtime as on the one before, and none is wrong."""
    for program in 'Logical', 'LogicalRuntime':
        def judged(folder, program=program):
            found = {framework: reaching_main(program, framework, folder) for framework in (NEWEST, SDK_PATCHED)}
            text = ', '.join('%s: %d of %d' % (framework, main, rows) for framework, (rows, main) in found.items())
            shares = [main / rows for rows, main in found.values()]
            return {'compared': 0, 'text': text}, 'the shares differ: ' + text if abs(shares[0] - shares[1]) > 0.01 else None
        yield 'logical %s' % program, judged


def of_another(command, **environment):
    """What a test program says in its last line, and what failed or was skipped."""
    result = harness.run([sys.executable, *command], timeout=7200, cwd=ROOT, env=dict(os.environ, **environment))
    last = (result.text.strip().splitlines() or ['?'])[-1]
    compared = re.search(r'(\d+) objects compared', last)
    told = re.findall(r'^(?:FAIL|failed:|skip) .*(?:\n       .*)*', result.text, re.M)
    numbers = {'compared': int(compared[1]) if compared else 0, 'text': last}
    return numbers, '\n'.join(told) or str(result) if result.status else None


def group_rows():
    for name, framework, texts in GROUPS:
        for text in texts:
            yield 'tests %s: %s' % (name, text), lambda folder, framework=framework, text=text: of_another(
                [os.path.join(HERE, 'run.py'), '-j', '1', '--framework', framework, '-k', text], SHADOWTRACE_ALL='combinations')


def volume_rows():
    for name, _ in volume.rows():
        if ' %s ' % NEWEST in name:
            yield 'live ' + name, lambda folder, name=name: of_another([os.path.join(HERE, 'volume.py'), '-j', '1', '-k', name])


class Kept:
    """What rows passed, in a file; it holds for these sources and this build."""

    def __init__(self, fresh):
        self.version = lanes.version_of(BUILD)
        self.path = os.path.join(BUILD, 'lanes', 'runtimes.rows')
        self.rows = {}
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with contextlib.suppress(OSError), open(self.path, encoding='utf-8') as file:
            for row in map(json.loads, file):
                if row['version'] == self.version and not fresh:
                    self.rows[row['name']] = row['numbers']

    def judged(self, name, judge, folder):
        """(numbers, what is wrong) of an earlier run or of this one."""
        if name in self.rows:
            return dict(self.rows[name], text=self.rows[name]['text'] + ', earlier'), None
        try:
            numbers, wrong = judge(folder)
        except harness.Skip as skip:
            return None, 'cannot run: %s' % skip
        if not wrong:
            self.rows[name] = numbers
            with open(self.path, 'a', encoding='utf-8') as file:
                file.write(json.dumps({'name': name, 'version': self.version, 'numbers': numbers}) + '\n')
        return numbers, wrong

    def live_objects(self):
        return sum(numbers['compared'] for name, numbers in self.rows.items() if name.startswith('live '))


def main():
    parser = argparse.ArgumentParser(description='Large programs and all tests of runtimes, on the newest patch of each.')
    parser.add_argument('-k', action='append', default=[], metavar='TEXT')
    parser.add_argument('-j', type=int, default=1, metavar='N')
    parser.add_argument('--fresh', action='store_true')
    parser.add_argument('--list', action='store_true')
    arguments = parser.parse_args()
    wanted = lambda rows: [row for row in rows if not arguments.k or any(text in row[0] for text in arguments.k)]
    beside = wanted([*matrix.beside(RUNTIMES), *program_rows(), *logical_rows()])
    alone = wanted([*(row for row in matrix.alone(RUNTIMES) if not row[0].startswith('dotnet build')), *volume_rows(), *group_rows()])
    if arguments.list:
        print('\n'.join(name for name, _ in beside + alone))
        return 0
    start, kept, printer = time.monotonic(), Kept(arguments.fresh), matrix.Printer(False)
    PROGRAM.build({tuple(name.split()[:2]) for name, _ in beside + alone if name.split()[0] in {*programs(), 'WebServer'}},
                  say=lambda text: print('     ' + text, flush=True))
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.j)) as pool:
        for name, judge in beside:
            pool.submit(printer.one, name, functools.partial(kept.judged, name, judge))
    for name, judge in alone:
        printer.one(name, functools.partial(kept.judged, name, judge))
    few = not arguments.k and kept.live_objects() < volume.ENOUGH
    failed = printer.failed or few or not printer.cells
    print('%s: %d rows, %d failed, %d comparisons, of them %d live objects%s, %.0f minutes' % (
        'FAIL' if failed else 'ok', printer.cells, printer.failed, printer.compared, kept.live_objects(),
        ', fewer than %d' % volume.ENOUGH if few else '', (time.monotonic() - start) / 60))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
