"""
shadowtrace serve, asked by the programs that fleets have: promtool, Go's pprof, curl's peers, a browser. What it answers is
what the log says, whatever becomes of its file meanwhile; what it must not answer it refuses.

The lane serve scrapes a server every 10 s for ten minutes.
"""
import base64
import concurrent.futures
import contextlib
import gzip
import html
import http.client
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import consumers
from control import Living
import harness
from harness import BUILD, PATIENCE, PROGRAM, ROOT, TOOL, UNTIL_EOF, early, full, last_record, longer, needs, one_line, run, tool, tool_json, \
    until, wait, waits
from readback import read_pprof

LOGS = os.path.join(ROOT, 'tests/fixtures/logs')
SMALL = {'allocs': 7, 'bytes': 221360}  # as the end record of small.ndjson has it
LONG = full('serve', 0, 600)  # seconds
STEADY = UNTIL_EOF + ['--clients', '1']  # of WebServer: until the test has seen what it wants


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


class Server:
    """One that runs beside the test; its sockets and its token lie in a folder of the test's own."""

    def __init__(self, t, *arguments):
        if not os.path.exists(os.path.join(BUILD, 'shadowtrace-serve')):
            t.skip('shadowtrace-serve was not built: `make deps` installs libmicrohttpd-dev')
        if not hasattr(t, 'runtime'):  # a socket's path is short
            t.runtime = tempfile.TemporaryDirectory(prefix='st-')
        self.runtime = t.runtime.name
        self.process = t.start(['env', 'XDG_RUNTIME_DIR=' + self.runtime, TOOL, 'serve', *arguments])
        self.said = b''
        self.where = self._line()
        self.token = None
        if self.where.startswith('http:'):
            with open(self._line().replace('token in ', ''), encoding='ascii') as file:
                self.token = file.read().strip()

    def _line(self):
        out = self.process.stdout
        while b'\n' not in self.said:
            until(lambda: harness.readable(out, 1), 'a line of the server')
            more = os.read(out.fileno(), 4096)
            if not more:
                raise AssertionError('the server has ended: %s' % self.process.stderr.read().decode())
            self.said += more
        line, self.said = self.said.split(b'\n', 1)
        return line.decode()

    def connection(self):
        if self.token is None:
            return Unix(self.where)
        return http.client.HTTPConnection(self.where[len('http://'):], timeout=PATIENCE)

    def ask(self, path, method='GET', bearer=None, **headers):
        """Status, headers and body."""
        headers = {name.replace('_', '-'): value for name, value in headers.items()}
        if bearer or self.token and bearer is None:
            headers.setdefault('Authorization', 'Bearer ' + (bearer or self.token))
        connection = self.connection()
        try:
            connection.request(method, path, headers=headers)
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        status, _, body = self.ask(path, **headers)
        if status != 200:
            raise AssertionError('%s: %d %s' % (path, status, body.decode()))
        return body

    def metrics(self, path='/metrics'):
        return samples(self.get(path).decode())

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return wait(self.process, PATIENCE)


def samples(text):
    """{name: {labels: value}}; no sample stands there twice."""
    found = {}
    for line in text.splitlines():
        if not line.startswith('#'):
            name, labels, value = re.match(r'^(\w+)(?:\{(.*)\})? (\S+)$', line).groups()
            if labels in found.setdefault(name, {}):
                raise AssertionError('twice: ' + line)
            found[name][labels] = float(value)
    return found


def of_process(found, pid):
    """{name: value} of the samples that have no labels but a process's."""
    return {name: next(value for labels, value in values.items() if labels and labels.startswith('pid="%d",program=' % pid))
            for name, values in found.items()
            if any(re.fullmatch(r'pid="%d",program="[^"]*"' % pid, labels or '') for labels in values)}


def promtool(t, text):
    result = run([consumers.program('promtool'), 'check', 'metrics'], stdin=text)
    t.equal(result.status, 0, result)


def profile(t, server, path, name='profile.pb.gz'):
    made = t.path(name)
    with open(made, 'wb') as file:
        file.write(server.get(path))
    return made


