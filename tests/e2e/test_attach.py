"""
Running processes without any preparation: attached to, sampled, and left as they were. Nothing of the tracer stays in them,
except the log that they wrote; each program says at its end that it did all its work.

The lane attach attaches 200 times in a row to a server under load, and 200 times to a process that swaps the folder that
attach makes.
"""
import collections
import contextlib
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import uuid

import consumers
import control
import harness
import matrix
from control import Client, Living
from harness import BUILD, ENDLESS, PROGRAM, ROOT, TOOL, UNTIL_EOF, each, full, longer, needs, one_line, run, runtime_sockets, tool, tool_json, until
from readback import read_pprof

ATTACHES = full('attach', 3, 200)
RACES = full('attach', 10, 200)
LIBRARY = 'libshadowtrace.so'
ALLOCATES = ['--log', '/nowhere/log']  # Sampled waits for its sampler for ever, and allocates


def connect(stream, pid):
    """To the socket on which its runtime listens."""
    stream.connect(runtime_sockets(pid)[0])


def mapped(pid):
    with open('/proc/%d/maps' % pid, encoding='utf-8', errors='replace') as file:
        return file.read()


def descriptors(pid):
    """What they lead to, but for the clients' sockets and for assemblies, which the runtime loads when it needs them."""
    return sorted(link for link in map(link_of, glob.glob('/proc/%d/fd/*' % pid))
                  if link and link != 'socket:[N]' and not link.endswith('.dll'))


def link_of(path):
    try:
        return re.sub(r'\d+', 'N', os.readlink(path))
    except OSError:
        return None


def threads(pid):
    found = []
    for path in glob.glob('/proc/%d/task/*/comm' % pid):
        try:
            with open(path, encoding='utf-8') as file:
                found.append(file.read().strip())
        except OSError:
            pass
    return found


def resident(pid):
    """KB."""
    with open('/proc/%d/status' % pid, encoding='utf-8') as file:
        return int(re.search(r'VmRSS:\s+(\d+)', file.read()).group(1))


def attached_until(t, command, holds):
    """How an attach ended that was interrupted once something held, or ended before."""
    process = t.start(command)
    until(lambda: process.poll() is not None or holds(), 'what is waited for, of %s' % command)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=harness.PATIENCE)
    return harness.Result(command, process.returncode, out, err, 0)


def has_samples(pattern):
    """Whether a log of that name, which may not exist yet, has samples."""
    for path in glob.glob(pattern):
        with open(path, 'rb') as file:
            return b'"kind":"alloc"' in file.read()
    return False


class Running:
    """A program that nobody records, beside the test."""

    def __init__(self, t, command, **more):
        more.setdefault('stdin', subprocess.PIPE)
        self.process = t.start(command, **more)
        self.pid = self.process.pid
        self.t = t

    def ready(self):
        """Until its runtime answers."""
        self.listed()
        return self

    def listed(self):
        """How `list` shows it, which waits a second for each runtime to answer, and on a busy machine for some in vain."""
        return until(lambda: next((p for p in tool_json('list', '--format=json') if p['pid'] == self.pid), None), 'list has it')

    def attach(self, *options, log='log.ndjson', env=None):
        self.t.records += 1
        os.makedirs(self.t.path(str(self.t.records)))
        path = self.t.path(str(self.t.records), log)
        return run([TOOL, 'attach', '-o', path, *options, str(self.pid)], env=env), path

    def sampled(self, *options, samples=20, size=0, log='log.ndjson'):
        """
        Attaches until enough samples are taken and the log has enough bytes, however slow the machine is.
        Returns: how it ended, and the log's path.
        """
        self.t.records += 1
        os.makedirs(self.t.path(str(self.t.records)))
        path = self.t.path(str(self.t.records), log)
        socket_path = os.path.join(control.folder(), '%d.sock' % self.pid)

        def taken():
            with contextlib.suppress(OSError, EOFError):
                return (os.path.exists(socket_path) and Client(self.pid).ask('status').get('written', 0) >= samples and
                        os.path.getsize(path) >= size)
        return attached_until(self.t, [TOOL, 'attach', '-o', path, *options, str(self.pid)], taken), path

    def attach_beside(self, *options):
        """The same, running on. Returns: its process, and the log's path."""
        self.t.records += 1
        os.makedirs(self.t.path(str(self.t.records)))
        path = self.t.path(str(self.t.records), 'log.ndjson')
        process = self.t.start([TOOL, 'attach', '-o', path, *options, str(self.pid)])
        until(lambda: os.path.exists(path) and b'"kind":"alloc"' in open(path, 'rb').read(), 'samples')
        return process, path

    def is_left(self):
        """Nothing of the tracer is in it."""
        self.t.true(LIBRARY not in mapped(self.pid), 'the library is still loaded')
        self.t.equal([name for name in threads(self.pid) if name.startswith('shadowtrace')], [], 'threads of the tracer')

    def ends(self):
        """Its input ends, and it says that it did its work."""
        out, err = self.process.communicate(timeout=harness.PATIENCE)
        self.t.equal((self.process.returncode, err), (0, b''), 'how it ends: %s' % out[-500:])
        return out.decode()


