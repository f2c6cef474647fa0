#!/usr/bin/env python3
"""
Three servers under load for a long time: one is recorded, and its log, its socket and its threads are disturbed; one is attached to
again and again; one is left alone.

usage: tests/e2e/soak.py [--seconds S] [--seed N] [--capture shadow|walk]

The server is Kestrel with its clients (programs/WebServer). Beside the requests, load contexts are made, used by short threads and
unloaded while these run, and all kinds of collections are made (--churn). Three of them run side by side for S seconds (1200).

The first is recorded into a log of parts (--max-log) on a small, separate file system; each 100th stack of a thread is compared with
the runtime's snapshot. To it these are done, in an order that the seed (printed) draws, each once in the first minute and then at
random:

  full        the disk is full for some seconds
  moved       the log is renamed, sometimes with `ctl rotate` after it, as logrotate does
  removed     the log is removed
  truncated   the log is truncated
  clients     connections to the socket that say nothing, half a command, or ask for dumps and take nothing of them
  control     mark, rotate, stop and start, status, dump
  held        the thread that writes the log stands still (ptrace)
  stopped     the whole program does (SIGSTOP)

and while the disk is full or a thread held, the others go on.

The second is started without the tracer. `attach` records it for up to five seconds, leaves it alone for up to three, and so on: with
walks, walks that are all compared (--check 1, without the limit of 1 % of the CPU), snapshots, fewer samples, --live, and sums of call
sites. --own and --capture are for `record` only; attached processes are always sampled. A recording ends at its time (--for), by
Ctrl-C, by `detach`, or goes on after a SIGKILL of the command: the last three at any moment, also before the process is asked. The
last recording ends with the server.

The third runs without the tracer.

Judged is, in plain lines:

  - each answer of each server is right, and so is its end; all load contexts are unloaded; record ends with its exit status
  - of each kind of line: put into the log = in the parts that are there + rotated_out; the same of allocations and their
    bytes; seen = written + lost, and lost is the sum of its reasons; each mark that was taken is there, or gone, or counted
  - each stack that was compared equals the snapshot, and each allocation has a stack that was walked, or is counted as a fallback
  - validate finds nothing wrong in all parts together, report counts what is there and what is gone, and neither they nor
    one alone are called complete; no part is much larger than --max-log allows
  - of the unloaded modules, the tracer has given back at least nine in ten
  - each attach ends with status 0 and a log that is valid, has its end record and lost nothing; the last one may lose what the
    server's end cuts off. After a SIGKILL of the command, another attach works, or says that the process is attached to and
    how to end that, and `detach` does. After each one the library, the tracer's threads and descriptors are gone
  - memory that no file is behind (programs that come and go share the pages of files, which changes PSS by megabytes): its
    least squares slope by the minute, from the second on, times that span, is at most 4 MB more than that of the run
    without the tracer, give or take twice the standard error of both. 4 MB is what a leak of 4 bytes for each of a
    million requests would be; where the error alone is above 8 MB nothing can be said, and that fails too (of runs below
    5 minutes memory is printed, not judged). The attached server is measured while it is not attached to: what it has then is
    what attaching leaves behind. All three run with DOTNET_RichDebugInfo, as `record` sets it, since the runtime never frees
    that data
  - the recorded server's threads and descriptors of the tracer at the end are those after the start

Exit status: 0 all of it holds, 1 something does not, 2 it cannot run here (no mount in a namespace of our own).
"""
import argparse
import collections
import contextlib
import ctypes
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import control  # noqa: E402
import harness  # noqa: E402
from harness import ENVIRONMENT, OUT, PROGRAM, TOOL, one_line, run, tool, until  # noqa: E402

FOLDER = os.path.join(OUT, 'soak')
DISK, KEPT, ATTACHED = (os.path.join(FOLDER, name) for name in ('disk', 'kept', 'attached'))
LOG = os.path.join(DISK, 'log.ndjson')
DISK_SIZE, MAX_LOG, PART_SIZE = '256m', '64M', 32 << 20
FAMILIES = 'alloc,exceptions,gc,threads,modules'
CHECK = '100'
WARM = 60  # seconds: code is compiled, each fault has been seen once
LIMIT_KB, NOISE_KB = 4096, 8192
JUDGED = 300  # seconds: of a shorter run memory says nothing
MOST_CLIENTS = 60
NOTHING = {'parts': 0, 'allocs': 0, 'bytes': 0, 'records': {}}  # rotated_out
THREADS = ['shadowtrace-ctl', 'shadowtrace-log', 'shadowtrace-res']

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000


