"""A client of the control socket, for tests: one JSON object out, one in."""
import contextlib
import json
import os
import socket
import time

import harness


def folder(runtime=None):
    """Of sockets; runtime: instead of the user's XDG_RUNTIME_DIR."""
    runtime = runtime or os.environ.get('XDG_RUNTIME_DIR')
    return os.path.join(runtime, 'shadowtrace') if runtime else '/tmp/shadowtrace-%d' % os.geteuid()


class Client:
    def __init__(self, pid, timeout=20):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(os.path.join(folder(), '%d.sock' % pid))
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
        self.path = t.path(str(t.records), log)
        place = ['env', 'XDG_RUNTIME_DIR=' + runtime] if runtime else []
        self.process = t.start(place + [harness.TOOL, 'record', '-o', self.path] + list(options) + ['--'] + list(command), **more)
        self.pid = None

    def wait(self, seconds=30):
        """Until the program listens; its process id."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = harness.run(['pgrep', '-P', str(self.process.pid)]).text.split()
            for pid in found:
                if os.path.exists(os.path.join(folder(self.runtime), pid + '.sock')):
                    self.pid = int(pid)
                    return self.pid
            time.sleep(0.05)
        raise AssertionError('no socket after %d s' % seconds)

    def client(self):
        return Client(self.pid or self.wait())

    @property
    def log(self):
        return harness.Log(self.path)

    def end(self, signal=15):
        """Ends the program in order; the exit status of record."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal)
        out, err = self.process.communicate(timeout=60)
        self.err = err.decode(errors='replace')
        self.out = out.decode(errors='replace')
        return self.process.returncode