def whole(t, path, capture='walk'):
    """The log of a recording that was ended in order."""
    log = harness.Log(path)
    t.true(log.end, 'the log has an end')
    t.equal((log.end['lost'], log.end['written']), (0, len(log.allocs)), 'nothing is lost')
    t.equal((log.header.get('attached'), log.header['hooks'], log.header['capture']), (True, 'none', capture), 'header')
    return log


# ---- programs

@longer('attach')
@needs('WebServer')
def test_a_server_under_load_is_attached_to_again_and_again_and_left_as_it_was(t):
    """With `pad`, one line allocates nearly all: it is the first row of own code."""
    server = Running(t, PROGRAM.command('WebServer') + ['--scale', '1000000', '--pad', '20000', '--until', 'eof']).ready()
    with open(os.path.join(ROOT, 'tests/e2e/programs/WebServer/Program.cs'), encoding='utf-8') as file:
        hot = next(number for number, line in enumerate(file, 1) if 'PadRight(pad)' in line)
    first, most = None, 0
    for i in range(ATTACHES):
        result, path = server.sampled(samples=100)  # the first also has those of a server that starts
        t.equal(result.status, 0, 'attach\n%s' % result)
        t.true('attached to WebServer' in result.errors and 'none lost' in result.errors, result.errors)
        server.is_left()
        log = whole(t, path)
        t.equal(log.header['sampler'], 'runtime', 'sampler')
        if i == ATTACHES - 1:
            rows = [row for row in tool_json('report', '--by', 'own', '--format=json', path)['rows'] if row.get('own')]
            # once the code is optimised, the runtime does not always tell the line of what was inlined
            t.true('Program.Main+lambda' in rows[0]['method'] and rows[0].get('line', hot) == hot and rows[0]['share'] > 0.5,
                   'the hot spot is the first own row: %s' % rows[0])
        if i == 1:
            first = descriptors(server.pid), resident(server.pid)
        most = max(most, resident(server.pid))
        if i + 1 < ATTACHES:
            shutil.rmtree(os.path.dirname(path))
    until(lambda: not collections.Counter(descriptors(server.pid)) - collections.Counter(first[0]), 'no more descriptors than after two: %s' % first[0])
    t.true('ok' in server.ends().splitlines(), 'its work')
    if ATTACHES >= 100:
        t.true(most < first[1] + 40 * 1024, 'memory: %d KB after two, at most %d KB' % (first[1], most))
    t.note('%d times; %d MB after two, %d MB at the most' % (ATTACHES, first[1] >> 10, most >> 10))


def test_a_compiler_is_attached_to_in_mid_run_and_does_the_same_work(t):
    """Of the F# compiler what it makes is, byte by byte, what it makes alone; attached to up to three times."""
    def command(folder):
        os.makedirs(t.path(folder))
        return [part.replace('{made}', t.path(folder, 'made')) for part in compiler] + ['--deterministic+', '--debug-']

    def made(folder):
        with open(t.path(folder, 'made.dll'), 'rb') as file:
            return file.read()
    compiler = matrix.compilers(t.folder)[1][1]
    alone = run(command('alone'))
    t.equal(alone.status, 0, 'alone\n%s' % alone)
    program = Running(t, command('sampled'), stdin=subprocess.DEVNULL)
    until(lambda: runtime_sockets(program.pid), 'its socket')
    recorded = []
    while program.process.poll() is None and len(recorded) < 3:
        result, path = program.sampled(samples=50)
        if result.status:  # too late, it ends; or, on a busy machine, it did not answer yet
            one_line(result, 3, str(program.pid))
            continue
        recorded.append(path)
        if program.process.poll() is None and len(recorded) < 2:
            program.is_left()
    program.ends()
    t.true(recorded, 'it was attached to')
    logs = [whole(t, path) for path in recorded]
    t.true(any(name.startswith('FSharp.Compiler.') for log in logs for a in log.allocs for name in log.names(a['node'])),
           'its methods')
    t.true(made('sampled') == made('alone'), 'what it makes')


@needs('Sampled')
@each('how', 'detach', 'interrupt', 'kill')
def test_a_console_program_is_sampled_until_somebody_ends_it(t, how):
    program = Running(t, PROGRAM.command('Sampled') + ALLOCATES).ready()
    attach, path = program.attach_beside('--live')
    if how == 'kill':  # the process that began it is gone: another one can end it
        attach.kill()
        attach.wait()
        t.equal(program.listed().get('attached'), True, 'list')
        t.true(Client(program.pid).ask('status')['attached'], 'it goes on')
    if how == 'interrupt':
        attach.send_signal(signal.SIGINT)
    else:
        t.equal(tool('detach', str(program.pid)).text, 'detached; the log is %s\n' % path, 'detach')
    if how != 'kill':
        out, err = attach.communicate(timeout=harness.PATIENCE)
        t.equal((attach.returncode, out), (0, b''), 'how it ends: %s' % err)
    until(lambda: LIBRARY not in mapped(program.pid), 'the library is unloaded')
    program.is_left()
    log = whole(t, path)
    having = t.has_stacks(log)
    t.true(all('il' in a for a in having if log.names(a['node'])[0].startswith('Sampled.')), 'the instruction of each')
    t.true(any(name.startswith('Sampled.Program.Warm') for a in log.allocs for name in log.names(a['node'])), 'of its methods')
    t.true(log.end['sampling']['alive']['mean'] >= 102400, 'what is alive')
    one_line(tool('detach', str(program.pid)), 3, 'not traced')
    t.equal(program.process.poll(), None, 'it runs on')