def in_namespace():
    """Continues in a separate mount namespace: the file system goes with it at the end."""
    if os.environ.get('SOAK_INSIDE'):
        return
    if run(['unshare', '-rm', 'true']).status:
        print('soak: cannot create a mount namespace here')
        sys.exit(2)
    os.environ['SOAK_INSIDE'] = '1'
    os.execvp('unshare', ['unshare', '-rm', sys.executable] + sys.argv)


class Server:
    """One run of the program; the one below record if it is recorded."""

    def __init__(self, name, record=()):
        self.name = name
        command = [*record, *PROGRAM.command('WebServer'), '--scale', '1000000', '--until', 'eof', '--clients', '2', '--churn', 'yes']
        self.out = open(os.path.join(FOLDER, name + '.out'), 'w+b')
        self.err = open(os.path.join(FOLDER, name + '.err'), 'w+b')
        environment = dict(ENVIRONMENT, DOTNET_GCHeapHardLimit='0x8000000', DOTNET_RichDebugInfo='1')
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.out, stderr=self.err, cwd=FOLDER,
                                        env=environment, start_new_session=True)
        self.pid = self._child() if record else self.process.pid
        self.attached = False
        self.samples = []  # (seconds, KB of private memory, threads, descriptors), while it is not attached to

    def _child(self):
        until = time.monotonic() + 30
        while time.monotonic() < until:
            for pid in run(['pgrep', '-P', str(self.process.pid)]).text.split():
                if os.path.exists(os.path.join(control.folder(), pid + '.sock')):
                    return int(pid)
            time.sleep(0.05)
        raise AssertionError('no socket: %s' % self.said(self.err))

    def sample(self, now):
        if self.attached:
            return
        with contextlib.suppress(OSError, AttributeError):
            with open('/proc/%d/smaps_rollup' % self.pid, encoding='ascii') as file:
                own = sum(int(kb) for kb in re.findall(r'^Pss_(?:Anon|Shmem): *(\d+)', file.read(), re.M))
            self.samples.append((now, own, len(os.listdir('/proc/%d/task' % self.pid)),
                                 len(os.listdir('/proc/%d/fd' % self.pid))))

    def threads(self):
        """{name: thread} of the tracer's."""
        found = {}
        for task in os.listdir('/proc/%d/task' % self.pid):
            with contextlib.suppress(OSError), open('/proc/%d/task/%s/comm' % (self.pid, task), encoding='ascii') as file:
                name = file.read().strip()
                if name.startswith('shadowtrace'):
                    found[name] = int(task)
        return found

    def has_library(self):
        with contextlib.suppress(OSError), open('/proc/%d/maps' % self.pid, encoding='utf-8', errors='replace') as file:
            return 'libshadowtrace.so' in file.read()
        return False  # it has ended

    def open_files(self):
        """What is open that is no connection and no file of the runtime's: {what: how many}."""
        found = collections.Counter()
        with open('/proc/%d/net/unix' % self.pid, encoding='utf-8') as file:
            ours = {line.split()[6] for line in file if line.rstrip().endswith('/%d.sock' % self.pid)}
        for fd in os.listdir('/proc/%d/fd' % self.pid):
            with contextlib.suppress(OSError):
                target = os.readlink('/proc/%d/fd/%s' % (self.pid, fd))
                if target.startswith('socket:') and target[8:-1] in ours:
                    found['socket'] += 1
                elif 'shadowtrace' in target or target.startswith(DISK):
                    found[re.sub(r'\d+', 'N', target)] += 1
                elif 'eventfd' in target:
                    found['eventfd'] += 1
        return found

    @staticmethod
    def said(file):
        file.flush()
        file.seek(0)
        return file.read().decode(errors='replace')

    def end(self):
        """In order, when its input ends."""
        self.process.stdin.close()

    def wait(self, seconds):
        self.end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait()


