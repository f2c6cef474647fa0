#!/usr/bin/env python3
"""Runs every test of a build and ends with one line that counts them. Before it: each that failed, and how to run it alone.

usage: tests/check.py BUILD [--only PART]... [-k NAME]
       tests/check.py --self-test

-k NAME: only what is listed under this name; it is for parts other than e2e.

Parts: lint (levels, circles and sizes of the sources: tests/lint.py; that the runners of tests work), unit (cmocka programs), fuzz (corpora replayed),
product (exported symbols, thread-local size, headers that compile alone), examples (each run), e2e (the real runtime;
tests/e2e/run.py). The programs of e2e are built while the others run, of which there are as many at once as there are
processors, and one more: many only wait.
"""
import argparse
import concurrent.futures
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONG = 1800  # seconds after which a job hangs, on the busiest machine too: the longest takes 15 alone, an example a minute


def take_signals():
    """As in tests/e2e/harness.py: what nohup ignores, the tests are to get as usual."""
    for number in signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


class Totals:
    def __init__(self):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.again = []  # of what failed: its name, and the command that runs it alone

    def one(self, name, ok, output='', seconds=0.0, passed=0, failed=(), skipped=0, command=''):
        """
        One line. It stands for one test, or for `passed`, `skipped` and those that failed: (name, command) each. ok: None if it
        was skipped, with the reason in output.
        """
        line = '%-6s %-60s %5.1f s' % ('skip' if ok is None else 'ok' if ok else 'FAIL', name, seconds)
        if ok is None:
            line += '  ' + output.strip()
        elif not ok:
            line += '\n       ' + output.strip().replace('\n', '\n       ')
        failed = list(failed) or ([(name, command)] if ok is False else [])
        with self.lock:
            print(line, flush=True)
            self.passed += max(passed, ok is True)
            self.failed += len(failed)
            self.skipped += max(skipped, ok is None)
            self.again += failed

    def summary(self):
        for name, command in self.again:
            print('failed: %s   run: %s' % (name, command))
        print('%d passed, %d failed%s' % (self.passed, self.failed, ', %d skipped' % self.skipped if self.skipped else ''))
        return 1 if self.failed or not self.passed + self.skipped else 0


def told(words, **environment):
    """A command as one types it in the root, where the paths of the build are short."""
    short = lambda word: os.path.relpath(word, ROOT) if word.startswith(ROOT + os.sep) else word
    words = ['python3' if word == sys.executable else short(word) for word in words]
    return ' '.join(['%s=%s' % (name, shlex.quote(short(value))) for name, value in environment.items()] +
                    [shlex.quote(word) for word in words])


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
    """A cmocka program counts each of its tests; one that dies without a failed test counts as one failure."""
    start = time.monotonic()
    status, output = run([program], LONG) if os.path.exists(program) else (127, 'not built')
    passed = len(re.findall(r'^\[       OK \]', output, re.M))
    skipped = len(set(re.findall(r'^\[  SKIPPED \] (?:\S+: )?(\w+)$', output, re.M)))
    failed = sorted(set(re.findall(r'^\[  FAILED  \] (?:\S+: )?(\w+)$', output, re.M)))
    totals.one('unit %s (%d tests)' % (name, passed + len(failed) + skipped), status == 0 and passed + skipped > 0, output,
               time.monotonic() - start, passed, [('unit %s %s' % (name, test), told([program, test])) for test in failed], skipped,
               told([program]))


def needs_cmocka(name, totals):
    """Is cmocka there? If not, what is built with it is skipped."""
    there = not subprocess.run(['pkg-config', '--exists', 'cmocka'], check=False, stderr=subprocess.DEVNULL).returncode
    if not there:
        totals.one(name, None, 'cmocka is not installed')
    return there