@longer('attach')
@needs('WebServer')
@needs('Sampled')
@each('program', 'WebServer --scale 1000000 --pad 20000 --until eof', 'Sampled --log /nowhere/log')
def test_walked_stacks_are_those_of_snapshots(t, program):
    name, *arguments = program.split()
    running = Running(t, PROGRAM.command(name) + arguments).ready()
    for _ in range(full('attach', 2, 20)):
        result, path = running.sampled('--check', '1', '--budget', '0', samples=100)
        t.equal(result.status, 0, 'attach\n%s' % result)
        end = whole(t, path).end
        t.note('%d compared, fallbacks %s' % (end['snapshots']['compared'], end['walks']['fallbacks_by']))
        t.equal((end['snapshots']['mismatched'], set(end['walks']['fallbacks_by']) - {'unproven'}), (0, set()),
                'differences, walks that were not certain')
        t.true(end['walks']['fallbacks'] <= end['threads'], 'more than the first walk of each thread: %s' % end['walks'])
        t.true(end['snapshots']['compared'] >= 50, end)


def sampled_in_a_filter(t, *options, env=harness.ENVIRONMENT):
    """The log of a process that has been in a filter all the time, and the names of its paths."""
    program = Running(t, PROGRAM.command('Sampled') + ['--filter'] + ALLOCATES, env=env).ready()
    t.equal(program.process.stdout.readline(), b'in the filter\n', 'the program')
    attach = [] if env is harness.ENVIRONMENT else ['env', 'SHADOWTRACE_LIBRARY=' + env['SHADOWTRACE_LIBRARY']]
    path = t.path('log.ndjson')
    result = attached_until(t, attach + [TOOL, 'attach', *options, '-o', path, str(program.pid)],
                            lambda: open(path, 'rb').read().count(b'"kind":"alloc"') > 40 if os.path.exists(path) else False)
    t.equal(result.status, 0, 'attach\n%s' % result)
    log = harness.Log(path)
    return log, [[name.split('(')[0] for name in log.names(a['node'])] for a in t.has_stacks(log)]


WARMING = ['Sampled.Program.' + name for name in ('WarmUp', 'Warm', 'Warmed', 'WarmInFilter', 'Throw', 'WarmInFilter', 'Main')]


@needs('Sampled')
def test_a_filter_from_before_the_recording_is_found_out(t):
    """No callback announced it. A walk would pass the method that threw; the first one is compared with a snapshot, and does."""
    log, paths = sampled_in_a_filter(t, '--check', '1')
    t.equal([path for path in paths if path[0] == WARMING[0] and path != WARMING][:3], [], 'paths')
    walks = log.end['walks']
    t.true(walks['fallbacks_by'].get('unproven', 0) > 20 and log.end['snapshots']['mismatched'] == 0, log.end)


@needs('Sampled')
def test_the_program_handles_exceptions_where_the_sampler_calls_it(t):
    """A session begins with calls of the program's handlers, on the tracer's thread. One that blocks SIGSEGV ends the process there."""
    program = Running(t, PROGRAM.command('Sampled') + ['--handler'] + ALLOCATES).ready()
    t.equal(program.process.stdout.readline(), b'handling\n', 'the program')
    result, path = program.sampled()
    t.equal(result.status, 0, 'attach\n%s' % result)
    t.equal(program.process.stdout.readline(), b'caught at Enable\n', 'the program')
    program.is_left()
    t.has_stacks(whole(t, path))


@needs('Sampled')
def test_a_process_that_is_just_starting_is_waited_for(t):
    """Its runtime makes its socket some time after the start, listens later, and can be attached to later still."""
    for _ in range(5):
        program = Running(t, PROGRAM.command('Sampled') + ALLOCATES)
        result, path = program.sampled()
        t.equal(result.status, 0, 'attach\n%s' % result)
        program.is_left()
        t.has_stacks(whole(t, path))


@needs('Sampled')
def test_without_proof_a_filter_from_before_the_recording_is_passed(t):
    log, paths = sampled_in_a_filter(t, '--check', '1', env=harness.without('walk_proven'))
    t.note('%d differ' % log.end['snapshots']['mismatched'])
    t.true(log.end['snapshots']['mismatched'] > 20, log.end)


@needs('Sampled', framework='net8.0')
@needs('Sampled', framework='net9.0')
@each('framework', 'net8.0', 'net9.0')
def test_on_older_runtimes_figures_are_approximate(t, framework):
    program = Running(t, PROGRAM.command('Sampled', framework) + ALLOCATES).ready()
    result, path = program.sampled()
    t.equal(result.status, 0, 'attach\n%s' % result)
    program.is_left()
    t.equal(whole(t, path).header['sampler'], 'ticks', 'sampler')
    t.true(tool_json('report', '--format=json', path)['total']['approximate'], 'report')