# ---- what is answered

@longer('serve')
@needs('WebServer')
def test_scrapes_of_a_server_add_up_to_its_log(t):
    """Found by its socket; each counter only grows, and at the end it is what the log's end record says."""
    server = Server(t)
    length = ['--seconds', str(LONG)] if LONG else STEADY
    living = Living(t, PROGRAM.command('WebServer') + length, '--own', runtime=server.runtime, stdin=subprocess.PIPE)
    pid = living.wait()
    seen, last = 0, {}
    pause = 10 if LONG else 1.05  # equal requests within a second share one answer
    total = {'shadowtrace_allocations_total': 0, 'shadowtrace_allocated_bytes_total': 0}

    def scrape():
        nonlocal seen, last
        text = server.get('/metrics?pid=%d' % pid) if seen else server.get('/metrics')
        found = of_process(samples(text.decode()), pid)
        if not found:
            return None
        for name in total:
            t.true(found[name] >= last.get(name, 0), '%s: %s after %s' % (name, found[name], last.get(name)))
            total[name] += found[name] - last.get(name, 0)
        seen, last = seen + 1, found
        promtool(t, text)
        return found

    until(scrape, 'the process in /metrics')
    while last['shadowtrace_up']:
        if seen == 3 and not LONG:
            living.ends_in_order()
        time.sleep(pause)
        scrape()
    t.equal(living._ended(), 0, 'how it ended')
    end = last_record(living.path)
    t.equal(total['shadowtrace_allocations_total'], end['written'], 'allocations')
    t.equal(total['shadowtrace_allocated_bytes_total'], end['bytes'], 'bytes')
    t.equal(last['shadowtrace_lost_allocations_total'], 0, 'lost')
    found = server.metrics('/metrics?pid=%d' % pid)
    t.true('shadowtrace_missing_total' not in found, 'missing: %s' % found.get('shadowtrace_missing_total'))
    sites = found['shadowtrace_site_allocated_bytes_total']
    t.true(any('site="Program.cs:' in labels for labels in sites), 'no own line in %s' % sites)
    sums = read_pprof(t, profile(t, server, '/debug/pprof/allocs?pid=%d' % pid))
    t.equal(sums.total, [end['bytes'], end['written']], 'the profile')
    t.equal(server.end(), 0, 'the end')
    t.note('%d scrapes' % seen)


def gone(server, pid):
    """All samples, once its process has ended."""
    found = server.metrics()
    return found if not of_process(found, pid)['shadowtrace_up'] else None


def missing(found, pid):
    return {labels: value for labels, value in found.get('shadowtrace_missing_total', {}).items() if 'pid="%d"' % pid in labels}


@needs('WebServer')
def test_nothing_is_lost_where_the_log_is_packed_moved_and_in_parts(t):
    server = Server(t)
    living = Living(t, PROGRAM.command('WebServer') + STEADY, '--own', '--compress', runtime=server.runtime,
                    log='log.ndjson.zst', stdin=subprocess.PIPE)
    pid = living.wait()
    until(lambda: of_process(server.metrics(), pid), 'the process in /metrics')
    for _ in range(3):
        result = run(['env', 'XDG_RUNTIME_DIR=' + server.runtime, TOOL, 'ctl', str(pid), 'rotate'])
        t.equal(result.status, 0, result)
    t.equal(living._ended(), 0, 'how it ended')
    found = until(lambda: gone(server, pid), 'its end')
    end = consumers.last_record(living.path)
    sums = of_process(found, pid)
    t.equal(end['part'], 4, 'parts')
    t.equal(sums['shadowtrace_allocations_total'], end['written'], 'allocations')
    t.equal(sums['shadowtrace_allocated_bytes_total'], end['bytes'], 'bytes')
    t.equal(missing(found, pid), {}, 'missing')


