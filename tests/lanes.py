#!/usr/bin/env python3
"""
The lanes of `make check-all`: `make check`, and the long runs next to it. One summary at the end, with each lane's time.

usage: tests/lanes.py BUILD [--lane NAME]... [--fresh] [--list]
       tests/lanes.py --self-test

A lane that passed on these sources and this build does not run again; --fresh runs it anyway. A failed lane does not stop
the others. Ctrl-C stops the running lane, and names those that did not run. BUILD/lanes keeps the output of each lane.
Exit status: 0 if every lane passed or was skipped, 1 if one failed, 130 if they were interrupted.
"""
import argparse
import collections
import contextlib
import ctypes
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NO_RUN = 77  # exit status of a lane that cannot run here; its last line says why
GRACE = 10  # seconds that an interrupted lane has to end by itself

# minutes: rough, on two processors. needs: what src/package/install.sh does not install.
Lane = collections.namedtuple('Lane', 'name minutes command proves needs environment', defaults=('', {}))


def e2e(name, minutes, proves, needs='', jobs=1):
    """Tests that name this lane (tests/e2e/selection.py), in full."""
    return Lane(name, minutes, ['python3', 'tests/e2e/run.py', '-j', str(jobs), '--lane', name], proves, needs)


LANES = [
    Lane('check', 15, ['python3', 'tests/check.py', '{build}'], 'Every test of `make check` passes.', 'NuGet, npm'),
    Lane('matrix', 60, ['python3', 'tests/e2e/matrix.py', '--all'],
         'Stacks are exact on every runtime, kind of hooks and setting of the JIT.', 'NuGet'),
    Lane('runtimes', 150, ['python3', 'tests/e2e/runtimes.py'],
         'Compilers, a server, all programs and tests of runtimes are exact on the newest patch of each runtime.', 'NuGet'),
    Lane('faults', 30, ['python3', 'tests/e2e/faults.py'],
         'A failed system call or allocation in the tracer changes neither the program nor the truth of its log.'),
    e2e('kills', 10, 'A recording that is killed keeps everything older than a second: 200 kills.'),
    e2e('load', 10, 'A loaded server and a compiler lose nothing silently, in logs of millions of lines.'),
    e2e('combinations', 15, 'What runs in `make check` in a sample holds in every combination of runtime, hooks, build and program.', 'NuGet', jobs=3),
    e2e('arm64', 40, 'On arm64, emulated, every stack equals the snapshot, and the hooks keep every register.', 'NuGet, a Debian mirror'),
    e2e('musl', 15, 'On musl, every stack equals the snapshot, and processes are attached to in roots of their own.', 'NuGet'),
    e2e('walk', 20, 'Every walked stack equals the snapshot, on every runtime and setting of the JIT.', jobs=2),
    e2e('programs', 40, 'Compilers, builds, servers and tools that others wrote are exact in every view and export.', 'NuGet', jobs=2),
    e2e('unload', 20, 'Memory does not grow while code is loaded and unloaded.'),
    e2e('packages', 20, 'The Debian package is reproducible, passes lintian, and runs in a clean root.', 'a Debian mirror'),
    e2e('browsers', 10, 'The page shows in Firefox what it shows in Chromium.', 'npm'),
    e2e('live', 60, "Live objects equal the runtime's heap walk for each pair of settings.", 'NuGet', jobs=3),
    e2e('gate', 1, '20 further runs hold the budget that 5 runs taught.'),
    Lane('volume', 30, ['python3', 'tests/e2e/volume.py'], "Live objects of large programs equal the runtime's heap walk: 50 million.", 'NuGet'),
    Lane('walk-volume', 30, ['python3', 'tests/e2e/walk_volume.py'], 'Walked stacks of large programs equal the snapshot: 100 million.', 'NuGet'),
    Lane('heaps', 1, ['{build}/unit/heap/test_networkx'], 'Retained sizes of 10,000 random graphs equal those of networkx.',
         environment={'HEAPS': '10000'}),
    e2e('fsharp', 10, 'All views and exports agree on four million objects of the F# compiler.', 'npm'),
    e2e('nupkg', 4, 'The NuGet package is reproducible in another folder.', 'NuGet, Debian sources'),
    e2e('benchmarks', 10, 'The BenchmarkDotNet diagnoser agrees with MemoryDiagnoser and with the source.', 'NuGet'),
    e2e('testhost', 15, 'The CI pipelines, `dotnet test` and the assertions work with real test frameworks.', 'NuGet'),
    e2e('clickhouse', 10, 'The schema and the queries of a fleet are right in a real ClickHouse.', 'npm'),
    Lane('fleet', 30, ['python3', 'tests/e2e/fleet_volume.py'], 'The rows of 100 processes add up in ClickHouse: 20 million events.'),
    e2e('ship', 10, '100 kills and 10 outages of the server change no sum that ship sends.'),
    e2e('dumps', 70, 'No dump of 64 threads at full speed is torn: 100,000 dumps.'),
    e2e('attach', 15, 'A loaded server survives 200 attaches, and its memory does not grow; 200 races lead root nowhere.'),
    e2e('serve', 12, 'Scrapes of ten minutes add up to the log.'),
    e2e('sampler', 15, 'The ranges of estimates hold in 94 of 100 cases: 50 recordings.'),
    Lane('soak', 22, ['make', 'soak'], 'Loaded servers survive 20 minutes of random faults, unloading, and attach.', 'mount in a user namespace'),
    Lane('soak-walk', 22, ['python3', 'tests/e2e/soak.py', '--capture', 'walk'], 'The same, recorded by walks.', 'mount in a user namespace'),
    Lane('copies-thread', 15, ['make', 'SAN=thread', 'copies'], '100,000 copies of all stacks race with nothing, says ThreadSanitizer.'),
    Lane('copies-address', 15, ['make', 'SAN=address,undefined', 'copies'],
         '100,000 copies of all stacks touch no memory that was freed, says AddressSanitizer.'),
]