@needs('Sampled')
@each('room', '512', '0')
def test_attaching_needs_no_static_tls(t, room):
    """glibc never gives back what libraries that were unloaded had of its 512 bytes: 64 at each attach."""
    env = dict(harness.ENVIRONMENT, GLIBC_TUNABLES='glibc.rtld.optional_static_tls=' + room)
    program = Running(t, PROGRAM.command('Sampled') + ALLOCATES, env=env).ready()
    for _ in range(12 if int(room) else 2):
        result, path = program.sampled('--check', '1', samples=5)
        t.equal(result.status, 0, 'attach\n%s' % result)
        end = whole(t, path).end
        t.true(end['snapshots']['compared'] and not end['snapshots']['mismatched'], end)
        program.is_left()


@needs('Sampled')
def test_its_log_can_be_read_by_go(t):
    program = Running(t, PROGRAM.command('Sampled') + ALLOCATES).ready()
    result, path = program.sampled('--compress', '--log', 'sites', log='log.ndjson.zst')
    t.equal(result.status, 0, 'attach\n%s' % result)
    program.is_left()
    profile = t.path('log.pb.gz')
    t.equal(tool('export', '--format', 'pprof', '-o', profile, path).status, 0, 'export')
    t.true(read_pprof(t, profile), 'a profile')
    t.true('Sampled.Program' in consumers.pprof(t, '-top', profile), 'go tool pprof')


# ---- its moments

@needs('Hello')
def test_a_process_that_starts_is_attached_to_or_refused_in_one_line(t):
    for _ in range(5):
        program = Running(t, PROGRAM.command('Ticker') + UNTIL_EOF)
        result, _ = program.attach('--for', '100ms', '-q')
        if result.status:
            one_line(result, 3, str(program.pid))
        program.ends()


@needs('Ticker')
def test_a_process_that_ends_meanwhile_leaves_a_whole_log(t):
    program = Running(t, PROGRAM.command('Ticker') + UNTIL_EOF + ['--threads', '1']).ready()
    t.records += 1
    os.makedirs(t.path('end'))
    path = t.path('end', 'log.ndjson')
    attach = t.start([TOOL, 'attach', '-o', path, str(program.pid)])
    until(lambda: os.path.exists(path) and os.path.getsize(path), 'the log')
    until(lambda: b'attached' in os.read(attach.stderr.fileno(), 4096), 'attached')
    program.ends()
    attach.communicate(timeout=harness.PATIENCE)
    t.equal(attach.returncode, 0, 'attach')
    t.true(harness.Log(path).end, 'the log has an end')


@needs('Ticker')
def test_processes_that_can_be_attached_to_are_listed(t):
    program = Running(t, PROGRAM.command('Ticker') + UNTIL_EOF).ready()
    mine = program.listed()
    t.equal((mine['name'], mine['attachable']), ('Ticker', True), 'JSON')
    t.true(('net' + mine['runtime']).startswith(harness.DEFAULT_FRAMEWORK.removesuffix('-newest')), mine)
    line = until(lambda: next((line for line in tool('list').text.splitlines() if line.split()[0] == str(program.pid)), None), 'its line')
    t.true('`shadowtrace attach %d`' % program.pid in line, line)
    program.ends()
    t.true(not any(p['pid'] == program.pid for p in tool_json('list', '--format=json')), 'one that has ended')


@needs('Spawner', 'Ticker')
def test_a_process_is_listed_below_the_one_that_started_it(t):
    """Through a shell, too."""
    program = Running(t, PROGRAM.command('Spawner') + ['/bin/sh', '-c', '"$@"; true', 'sh'] + PROGRAM.command('Ticker') + UNTIL_EOF)
    program.ready()
    found = {}

    def both():
        found.update((p['name'], p) for p in tool_json('list', '--format=json') if program.pid in (p['pid'], p.get('parent')))
        return len(found) == 2
    until(both, 'both are listed')
    t.equal((found['Spawner'].get('parent'), found['Ticker']['parent']), (None, program.pid))
    ids = str(program.pid), str(found['Ticker']['pid'])  # with nobody traced, a line says that

    def lines():
        found = [line for line in tool('list').text.splitlines() if line.split()[0] in ids]
        return found if len(found) == 2 else None
    t.equal([line[10:22] for line in until(lines, 'a line of each')], ['Spawner     ', '  Ticker    '])
    program.process.communicate(timeout=harness.PATIENCE)


@needs('WebServer')
def test_a_log_that_cannot_grow_is_said_and_the_program_goes_on(t):
    """A limit of its size, which is as a full disk: the writer is in the process, and so the limit is the process's."""
    server = Running(t, ['env', 'DOTNET_EnableWriteXorExecute=0'] + PROGRAM.command('WebServer') +
                     ['--scale', '1000000', '--pad', '20000', '--until', 'eof']).ready()
    t.equal(run(['prlimit', '--pid', str(server.pid), '--fsize=100000:']).status, 0, 'prlimit')
    # Of those that find no room none counts as written: how many that are depends on when the writer gets to run.
    result, path = server.sampled(samples=1, size=100000)
    t.equal(result.errors.count('File too large'), 1, 'what is said: %s' % result)
    server.is_left()
    total = tool_json('report', '--format=json', '--no-lines', path)['total']
    t.true(total['sampled'] and os.path.getsize(path) <= 100000, 'what was written can be read: %s' % total)
    t.equal(run(['prlimit', '--pid', str(server.pid), '--fsize=unlimited:']).status, 0, 'prlimit')
    t.unchecked.add(path)
    result, path = server.sampled()
    t.equal(result.status, 0, 'attached again: %s' % result)
    whole(t, path)
    t.true('ok' in server.ends().splitlines(), 'its work')