class Tally:
    """Lines of logs by kind, and the allocations that they count, with their bytes."""

    def __init__(self):
        self.kinds, self.allocs, self.bytes = collections.Counter(), 0, 0

    def add(self, path):
        """What one file holds. In what was truncated the last line may be cut; if only its newline is, readers take it."""
        with open(path, 'rb') as file:
            for line in file:
                if not is_whole(line):
                    break
                kind = line[9:line.index(b'"', 9)]
                self.kinds[kind.decode()] += 1
                if kind in (b'alloc', b'site'):
                    self.allocs += 1 if kind == b'alloc' else number(line, b'allocs')
                    self.bytes += number(line, b'bytes')


def is_whole(line):
    with contextlib.suppress(ValueError):
        return line.endswith(b'\n') or bool(json.loads(line))
    return False


def number(line, member):
    return int(re.search(rb'"%s":(\d+)' % member, line)[1])


class Attaching:
    """What is done to a server that was started without the tracer, in a thread."""

    OPTIONS = ([], ['--check', '1', '--budget', '0'], ['--snapshots'], ['--sample', '1M'], ['--live'], ['--log', 'sites'],
               ['--live', '--log', 'sites', '--check', '10'])
    ENDS = 'time', 'interrupt', 'detach', 'kill'

    def __init__(self, soak, server, seed):
        self.soak, self.server, self.draw = soak, server, random.Random(seed)
        self.files = server.open_files()
        self.logs, self.sums = 0, collections.Counter()

    def deck(self, cards):
        """Each once, in an order that is drawn, again and again."""
        while True:
            yield from self.draw.sample(cards, len(cards))

    def run(self):
        ends, options = self.deck(self.ENDS), self.deck(self.OPTIONS)
        try:
            while not self.soak.ended:
                self.attach(next(ends), next(options))
                time.sleep(self.lasts(0.5, 3))
            self.attach('end', next(options))
        except Exception as error:  # the others go on
            self.soak.holds(False, 'attaching: %s: %s' % (type(error).__name__, error))

    def lasts(self, least, most):
        """Seconds; shorter in the first minute, in which the allocators of the process reach their size."""
        return self.draw.uniform(least, most if self.soak.left() < self.soak.seconds - WARM else most / 5)

    def log(self):
        self.logs += 1
        return os.path.join(ATTACHED, '%d.ndjson' % self.logs)

    def attach(self, how, options):
        path, pid, seconds = self.log(), str(self.server.pid), self.lasts(0.05, 5)
        self.soak.done['attach: ' + how] += 1
        command = [TOOL, 'attach', '-o', path, *options] + ['--for', '%dms' % (seconds * 1000)] * (how == 'time') + [pid]
        self.server.attached = True
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT)
        if how != 'time':
            time.sleep(seconds)
        if how == 'interrupt':
            process.send_signal(signal.SIGINT)
        elif how == 'kill':
            process.kill()
        elif how == 'end':
            self.server.end()
        while how == 'detach' and process.poll() is None:
            tool('detach', pid)
        errors = process.communicate()[1].decode()
        # before it takes signals, it has not asked the process
        unasked = how == 'interrupt' and process.returncode == -signal.SIGINT and not os.path.exists(path)
        if how == 'kill':
            self.attach_another(path)
        else:
            self.soak.holds(unasked or process.returncode == 0 and ('none lost' in errors or how == 'end'),
                            '%s: exit status %s\n%s' % (command, process.returncode, errors))
        until(lambda: not self.server.has_library(), 'the library is unloaded')
        self.server.attached = False
        if how != 'end':
            left = self.server.threads(), self.server.open_files() - self.files
            self.soak.holds(not any(left), "the tracer's threads and descriptors after %s: %s, %s" % (command, *left))
        if not unasked and os.path.exists(path):
            self.judge(path, command, ends_amid=how == 'end')

    def attach_another(self, path):
        """The command was killed: if the recording had begun, it goes on, and another attach is refused."""
        pid, other = str(self.server.pid), self.log()
        result = tool('attach', '--for', '200ms', '-o', other, pid)
        if not result.status:
            self.judge(other, result.command)
            return
        one_line(result, 3, 'is attached to already, and writes ' + path, '`shadowtrace detach %s` ends that' % pid)
        ended = tool('detach', pid)
        self.soak.holds(ended.text == 'detached; the log is %s\n' % path, str(ended))
        self.soak.done['attach: refused after a kill'] += 1

    def judge(self, path, command, ends_amid=False):
        problems = len(self.soak.problems)
        valid = tool('validate', path)
        self.soak.holds(valid.status == 0 and valid.text.endswith('; ended\n'), '%s: %s' % (command, valid))
        with open(path, 'rb') as file:
            end = json.loads(file.readlines()[-1])
        tally = Tally()
        tally.add(path)
        self.soak.judge_sums(path, end, tally)
        self.soak.holds(not set(end['lost_by']) - ({'stopped'} if ends_amid else set()), '%s: lost %s' % (path, end['lost_by']))
        self.sums += collections.Counter(logs=1, samples=end['written'], lost=end['lost'],
                                         compared=end.get('snapshots', {}).get('compared', 0),
                                         walks=end.get('walks', {}).get('taken', 0))
        if len(self.soak.problems) == problems:
            os.unlink(path)