def unit(build, totals):
    if not needs_cmocka('unit', totals):
        return
    for source in files_in(os.path.join(ROOT, 'tests/unit'), '.c'):
        name = os.path.relpath(source, os.path.join(ROOT, 'tests/unit'))[:-2]
        folders = os.path.dirname(name).split(os.sep)
        if not os.path.basename(name).startswith('test_') or len(folders) > 1 and folders[1] != os.uname().machine:
            continue  # the latter are of another CPU
        yield 'unit ' + name, unit_one, os.path.join(build, 'unit', name), name, totals


def timed(name, command, timeout, totals, **environment):
    """A command that is one test; exit status 77 skips it, and its last line says why."""
    start = time.monotonic()
    try:
        status, output = run(command, timeout, env=dict(os.environ, **environment))
    except OSError as error:
        status, output = 127, str(error)
    reason = (output.strip().splitlines() or ['?'])[-1]
    totals.one(name, None if status == 77 else status == 0, reason if status == 77 else output, time.monotonic() - start,
               command=told(command, **environment))


def job(name, command, timeout, totals, **environment):
    return (name, lambda: timed(name, command, timeout, totals, **environment))


def lint(_, totals):
    """Also that it finds what it looks for."""
    for name, script, *more in (('levels, circles, lengths', 'lint.py'), ('what it looks for is found', 'lint.py', '--self-test'),
                                ('the summary of make check', 'check.py', '--self-test'),
                                ('the lanes of make check-all', 'lanes.py', '--self-test')):
        yield job('lint: ' + name, [sys.executable, os.path.join(ROOT, 'tests', script), *more], LONG, totals)


def fuzz(build, totals):
    yield 'fuzz corpora', corpora, build, totals
    if not needs_cmocka('fuzz', totals):
        return
    for target in files_in(os.path.join(build, 'fuzz')):
        name = os.path.basename(target)
        corpus = os.path.join(ROOT, 'tests/fuzz/corpus', name.replace('fuzz_', '', 1))
        if not os.access(target, os.X_OK) or not os.path.isdir(corpus):
            continue
        inputs = {'fuzz_readers': '200', 'fuzz_client': '500', 'fuzz_follow': '1000', 'fuzz_live': '1000'}.get(name, '2000')
        yield job('fuzz ' + name, [target, '--mutate', inputs, '--seed', '1', corpus], LONG, totals)


def alone(name, build):
    """The command for a check without a separate program."""
    return told([sys.executable, 'tests/check.py', build, '-k', name])


def corpora(build, totals):
    """Lines of every kind there is lie in the corpora of both readers of logs."""
    with open(os.path.join(ROOT, 'include/shadowtrace/log_schema.json'), encoding='utf-8') as file:
        kinds = {record['$ref'].rsplit('/', 1)[1] for record in json.load(file)['oneOf']}
    for what in 'log', 'readers':
        found = set()
        for path in files_in(os.path.join(ROOT, 'tests/fuzz/corpus', what)):
            with open(path, 'rb') as file:
                found.update(re.findall(rb'"kind":"(\w+)"', file.read()))
        missing = sorted(kinds - {kind.decode() for kind in found})
        totals.one('fuzz corpus/%s has every kind of line' % what, not missing, 'missing: %s' % missing,
                   command=alone('fuzz corpora', build))


def exports(build, totals):
    status, output = run(['nm', '-D', '--defined-only', os.path.join(build, 'libshadowtrace.so')], LONG)
    exported = sorted(line.split()[-1] for line in output.splitlines() if line)
    with open(os.path.join(ROOT, 'tests/exports'), encoding='utf-8') as listed:
        expected = sorted(line.strip() for line in listed if line.strip() and not line.startswith('#'))
    name = 'product: exported symbols are those of tests/exports'
    totals.one(name, status == 0 and exported == expected, 'exported %s, listed %s' % (exported, expected), command=alone(name, build))