# ---- beside others

SESSIONS = 64  # that the runtime has room for


def collects(pid, keywords, level):
    """A session as dotnet-trace begins it (ipc-protocol.md, CollectTracing2): its stream, or None: it is refused."""
    name = 'Microsoft-Windows-DotNETRuntime\0'
    payload = struct.pack('<IIBI', 1, 1, 0, 1) + struct.pack('<QI', keywords, level)
    payload += struct.pack('<I', len(name)) + name.encode('utf-16-le') + struct.pack('<I', 0)
    stream = socket.socket(socket.AF_UNIX)
    connect(stream, pid)
    stream.sendall(b'DOTNET_IPC_V1\0' + struct.pack('<HBBH', 20 + len(payload), 2, 3, 0) + payload)
    reply = stream.recv(28, socket.MSG_WAITALL)
    if reply[16:18] == bytes((0xff, 0)):
        return stream
    stream.close()
    return None


@needs('Sampled')
def test_another_session_and_ours_both_get_their_events(t):
    """dotnet-trace gc-verbose, before, while and after we are there."""
    program = Running(t, PROGRAM.command('Sampled') + ALLOCATES).ready()
    stream, got = collects(program.pid, 1, 5), []
    t.true(stream, 'a session')

    def read():
        while True:
            part = stream.recv(1 << 16)
            if not part:
                return
            got.append(part)
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    until(lambda: sum(map(len, got)) > 1 << 16, 'its events')
    result, path = program.sampled()
    t.equal(result.status, 0, 'attach\n%s' % result)
    program.is_left()
    t.true(whole(t, path).allocs, 'our samples')
    before = sum(map(len, got))
    until(lambda: sum(map(len, got)) > before + (1 << 16), 'its events, when we are gone')
    t.true(b''.join(got[:2]).startswith(b'Nettrace'), 'its stream')
    t.equal(program.process.poll(), None, 'it runs on')


@needs('Sampled')
def test_without_a_free_session_that_is_said(t):
    program = Running(t, PROGRAM.command('Sampled') + ALLOCATES).ready()
    taken = [collects(program.pid, 0x8000000000000, 1) for _ in range(SESSIONS + 2)]
    t.equal((len([s for s in taken if s]), taken[-1]), (SESSIONS, None), 'sessions that others have')
    result, path = program.attach('--for', '500ms')
    t.true('no samples were taken' in result.errors, result)
    t.equal([gap['reason'] for gap in tool_json('report', '--format=json', path)['log']['gaps']], ['no_sampler'], 'report')
    program.is_left()
    t.equal(program.process.poll(), None, 'it runs on')


@needs('Echo')
def test_a_process_that_allocates_less_than_a_sample_has_a_log_that_says_how_much_it_may_be(t):
    program = Running(t, PROGRAM.command('Echo') + ['cat']).ready()
    result, path = program.attach('--for', '500ms')
    t.equal(result.status, 0, 'attach\n%s' % result)
    program.is_left()
    log = whole(t, path)
    t.true(len(log.allocs) < 30 and 'failed' not in log.end['sampling'], 'samples: %s' % log.end)
    text = tool('report', path).text
    t.true('up to 377.7k bytes' in text, text)
    program.ends()


# ---- refusals

def refused(t, pid, *words, options=(), status=3, env=None):
    result = run([TOOL, 'attach', '-o', t.path('none.ndjson'), *options, str(pid)], env=env)
    one_line(result, status, *words)
    t.true(not os.path.exists(t.path('none.ndjson')), 'no log')


def test_what_is_no_dotnet_process_is_refused(t):
    native = t.start(['sleep', '900'])
    refused(t, native.pid, 'is not a .NET process')
    ended = t.start(['true'])
    ended.wait()
    refused(t, ended.pid, 'does not exist')
    refused(t, 'banana', 'is not a process id', status=2)
    refused(t, native.pid, '--sample 100K or more', options=['--sample', '4K'], status=2)
    refused(t, native.pid, 'needs hooks', '`shadowtrace record --own`', options=['--own'], status=2)
    one_line(tool('detach', str(native.pid)), 3, 'not traced')


@needs('Ticker')
def test_what_is_traced_already_is_refused(t):
    recorded = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0')
    pid = recorded.wait()
    refused(t, pid, 'is recorded already', recorded.path)
    one_line(tool('detach', str(pid)), 3, 'started with the profiler')
    recorded.end()
    program = Running(t, PROGRAM.command('Sampled') + ALLOCATES).ready()
    attach, path = program.attach_beside('-q')
    refused(t, program.pid, 'is attached to already', path, 'detach %d' % program.pid)
    attach.send_signal(signal.SIGTERM)
    t.equal(attach.wait(timeout=harness.PATIENCE), 0, 'attach')
    program.is_left()