@needs('WebServer')
def test_what_was_overwritten_before_it_could_be_read_is_counted(t):
    """Parts of 50 KB are gone within milliseconds on a busy machine: what is served and what is missing is the whole."""
    server = Server(t)
    living = Living(t, PROGRAM.command('WebServer') + STEADY, '--own', '--max-log', '100K', runtime=server.runtime,
                    stdin=subprocess.PIPE)
    pid = living.wait()
    until(lambda: of_process(server.metrics(), pid), 'the process in /metrics')
    until(lambda: missing(server.metrics(), pid), 'a part that was overwritten')
    t.equal(living._ended(), 0, 'how it ended')
    found = until(lambda: gone(server, pid), 'its end')
    end = last_record(living.path)
    t.true(end['rotated_out']['parts'] > 0, 'no part was overwritten')
    lost = sum(value for labels, value in missing(found, pid).items() if 'what="allocations"' in labels)
    t.equal(of_process(found, pid)['shadowtrace_allocations_total'] + lost, end['written'], 'allocations')
    t.note('%d of %d were overwritten before they could be read' % (lost, end['written']))


@needs('WebServer')
def test_a_log_that_is_emptied_while_it_is_served_goes_on(t):
    """`: > LOG`: the recorder begins again in the same file. What is served and what is missing is the whole."""
    server = Server(t)
    living = Living(t, PROGRAM.command('WebServer') + STEADY, '--own', runtime=server.runtime, stdin=subprocess.PIPE)
    pid = living.wait()

    def sums():
        return of_process(server.metrics(), pid)

    until(lambda: sums().get('shadowtrace_allocations_total', 0) > 0, 'allocations in /metrics')
    before = sums()['shadowtrace_allocations_total']
    os.truncate(living.path, 0)
    until(lambda: sums()['shadowtrace_log_truncations_total'] > 0, 'that it was truncated')
    until(lambda: sums()['shadowtrace_allocations_total'] > before, 'more allocations')
    t.equal(living._ended(), 0, 'how it ended')
    found = until(lambda: gone(server, pid), 'its end')
    end = last_record(living.path)
    lost = sum(value for labels, value in missing(found, pid).items() if 'what="allocations"' in labels)
    t.true(end['file']['truncated'] > 0, 'the recorder did not see it')
    t.equal(of_process(found, pid)['shadowtrace_allocations_total'] + lost, end['written'], 'allocations')
    server.end()
    told = server.process.stderr.read().decode()
    t.true('was truncated or overwritten while it was read' in told, told)
    t.note('%d of %d are missing' % (lost, end['written']))


@early
@needs('WebServer')
def test_go_reads_the_next_seconds_over_tcp(t):
    """As its users type it: the token is the password of the address."""
    server = Server(t, '--listen', '127.0.0.1:0')
    living = Living(t, PROGRAM.command('WebServer') + ['--seconds', '900', '--clients', '1'], '--own', runtime=server.runtime)
    pid = living.wait()
    until(lambda: of_process(server.metrics(), pid), 'the process in /metrics')
    before = server.metrics()
    address = 'http://x:%s@%s/debug/pprof/allocs?seconds=2&pid=%d' % (server.token, server.where[len('http://'):], pid)

    def rows():
        text = consumers.pprof(t, '-top', address)
        t.true('Type: alloc_space' in text and float(re.search(r'Duration: ([\d.]+)', text)[1]) >= 2, text[:400])
        return re.findall(r'^ *(\S+B) +\S+% +\S+% +\S+ +\S+%  (.*)$', text, re.M)
    until(rows, 'allocations within two seconds')
    def allocated():
        found = read_pprof(t, profile(t, server, '/debug/pprof/allocs?seconds=1&pid=%d' % pid))
        return found if found.total[0] else None
    delta = until(allocated, 'allocations within a second')
    time.sleep(1.05)
    now = of_process(server.metrics(), pid)
    t.true(0 < delta.total[0] <= now['shadowtrace_allocated_bytes_total'] -
           of_process(before, pid)['shadowtrace_allocated_bytes_total'], 'a delta of %s bytes' % delta.total[0])
    living.end(signal.SIGKILL)
    t.killed.add(living.path)


