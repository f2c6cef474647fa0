"""A client of the control socket, for tests: one JSON object out, one in."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time

import harness
from harness import PATIENCE


def folder(runtime=None):
    """Of sockets; runtime: instead of the user's XDG_RUNTIME_DIR."""
    runtime = runtime or os.environ.get('XDG_RUNTIME_DIR')
    return os.path.join(runtime, 'shadowtrace') if runtime else '/tmp/shadowtrace-%d' % os.geteuid()


def children(pid):
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid), encoding='ascii') as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def is_dead(pid):
    try:
        with open('/proc/%d/stat' % pid, encoding='utf-8') as file:
            return file.read().rsplit(')', 1)[1].split()[0] == 'Z' and len(os.listdir('/proc/%d/task' % pid)) == 1
    except OSError:
        return True


def queued(pid):
    """
    How long each thread of the tracer in a process could have run and was not let, by its number, seconds. Nothing of one that is
    gone, or never had a child (None).
    """
    found = {}
    with contextlib.suppress(OSError, TypeError):
        for task in os.listdir('/proc/%d/task' % pid):
            with open('/proc/%d/task/%s/comm' % (pid, task), encoding='utf-8') as name, \
                    open('/proc/%d/task/%s/schedstat' % (pid, task), encoding='ascii') as waited:
                if name.read().startswith('shadowtrace-'):
                    found[task] = int(waited.read().split()[1]) / 1e9
    return found


def most_queued(before, now):
    """Of two looks by queued(), the wait of the thread that waited longest: several wait at the same time."""
    return max((seconds - before.get(task, 0) for task, seconds in now.items()), default=0)