@needs('Ticker')
@each('setting', 'DOTNET_EnableDiagnostics=0', 'DOTNET_EnableDiagnostics_Profiler=0', 'DOTNET_EnableDiagnostics_IPC=0')
def test_a_process_that_is_closed_to_diagnostics_stays_so(t, setting):
    program = Running(t, ['env', setting] + PROGRAM.command('Ticker') + UNTIL_EOF)
    until(lambda: 'libcoreclr.so' in mapped(program.pid), 'the runtime')
    program.process.stdout.readline()
    refused(t, program.pid, setting)
    program.ends()


OTHER = uuid.UUID('C5A4B0E2-6A0B-4E0A-9C0F-3B6D6E1F0001')


def other_profiler(t):
    other = t.path('libnoop.so')
    bench = os.path.join(ROOT, 'tests', 'bench', 'noop.c')
    built = run([os.environ.get('CC', 'cc'), '-std=c11', '-fPIC', '-shared', '-I' + os.path.join(ROOT, 'include'), '-o', other, bench])
    t.equal(built.status, 0, 'the other profiler\n%s' % built)
    return other


def attach_other(t, pid, library):
    """As any tool may: by the protocol of the diagnostics socket (dotnet/diagnostics, ipc-protocol.md, AttachProfiler)."""
    payload = struct.pack('<I', 10000) + OTHER.bytes_le + struct.pack('<I', len(library) + 1)
    payload += (library + '\0').encode('utf-16-le') + struct.pack('<I', 0)
    with socket.socket(socket.AF_UNIX) as stream:
        connect(stream, pid)
        stream.sendall(b'DOTNET_IPC_V1\0' + struct.pack('<HBBH', 20 + len(payload), 3, 1, 0) + payload)
        reply = stream.recv(20)
    t.equal(tuple(reply[16:18]), (0xff, 0), 'the reply to the other profiler')


@needs('Ticker')
@each('how', 'started', 'attached')
def test_another_profiler_stays_alone(t, how):
    other = other_profiler(t)
    setting = ['env', 'CORECLR_ENABLE_PROFILING=1', 'CORECLR_PROFILER={%s}' % OTHER, 'CORECLR_PROFILER_PATH=' + other]
    program = Running(t, (setting if how == 'started' else []) + PROGRAM.command('Ticker') + UNTIL_EOF)
    program.process.stdout.readline()
    if how == 'attached':
        attach_other(t, program.ready().pid, other)
    refused(t, program.pid, 'another profiler', other)
    program.is_left()
    program.ends()


def other_user(t, place=None):
    """An account that is not ours, as arguments of a launcher; its folder."""
    if os.geteuid():
        t.skip('only root can start a process of another user')
    user = pwd.getpwnam('nobody')
    folder = tempfile.mkdtemp(prefix='st-', dir=place)
    os.chmod(folder, 0o755)
    os.chown(folder, user.pw_uid, user.pw_gid)
    return user, folder, ['setpriv', '--reuid=%d' % user.pw_uid, '--regid=%d' % user.pw_gid, '--clear-groups',
                          'env', 'HOME=' + folder, 'TMPDIR=' + folder]


def for_others(t, folder, name):
    """The tool and a program where another user can come to them: the command lines of both."""
    made = os.path.join(folder, 'programs')
    command = PROGRAM.command(name)
    if command[0] != 'dotnet':
        t.skip('it brings its runtime, which is not copied')
    base = command[-1][:-4] if command[-1].endswith('.dll') else command[-1]
    os.makedirs(made)
    for path in [TOOL, os.path.join(BUILD, LIBRARY)] + glob.glob(base + '.*'):
        shutil.copy(path, made)
    return os.path.join(made, 'shadowtrace'), ['dotnet', os.path.join(made, name + '.dll')]


@needs('Sampled')
def test_only_the_user_and_root_attach(t):
    """A process of another user is refused to a user, and is root's like its own: the log is that user's."""
    user, folder, as_user = other_user(t)
    theirs_tool, command = for_others(t, folder, 'Sampled')
    mine = Running(t, command + ALLOCATES).ready()
    one_line(run(as_user + [theirs_tool, 'attach', '-o', folder + '/x.ndjson', str(mine.pid)]), 3, 'belongs to root', 'only that user, or root')
    one_line(run(as_user + [theirs_tool, 'dump', str(mine.pid)]), 3, 'belongs to root')
    theirs = Running(t, as_user + command + ALLOCATES)
    until(lambda: runtime_sockets(theirs.pid, folder), 'its socket')
    path = os.path.join(folder, 'log.ndjson')
    result = attached_until(t, [os.path.join(folder, 'programs/shadowtrace'), 'attach', '-o', path, str(theirs.pid)],
                            lambda: has_samples(path))
    t.equal(result.status, 0, 'attach\n%s' % result)
    theirs.is_left()
    t.equal(os.stat(path).st_uid, user.pw_uid, 'whose log it is')
    t.true(whole(t, path).allocs, 'samples')
    shutil.rmtree(folder)