def test_a_log_that_is_given_is_served_to_the_byte(t):
    """A profile says the same as the log and as report; what is alive is that of the last collection."""
    small, alive = os.path.join(LOGS, 'small.ndjson'), os.path.join(LOGS, 'alive.ndjson')
    server = Server(t, small, alive)
    text = server.get('/metrics')
    promtool(t, text)
    found = samples(text.decode())
    t.equal(sorted(found['shadowtrace_allocated_bytes_total'].values())[-1] >= SMALL['bytes'], True, 'bytes')
    sums = read_pprof(t, profile(t, server, '/debug/pprof/allocs?log=' + small))
    t.equal(sums.total, [SMALL['bytes'], SMALL['allocs']], 'the profile')
    raw = consumers.pprof(t, '-raw', profile(t, server, '/debug/pprof/heap?pid=4712'))
    t.true('inuse_space/bytes[dflt]' in raw, raw[:600])
    values = re.findall(r'^ +\d+ +\d+ +(\d+) +(\d+): ', raw, re.M)
    live = tool_json('report', '--view', 'live', '--by', 'type', '--format', 'json', '--quiet', '--no-lines', alive)
    t.equal(sum(int(size) for _, size in values), sum(row['live_bytes'] for row in live['rows']), 'bytes alive')
    t.equal(list(found['shadowtrace_live_bytes'].values()), [sum(row['live_bytes'] for row in live['rows'])], 'the gauge')
    status, _, body = server.ask('/debug/pprof/heap?pid=4711')
    t.true(status == 404 and b'--live' in body, (status, body))
    t.true(re.search(r'^ +\d+: 0x[1-9a-f][0-9a-f]{7,} ', raw, re.M), 'no method and IL offset in the addresses:\n' + raw[-2000:])


def test_what_is_alive_by_estimate_is_served_with_its_range(t):
    log = os.path.join(LOGS, 'alive-sampled.ndjson')
    server = Server(t, log)
    text = server.get('/metrics')
    promtool(t, text)
    found = samples(text.decode())
    low, value, high = (list(found['shadowtrace_live_bytes' + end].values())[0] for end in ('_low', '', '_high'))
    live = tool_json('report', '--view', 'live', '--by', 'type', '--format', 'json', '--quiet', '--no-lines', log)['total']
    t.equal(value, live['live_bytes'], 'the gauge')
    t.true(low <= live['live_bytes_range'][0] + 1 and live['live_bytes_range'][1] - 1 <= high < 10 * value,
           '%s to %s, report has %s' % (low, high, live))
    comments = consumers.pprof(t, '-comments', profile(t, server, '/debug/pprof/heap'))
    t.true('inuse: estimated from samples' in comments, comments)


def test_a_log_that_grows_beside_the_server(t):
    path = t.path('log.ndjson')
    t.unchecked.add(path)
    with open(os.path.join(LOGS, 'small.ndjson'), 'rb') as file:
        lines = file.readlines()
    with open(path, 'wb', buffering=0) as log:
        log.write(b''.join(lines[:12]) + lines[12][:9])
        server = Server(t, path)
        t.equal(list(server.metrics()['shadowtrace_allocations_total'].values()), [1], 'allocations')
        log.write(lines[12][9:] + b''.join(lines[13:]))
    until(lambda: list(server.metrics()['shadowtrace_allocated_bytes_total'].values()) == [SMALL['bytes']], 'all bytes')
    body = server.get('/metrics', Accept_Encoding='gzip')
    promtool(t, gzip.decompress(body))


# ---- the page