# ---- what a result holds for

def sources():
    """Paths of all sources, from the root: git's, or in a source package everything that is there."""
    if os.path.exists(os.path.join(ROOT, '.git')):
        listed = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE).stdout
        return sorted(set(listed.decode().split('\0')) - {''})
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ('build', 'debian', '__pycache__')]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(found)


def version_of(build):
    """The sources and the build, as one number: a result holds as long as it is the same."""
    digest = hashlib.sha256()
    built = [os.path.relpath(os.path.join(build, name), ROOT) for name in ('shadowtrace', 'libshadowtrace.so')]
    for path in sources() + built:
        digest.update(path.encode() + b'\0')
        with contextlib.suppress(FileNotFoundError), open(os.path.join(ROOT, path), 'rb') as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


# ---- running one

LIBC = ctypes.CDLL(None)


class Interrupt:
    """SIGINT or SIGTERM: ends a lane that runs, by KeyboardInterrupt, and is remembered at any other moment."""
    asked = armed = False

    @classmethod
    def take(cls, *_):
        cls.asked = True
        if cls.armed:
            cls.armed = False
            raise KeyboardInterrupt

    @classmethod
    def arm(cls):
        """From here to the KeyboardInterrupt, or until armed is False."""
        cls.armed = True
        if cls.asked:
            cls.take()


def adopt_orphans():
    """Processes of a lane whose parents end become our children, so that none outlives its lane."""
    LIBC.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER


def children():
    with contextlib.suppress(OSError), open('/proc/thread-self/children', encoding='ascii') as file:
        return [int(pid) for pid in file.read().split()]
    return []


