#!/usr/bin/env python3
"""
Faults, one at a time, in everything the tracer asks of the system: one line per form and kind, and every run that failed.

usage: tests/e2e/faults.py [-k FORM.KIND]... [-j N] [--every K] [--once | --always]

The n-th call of a kind (malloc, mmap, write, open, thread, register, socket) that comes from our library, jansson or zstd
fails once, and in another run from there on always. Which: the first of each way to one, that is, of those that the same
functions of the tracer called through each other, and the last of each way (only once: what fails after it failed for others).
A way that no run took, since threads were quicker or slower in it, is looked for again. With --every K it is every K-th call
up to the last one, whatever its way; with --every 0 a few spread over the range, as `make check` does.
Only runs in which a fault fired count. In each of them the program's output and exit status are those without the tracer; a
log with an end record adds up, and `validate` agrees; what the status file counts as written is in the log.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import json
import os
import shutil
import struct
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import ENVIRONMENT, LIBRARY, OUT, PROGRAM, TOOL  # noqa: E402

KINDS = ('malloc', 'mmap', 'write', 'open', 'thread', 'register', 'socket')
FOREVER = 1 << 62
SIZE = 4096
MOST_CALLS = 1 << 16  # of a kind, whose ways are recorded
LOG_LIMIT = 64 << 20  # bytes, unpacked: far more than any of these programs has to say
FOLDER = os.path.join(OUT, 'faults')
PRELOAD = os.path.join(FOLDER, 'libfault.so')

Form = collections.namedtuple('Form', 'program arguments options stdin', defaults=[None])

# What is recorded: the shortest program, plainly; call sites; threads with everything that allocates separately, compressed;
# a list that lives through a collection and is dead at the next.
FORMS = {
    'plain': Form('Hello', (), {}),
    'sites': Form('Hello', (), {'log': 'sites'}),
    'rich': Form('Threads', ('--case', 'names'), {
        'compress': True, 'events': ['alloc', 'calls', 'threads', 'modules', 'classes', 'exceptions', 'gc'], 'check': 100,
        'args': ['Torture.*'], 'profile': 100}),
    'live': Form('Kept', ('--nodes', '20000'), {'log': 'sites', 'live': True}, b'collect\ndrop\ncollect\n'),
}
LIVED = {'Kept.Node': 20000, 'Kept.Load': 20000}  # and died then, of those


build_lock = threading.Lock()


def build():
    """The library that makes calls fail. Threads: any."""
    with build_lock:
        build_once()


def build_once():
    source = os.path.join(harness.PROGRAMS, 'native', 'fault.c')
    os.makedirs(FOLDER, exist_ok=True)
    if not os.path.exists(PRELOAD) or os.path.getmtime(PRELOAD) < os.path.getmtime(source):
        made = '%s.%d' % (PRELOAD, os.getpid())
        result = harness.run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-O1', '-fPIC', '-shared', '-o', made,
                              source, '-ldl', '-lpthread'])
        if result.status:
            raise AssertionError('cannot build the library that makes calls fail\n%s' % result)
        os.replace(made, PRELOAD)


def faulty(folder, path, options=None, kind=None, first=0, last=0, ways=False):
    """The environment that records a program into `path`, with faults; folder/counts and folder/status are made."""
    status = os.path.join(folder, 'status')
    os.mkdir(status, 0o700)
    with open(os.path.join(folder, 'counts'), 'wb') as file:
        file.truncate(SIZE + (len(KINDS) * MOST_CALLS * 8 if ways else 0))
    options = dict({'version': 1, 'output': path, 'status': status}, **(options or {}))
    return dict({'FAULT_WAYS': '1'} if ways else {}, LD_PRELOAD=PRELOAD, FAULT_FILE=os.path.join(folder, 'counts'), FAULT_KIND=kind or '', FAULT_AT=str(first),
                FAULT_LAST=str(last), CORECLR_ENABLE_PROFILING='1', CORECLR_PROFILER_PATH=LIBRARY,
                CORECLR_PROFILER='{7B6A1F52-3C0E-4E57-9D35-5AD0B3C5E4A1}', SHADOWTRACE_OPTIONS=json.dumps(options))


def counts_of(path):
    """(calls by kind, how many failed, where the first of these came from: its offset, the library, its way)"""
    with open(path, 'rb') as file:
        words = struct.unpack('=9Q40sQ', file.read(10 * 8 + 40))
    return dict(zip(KINDS, words)), words[7], words[8], words[9].rstrip(b'\0').decode(), words[10]


def ways_of(path, calls):
    """By kind: the way of each call, in order (which functions of the tracer called which)."""
    with open(path, 'rb') as file:
        file.seek(SIZE)
        return {kind: struct.unpack('=%dQ' % MOST_CALLS, file.read(MOST_CALLS * 8))[:calls[kind]] for kind in KINDS}


def status_in(folder):
    """The status file; none says nothing."""
    for file in os.listdir(folder):
        if file.endswith('.json'):
            with open(os.path.join(folder, file), encoding='utf-8') as f:
                text = f.read()
            try:
                return json.loads(text)
            except ValueError as error:
                raise AssertionError('the status file is no JSON: %s: %r' % (error, text))
    return {}


class Run:
    """One run with a fault. `problem` is None if all holds that has to."""

    def __init__(self, form, kind=None, first=0, last=0, aim=None):
        self.name, self.kind, self.first, self.last = form, kind, first, last
        self.form = FORMS[form]
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        self.log = os.path.join(self.folder, 'log.ndjson' + ('.zst' if self.form.options.get('compress') else ''))
        self.problem = None
        self.outcome, self.status = '-', {}
        try:
            self._start(aim)
            self._judge()
        except AssertionError as error:
            self.problem = str(error)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __str__(self):
        return '%s.%s %s call %d%s (%s+0x%x): %s' % (self.name, self.kind, 'fails at', self.first,
                                                  '' if self.last == self.first else ' and always after', self.library, self.where,
                                                  self.problem)

    def _start(self, aim):
        counts = os.path.join(self.folder, 'counts')
        self.status_folder = os.path.join(self.folder, 'status')
        counting = not self.kind
        environment = dict(ENVIRONMENT, DOTNET_gcConcurrent='0', **faulty(self.folder, self.log, self.form.options, self.kind,
                                                                          self.first, self.last, ways=counting))
        if aim:
            environment['FAULT_IN'] = aim
        self.library, self.where, self.calls, self.fired, self.way = '?', 0, dict.fromkeys(KINDS, 0), 0, None
        try:
            self.result = harness.run(PROGRAM.command(self.form.program) + list(self.form.arguments), env=environment,
                                      cwd=self.folder, stdin=self.form.stdin)
        finally:
            self.calls, self.fired, self.where, self.library, self.way = counts_of(counts)
            self.ways = ways_of(counts, self.calls) if counting else None

    def _judge(self):
        expected = unprofiled(self.name)
        found = self.result
        if (found.status, found.out, found.err) != expected:
            raise AssertionError('the program: exit status, output, errors are %r, unprofiled %r' % (
                (found.status, found.out[-500:], found.err[-500:]), expected))
        self.status = status = status_in(self.status_folder)
        state = status.get('state')
        self.outcome = state or 'silent'
        if not os.path.exists(self.log):
            if state in ('recording', 'ended'):
                raise AssertionError('the status says %s, and there is no log' % status)
            return
        if state == 'declined':
            raise AssertionError('declined, and there is a log: %s' % status)
        in_log, end = self._read()
        if end is None:
            self.outcome += ', cut'
        if state == 'ended' and end is None and status['lost'] == 0 and 'reason' not in status:
            raise AssertionError('the status says that it ended and nothing was lost, the log has no end')
        if status.get('written', 0) > in_log and not (state == 'recording'):
            raise AssertionError('the status says %d written, %d are in the log' % (status['written'], in_log))

    def _read(self):
        """(allocations in the log, its end record or None); a log with an end record adds up."""
        valid = harness.tool('validate', self.log)
        lines = self._lines()
        sums = [line for line in lines if line['kind'] in ('alloc', 'site')]
        in_log = sum(line.get('allocs', 1) for line in sums)
        end = lines[-1] if lines and lines[-1]['kind'] == 'end' else None
        if end is None:
            if valid.status not in (0, 1):
                raise AssertionError('validate: %s' % valid)
            return in_log, None
        if valid.status:
            raise AssertionError('a log with an end record does not validate: %s' % valid.text[-600:])
        for what, there in (('seen', end['written'] + end['lost']), ('written', in_log), ('bytes', sum(l['bytes'] for l in sums)),
                            ('lost', sum(end['lost_by'].values()))):
            if end[what] != there:
                raise AssertionError('the end record says %s %d, it is %d: %s' % (what, end[what], there, end))
        if self.form.program == 'Hello':
            self._placed(lines, end)
        if self.form.options.get('live'):
            self._lived(lines, end)
        return in_log, end

    @staticmethod
    def _lived(lines, end):
        """What the log calls exact is what the program kept and dropped; where it is not, it says why, and still adds up."""
        names, site, alive = {}, {}, [0, 0]
        lived, died = collections.Counter(), collections.Counter()
        totals = [line for line in lines if line['kind'] == 'live_total']
        for line in lines:
            if line['kind'] == 'class':
                names[line['id']] = line['name']
            elif line['kind'] in ('live_site', 'live'):
                if line['kind'] == 'live_site':
                    line['site'] = line['id']
                    site[line['id']] = line['class']
                name, gone = names[site[line['site']]], line.get('died', [])
                lived[name] += line.get('survived', 0)
                died[name] += sum(objects for _, _, objects, _ in gone)
                alive[0] += line.get('survived', 0) - sum(objects for _, _, objects, _ in gone)
                alive[1] += line.get('survived_bytes', 0) - sum(size for _, _, _, size in gone)
            elif line['kind'] == 'live_total':
                if not end.get('not_written') and alive != [line['allocs'], line['bytes']]:
                    raise AssertionError('the lines come to %s alive, the total says %s' % (alive, line))
                if not line['exact'] and 'why' not in line:
                    raise AssertionError('not exact, and not why: %s' % line)
        if not totals and not end.get('not_written'):
            raise AssertionError('no word of any collection, and nothing is said to be missing: %s' % end)
        if totals and totals[-1]['exact'] and not end.get('not_written') and not end['lost']:
            for name, count in LIVED.items():
                if (lived[name], died[name]) != (count, count):
                    raise AssertionError('said to be exact: %d of %s lived, %d died; it is %d each' % (
                        lived[name], name, died[name], count))

    @staticmethod
    def _placed(lines, end):
        """Nothing is blamed on another method: 100 Greetings, of Program.Greet, but for those that are said to be lost."""
        names, leaf, greeting, found = {}, {0: None}, None, 0
        for line in lines:
            if line['kind'] == 'method':
                names[line['id']] = line['name']
            elif line['kind'] == 'node':
                leaf[line['id']] = line['method']
            elif line['kind'] == 'class' and line['name'] == 'Hello.Greeting':
                greeting = line['id']
            elif line['kind'] in ('alloc', 'site') and line['class'] == greeting:
                name = names.get(leaf[line['node']], 'nobody')
                if not line.get('cut') and not end['names_failed'] and not name.startswith(('Hello.Program.Greet(', '?method')):
                    raise AssertionError('a Greeting of %s, and nothing is said to have failed: %s' % (name, end))
                found += line.get('allocs', 1)
        if found != 100 and not end['lost'] and not end['names_failed']:
            raise AssertionError('%d Greetings of 100, and nothing is said to be lost: %s' % (found, end))

    def _lines(self):
        """Whole lines; the last one may be cut."""
        if self.log.endswith('.zst'):
            data = unpacked(self.log)
        else:
            with open(self.log, 'rb') as file:
                data = file.read()
        lines = data.split(b'\n')[:-1]
        try:
            return [json.loads(line) for line in lines]
        except ValueError as error:
            raise AssertionError('a line of the log is no JSON: %s' % error)


class ZstdBuffer(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('size', ctypes.c_size_t), ('at', ctypes.c_size_t)]


def unpacked(path):
    """As much as can be read of a file that may be cut."""
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_createDStream.restype = ctypes.c_void_p
    zstd.ZSTD_decompressStream.restype = ctypes.c_size_t
    with open(path, 'rb') as file:
        packed = file.read()
    stream = ctypes.c_void_p(zstd.ZSTD_createDStream())
    given = ZstdBuffer(ctypes.cast(ctypes.c_char_p(packed), ctypes.c_void_p), len(packed), 0)
    room = ctypes.create_string_buffer(1 << 17)
    data, size = [], 0
    while True:
        out = ZstdBuffer(ctypes.cast(room, ctypes.c_void_p), len(room), 0)
        left = zstd.ZSTD_decompressStream(stream, ctypes.byref(out), ctypes.byref(given))
        if zstd.ZSTD_isError(ctypes.c_size_t(left)):
            break
        data.append(room.raw[:out.at])
        size += out.at
        if size > LOG_LIMIT:
            raise AssertionError('the log is %d bytes, and more than %d unpacked' % (len(packed), LOG_LIMIT))
        if given.at == given.size and out.at < out.size:
            break
    zstd.ZSTD_freeDStream(stream)
    return b''.join(data)


unprofiled_cache = {}
unprofiled_lock = threading.Lock()


def unprofiled(name):
    with unprofiled_lock:
        if name not in unprofiled_cache:
            form = FORMS[name]
            result = harness.run(PROGRAM.command(form.program) + list(form.arguments), cwd=FOLDER, stdin=form.stdin)
            unprofiled_cache[name] = result.status, result.out, result.err
        return unprofiled_cache[name]


class Tally:
    def __init__(self, told=False):
        self.told = told  # each run that failed, at once
        self.runs = self.fired = 0
        self.failed = []
        self.outcomes = collections.Counter()
        self.ways = set()  # in which a fault fired
        self.lock = threading.Lock()

    def add(self, run):
        with self.lock:
            self.runs += 1
            if run.problem:  # without a fault: it is none that may be, either
                self.failed.append(run)
                if self.told:
                    print('    ' + str(run), flush=True)
            if run.fired:
                self.fired += 1
                self.outcomes[run.outcome] += 1
                self.ways.add(run.way)


def spread(calls, few):
    """A few numbers of calls: the first, the last, and between them in equal steps of their logarithm and of themselves."""
    some = {1, calls}
    for i in range(1, few):
        some.add(max(1, round(calls ** (i / few))))
        some.add(max(1, calls * i // few))
    return sorted(n for n in some if n <= calls)


def run_each(form, kind, numbers, modes, jobs, tally):
    work = [(n, last) for n in numbers for last in modes(n)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for run in pool.map(lambda w: Run(form, kind, *w), work):
            tally.add(run)


TRIES = 5  # to take a way


def runs_by_way(form, kind, ways, modes, jobs, tally):
    """Runs with the first and the last call of each way. Returns: the ways, and how many of them no run took."""
    wanted = set(ways)
    for i in range(TRIES):
        places = {}
        for number, way in enumerate(ways, 1):
            if way not in tally.ways:
                places.setdefault(way, [number, number])[1] = number
        firsts = {first for first, _ in places.values()}
        run_each(form, kind, sorted({n for pair in places.values() for n in pair}),
                 lambda n: [last for last in modes(n) if last == n or n in firsts], jobs, tally)
        if wanted <= tally.ways or i == TRIES - 1:
            return len(wanted), len(wanted - tally.ways)
        ways = Run(form).ways[kind]


def all_runs(form, kind, calls, every, modes, jobs, tally):
    """Runs with calls 1, 1 + every, ... until none is left to fail: another run may make a few more."""
    run_each(form, kind, spread(calls, 2) if every == 0 else range(1, calls + 1, every), modes, jobs, tally)
    beyond = calls + 1
    while every:
        run = Run(form, kind, beyond, beyond)
        if not run.fired:
            break
        tally.add(run)
        beyond += every


def modes_of(options):
    def modes(n):
        return ([] if options.always else [n]) + ([] if options.once else [FOREVER])
    return modes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('-k', action='append', metavar='TEXT', help='only these: FORM.KIND, or a part of it')
    parser.add_argument('-j', type=int, default=2, metavar='N')
    parser.add_argument('--every', type=int, metavar='K')
    parser.add_argument('--once', action='store_true')
    parser.add_argument('--always', action='store_true')
    options = parser.parse_args()

    build()
    PROGRAM.build([(form.program, harness.DEFAULT_FRAMEWORK) for form in FORMS.values()])
    total = Tally()
    for form in FORMS:
        calls = Run(form)
        if calls.problem:
            sys.exit('%s without a fault: %s' % (form, calls.problem))
        for kind in KINDS:
            if options.k and not any(k in form + '.' + kind for k in options.k):
                continue
            start, tally = time.monotonic(), Tally(told=True)
            taken = ''
            if options.every is None:
                taken = ', %d ways, %d of them not taken' % runs_by_way(form, kind, calls.ways[kind], modes_of(options), options.j, tally)
            else:
                all_runs(form, kind, calls.calls[kind], options.every, modes_of(options), options.j, tally)
            print('%-15s %5d calls%s, %5d runs with a fault, %d failed; %s; %.0f s' % (
                form + '.' + kind, calls.calls[kind], taken, tally.fired, len(tally.failed), dict(tally.outcomes),
                time.monotonic() - start), flush=True)
            total.runs += tally.runs
            total.fired += tally.fired
            total.failed += tally.failed
    print('%d runs, a fault fired in %d, %d failed' % (total.runs, total.fired, len(total.failed)))
    sys.exit(1 if total.failed else 0)


if __name__ == '__main__':
    main()