def test_the_page_in_a_browser(t):
    log = os.path.join(LOGS, 'small.ndjson')
    server = Server(t, '--listen', '127.0.0.1:0', log)
    found = consumers.browser_run(t, '''
        await page.authenticate({username: 'x', password: args.token});
        const reply = await page.goto(args.url, {waitUntil: 'load'});
        const rows = await page.$$eval('table tr', all => all.map(row => row.innerText));
        const frame = await (await page.waitForSelector('iframe')).contentFrame();
        await frame.waitForFunction(() => window.shadowtrace && shadowtrace.total);
        return {status: reply.status(), rows, total: await frame.evaluate(() => shadowtrace.total()),
                title: await frame.title(), messages, requests,
                colour: await page.$eval('iframe', e => getComputedStyle(e).borderTopStyle)};''',
        {'url': server.where + '/', 'token': server.token})
    t.equal(found['status'], 200, found)
    t.true(any('4711' in row and 'shop.dll' in row for row in found['rows']), found['rows'])
    t.equal(found['total']['bytes'], SMALL['bytes'], 'the flame graph')
    t.true('shop.dll (pid 4711)' in found['title'], found['title'])
    t.equal(found['colour'], 'solid', 'the style')
    t.equal([text for text in found['messages'] if 'favicon' not in text], [], 'messages')
    t.true(all(request.startswith(server.where) for request in found['requests']), found['requests'])


# ---- what is refused

def test_logs_of_one_pid_and_without_a_header_have_links_of_their_own(t):
    """Each link of the page leads to its log, and nothing is served twice."""
    same, none = t.path('the same & more.ndjson'), t.path('none.ndjson')
    with open(os.path.join(LOGS, 'small.ndjson'), 'rb') as file:
        header, rest = file.read().split(b'\n', 1)
    with open(same, 'wb') as file:
        file.write(header + b'\n' + rest[:rest.rindex(b'{"kind":"end"')])
    with open(none, 'wb') as file:
        file.write(rest)
    small = os.path.join(LOGS, 'small.ndjson')
    server = Server(t, small, same, none, small, os.path.join(LOGS, '../logs/small.ndjson'))
    page = server.get('/').decode()
    rows = re.findall(r'<tr[^>]*><td class=n><a href="([^"]*)">([^<]*)<.*<td>([^<]*)$', page, re.MULTILINE)
    t.equal([row[2] for row in rows], [small, same.replace('&', '&#38;'), none], 'rows')
    t.equal(len({row[0] for row in rows}), 3, 'links: %s' % rows)
    for link, _, path in rows:
        shown = server.get('/' + html.unescape(link)).decode()
        t.equal(re.search(r'<tr aria-current=true>.*<td>([^<]*)$', shown, re.MULTILINE).group(1), path, link)
        for further in re.findall(r'(?:href|src)="((?:flame|debug)[^"]*)"', shown):
            t.equal(server.ask('/' + html.unescape(further))[0], 200, further)
    server.metrics()  # no sample stands there twice
    for path in same, none:
        os.remove(path)


def test_without_the_token_nothing_is_answered(t):
    server = Server(t, '--listen', '127.0.0.1:0', os.path.join(LOGS, 'small.ndjson'))
    token_path = os.path.join(server.runtime, 'shadowtrace/serve.token')
    t.equal(os.stat(token_path).st_mode & 0o777, 0o600, 'the mode of the token')
    for path in '/', '/metrics', '/flame', '/style.css', '/debug/pprof/allocs', '/nowhere':
        status, headers, body = server.ask(path, bearer='0' * 64)
        t.equal(status, 401, path)
        t.true('Basic' in str(headers.get_all('WWW-Authenticate')), headers)
        t.true(server.token.encode() not in body, 'the token')
    basic = 'Basic ' + base64.b64encode(b'anybody:' + server.token.encode()).decode()
    t.equal(server.ask('/metrics', Authorization=basic)[0], 200, 'as a password')
    t.equal(server.ask('/metrics', Authorization='Basic !!!')[0], 401, 'no password')
    t.equal(server.ask('/metrics?token=' + server.token, bearer='0' * 64)[0], 401, 'in the address')


