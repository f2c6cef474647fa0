"""
shadowtrace ship: whatever becomes of the server and of ship itself, the server's sums are those of the logs, to the byte.

The lane ship: 100 kills and 10 outages; else 8 and 4.
"""
import contextlib
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile

import consumers
from control import Kept, Living
import harness
from harness import (BUILD, ENVIRONMENT, PATIENCE, PROGRAM, ROOT, TOOL, UNTIL_EOF, full, longer, needs, one_line, run, tool, tool_json, until, wait,
                     waits)
from receiver import Receiver

LOGS = os.path.join(ROOT, 'tests/fixtures/logs')
SHIP = os.path.join(BUILD, 'shadowtrace-ship')
MARKS = 1000  # their lines are a fifth of a part of such a log
LIMIT = (1 << 20) + 2 * 65536  # of a log with --max-log 1M: each of two parts may be larger by what is written at once


def receiver(t, **more):
    if not os.path.exists(SHIP):
        t.skip('shadowtrace-ship was not built: `make deps` installs libcurl4-openssl-dev')
    made = Receiver(**more)
    t.receivers = [*getattr(t, 'receivers', []), made]
    return made


def words(server, *more):
    return [TOOL, 'ship', '--to', server.url, '--host', 'here', *more]


def once(server, *more):
    return run(words(server, '--once', *more))


def total(*logs):
    report = tool_json('report', '--by', 'type', '--format', 'json', *logs)['total']
    return report['bytes'], report['allocs']


def same(t, server, *logs):
    """Each log is one recording there, with its sums; what they name is defined."""
    t.equal(sorted(server.sums().values()), sorted(total(log) for log in logs), 'sums')
    t.equal(sorted((row['bytes'], row['allocs']) for row in server.recordings.values()),
            sorted(total(log) for log in logs), 'what recordings say')
    t.equal(server.undefined(), set(), 'named and not defined')


def copies(t, *names):
    folder = t.path('logs')
    os.makedirs(folder, exist_ok=True)
    for name in names:
        shutil.copy(os.path.join(LOGS, name + '.ndjson'), folder)
    return folder, [os.path.join(folder, name + '.ndjson') for name in names]


def test_what_is_there_is_sent_once_or_twice(t):
    server = receiver(t)
    folder, logs = copies(t, 'sites', 'shop-events', 'marks')
    for _ in 1, 2:
        t.equal(once(server, folder).status, 0, 'the status')
        same(t, server, *logs)
    t.true('query=insert into row format JSONEachRow' in server.headers[-1]['path'] and 'database=shadowtrace' in server.headers[-1]['path'],
           server.headers[-1])
    t.true(all(row['host'] == 'here' for row in server.recordings.values()), server.recordings)
    # The rows are those of an export of the machine's stacks.
    printed = run([TOOL, 'ship', '--dry-run', '--host', 'here', logs[1]])
    exported = tool('export', '--format', 'rows', '--physical', '--no-lines', '--host', 'here', '-o', '-', logs[1])
    t.equal(sorted(printed.text.splitlines()), sorted(exported.text.splitlines()), 'dry run')


def test_an_address_with_a_question_mark_is_taken_as_it_is(t):
    server = receiver(t)
    _, logs = copies(t, 'shop-events')
    t.equal(run([TOOL, 'ship', '--to', server.url + '/rows?table=a', '--once', *logs]).status, 0, 'the status')
    t.equal(server.headers[-1]['path'], '/rows?table=a', 'the path')
    same(t, server, *logs)