class Soak:
    def __init__(self, seconds, seed, capture):
        self.seconds, self.seed, self.draw, self.capture = seconds, seed, random.Random(seed), capture
        self.problems, self.done = [], collections.Counter()
        self.marks = self.moved_parts = self.largest = 0
        self.moved, self.clients, self.holders = [], [], []
        self.tally = Tally()
        self.ended = False

    def holds(self, condition, what):
        if not condition:
            self.problems.append(what)
            print('  DOES NOT HOLD: ' + what, flush=True)

    # ---- what is done to it

    def rest(self, least, most):
        time.sleep(self.draw.uniform(least, most))

    def meanwhile(self, seconds):
        """The smaller ones go on while something lasts."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(min(0.4, max(0.0, until - time.monotonic())))
            if self.draw.random() < 0.4:
                self.do(self.draw.choice(['moved', 'removed', 'clients', 'control']))

    def do(self, name):
        self.done[name] += 1
        try:
            getattr(self, 'do_' + name)()
        except (EOFError, OSError, ValueError) as error:
            # A connection may be turned away while many hang; a file may have just gone.
            self.done[name + ': ' + type(error).__name__] += 1

    def do_full(self):
        filler = os.path.join(DISK, 'filler')
        with open(filler, 'wb') as file:
            size = os.statvfs(DISK)
            with contextlib.suppress(OSError):
                os.posix_fallocate(file.fileno(), 0, size.f_bavail * size.f_frsize)
            with contextlib.suppress(OSError):  # what was freed meanwhile
                while True:
                    os.write(file.fileno(), bytes(1 << 16))
        self.meanwhile(self.draw.uniform(1, 5))
        os.unlink(filler)

    def do_moved(self):
        self.moved_parts += 1
        path = os.path.join(DISK, 'moved-%d.ndjson' % self.moved_parts)
        os.rename(LOG, path)
        self.moved.append(path)
        if self.draw.random() < 0.5:
            self.ask('rotate')

    def do_removed(self):
        os.remove(LOG)

    def do_truncated(self):
        os.truncate(LOG, self.draw.choice([0, 0, 1, 5000, 1 << 18]))

    def do_clients(self):
        for _ in range(self.draw.randrange(1, 12)):
            if len(self.clients) >= MOST_CLIENTS:
                break
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                client.connect(os.path.join(control.folder(), '%d.sock' % self.recorded.pid))
                client.send(self.draw.choice([b'', b'{"comm', b'{"command":"dump"}\n' * 50, b'\n', os.urandom(300),
                                              b'{"command":"status"}\n{"command"']))
            self.clients.append((time.monotonic() + self.draw.uniform(0.1, 15), client))

    def let_go(self, all_of_them=False):
        for until, client in self.clients:
            if all_of_them or time.monotonic() > until:
                client.close()
        self.clients = [pair for pair in self.clients if pair[1].fileno() >= 0]

    def ask(self, command, **members):
        client = control.Client(self.recorded.pid, timeout=30)
        try:
            return client.ask(command, **members)
        finally:
            client.close()

    def do_control(self):
        what = self.draw.choice(['mark', 'mark', 'rotate', 'pause', 'status', 'dump', 'tool'])
        if what == 'dump' and self.capture == 'walk':
            what = 'status'  # a dump needs hooks
        if what == 'mark':
            self.marks += self.ask('mark', text='m%d' % self.marks)['ok']
        elif what == 'pause':
            self.ask('set', paused=True)
            self.rest(0.1, 1)
            self.start_again()
        elif what == 'tool':
            result = tool('ctl', str(self.recorded.pid), 'status', timeout=60)
            self.holds(result.status == 0, 'ctl status: %s' % result)
        else:
            answer = self.ask(what)
            self.holds(answer['ok'] or what == 'rotate', '%s was refused: %s' % (what, answer))

    def start_again(self):
        for _ in range(20):
            with contextlib.suppress(EOFError, OSError, ValueError):
                if self.ask('set', paused=False)['ok']:
                    return
            time.sleep(0.2)
        self.holds(False, 'recording cannot be started again')

    def do_held(self):
        """Only the thread that writes stands still; the one that asked for it has to let it go."""
        def hold(thread, seconds):
            libc = ctypes.CDLL(None, use_errno=True)
            libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
            if libc.ptrace(PTRACE_SEIZE, thread, None, None):
                self.done['held: not allowed'] += 1
                return
            libc.ptrace(PTRACE_INTERRUPT, thread, None, None)
            os.waitpid(thread, WALL)
            time.sleep(seconds)
            libc.ptrace(PTRACE_DETACH, thread, None, None)

        thread = self.recorded.threads().get('shadowtrace-log')
        if thread is None:
            self.holds(False, 'the writer is gone')
            return
        seconds = self.draw.uniform(0.2, 3)
        holder = threading.Thread(target=hold, args=(thread, seconds))
        holder.start()
        self.meanwhile(seconds)
        holder.join()

    def do_stopped(self):
        os.kill(self.recorded.pid, signal.SIGSTOP)
        try:
            self.rest(0.1, 2)
        finally:
            os.kill(self.recorded.pid, signal.SIGCONT)

    # ---- what is looked at

    def open_in_server(self):
        found = set()
        for fd in os.listdir('/proc/%d/fd' % self.recorded.pid):
            with contextlib.suppress(OSError):
                found.add(os.readlink('/proc/%d/fd/%s' % (self.recorded.pid, fd)))
        return found

    def put_by(self):
        """Parts that were moved away and have been left by the writer make room for others."""
        written = self.open_in_server()
        for path in [path for path in self.moved if path not in written]:
            self.moved.remove(path)
            shutil.move(path, KEPT)

    def check_part(self, path):
        """One part, which lies alone."""
        self.tally.add(path)
        with tempfile.TemporaryDirectory(dir=FOLDER) as alone:
            part = os.path.join(alone, os.path.basename(path))
            os.rename(path, part)
            report = json.loads(tool('report', '--format=json', '--no-lines', '--by=type', '--top=1', part, timeout=600).out)
            self.holds(not report['log']['complete'], '%s is called complete' % path)
            os.rename(part, path)

    def look(self):
        """A reader beside the writer."""
        result = tool('report', '--format=json', '--no-lines', '--by=type', '--top=3', LOG, timeout=600)
        self.holds(result.status in (0, 3), 'report of the log that is written: %s' % result)
        if not result.status:
            self.holds(not json.loads(result.out)['log']['complete'], 'the log that is written is called complete')

    def watch(self):
        while not self.ended:
            for server in self.servers:
                server.sample(time.monotonic() - self.began)
            with contextlib.suppress(OSError):
                self.largest = max(self.largest, os.path.getsize(LOG))
            time.sleep(1)

    # ---- the whole

    FAULTS = ('full', 'moved', 'removed', 'truncated', 'clients', 'control', 'held', 'stopped')

    def left(self):
        return self.seconds - (time.monotonic() - self.began)

    def disturb(self):
        once = list(self.FAULTS)
        self.draw.shuffle(once)
        told = time.monotonic()
        while self.left() > 0:
            self.do(once.pop() if once else self.draw.choice(self.FAULTS))
            self.let_go()
            self.rest(0.1, 2 if once or self.left() > self.seconds - WARM else 6)
            if self.draw.random() < 0.1:
                self.look()
            self.put_by()
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print('%5.0f s: %s' % (self.seconds - self.left(), self.sums()), flush=True)
            if self.recorded.process.poll() is not None:
                self.holds(False, 'the recorded server has ended')
                return
        self.let_go(all_of_them=True)
        self.start_again()

    def sums(self):
        try:
            status = self.ask('status')
        except (EOFError, OSError, ValueError) as error:
            return 'no status: %s' % error
        own = ['%s %.1f MB' % (s.name, s.samples[-1][1] / 1024) for s in self.servers if s.samples]
        return '%d allocations in the log, %d lost, %s' % (status['written'], status['lost'], ', '.join(own))

    def run(self):
        self.plain, self.attached = Server('plain'), Server('attached')
        self.recorded = Server('recorded', [TOOL, 'record', '--capture', self.capture, '--check', CHECK, '--max-log', MAX_LOG,
                                            '--events', FAMILIES, '-o', LOG, '--'])
        self.servers = self.recorded, self.attached, self.plain
        self.began = time.monotonic()
        time.sleep(3)
        threads, files = sorted(self.recorded.threads()), self.recorded.open_files()
        self.holds(threads == THREADS, "the tracer's threads are %s" % threads)
        watcher = threading.Thread(target=self.watch)
        watcher.start()
        attaching = Attaching(self, self.attached, self.seed + 1)
        attacher = threading.Thread(target=attaching.run)
        attacher.start()
        try:
            self.disturb()
            time.sleep(3)
            if self.recorded.process.poll() is None:
                now, threads = self.recorded.open_files(), sorted(self.recorded.threads())
                same = sum(now.values()) == sum(files.values())
                self.holds(same and now['socket'] == 1, 'open at the end %s, at the start %s' % (dict(now), dict(files)))
                self.holds(threads == THREADS, "the tracer's threads are %s" % threads)
        finally:
            self.ended = True
            watcher.join()
            attacher.join()
            statuses = [server.wait(300) for server in self.servers]
        print('attached: %s' % ', '.join('%s %d' % pair for pair in attaching.sums.items()))
        self.judge_program(statuses)
        self.judge_log()
        self.judge_memory()

    def judge_program(self, statuses):
        for server, status in zip(self.servers, statuses):
            said = server.said(server.out)
            print('%s: %s' % (server.name, said.strip().replace('\n', ', ')))
            self.holds(status == 0 and said.endswith(', all unloaded\nok\n'), '%s: exit status %s, %r, %s' % (
                server.name, status, said, server.said(server.err)[-2000:]))

    @staticmethod
    def gather():
        """(the end record or None, all parts in one folder): the last one is log.ndjson, the others log.ndjson.N."""
        end, paths = None, []
        whole = os.path.join(FOLDER, 'whole')
        os.mkdir(whole)
        for path in (os.path.join(folder, name) for folder in (DISK, KEPT) for name in os.listdir(folder)):
            with open(path, 'rb') as file:
                first = file.readline()
                file.seek(max(0, os.path.getsize(path) - (1 << 20)))
                last = file.read().splitlines()[-1:]
            if not first.endswith(b'\n'):
                continue  # cut within its header: there is nothing in it
            first = json.loads(first)
            if first['kind'] != 'header':
                raise AssertionError('%s begins with a line of kind %s' % (path, first['kind']))
            number = '.%d' % first.get('part', 1)
            if last[0].startswith(b'{"kind":"end"'):
                end, number = json.loads(last[0]), ''
            paths.append(os.path.join(whole, 'log.ndjson' + number))
            shutil.move(path, paths[-1])
        return end, sorted(paths)

    def judge_log(self):
        end, paths = self.gather()
        self.holds(end, 'there is no end record')
        if not end:
            return
        for path in paths:
            self.check_part(path)
        gone = end.get('rotated_out', NOTHING)
        found = self.tally.kinds
        print('seen %d = written %d + lost %d %s' % (end['seen'], end['written'], end['lost'], end['lost_by']))
        print('compared: %s, walks: %s, given back: %s' % (end['snapshots'], end.get('walks'), end['given_back']))
        print('written %d = in %d parts that are there %d + in %d parts that are gone %d' % (
            end['written'], len(paths), found['alloc'], gone['parts'], gone['allocs']))
        self.judge_sums('the log', end, self.tally, gone)
        contexts = int(re.search(r'load contexts (\d+)', self.recorded.said(self.recorded.out))[1])
        self.holds(end['given_back']['modules'] >= 0.9 * contexts, 'given back of %d: %s' % (contexts, end['given_back']))
        marks = found['mark'] + gone['records'].get('mark', 0) + end.get('not_written', {}).get('mark', 0)
        self.holds(marks == self.marks, '%d marks were taken; there, gone and not written are %d' % (self.marks, marks))
        print('%d marks taken; not written: %s; file: %s' % (self.marks, end.get('not_written', {}), end.get('file', {})))
        self.holds(self.largest <= PART_SIZE + (8 << 20), 'a part had %d bytes' % self.largest)
        self.judge_readers(paths[0], end, gone)

    def judge_sums(self, what, end, tally, gone=NOTHING):
        """Of an end record: what it counts is there, or gone; and the stacks that were compared are equal."""
        self.holds(end['seen'] == end['written'] + end['lost'], '%s: seen: %s' % (what, end))
        self.holds(end['lost'] == sum(end['lost_by'].values()), '%s: lost by: %s' % (what, end))
        self.holds(end['written'] == tally.allocs + gone['allocs'], '%s: %d allocations are there: %s' % (what, tally.allocs, end))
        self.holds(end['bytes'] == tally.bytes + gone['bytes'], '%s: bytes: %d, there %d, gone %d' % (
            what, end['bytes'], tally.bytes, gone['bytes']))
        for family, sums in end.get('events', {}).items():
            self.holds(sums['seen'] == sums['written'] + sums['lost'], '%s: %s: %s' % (what, family, sums))
        for kind in sorted(set(end['records']) | set(tally.kinds) - {'end'}):
            there, out = tally.kinds[kind], gone['records'].get(kind, 0)
            self.holds(end['records'].get(kind, 0) == there + out, '%s: %s lines: %d put into the log, %d are there, %d gone' % (
                what, kind, end['records'].get(kind, 0), there, out))
        snapshots, walks = end.get('snapshots'), end.get('walks')
        if snapshots:
            self.holds(snapshots['mismatched'] == 0 and snapshots['equal'] == snapshots['compared'], '%s: %s' % (what, snapshots))
        if walks:
            self.holds(walks['taken'] + walks['fallbacks'] == end['seen'], '%s: seen %d, %s' % (what, end['seen'], walks))

    def judge_readers(self, path, end, gone):
        valid = tool('validate', path, timeout=1800)
        self.holds(valid.status == 0, 'all parts together: %s' % valid)
        report = json.loads(tool('report', '--format=json', '--no-lines', '--by=thread', path, timeout=900).out)
        gaps = {gap['reason']: gap for gap in report['log']['gaps']}
        print('report of what is there: %d allocations, complete %s, gaps %s' % (
            report['total']['allocs'], report['log']['complete'], {r: g['count'] for r, g in gaps.items()}))
        self.holds(not report['log']['complete'], 'the whole is called complete')
        self.holds(report['total']['allocs'] == self.tally.kinds['alloc'], 'report: allocations')
        self.holds(report['total']['lost'] == end['lost'], 'report: lost %d' % report['total']['lost'])
        self.holds(not {'parts_missing', 'missing'} & set(gaps), 'report: nothing is missing, and it says so: %s' % gaps)
        self.holds(gaps.get('rotated_out', {}).get('of', 0) == gone['allocs'], 'report: rotated_out %s' % gaps)
        summary = self.recorded.said(self.recorded.err)
        print(summary.strip())
        self.holds('{:,}'.format(end['seen']) in summary, "record's summary does not say what was seen")
        self.holds(not end['lost'] or '{:,}'.format(end['lost']) in summary, "record's summary does not say what was lost")
        self.holds('none lost' not in summary, "record's summary says that none is lost")

    def judge_memory(self):
        """Least squares over the medians of each minute."""
        slopes = {}
        for server in self.servers:
            minutes = collections.defaultdict(list)
            for now, own, _, _ in server.samples:
                if WARM <= now < self.seconds - 5:
                    minutes[int(now // 60)].append((now, own))
            points = [(sum(now for now, _ in m) / len(m), sorted(own for _, own in m)[len(m) // 2])
                      for m in minutes.values() if len(m) > 10]
            if len(points) < 3:
                print('%s: too short to judge memory' % server.name)
                self.holds(self.seconds < JUDGED, 'memory was not measured')
                return
            slopes[server.name] = least_squares(points)
            slope, error, span = slopes[server.name]
            print('%s: private memory %.1f MB after the first minute, %.1f at the end; '
                  'slope %+.2f MB (standard error %.2f) in %.0f s; '
                  'threads %d to %d, descriptors %d to %d' % ((server.name, points[0][1] / 1024, points[-1][1] / 1024,
                                                              slope * span / 1024, error * span / 1024, span) +
                                                             spread(server.samples, 2) + spread(server.samples, 3)))
        for name in 'recorded', 'attached':
            span = slopes[name][2]
            more = (slopes[name][0] - slopes['plain'][0]) * span
            noise = 2 * span * (slopes[name][1] ** 2 + slopes['plain'][1] ** 2) ** 0.5
            print('memory, %s: %+.2f MB more than without the tracer, give or take %.2f' % (name, more / 1024, noise / 1024))
            if self.seconds >= JUDGED:
                self.holds(noise <= NOISE_KB, '%s: memory varies too much to be judged' % name)
                self.holds(more - noise <= LIMIT_KB, '%s: memory grows' % name)


def spread(samples, column):
    values = [sample[column] for sample in samples if sample[0] >= WARM]
    return min(values), max(values)


def least_squares(points):
    """(slope, its standard error, the span of x)"""
    n = len(points)
    mean_x, mean_y = (sum(p[i] for p in points) / n for i in (0, 1))
    square = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
    rest = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in points)
    return slope, (rest / max(1, n - 2) / square) ** 0.5, points[-1][0] - points[0][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=int, default=1200, metavar='S')
    parser.add_argument('--seed', type=int, default=random.randrange(1 << 30), metavar='N')
    parser.add_argument('--capture', choices=('shadow', 'walk'), default='shadow')
    options = parser.parse_args()
    in_namespace()

    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(DISK)
    os.makedirs(KEPT)
    os.makedirs(ATTACHED)
    os.makedirs(os.path.join(FOLDER, 'run'), mode=0o700)
    os.environ['XDG_RUNTIME_DIR'] = ENVIRONMENT['XDG_RUNTIME_DIR'] = os.path.join(FOLDER, 'run')
    mounted = run(['mount', '-t', 'tmpfs', '-o', 'mode=700,size=' + DISK_SIZE, 'none', DISK])
    if mounted.status:
        print('soak: no file system of our own can be mounted here: %s' % mounted.errors.strip())
        sys.exit(77)
    PROGRAM.build([('WebServer', harness.DEFAULT_FRAMEWORK)])
    print('%d s, seed %d' % (options.seconds, options.seed), flush=True)
    soak = Soak(options.seconds, options.seed, options.capture)
    soak.run()
    print('done: %s' % ', '.join('%s %d' % pair for pair in sorted(soak.done.items())))
    print('%d problems' % len(soak.problems))
    if not soak.problems:  # gigabytes
        shutil.rmtree(os.path.join(FOLDER, 'whole'))
    sys.exit(1 if soak.problems else 0)


if __name__ == '__main__':
    main()