def test_other_hosts_and_origins_are_refused(t):
    server = Server(t, '--listen', '127.0.0.1:0', '--host', 'shop.example', os.path.join(LOGS, 'small.ndjson'))
    for host, status in ('evil.example', 403), ('127.0.0.1.evil.example', 403), ('shop.example', 200), ('localhost:1', 200):
        t.equal(server.ask('/metrics', Host=host)[0], status, host)
    t.equal(server.ask('/metrics', Origin='https://evil.example')[0], 403, 'an origin')
    t.equal(server.ask('/metrics', Sec_Fetch_Site='cross-site')[0], 403, 'a site')
    _, headers, _ = server.ask('/')
    t.true("default-src 'none'" in headers['Content-Security-Policy'], headers)
    t.true('Access-Control-Allow-Origin' not in headers, headers)


def test_bad_requests_get_a_line_and_the_server_goes_on(t):
    server = Server(t, os.path.join(LOGS, 'small.ndjson'))
    for path, status in (('/nowhere', 404), ('/metrics?pid=0', 400), ('/metrics?pid=x', 400), ('/flame?pid=5', 404),
                         ('/debug/pprof/allocs?seconds=0', 400), ('/debug/pprof/allocs?seconds=601', 400),
                         ('/debug/pprof/allocs?seconds=1e3', 400), ('/../../etc/passwd', 404), ('/metrics?log=/etc/passwd', 404)):
        found, _, body = server.ask(path)
        t.equal((found, body.count(b'\n')), (status, 1), path)
    for method in 'POST', 'PUT', 'DELETE', 'OPTIONS':
        t.equal(server.ask('/metrics', method=method)[0], 405, method)
    t.equal(server.ask('/metrics', method='HEAD')[2], b'', 'HEAD')
    with contextlib.closing(Unix(server.where)) as connection:
        connection.connect()
        connection.sock.sendall(b'GET /' + b'x' * 30000 + b' HTTP/1.1\r\n\r\n')
        t.true(re.match(rb'HTTP/1\.1 4(14|31|13) ', connection.sock.recv(100)), 'a long address')
    for data in b'\0\xff\n\n', b'GET', b'GET / HTTP/9.9\r\n\r\n', b'GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n':
        with contextlib.closing(Unix(server.where)) as connection:
            connection.connect()
            connection.sock.sendall(data)
    t.equal(server.ask('/metrics')[0], 200, 'afterwards')


def test_clients_that_never_read_keep_nobody_from_being_served(t):
    server = Server(t, os.path.join(LOGS, 'small.ndjson'))
    idle = []
    try:
        for _ in range(40):
            connection = Unix(server.where)
            connection.connect()
            connection.sock.sendall(b'GET /flame HTTP/1.1\r\nHost: localhost\r\n\r\n' * 20)
            idle.append(connection)
        t.equal(server.ask('/metrics')[0], 200, 'another')
    finally:
        for connection in idle:
            connection.close()
    t.equal(server.end(), 0, 'the end')


def requests_read(server):
    return server.metrics()['shadowtrace_serve_requests_total'][None]


def test_clients_that_wait_hold_some_slots_and_none_once_they_have_gone(t):
    server = Server(t, os.path.join(LOGS, 'small.ndjson'))
    before, waiting = requests_read(server), []

    def connect():
        connection = Unix(server.where)
        with contextlib.suppress(BlockingIOError):  # a backlog that is full
            connection.connect()
            return connection
        return None

    try:
        for _ in range(200):
            connection = until(connect, 'a place in the backlog')
            connection.sock.sendall(b'GET /debug/pprof/allocs?seconds=600 HTTP/1.1\r\nHost: localhost\r\n\r\n')
            waiting.append(connection)
        # Those that wait leave slots to others, and those beyond a bound get an answer that says so.
        until(lambda: requests_read(server) >= before + 20, 'the requests')
        refused = server.ask('/debug/pprof/allocs?seconds=600')
        t.equal((refused[0], refused[2]), (503, b'too many requests wait for seconds\n'), 'one more')
    finally:
        for connection in waiting:
            connection.close()
    until(lambda: server.ask('/debug/pprof/allocs?seconds=1')[0] == 200, 'a slot for one that waits')
    # Nothing waits for the marks of clients that have gone: different spans have room again.
    for seconds in range(1, 60):
        with contextlib.closing(Unix(server.where)) as connection:
            connection.connect()
            connection.sock.sendall(b'GET /debug/pprof/allocs?seconds=%d HTTP/1.1\r\nHost: localhost\r\n\r\n' % (500 + seconds))
    until(lambda: server.ask('/debug/pprof/allocs?seconds=1')[0] == 200, 'a mark for one that waits')