def product(build, totals):
    yield 'product: exported symbols are those of tests/exports', exports, build, totals
    yield job('product: thread-local data fits the static TLS of glibc',
              [os.path.join(ROOT, 'tests/tls-size'), os.path.join(build, 'libshadowtrace.so')], LONG, totals)
    yield job('product: code that reads thread-local data has no vector registers',
              [os.path.join(ROOT, 'tests/thread-data'), os.path.join(build, 'obj')], LONG, totals)
    for header in files_in(os.path.join(ROOT, 'include/shadowtrace'), '.h'):
        yield job('product: <%s> compiles alone' % os.path.relpath(header, os.path.join(ROOT, 'include')),
                  [os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-Werror', '-Iinclude', '-xc', '-fsyntax-only', header],
                  LONG, totals)


def examples(build, totals):
    for script in files_in(os.path.join(ROOT, 'examples'), 'run.sh'):
        yield job(os.path.relpath(os.path.dirname(script), ROOT), ['sh', script], LONG, totals, SHADOWTRACE_BUILD=build)


def run_e2e(build, totals):
    command = [sys.executable, 'tests/e2e/run.py']
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=ROOT,
                               env=dict(os.environ, SHADOWTRACE_BUILD=build))
    found = None
    for line in process.stdout:
        text = line.decode(errors='replace')
        match = re.match(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', text.strip())
        failed = re.match(r'^failed: (.*)   run: (.*)$', text.rstrip('\n'))
        if match:
            found = match
        elif failed:
            totals.again.append(failed.groups())
        else:
            print(text, end='', flush=True)
    status = process.wait()
    if found:
        totals.passed += int(found.group(1))
        totals.failed += int(found.group(2))
        totals.skipped += int(found.group(3) or 0)
    if not found or (status != 0) != (int(found.group(2)) > 0):
        totals.one('e2e: the runner itself', False, 'exit status %d' % status, command=told(command, SHADOWTRACE_BUILD=build))


# What runs beside others: (name, function, arguments...), one each. Those that take longest first, so that none ends alone.
LONGEST = 'unit profiler/test_callbacks', 'examples/tutorial', 'fuzz fuzz_client', 'unit log/test_bounds', 'examples/csc'
MANY = {'examples': examples, 'lint': lint, 'unit': unit, 'fuzz': fuzz, 'product': product}
PARTS = list(MANY) + ['e2e']


@contextlib.contextmanager
def e2e_building(build):
    """Builds the programs of e2e meanwhile. If one does not build, the tests that need it report it."""
    process = subprocess.Popen([sys.executable, 'tests/e2e/run.py', '--build'], stdin=subprocess.DEVNULL, cwd=ROOT,
                               env=dict(os.environ, SHADOWTRACE_BUILD=build))
    try:
        yield
    finally:
        process.wait()


FAKES = {
    'pkg-config': '[ -e "$FAKE/installed" ] || case " $LACKS " in *" $2 "*) exit 1 ;; esac',
    'apt-cache': '', 'dotnet': '', 'sudo': 'exec "$@"',
    'apt-get': 'echo "$*" >>"$FAKE/said"\n'
               'case " $* " in *" --assume-no "*) echo "0 upgraded, 3 newly installed, 0 to remove and 9 not upgraded."\n'
               'echo "Need to get 1,024 kB/2 MB of archives."; echo "After this operation, 5 MB of additional disk space will be used." ;;\n'
               '*) [ "$BROKEN" ] && exit 100; case " $* " in *" install "*) : >"$FAKE/installed" ;; esac ;; esac',
}


def installs(folder):
    """src/package/install.sh, with fakes of what it runs: what it says, does and returns."""
    for name, script in FAKES.items():
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write('#!/bin/sh\n%s\n' % script)
        os.chmod(file.name, 0o755)

    def ran(groups, lacks, **given):
        for name in 'said', 'installed':
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        result = subprocess.run(['sh', os.path.join(ROOT, 'src/package/install.sh'), *groups], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, check=False, text=True, env=dict(
                                    os.environ, **{'PATH': folder + ':' + os.environ['PATH'], 'FAKE': folder, 'LACKS': lacks,
                                                   'OFFLINE': '', 'BROKEN': '', **given}))
        return result.returncode, result.stdout, result.stderr, os.path.exists(os.path.join(folder, 'said'))

    assert ran(('build', 'parts'), '') == (0, '', '', False), ran(('build', 'parts'), '')
    done = ran(('build', 'parts'), 'jansson libcurl')
    assert done == (0, 'installing: libjansson-dev libcurl4-openssl-dev (3 with those they depend on, 1,024 kB to download, '
                    '5 MB of disk)\n', '', True), done
    status, _, errors, asked = ran(('tests',), 'cmocka', OFFLINE='1')
    assert (status, asked) == (0, False) and '(OFFLINE=1 installs nothing)' in errors and \
        'without libcmocka-dev: unit tests and fuzzers are skipped' in errors, errors
    status, _, errors, _ = ran(('parts',), 'libcurl', BROKEN='1')
    assert status == 0 and errors.endswith('without libcurl4-openssl-dev: `shadowtrace ship` is not built\n'), errors
    for given in {'OFFLINE': '1'}, {'BROKEN': '1'}:
        status, _, errors, _ = ran(('build',), 'jansson', **given)
        assert status == 1 and errors.splitlines()[-1].startswith('cannot build without: libjansson-dev ('), errors


def self_test():
    """Fake programs of each kind: their lines, the summary, and that its commands run what failed."""
    folder = tempfile.mkdtemp(prefix='a folder ')
    try:
        cmocka = ('echo "[       OK ] one"; echo "[  SKIPPED ] two"; case ${1-three} in three) echo "[  FAILED  ] three";; esac; '
                  'exit 1')
        for name, script in ('unit', cmocka), ('dies', 'exit 3'), ('passes', 'exit 0'), ('skips', 'echo no network; exit 77'):
            with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
                file.write('#!/bin/sh\n' + script + '\n')
            os.chmod(file.name, 0o755)
        totals, out = Totals(), io.StringIO()
        with contextlib.redirect_stdout(out):
            for name in 'unit', 'dies':
                unit_one(os.path.join(folder, name), 'x/' + name, totals)
            for name in 'passes', 'skips', 'dies':
                timed('t[%s]' % name, [os.path.join(folder, name)], 60, totals, GIVEN='a b')
            timed('gone', [os.path.join(folder, 'gone')], 60, totals)
            status = totals.summary()
        lines = out.getvalue().splitlines()
        assert status == 1 and lines[-1] == '2 passed, 4 failed, 2 skipped', lines
        assert any(line.startswith('skip   t[skips]') and line.endswith('s  no network') for line in lines), lines
        failed = [line.split('   run: ') for line in lines if line.startswith('failed: ')]
        assert [name for name, _ in failed] == ['failed: unit x/unit three', 'failed: unit x/dies (0 tests)', 'failed: t[dies]',
                                                'failed: gone'], failed
        for (_, command), expected in zip(failed, (1, 3, 3, 127)):
            assert subprocess.run(['sh', '-c', command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  check=False).returncode == expected, command
        assert failed[2][1].startswith("GIVEN='a b' '"), failed[2]
        installs(folder)
    finally:
        shutil.rmtree(folder)
    print('every fake test was counted, and named with the command that runs it')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', nargs='?')
    parser.add_argument('--only', action='append', choices=PARTS)
    parser.add_argument('-k', metavar='NAME')
    parser.add_argument('--self-test', action='store_true')
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if not arguments.build:
        parser.error('BUILD is missing')
    take_signals()
    totals = Totals()
    build, chosen = os.path.abspath(arguments.build), arguments.only or (list(MANY) if arguments.k else PARTS)
    with e2e_building(build) if 'e2e' in chosen else contextlib.nullcontext():
        with concurrent.futures.ThreadPoolExecutor((os.cpu_count() or 1) + 1) as pool:
            works = [work for name, part in MANY.items() if name in chosen for work in part(build, totals)
                     if arguments.k in (None, work[0])]
            jobs = [pool.submit(*work) for _, *work in sorted(works, key=lambda work: work[0] not in LONGEST)]
        for one in jobs:
            one.result()
    if 'e2e' in chosen:
        run_e2e(build, totals)
    return totals.summary()


if __name__ == '__main__':
    sys.exit(main())
