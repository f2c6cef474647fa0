"""
What takes rows over HTTP in place of ClickHouse, and can do what a server should not: refuse, hang, answer 500, end within a
request, die. Rows count as the tables of examples/fleet count them: of a key the largest amount.
"""
import contextlib
import http.server
import json
import socket
import ssl
import threading
import urllib.parse


class Receiver:
    """Modes: ok; refuse (nobody listens); 500; hang; half (takes part of the rows, then the connection is gone)."""

    def __init__(self, version='3', certificate=None):
        self.mode, self.version, self.requests, self.taken = 'ok', version, 0, 0
        self.rows, self.recordings, self.defined, self.headers = {}, {}, {}, []
        self.lock, self.released = threading.Lock(), threading.Event()
        self.certificate = certificate
        self.listen()

    @property
    def url(self):
        return '%s://127.0.0.1:%d' % ('https' if self.certificate else 'http', self.port)

    def listen(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                outer.post(self)

            def do_GET(self):
                outer.get(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_):
                pass  # a client that is killed

        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
            self.server = Server(('127.0.0.1', self.port), Handler)  # asked for by number, it keeps it: see refuse()
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.serve()

    def serve(self):
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()

    def refuse(self):
        """The socket stays bound, so that the port is nobody else's meanwhile."""
        self.server.shutdown()
        self.server.socket.shutdown(socket.SHUT_RDWR)

    def be(self, mode):
        """From here on."""
        before, self.mode = self.mode, mode
        self.released.set()
        if mode == 'hang':
            self.released = threading.Event()
        if mode == 'refuse' and before != 'refuse':
            self.refuse()
        elif before == 'refuse' and mode != 'refuse':
            self.server.server_activate()
            self.serve()

    def end(self):
        self.released.set()
        if self.mode != 'refuse':
            self.server.shutdown()
        self.server.server_close()

    # ---- requests

    def get(self, handler):
        self.requests += 1
        self.answer(handler, 200 if self.mode == 'ok' else 500, self.version + '\n')

    def post(self, handler):
        self.requests += 1
        mode = self.mode
        self.headers.append(dict(handler.headers, path=urllib.parse.unquote(handler.path)))
        if mode == 'hang':
            self.released.wait()
            handler.connection.close()
            return
        body = b''
        with contextlib.suppress(OSError, ValueError):
            body = self.read(handler, 20000 if mode == 'half' else None)
        if mode == 'half':
            self.take(body)
            with contextlib.suppress(OSError):
                handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
            return
        if mode == 'ok' and body is not None:
            self.take(body)
            self.taken += 1
        self.answer(handler, 200 if mode == 'ok' else 500, '' if mode == 'ok' else 'Code: 999, out of \x1b[31m disk')

    def read(self, handler, most):
        """The body, chunk by chunk; of one that its client did not finish what came, as a server that inserts as it reads."""
        parts, size = [], 0
        if handler.headers.get('Transfer-Encoding') != 'chunked':
            return handler.rfile.read(int(handler.headers.get('Content-Length', 0)))
        while most is None or size < most:
            line = handler.rfile.readline()
            if not line:
                break
            length = int(line, 16)
            parts.append(handler.rfile.read(length))
            handler.rfile.readline()
            size += length
            if not length:
                break
        return b''.join(parts)

    def answer(self, handler, status, text):
        with contextlib.suppress(OSError):
            handler.send_response(status)
            handler.send_header('Content-Length', str(len(text)))
            handler.end_headers()
            handler.wfile.write(text.encode())

    # ---- rows

    def take(self, body):
        with self.lock:
            for line in body[:body.rfind(b'\n') + 1].splitlines():
                self.take_row(json.loads(line))

    def take_row(self, row):
        kind = row['kind']
        if kind == 'recording':
            if row['allocs'] >= self.recordings.get(row['id'], row)['allocs']:
                self.recordings[row['id']] = row
        elif kind == 'allocated':
            key = row['recording'], row['minute'], row['stack'], row['type']
            old = self.rows.get(key, (0, 0))
            self.rows[key] = max(old[0], row['bytes']), max(old[1], row['allocs'])
        elif kind in ('method', 'type', 'frame', 'stack', 'ancestors'):
            self.defined[kind, row.get('id') or row['stack']] = row

    def sums(self):
        """{recording: (bytes, allocs)}."""
        found = {}
        with self.lock:
            for (recording, _, _, _), (size, allocs) in self.rows.items():
                old = found.get(recording, (0, 0))
                found[recording] = old[0] + size, old[1] + allocs
        return found

    def undefined(self):
        """What rows name and nothing defines."""
        with self.lock:
            stacks = {(kind, row['parent']) for kind, row in self.named('stack') if row.get('parent')}
            named = stacks | {('frame', row['frame']) for _, row in self.named('stack')} | \
                {('method', row['method']) for _, row in self.named('frame')} | \
                {('stack', key[2]) for key in self.rows} | {('type', key[3]) for key in self.rows} | \
                {('ancestors', key[2]) for key in self.rows}
            return named - set(self.defined)

    def named(self, kind):
        return [(key[0], row) for key, row in self.defined.items() if key[0] == kind]