def trickle(sockets, over):
    """A byte of a request on each now and then: none is idle."""
    while not over.wait(0.2):
        for one in sockets:
            with contextlib.suppress(OSError):
                one.send(b'G')


def connect_nowhere(server):
    """One that connects, and never says a whole request."""
    host, port = server.where[len('http://'):].split(':')
    made = socket.socket()
    made.setblocking(False)
    made.connect_ex((host, int(port)))
    return made


@waits
def test_strangers_keep_nobody_with_a_token_from_being_served(t):
    server = Server(t, '--listen', '127.0.0.1:0', os.path.join(LOGS, 'small.ndjson'))
    sockets, over = [], threading.Event()
    thread = threading.Thread(target=trickle, args=(sockets, over))
    try:
        sockets += [connect_nowhere(server) for _ in range(1000)]
        thread.start()
        for _ in range(5):
            t.equal(server.ask('/metrics')[0], 200, 'with the token')
            sockets += [connect_nowhere(server) for _ in range(100)]
        t.equal(server.ask('/metrics', bearer='0' * 64)[0], 401, 'without it')
    finally:
        over.set()
        thread.join()
        for one in sockets:
            one.close()
    t.equal(server.end(), 0, 'the end')


@waits
def test_a_stranger_does_not_stay(t):
    """A byte each half a second, until the server closes the connection; the client itself would take a minute."""
    server = Server(t, '--listen', '127.0.0.1:0', os.path.join(LOGS, 'small.ndjson'))
    with contextlib.closing(connect_nowhere(server)) as one:
        for sent in range(200):
            if harness.readable(one, 0.5):
                break
            with contextlib.suppress(OSError):  # closed since
                one.send(b'G')
        t.true(sent < 60, 'it took %d bytes' % sent)


def test_a_thousand_scrapes_share_a_few_answers(t):
    server = Server(t, os.path.join(LOGS, 'small.ndjson'))
    pid = server.process.pid

    def many(count):
        connection, found = server.connection(), set()
        for _ in range(count):
            connection.request('GET', '/metrics')
            reply = connection.getresponse()
            text = reply.read()
            found.add((reply.status, re.sub(rb'(shadowtrace_serve_requests_total) .*', rb'\1', text)))
            if reply.will_close:
                connection.close()
        connection.close()
        return found

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = set().union(*pool.map(many, [125] * 8))
    t.equal([status for status, _ in found], [200], 'answers: %d kinds' % len(found))
    with open('/proc/%d/status' % pid, encoding='ascii') as file:
        peak = int(re.search(r'VmHWM:\s+(\d+)', file.read()).group(1))
    t.true(peak < 64 << 10, 'it took %d KB' % peak)
    t.note('%d KB at most' % peak)


# ---- its end, and what stands in its way

def test_a_signal_ends_it_in_order(t):
    """Who waits for the next 600 seconds gets those that there were; the socket is gone; the status is 0."""
    server = Server(t, os.path.join(LOGS, 'small.ndjson'))
    asked = itertools.count(1)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.ask, '/debug/pprof/allocs?seconds=600')
        until(lambda: requests_read(server) > next(asked), 'a request beside those that ask for the number')
        t.equal(server.end(), 0, 'the status')
        status, _, body = waiting.result(PATIENCE)
    t.equal(status, 200, body)
    t.true(body[:2] == b'\x1f\x8b', 'a profile')
    t.true(not os.path.exists(server.where), 'the socket is still there')