def in_another_root(t, command, prepare, env=harness.ENVIRONMENT):
    """
    Starts a program as a container does: with its own /tmp, process numbers, and a root that `prepare`, lines for sh, makes in
    $root. What was built is there, too. Returns: its number here.
    """
    jail = ['unshare', '-m', '-p', '--fork', '--kill-child', 'sh', '-c',
            'root=$1; built=$2; shift 2; mkdir -p "$root" && ' + prepare + ' && mount -t tmpfs none "$root/tmp" && '
            'mkdir -p "$root$built" && mount --bind "$built" "$root$built" && '
            'mount -t tmpfs none "$root/proc" && mount -t proc proc "$root/proc" && exec chroot "$root" "$@"',
            'sh', t.path('root'), BUILD]
    if os.geteuid() or run(['unshare', '-m', '-p', '--fork', 'true']).status:
        t.skip('no namespaces of our own')
    jailed = t.start(jail + command, stdin=subprocess.PIPE, env=env)
    return until(lambda: [p for p in map(int, run(['pgrep', '-P', str(jailed.pid)]).text.split())
                          if 'libcoreclr.so' in mapped(p) and runtime_sockets(1, '/proc/%d/root/tmp' % p)], 'its socket')[0]


def attached_in_another_root(t, pid, attach, capture='walk'):
    """Its samples are in a log below its own /tmp, where nothing else is left."""
    made = '/proc/%d/root/tmp/shadowtrace-Sampled-*.ndjson' % pid
    before = set(glob.glob(made))
    result = attached_until(t, attach + ['attach', str(pid)], lambda: any(map(has_samples, set(glob.glob(made)) - before)))
    t.equal(result.status, 0, 'attach\n%s' % result)
    t.true('/proc/%d/root/tmp/shadowtrace-Sampled-' % pid in result.errors, result.errors)
    left = os.listdir('/proc/%d/root/tmp' % pid)
    t.equal([name for name in left if name.startswith('shadowtrace-0-run')], [], 'copies')
    logs = list(set(glob.glob(made)) - before)
    t.equal(len(logs), 1, 'one log')
    path = t.path('log%d.ndjson' % len(before))
    shutil.copy(logs[0], path)
    t.true(whole(t, path, capture).allocs, 'samples')


@needs('Sampled')
def test_a_process_of_another_root_gets_a_copy_of_the_library(t):
    # what was built may lie below /tmp: it is there in both
    pid = in_another_root(t, PROGRAM.command('Sampled') + ALLOCATES, 'mount --rbind / "$root"')
    attached_in_another_root(t, pid, [TOOL])
    t.true(LIBRARY not in mapped(pid), 'the library is unloaded')


@needs('Ticker')
def test_a_log_that_cannot_be_written_is_said_before_anything_is_done(t):
    program = Running(t, PROGRAM.command('Ticker') + UNTIL_EOF).ready()
    there = t.path('there.ndjson')
    with open(there, 'w', encoding='ascii') as file:
        file.write('kept')
    one_line(run([TOOL, 'attach', '-o', there, str(program.pid)]), 3, 'will not be overwritten')
    one_line(run([TOOL, 'attach', '-o', t.path('none', 'x.ndjson'), str(program.pid)]), 3, 'cannot write a log')
    os.remove(there)
    program.is_left()
    program.ends()


@needs('Sampled')
def test_what_only_the_process_finds_out_is_said_and_the_library_leaves(t):
    """Its user may not write where root may: it accepts, says why, and detaches, since a refusal would keep it loaded."""
    user, folder, as_user = other_user(t)
    attach, command = for_others(t, folder, 'Sampled')
    theirs = Running(t, as_user + command + ALLOCATES)
    until(lambda: runtime_sockets(theirs.pid, folder), 'its socket')
    os.makedirs(folder + '/roots', mode=0o700)
    for _ in range(2):
        result = run([attach, 'attach', '--for', '500ms', '-o', folder + '/roots/log.ndjson', str(theirs.pid)])
        t.equal(result.status, 3, 'attach\n%s' % result)
        t.true('not recorded: cannot create the log' in result.errors and 'ermission denied' in result.errors, result.errors)
        theirs.is_left()
    t.equal(os.listdir(folder + '/roots'), [], 'logs')
    result = run([attach, 'attach', '--for', '300ms', '-o', folder + '/log.ndjson', str(theirs.pid)])
    t.equal(result.status, 0, 'and then it can be attached to\n%s' % result)
    theirs.is_left()
    shutil.rmtree(folder)


@needs('Sampled')
def test_what_a_killed_attach_leaves_with_another_user_is_removed_by_list(t):
    user, folder, as_user = other_user(t)
    tool_there, command = for_others(t, folder, 'Sampled')
    theirs = Running(t, as_user + command + ALLOCATES)
    until(lambda: runtime_sockets(theirs.pid, folder), 'its socket')
    path = os.path.join(folder, 'log.ndjson')
    attach = t.start([tool_there, 'attach', '-o', path, str(theirs.pid)])
    until(lambda: os.path.exists(path) and os.path.getsize(path), 'the log')
    links = [os.readlink(link) for link in glob.glob('/proc/%d/fd/*' % attach.pid)]
    # it may be reading the folder, and a file in it, just now
    status = list({link for link in links if re.fullmatch('/tmp/shadowtrace-%d-run-[0-9a-f]+' % user.pw_uid, link)})
    t.equal((len(status), os.stat(status[0]).st_uid), (1, user.pw_uid), 'its status folder is of that user: %s' % links)
    attach.kill()
    attach.wait()
    t.equal(tool('list').status, 0, 'list')
    t.true(not os.path.exists(status[0]), 'it is removed')
    t.equal(tool('detach', str(theirs.pid)).text, 'detached; the log is %s\n' % path, 'the recording goes on, and is ended')
    until(lambda: LIBRARY not in mapped(theirs.pid), 'the library is unloaded')
    shutil.rmtree(folder)