def test_what_cannot_be_is_said_in_one_line(t):
    server = receiver(t, version='1')
    folder, logs = copies(t, 'shop-events')
    one_line(once(server, folder), 3, 'of version 1', 'needs version 3')
    server.be('500')
    failed = once(server, folder)
    one_line(failed, 3, 'the server answers 500')
    t.true('\x1b' not in failed.errors, failed.errors)
    server.be('refuse')
    one_line(once(server, folder), 3, 'cannot send')
    one_line(run([TOOL, 'ship', '--once', folder]), 2, 'where to?')
    one_line(run([TOOL, 'ship', '--to', 'ftp://127.0.0.1', folder]), 2, 'https://')
    one_line(run([TOOL, 'ship', '--to', 'https://me:word@127.0.0.1', folder]), 2, '--credentials')
    one_line(run([TOOL, 'ship', '--to', server.url, t.path('none')]), 3, 'cannot read')
    secret = t.path('secret')
    with open(secret, 'w', encoding='ascii') as file:
        file.write('me:word\n')
    os.chmod(secret, 0o644)
    one_line(run([TOOL, 'ship', '--to', server.url, '--credentials', secret, folder]), 3, 'others can read')
    os.chmod(secret, 0o600)
    one_line(run([TOOL, 'ship', '--to', 'http://example.invalid', '--credentials', secret, folder]), 2, 'in the clear')
    server.be('ok')
    server.version = '3'
    t.equal(once(server, '--credentials', secret, *logs).status, 0, 'with credentials')
    t.equal(server.headers[-1].get('Authorization'), 'Basic bWU6d29yZA==', 'who it is')


def test_a_server_on_this_machine_is_reached_without_a_proxy(t):
    """The password must not reach a proxy. Servers elsewhere are asked by the proxy, and told no password in the clear."""
    server, proxy = receiver(t), receiver(t)
    _, logs = copies(t, 'shop-events')
    secret = t.path('secret')
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), 'w', encoding='ascii') as file:
        file.write('me:word\n')
    environment = ['env', '-u', 'no_proxy', '-u', 'NO_PROXY'] + [name + '=' + proxy.url for name in (
        'http_proxy', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY')]
    for host in '127.0.0.1', 'localhost', '127.1.2.3':
        url = server.url.replace('127.0.0.1', host)
        sent = run([*environment, TOOL, 'ship', '--once', '--to', url, '--credentials', secret, *logs])
        t.equal(proxy.requests, 0, 'requests that the proxy got of %s' % host)
        if host != '127.1.2.3':  # where nobody listens
            t.equal(sent.status, 0, sent)
    t.equal(server.headers[-1].get('Authorization'), 'Basic bWU6d29yZA==', 'who it is')
    far = [*environment, TOOL, 'ship', '--once', '--to', 'http://example.invalid:8123', *logs]
    one_line(run([*far, '--credentials', secret]), 2, 'in the clear')
    t.equal(proxy.requests, 0, 'requests that the proxy got with a password')
    t.equal(run(far).status, 0, 'by the proxy')
    t.true(proxy.requests > 0 and 'Authorization' not in proxy.headers[-1], proxy.headers)


def test_a_log_without_a_header_is_said_and_the_others_are_sent(t):
    server = receiver(t)
    folder, logs = copies(t, 'shop-events', 'marks')
    with open(logs[0], 'r+b') as file:
        file.write(b'#')
    one_line(once(server, folder), 3, 'shop-events.ndjson does not begin with a log')
    same(t, server, logs[1])
    printed = run([TOOL, 'ship', '--dry-run', folder])
    t.equal((printed.status, printed.errors.count('\n')), (3, 1), 'the same of a dry run')
    os.remove(logs[0])  # the harness validates what is left


def test_a_dry_run_without_enough_memory_ends(t):
    """What does not fit is not printed, and said; what was read of it is printed once."""
    log = t.path('large.ndjson')
    with open(log, 'w', encoding='ascii') as file:
        file.write('{"kind":"header","format":"shadowtrace","version":1,"pid":7,"executable":"/a","runtime":"10.0.0","options":{},'
                   '"clock":1,"started":"2026-11-24T10:00:30Z"}\n{"kind":"thread","id":1,"os":7}\n{"kind":"class","id":1,"name":"C"}\n')
        for i in range(1, 30001):
            file.write('{"kind":"method","id":%d,"name":"M%d()"}\n{"kind":"node","id":%d,"parent":0,"method":%d}\n'
                       '{"kind":"alloc","t":%d,"thread":1,"class":1,"bytes":24,"node":%d,"il":3}\n' % (i, i, i, i, i, i))
    made = run([TOOL, 'ship', '--dry-run', '--once', '--host', 'here', '--max-memory', '1M', log], timeout=60)
    t.equal(made.status, 3, made.errors)
    one = [line for line in made.errors.splitlines() if 'large.ndjson needs more than --max-memory allows' in line]
    t.equal(len(one), 1, made.errors)
    lines = made.text.splitlines()
    t.true(lines and len(lines) == len(set(lines)), 'rows')
    os.remove(log)


def test_tls_is_checked(t):
    if not shutil.which('openssl'):
        t.skip('openssl is not installed')
    certificate = t.path('server.pem')
    made = run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj',
                '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', certificate, '-out', t.path('ca.pem')])
    t.equal(made.status, 0, made)
    with open(certificate, 'a', encoding='ascii') as file, open(t.path('ca.pem'), encoding='ascii') as ca:
        file.write(ca.read())
    server = receiver(t, certificate=certificate)
    _, logs = copies(t, 'shop-events')
    one_line(once(server, *logs), 3, 'cannot send', 'certificate')
    t.equal(server.requests, 0, 'nothing is said to a stranger')
    t.equal(once(server, '--ca', t.path('ca.pem'), *logs).status, 0, 'with its certificate')
    same(t, server, *logs)