def end_children():
    """Kills our children, and theirs, which become ours."""
    while found := children():
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in found:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def exit_status(process):
    """Waits for the process, and reaps the orphans that end meanwhile."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode


def ask_to_end(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    end = time.monotonic() + GRACE
    while process.returncode is None and time.monotonic() < end:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:  # reaped as the signal came
            return
        if pid == process.pid:
            process.returncode = os.waitstatus_to_exitcode(status)
        elif not pid:
            time.sleep(0.05)


def run(command, log, environment):
    """The exit status of a command; what it says goes to our stdout and into the log. Nothing of it is left running."""
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True)

    def copy():
        with open(log, 'wb') as file:
            for line in process.stdout:
                file.write(line)
                file.flush()
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
    copier = threading.Thread(target=copy)
    copier.start()
    try:
        Interrupt.arm()
        return exit_status(process)
    except KeyboardInterrupt:
        ask_to_end(process)
        raise
    finally:
        Interrupt.armed = False
        end_children()
        process.returncode = process.returncode or 0  # reaped above
        copier.join()


def without_jobs(environment):
    """MAKEFLAGS without the job server of the make that started us: it is not for our children."""
    flags = ' '.join(flag for flag in environment.get('MAKEFLAGS', '').split() if not flag.startswith(('-j', '--jobserver')))
    return dict(environment, MAKEFLAGS=flags)


class Result:
    """One row of the summary, and what is kept of a lane between runs."""

    def __init__(self, lane, outcome='not run', seconds=0, tests='', failed=()):
        self.lane, self.outcome, self.seconds, self.tests, self.failed = lane, outcome, seconds, tests, list(failed)

    def __str__(self):
        time_ = '%d:%02d' % divmod(round(self.seconds), 60) if self.seconds else ''
        return '%-15s %-15s %8s  %s' % (self.lane.name, self.outcome, time_, self.tests)


def judged(lane, status, output, seconds):
    """The result of a lane that ended; its counts and failed tests are read out of what it said."""
    lines = output.strip().splitlines() or ['']
    if status and re.match(r'make: \*\*\* .* Error %d$' % NO_RUN, lines[-1]):  # make's own status is another
        status = NO_RUN
        lines.pop()
    tests = [line for line in lines if re.match(r'\d+ passed, \d+ failed', line)][-1:] or lines[-1:]
    nothing = tests[0].startswith('0 passed, 0 failed') or '[  SKIPPED ]' in output and '[       OK ]' not in output
    if status == NO_RUN or not status and nothing:
        return Result(lane, 'skipped', seconds, tests[0])
    if not status:
        return Result(lane, 'passed', seconds, tests[0])
    return failed(lane, seconds, tests[0], re.findall(r'^failed: (.*)$', output, re.M))


def failed(lane, seconds, said, tests=()):
    return Result(lane, 'FAILED', seconds, said, tests or ['%s   run: make check-all LANE=%s' % (lane.name, lane.name)])


class Lanes:
    def __init__(self, lanes, build, version, environment):
        self.lanes, self.version, self.environment = lanes, version, environment
        self.build, self.folder = build, os.path.join(build, 'lanes')
        os.makedirs(self.folder, exist_ok=True)

    def state_path(self, lane):
        return os.path.join(self.folder, lane.name + '.json')

    def kept(self, lane):
        """What the last run of a lane was, and whether it was on this version."""
        with contextlib.suppress(OSError, ValueError), open(self.state_path(lane), encoding='utf-8') as file:
            state = json.load(file)
            return Result(lane, state['outcome'], state['seconds'], state['tests']), state['version'] == self.version
        return None, False

    def keep(self, result):
        state = {'outcome': result.outcome, 'seconds': result.seconds, 'tests': result.tests, 'version': self.version}
        with open(self.state_path(result.lane) + '.new', 'w', encoding='utf-8') as file:
            json.dump(state, file)
        os.replace(file.name, self.state_path(result.lane))

    def one(self, lane):
        start, log = time.monotonic(), os.path.join(self.folder, lane.name + '.log')
        command = [word.replace('{build}', self.build) for word in lane.command]
        print('lane %s: %s' % (lane.name, lane.proves), flush=True)
        try:
            status = run(command, log, dict(self.environment, **lane.environment))
        except FileNotFoundError as error:
            return Result(lane, 'skipped', 0, '%s is not there' % os.path.relpath(error.filename, ROOT))
        with open(log, encoding='utf-8', errors='replace') as file:
            return judged(lane, status, file.read(), time.monotonic() - start)

    def run(self, fresh, before=lambda lane: None):
        """Runs them all; before: called before each that runs. Returns the results, and whether they were interrupted."""
        results = {lane.name: Result(lane) for lane in self.lanes}
        try:
            for lane in self.lanes:
                kept, current = self.kept(lane)
                if current and kept.outcome == 'passed' and not fresh:
                    kept.outcome = 'passed earlier'
                    results[lane.name] = kept
                    continue
                if Interrupt.asked:
                    break
                before(lane)
                results[lane.name] = Result(lane, 'interrupted')
                results[lane.name] = self.one(lane)
                self.keep(results[lane.name])
                print(results[lane.name], flush=True)
        except KeyboardInterrupt:
            pass
        return list(results.values()), Interrupt.asked

    def listed(self, packages=lambda lane: ''):
        """A table of the lanes: what each proves, takes and needs, and its last result on this version."""
        for lane in self.lanes:
            kept, current = self.kept(lane)
            needs = ', '.join(filter(None, [packages(lane), lane.needs]))
            yield '%-15s %3d min  %s%s%s' % (lane.name, lane.minutes, lane.proves, ' Needs %s.' % needs if needs else '',
                                           ' [%s]' % kept.outcome if current else '')


def summary(results, interrupted):
    """Lines, and the exit status."""
    counts = collections.Counter(result.outcome for result in results)
    lines = ['', '%-15s %-15s %8s  %s' % ('lane', 'result', 'min:s', 'tests')] + [str(result) for result in results]
    lines += ['failed: %s' % name for result in results for name in result.failed]
    if interrupted:
        lines.append('interrupted; not run: %s' % ' '.join(
            result.lane.name for result in results if result.outcome in ('not run', 'interrupted')))
    lines.append('%d lanes passed (%d of them earlier), %d failed, %d skipped, %d not run' % (
        counts['passed'] + counts['passed earlier'], counts['passed earlier'], counts['FAILED'], counts['skipped'],
        counts['not run'] + counts['interrupted']))
    return lines, 130 if interrupted else 1 if counts['FAILED'] else 0


# ---- self-test

def self_test():
    """Fake lanes, and whether the tests and the table name the same lanes."""
    shell = lambda name, script: Lane(name, 1, ['sh', '-c', script], 'It is a fake.', environment={'GIVEN': 'yes'})
    with tempfile.TemporaryDirectory() as build:
        more = 'echo ran >>%s/count; ' % build
        fakes = [shell('good', more + '[ "$GIVEN" = yes ] && echo "3 passed, 0 failed, 2 skipped"'),
                 shell('bad', more + 'echo "failed: e2e a[b]   run: x"; echo "1 passed, 1 failed"; exit 1'),
                 shell('dumb', more + 'echo why; exit 3'), shell('cannot', more + 'echo no network; echo "make: *** [Makefile:1: cannot] Error 77"; exit 2'),
                 shell('empty', more + 'echo "0 passed, 0 failed, 5 skipped"'), shell('last', more + 'sleep 1000 & echo $!')]
        ran = lambda: sum(1 for _ in open(build + '/count', encoding='ascii'))
        said, sys.stdout = sys.stdout, open(os.devnull, 'w', encoding='utf-8')
        results, interrupted = Lanes(fakes, build, '1', os.environ).run(False)
        assert [r.outcome for r in results] == ['passed', 'FAILED', 'FAILED', 'skipped', 'skipped', 'passed'], results
        assert [results[0].tests, results[3].tests] == ['3 passed, 0 failed, 2 skipped', 'no network']
        lines, status = summary(results, interrupted)
        assert status == 1 and lines[-1] == '2 lanes passed (0 of them earlier), 2 failed, 2 skipped, 0 not run', lines
        assert lines[-3:-1] == ['failed: e2e a[b]   run: x', 'failed: dumb   run: make check-all LANE=dumb'], lines
        assert not os.path.exists('/proc/' + results[-1].tests), 'a process outlives its lane'
        # Again: only what did not pass. On other sources, and with --fresh: all.
        for version, fresh, expected in ('1', False, 4), ('2', False, 6), ('2', True, 6):
            before = ran()
            results, interrupted = Lanes(fakes, build, version, os.environ).run(fresh)
            assert ran() - before == expected, (version, fresh, ran() - before)
        assert '[passed]' in next(Lanes(fakes, build, '2', os.environ).listed())
        assert '[passed]' not in next(Lanes(fakes, build, '1', os.environ).listed())
        absent = Lane('absent', 1, ['{build}/absent'], 'It is not built.')
        assert Lanes([absent], build, '1', os.environ).one(absent).outcome == 'skipped'
        # Interrupted in the second: it and what it started end, and the rest is named.
        stops = shell('stops', 'sleep 1000 & echo $! >%s/pid; kill -INT %d; wait' % (build, os.getpid()))
        results, interrupted = Lanes([fakes[0], stops, fakes[2]], build, '3', os.environ).run(False)
        lines, status = summary(results, interrupted)
        sys.stdout, Interrupt.asked = said, False
        assert (interrupted, status) == (True, 130) and 'interrupted; not run: stops dumb' in lines, lines
        with open(build + '/pid', encoding='ascii') as file:
            assert not os.path.exists('/proc/' + file.read().strip()), 'a process outlives the interrupt'
    test_selection()
    assert without_jobs({'MAKEFLAGS': ' -j2 --jobserver-auth=3,4 V=1'})['MAKEFLAGS'] == 'V=1'
    named = set()
    for name in os.listdir(os.path.join(ROOT, 'tests/e2e')):
        if name.endswith('.py') and name != 'selection.py':
            with open(os.path.join(ROOT, 'tests/e2e', name), encoding='utf-8') as file:
                named |= set(re.findall(r"(?:@lane|@(?:harness\.)?longer|\bfull)\('(\w+)'|\bfull=\('(\w+)'", file.read()))
    named = {one or other for one, other in named} | {'combinations'}  # of @sampled
    assert named == {lane.name for lane in LANES if '--lane' in lane.command}, 'lanes of tests, and lanes of the table: %s' % sorted(
        named ^ {lane.name for lane in LANES if '--lane' in lane.command})
    assert len({lane.name for lane in LANES}) == len(LANES)
    print('every fake lane ended as it should')


def test_selection():
    """What tests run, and with which values, in `make check` and in a lane: tests/e2e/selection.py."""
    sys.path.insert(0, os.path.join(ROOT, 'tests/e2e'))
    sys.dont_write_bytecode = True
    import selection

    def runs(*lanes):
        selection.use_lanes(lanes)

        @selection.lane('live', sample=lambda hooks, **_: hooks == 'elt3')
        @selection.each('hooks', 'elt2', 'elt3')
        @selection.each('log', 'events', full=('logs', ('events', 'sites')))
        def test_some(): pass

        @selection.longer('logs')
        def test_more(): pass

        @selection.lane('live')
        def test_rare(): pass
        return [name for test in (test_some, test_more, test_rare) for name, _, does in selection.variants(test) if does] + \
            [selection.full('logs', 1, 2)]
    try:
        assert runs() == ['some[elt3,events]', 'more', 1], runs()
        assert runs('live') == ['some[elt2,events]', 'some[elt3,events]', 'more', 'rare', 1], runs('live')
        assert runs('logs') == ['some[elt3,events]', 'some[elt3,sites]', 'more', 2], runs('logs')
        assert len(runs('1')) == 7, runs('1')
    finally:
        selection.use_lanes([])
    tests = [('a.b',), ('a.bc',), ('b.a',)]
    assert selection.named(['a.b'], tests) == tests[:1] and selection.named(['.b', 'b.'], tests) == tests
    assert selection.named([], tests) == tests


# ---- main

def install(*groups, check=True):
    return subprocess.run(['sh', os.path.join(ROOT, 'src/package/install.sh'), *groups], check=check, cwd=ROOT)


def packages(lane):
    """Debian packages that only this lane needs."""
    listed = subprocess.run(['sh', os.path.join(ROOT, 'src/package/install.sh'), '--packages', lane.name], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE).stdout
    return ', '.join(listed.decode().split())


def main():
    parser = argparse.ArgumentParser(description='The lanes of `make check-all`.')
    parser.add_argument('build', nargs='?')
    parser.add_argument('--lane', action='append', default=[], metavar='NAME')
    parser.add_argument('--fresh', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--self-test', action='store_true')
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, Interrupt.take)
    signal.signal(signal.SIGINT, Interrupt.take)  # also in a job in the background
    adopt_orphans()
    if arguments.self_test:
        return self_test()
    if not arguments.build:
        parser.error('BUILD is missing')
    unknown = sorted(set(arguments.lane) - {lane.name for lane in LANES})
    if unknown:
        parser.error('no such lane: %s; `make check-all LIST=1` lists them' % ', '.join(unknown))
    build = os.path.abspath(arguments.build)
    environment = without_jobs(dict(os.environ, SHADOWTRACE_BUILD=build))
    lanes = Lanes([lane for lane in LANES if not arguments.lane or lane.name in arguments.lane], build, version_of(build), environment)
    if arguments.list:
        for line in lanes.listed(packages):
            print(line)
        return 0
    results, interrupted = lanes.run(arguments.fresh, before=lambda lane: install(lane.name, check=False))
    lines, status = summary(results, interrupted)
    print('\n'.join(lines))
    return status


if __name__ == '__main__':
    sys.exit(main())