# ---- processes that attack who attaches

def namespaces(t, as_user):
    if run(as_user + ['unshare', '-Urm', 'true']).status:
        t.skip('no user namespaces for ordinary users')


def racer(t, how, folder, as_user, victim):
    """A hostile process (programs/native/racer.c): its number, and what it says."""
    source, made = os.path.join(harness.PROGRAMS, 'native', 'racer.c'), os.path.join(folder, 'racer')
    built = run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-Werror', '-O1', '-o', made, source, '-lpthread'])
    t.equal(built.status, 0, 'building\n%s' % built)
    os.makedirs(os.path.join(folder, 'tmp'))
    os.chmod(os.path.join(folder, 'tmp'), 0o1777)
    process = t.start(as_user + ['TMPDIR=/tmp', 'unshare', '-Urm', made, how, victim, os.path.join(folder, 'tmp')], stdin=subprocess.PIPE)
    t.equal(process.stdout.readline(), b'ready\n', 'the racer')
    return process


@longer('attach')
@each('how', 'mount', 'link')
def test_a_process_that_swaps_the_folder_leads_root_nowhere(t, how):
    """An unprivileged user in separate namespaces wins the race each time; yet no folder of the host is touched."""
    _, folder, as_user = other_user(t)
    namespaces(t, as_user)
    victim = os.path.join(folder, 'victim')
    os.makedirs(victim, 0o755)
    os.chmod(victim, 0o755)
    with open(os.path.join(victim, 'kept'), 'w', encoding='ascii') as file:
        file.write('kept')

    def state():
        found = [(path, os.stat(path)) for path in [victim] + [os.path.join(victim, name) for name in sorted(os.listdir(victim))]]
        return [(path, st.st_uid, st.st_gid, st.st_mode, st.st_size, st.st_mtime_ns) for path, st in found]
    before = state()
    process = racer(t, how, folder, as_user, victim)
    for _ in range(RACES):
        one_line(run([TOOL, 'attach', '--for', '100ms', str(process.pid)]), 3, str(process.pid))
        t.equal(state(), before, 'the victim')
    process.stdin.close()
    won = process.stdout.read().count(b'won')
    t.equal(process.wait(timeout=harness.PATIENCE), 0, 'the racer')
    t.true(won, 'the racer won a race')
    t.note('%d attaches, %d races won' % (RACES, won))
    shutil.rmtree(folder)


def test_a_process_with_a_tmp_that_is_read_only_is_refused_in_one_line(t):
    _, folder, as_user = other_user(t)
    namespaces(t, as_user)
    process = racer(t, 'closed', folder, as_user, folder)
    one_line(run([TOOL, 'attach', str(process.pid)]), 3, '/tmp of process %d' % process.pid, 'Read-only file system')
    process.stdin.close()
    process.wait(timeout=harness.PATIENCE)
    shutil.rmtree(folder)


@needs('Sampled')
def test_a_process_of_a_user_namespace_is_attached_to_and_detached(t):
    """Its files are its user's, who is root there; its own /tmp, on which the host's root can create nothing."""
    user, folder, as_user = other_user(t, '/var/tmp')
    namespaces(t, as_user)
    _, command = for_others(t, folder, 'Sampled')
    theirs = t.start(as_user + ['TMPDIR=/tmp', 'unshare', '-Urm', 'sh', '-c', 'mount -t tmpfs none /tmp && exec "$@"', 'sh'] +
                     command + ALLOCATES, stdin=subprocess.PIPE)
    until(lambda: runtime_sockets(theirs.pid, '/proc/%d/root/tmp' % theirs.pid), 'its socket')
    attach = t.start([TOOL, 'attach', str(theirs.pid)])
    logs = until(lambda: glob.glob('/proc/%d/root/tmp/shadowtrace-Sampled-*.ndjson' % theirs.pid) or
                 t.equal(attach.poll(), None, 'attach goes on'), 'its log')
    t.equal([os.stat(path).st_uid for path in logs], [user.pw_uid], 'whose log it is')
    until(lambda: b'"kind":"alloc"' in open(logs[0], 'rb').read(), 'samples')
    t.true(tool('detach', str(theirs.pid)).text.startswith('detached'), 'detach')
    err = attach.communicate(timeout=harness.PATIENCE)[1]
    t.equal(attach.returncode, 0, 'attach: %s' % err)
    t.true(LIBRARY not in mapped(theirs.pid), 'the library is unloaded')
    left = os.listdir('/proc/%d/root/tmp' % theirs.pid)
    t.equal([name for name in left if '-run-' in name], [], 'copies')
    shutil.copy(logs[0], t.path('log.ndjson'))
    t.true(whole(t, t.path('log.ndjson')).allocs, 'samples')
    theirs.kill()
    theirs.wait()
    shutil.rmtree(folder)