def writing(pid):
    """Files on a disk that it, or what it has started, has open to write."""
    found = []
    for one in with_children(pid):
        with contextlib.suppress(OSError):  # it has ended
            for name in os.listdir('/proc/%d/fd' % one):
                path = os.readlink('/proc/%d/fd/%s' % (one, name))
                with open('/proc/%d/fdinfo/%s' % (one, name), encoding='ascii') as file:
                    flags = next(int(line.split()[1], 8) for line in file if line.startswith('flags'))
                if flags & os.O_ACCMODE and os.path.isfile(path):
                    found.append(path)
    return found


class Written:
    """A recording that is written while ship follows it: the lines of one that was made, piece by piece."""

    def __init__(self, made, path, pieces):
        with open(made, 'rb') as file:
            self.text = file.read()
        self.made, self.path, self.at, self.written = made, path, 0, 0
        self.step = len(self.text) // pieces + 1
        self.file = open(path, 'wb', buffering=0)  # pylint: disable=consider-using-with

    def more(self):
        """
        Writes a piece, and the rest of its first allocation: there is something to send, even if one line is longer than a piece.
        Returns: whether there is still some to come.
        """
        self.written += 1
        end = self.text.find(b'\n', self.text.find(b'{"kind":"alloc"', self.at)) + 1
        end = max(end, self.written * self.step)
        self.file.write(self.text[self.at:end])
        self.at = end
        if self.at >= len(self.text):
            self.file.close()
        return self.at < len(self.text)


def recorded(t):
    return t.record(PROGRAM.command('KnownAllocs'), '--check', '0', log='made.ndjson').path


def begin(t, server, *more):
    return t.start(words(server, '--every', '30ms', '--timeout', '60s', *more))


def peak(pid):
    """KiB that a process took at most, itself."""
    with open('/proc/%d/status' % pid, encoding='ascii') as status:
        return next(int(line.split()[1]) for line in status if line.startswith('VmHWM'))


def with_children(pid):
    return [pid, *map(int, run(['pgrep', '-P', str(pid)]).text.split())]


def memory(pid):
    """KiB that it and what it has started take now; pages that they share count once."""
    total = 0
    for one in with_children(pid):
        try:
            with open('/proc/%d/smaps_rollup' % one, encoding='ascii') as file:
                total += next((int(line.split()[1]) for line in file if line.startswith('Pss:')), 0)
        except OSError:  # it has ended
            pass
    return total


def told(ship, text):
    """Waits for a line of it on stderr."""
    said = b''
    while text not in said.decode():
        until(lambda: harness.readable(ship.stderr, 1), 'a line with ' + text)
        more = os.read(ship.stderr.fileno(), 4096)
        if not more:
            raise AssertionError('ship has ended: %s' % said.decode())
        said += more