def test_what_is_taken_is_said_in_one_line(t):
    small = os.path.join(LOGS, 'small.ndjson')
    server = Server(t, small)
    tcp = Server(t, '--listen', '127.0.0.1:0', small)
    file = t.path('file')
    with open(file, 'w', encoding='ascii'):
        pass
    for arguments, status, words in (
            (('--socket', server.where), 3, ('another server', server.where)),
            (('--socket', file), 3, ('no socket', file)),
            (('--listen', tcp.where[len('http://'):]), 3, ('in use',)),
            (('--listen', 'shop.example:80'), 2, ('ADDRESS:PORT',)),
            (('--listen', '127.0.0.1:0', '--socket', file), 2, ('exclude',)),
            (('--token-file', file), 2, ('--listen',)),
            (('--listen', '127.0.0.1:0', '--token-file', file), 3, ('chmod 600',)),
            (('/nowhere/log',), 3, ('/nowhere/log',)),
            ((t.folder,), 3, ('not a regular file',))):
        result = run(['env', 'XDG_RUNTIME_DIR=' + server.runtime, TOOL, 'serve', *arguments], timeout=PATIENCE)
        one_line(result, status, *words)
    t.equal(server.ask('/metrics')[0], 200, 'afterwards')


def test_a_socket_that_was_left_behind_is_replaced(t):
    server = Server(t, os.path.join(LOGS, 'small.ndjson'))
    server.end(signal.SIGKILL)
    t.true(os.path.exists(server.where), 'a socket without a server')
    t.equal(Server(t, os.path.join(LOGS, 'small.ndjson')).ask('/metrics')[0], 200, 'the next one')


@needs('WebServer')
def test_a_process_that_is_killed_while_it_is_scraped_stays_for_a_while(t):
    server = Server(t)
    living = Living(t, PROGRAM.command('WebServer') + ['--seconds', '900'], '--own', runtime=server.runtime)
    pid = living.wait()
    before = until(lambda: of_process(server.metrics(), pid), 'the process in /metrics')
    living.end(signal.SIGKILL)
    after = until(lambda: (lambda one: one if not one['shadowtrace_up'] else None)(of_process(server.metrics(), pid)), 'its end')
    t.killed.add(living.path)
    t.true(after['shadowtrace_allocations_total'] >= before['shadowtrace_allocations_total'], 'fewer than before')
    total = tool_json('report', '--by', 'type', '--format', 'json', '--quiet', living.path)['total']
    t.equal(after['shadowtrace_allocations_total'], total['allocs'], 'allocations')


def test_damage_is_told_and_the_rest_is_served(t):
    server = Server(t, os.path.join(LOGS, 'damaged.ndjson'), os.path.join(LOGS, 'version2.ndjson'), os.path.join(LOGS, 'small.ndjson'))
    found = server.metrics()
    t.true(any('reason="damaged"' in labels for labels in found['shadowtrace_missing_total']), found)
    page = server.get('/').decode()
    t.true('reads version 1' in page, page)
    text = server.get('/debug/pprof/allocs?log=' + os.path.join(LOGS, 'damaged.ndjson'))
    t.true(text[:2] == b'\x1f\x8b', 'a profile')


def test_without_a_process_it_waits_for_one(t):
    """There may be others' of this user; the next one that starts is found."""
    server = Server(t)
    promtool(t, server.get('/metrics'))
    t.true(b'<h1>Traced processes</h1>' in server.get('/'), 'the page')
    t.equal(server.ask('/debug/pprof/allocs?pid=1')[0], 404, 'no such process')
    t.equal(server.end(signal.SIGINT), 0, 'the end')


def test_help_is_the_same_in_both_programs(t):
    program = os.path.join(BUILD, 'shadowtrace-serve')
    if not os.path.exists(program):
        t.skip('shadowtrace-serve was not built')
    t.equal(run([program, '--help']).text, tool('help', 'serve').text, 'help')
    lonely = t.path('shadowtrace')
    shutil.copy(TOOL, lonely)
    one_line(run([lonely, 'serve']), 3, 'libmicrohttpd-dev', t.path('shadowtrace-serve'))