class Said:
    """
    What Ticker says, read beside the test, until it is killed. What is `old` by then is a second older than the time that
    the tracer stood in the queue of the processors: nobody can write while he does not run.
    """

    OLD = 1.0

    def __init__(self, process):
        self.process, self.pid, self.lines, self.killed = process, None, [], None
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.pid = self.pid or next(iter(children(self.process.pid)), None)
            self.lines.append((time.monotonic(), int(line), queued(self.pid)))

    def kill(self):
        """SIGKILL, as soon as it is noted when."""
        self.killed = time.monotonic(), queued(self.pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def old(self, than=OLD):
        """The lines that are older than `than` seconds, at the kill or now: [(when, number, …)]."""
        when, waited = self.killed or (time.monotonic(), queued(self.pid))
        return [line for line in self.lines if when - line[0] - most_queued(line[2], waited) >= than]


class Client:
    def __init__(self, pid, timeout=PATIENCE):
        def connected():
            """Between bind and listen a socket refuses."""
            with contextlib.suppress(ConnectionRefusedError):
                self.socket.connect(os.path.join(folder(), '%d.sock' % pid))
                return True

        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        harness.until(connected, 'a connection', timeout)
        self.pending = b''

    def send(self, data):
        self.socket.sendall(data)

    def text(self):
        parts = [self.pending]
        while b'\n' not in parts[-1]:
            part = self.socket.recv(1 << 20)
            if not part:
                raise EOFError('the connection has ended after %r' % b''.join(parts)[-200:])
            parts.append(part)
        line, self.pending = b''.join(parts).split(b'\n', 1)
        return line

    def line(self):
        return json.loads(self.text())

    def ask(self, command, **members):
        self.send(json.dumps(dict(members, command=command)).encode() + b'\n')
        return self.line()

    def close(self):
        self.socket.close()


class Living:
    """A recorded program that runs beside the test; ends when the test says so. runtime: as of folder()."""

    def __init__(self, t, command, *options, log='log.ndjson', runtime=None, **more):
        t.records += 1
        self.t = t
        self.runtime = runtime
        os.makedirs(t.path(str(t.records)))
        self.made = os.stat(t.path(str(t.records))).st_mtime_ns
        self.path = t.path(str(t.records), log)
        place = ['env', 'XDG_RUNTIME_DIR=' + runtime] if runtime else []
        self.process = t.start(place + [harness.TOOL, 'record', '-o', self.path] + list(options) + ['--'] + list(command), **more)
        self.pid = None

    def wait(self):
        """Until the program listens, and then until its log is there; its process id."""
        def listening():
            found = harness.run(['pgrep', '-P', str(self.process.pid)]).text.split()
            return [int(pid) for pid in found if self._listens(os.path.join(folder(self.runtime), pid + '.sock'))]

        self.pid = harness.until(listening, 'a socket')[0]
        harness.until(lambda: os.path.exists(self.path), 'the log')
        return self.pid

    def _listens(self, path):
        """Its own: one that was killed under the same id may have left another there."""
        with contextlib.suppress(FileNotFoundError):
            return os.stat(path).st_mtime_ns >= self.made
        return False

    def client(self):
        return Client(self.pid or self.wait())

    def ticks(self, lines=3):
        """Until a program that says at intervals how far it is has said so again; not what waited to be read."""
        out = self.process.stdout
        while harness.readable(out, 0) and os.read(out.fileno(), 1 << 16):
            pass
        for _ in range(lines):
            said = harness.until(lambda: harness.readable(out, 1) and os.read(out.fileno(), 1 << 16), 'a line')
            if not said:
                raise AssertionError('the program has ended')

    def writes(self, more=1000):
        """Waits until `more` allocations from now on are in the log file."""
        now, found, rest = time.monotonic_ns(), 0, b''
        with open(self.path, 'rb') as file:
            first = harness.until(file.readline, 'the first line of the log')
            while not first.endswith(b'\n'):
                first += file.readline()
            since = now - json.loads(first)['clock']
            file.seek(0, os.SEEK_END)

            def enough():
                nonlocal found, rest
                *lines, rest = (rest + file.read()).split(b'\n')
                found += sum(line.startswith(b'{"kind":"alloc"') and json.loads(line)['t'] >= since for line in lines)
                return found >= more

            harness.until(enough, lambda: '%d allocations in the log; %d are' % (more, found))

    def says(self, text, times=1):
        """Waits until a text is in the log file `times` times."""
        def found():
            with open(self.path, 'rb') as file:
                return file.read().count(text) >= times

        harness.until(found, '%d times %r in the log' % (times, text))

    @property
    def log(self):
        return harness.Log(self.path)

    @property
    def log_so_far(self):
        harness.until(lambda: os.path.exists(self.path), 'the log')
        return harness.Log(self.path, cut=True)

    def close(self):
        """Ends a program that runs until its input ends; the exit status of record."""
        return self._ended()

    def ends_in_order(self):
        """The same, without waiting for it."""
        self.process.stdin.close()
        self.process.stdin = None

    def end(self, number=signal.SIGTERM):
        """The exit status of record. Of .NET 10 and later SIGTERM kills a program that does not handle it."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)
        return self._ended()

    def _ended(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        self.err = err.decode(errors='replace')
        self.out = out.decode(errors='replace')
        if 'killed, or crashed, while recording' in self.err:
            self.t.killed.add(self.path)
        return self.process.returncode


class Kept(Living):
    """The program that does what lines of its input say."""

    def __init__(self, t, *options, nodes=1000, settings=(), framework=None, **more):
        command = ['env', *settings] + harness.PROGRAM.command('Kept', framework or harness.DEFAULT_FRAMEWORK) + ['--nodes', str(nodes)]
        super().__init__(t, command, *options, stdin=subprocess.PIPE, **more)
        self.pipes = []
        self.wait()
        t.equal(self.process.stdout.readline(), b'ok\n', 'what it says')

    def does(self, what):
        self.process.stdin.write(what.encode() + b'\n')
        self.process.stdin.flush()
        self.t.equal(self.process.stdout.readline(), b'ok\n', 'what it says after ' + what)


    @contextlib.contextmanager
    def held(self):
        """No collection can be made meanwhile."""
        pipe = self.t.path('pipe%d' % len(os.listdir(self.t.folder)))
        os.mkfifo(pipe)
        end = os.open(pipe, os.O_RDWR)
        try:
            self.does('hold ' + pipe)
            yield
        finally:
            os.write(end, b'.')
            self.pipes.append(end)