def so_far(server, ship):
    said = os.read(ship.stderr.fileno(), 4096).decode() if harness.readable(ship.stderr, 0) else ''
    return '%s after %d requests; ship (%s) said: %s' % (server.sums(), server.requests, ship.poll(), said)


@longer('ship')
@waits
@needs('KnownAllocs')
def test_kills_and_outages_change_no_sum(t):
    """The log grows meanwhile; it is the same whether ship was killed, or the server refused, hung, failed or took half."""
    chance = random.Random(7)
    server = receiver(t)
    made = recorded(t)
    folder = t.path('logs')
    os.makedirs(folder)
    kills, outages = full('ship', (8, 4), (100, 10))
    log = Written(made, os.path.join(folder, 'app.ndjson'), kills + outages + 2)
    events = ['kill'] * kills + ['refuse', 'hang', '500', 'half', 'refuse', 'hang', '500', 'half', 'refuse', 'half'][:outages]
    chance.shuffle(events)
    ship = begin(t, server, folder)
    most = 0
    for event in events:
        t.equal(writing(ship.pid), [], 'what ship writes to the disk')
        most = max(most, peak(ship.pid), memory(ship.pid))
        asked = server.requests
        if event == 'kill':
            log.more()
            until(lambda asked=asked: server.requests > asked, 'a request')
            ship.send_signal(signal.SIGKILL)
            ship.wait()
            ship = begin(t, server, folder)
            continue
        server.be(event)
        log.more()  # so that there is something to send
        if event == 'refuse':
            told(ship, 'cannot send')
        else:
            until(lambda asked=asked: server.requests > asked, 'a request')
        server.be('ok')
    while log.more():
        pass
    until(lambda: sorted(server.sums().values()) == [total(made)], lambda: 'sums: %s, %s' % (server.sums(), total(made)))
    most = max(most, peak(ship.pid), memory(ship.pid))
    t.true(most < 64 << 10, 'ship took %d KiB' % most)
    t.note('%d kills, %d outages, at most %.1f MiB' % (kills, outages, most / 1024))
    ship.send_signal(signal.SIGTERM)
    t.equal(wait(ship, PATIENCE), 0, ship.stderr.read().decode())
    same(t, server, made)


@needs('KnownAllocs')
def test_memory_is_bounded_while_the_server_is_down(t):
    """Three logs wait; what is read stays within --max-memory, and all of them arrive."""
    server = receiver(t)
    made = recorded(t)
    folder = t.path('logs')
    os.makedirs(folder)
    with open(made, encoding='utf-8') as file:
        lines = file.readlines()
    for pid in 1, 2, 3:
        with open(os.path.join(folder, '%d.ndjson' % pid), 'w', encoding='utf-8') as file:
            file.writelines([json.dumps(dict(json.loads(lines[0]), pid=pid)) + '\n', *lines[1:]])
    server.be('500')
    ship = begin(t, server, '--max-memory', '8m', folder)
    until(lambda: server.requests > 2, 'requests')
    server.be('ok')
    until(lambda: len(server.sums()) == 3 and set(server.sums().values()) == {total(made)}, lambda: server.sums())
    most = max(peak(ship.pid), memory(ship.pid))
    t.true(most < 64 << 10, 'ship took %d KiB' % most)
    ship.send_signal(signal.SIGTERM)
    t.equal(wait(ship, PATIENCE), 0, 'the end')


def reads_only(ship, path):
    """Whether ship has read all parts of a log that were written before the newest one: it closes them then."""
    opened = set()
    for one in with_children(ship.pid):
        for link in glob.glob('/proc/%d/fd/*' % one):
            with contextlib.suppress(OSError):  # it has been closed
                if os.readlink(link).startswith(path):
                    opened.add(os.stat(link).st_ino)
    try:
        return opened == {os.stat(path).st_ino}
    except FileNotFoundError:
        return False  # the next part is about to have the name


@needs('Kept')
def test_the_disk_that_it_takes_is_what_the_log_may(t):
    """The server is down while the log is overwritten again and again: it stays below --max-log, and all of it arrives."""
    server = receiver(t)
    program = Kept(t, '--check', '0', '--max-log', '1M')
    folder = os.path.dirname(program.path)
    ship = begin(t, server, folder)
    until(server.sums, 'rows')
    server.be('refuse')
    client, made, sizes, files = program.client(), 0, [], set()

    def overwritten():
        """A fifth of a part is written, and ship comes to it before there is more: no part goes unread, however slow ship is."""
        nonlocal made
        program.does('marks %d' % MARKS)
        made += MARKS
        until(lambda: client.ask('status')['written'] >= made, 'the marks in the log')
        until(lambda: reads_only(ship, program.path), 'ship reads the newest part')
        files.update(writing(ship.pid))
        sizes.append(sum(entry.stat().st_size for entry in os.scandir(folder)))
        return client.ask('status')['part'] > 6

    overwritten()
    told(ship, 'cannot send')
    until(overwritten, 'many parts')
    server.be('ok')
    t.equal(program.close(), 0, 'how it ended')
    end = program.log.end
    t.true(end['rotated_out']['parts'] > 3, end)
    until(lambda: list(server.sums().values()) == [(end['bytes'], end['written'])], lambda: (server.sums(), end))
    t.true(max(sizes) <= LIMIT, 'the folder had %d bytes' % max(sizes))
    t.equal(files, set(), 'what ship writes to the disk')
    ship.send_signal(signal.SIGTERM)
    t.equal(wait(ship, PATIENCE), 0, ship.stderr.read().decode())
    t.note('%.1f MB written, at most %.1f MB there' % (end['log_bytes'] / 1e6, max(sizes) / 1e6))


@needs('WebServer')
def test_a_server_whose_log_is_packed_and_in_parts(t):
    """Followed from its start, through rotations, ship killed between two of them; a second process comes meanwhile."""
    server = receiver(t)
    runtime = tempfile.TemporaryDirectory(prefix='st-')  # pylint: disable=consider-using-with
    t.runtime = runtime  # a socket's path is short
    programs = [Living(t, PROGRAM.command('WebServer') + UNTIL_EOF + ['--clients', '1'], '--own', '--compress', runtime=runtime.name,
                       log='log.ndjson.zst', stdin=subprocess.PIPE) for _ in (1, 2)]
    folders = [os.path.dirname(living.path) for living in programs]
    ship = begin(t, server, *folders)
    for _ in range(3):
        for living in programs:
            pid = living.pid or living.wait()
            result = run(['env', 'XDG_RUNTIME_DIR=' + runtime.name, TOOL, 'ctl', str(pid), 'rotate'])
            t.equal(result.status, 0, result)
        until(lambda: len(server.sums()) == 2, lambda: 'both processes: %s' % so_far(server, ship))
        ship.send_signal(signal.SIGKILL)
        ship.wait()
        ship = begin(t, server, *folders)
    t.equal([living._ended() for living in programs], [0, 0], 'how they ended')
    ends = [consumers.last_record(living.path) for living in programs]
    t.equal([end['part'] for end in ends], [4, 4], 'parts')
    expected = sorted((end['bytes'], end['written']) for end in ends)
    until(lambda: sorted(server.sums().values()) == expected, lambda: 'sums: %s, %s' % (server.sums(), expected))
    ship.send_signal(signal.SIGTERM)
    t.equal(wait(ship, PATIENCE), 0, ship.stderr.read().decode())
    t.equal(sorted((row['bytes'], row['allocs']) for row in server.recordings.values()), expected, 'what recordings say')
    t.true(all(row['complete'] for row in server.recordings.values()), server.recordings)
    t.equal(server.undefined(), set(), 'named and not defined')


def test_help_is_the_same_in_both_programs(t):
    receiver(t)
    t.equal(run([SHIP, '--help']).text, tool('help', 'ship').text, 'help')
    lonely = t.path('shadowtrace')
    shutil.copy(TOOL, lonely)
    one_line(run([lonely, 'ship', '--to', 'http://127.0.0.1', t.folder], env=ENVIRONMENT), 3, 'libcurl4-openssl-dev',
             t.path('shadowtrace-ship'))
