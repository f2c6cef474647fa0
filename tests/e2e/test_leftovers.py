"""What a recording leaves behind, whom it trusts, and what others can do to its folders and sockets."""
import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile

import harness
from control import is_dead
from harness import ENDLESS, ENVIRONMENT, PATIENCE, PROGRAM, needs, run, tool, until
from test_hostile import socket_of_this_process


@contextlib.contextmanager
def own_places():
    """An environment whose status folders and sockets are nobody else's."""
    with tempfile.TemporaryDirectory() as place:
        os.mkdir(os.path.join(place, 'run'), 0o700)
        os.mkdir(os.path.join(place, 'tmp'), 0o700)
        yield place, dict(ENVIRONMENT, XDG_RUNTIME_DIR=place + '/run', TMPDIR=place + '/tmp')


def everything(place):
    return sorted(os.path.relpath(os.path.join(folder, name), place) for folder, folders, files in os.walk(place)
                  for name in folders + files if name not in ('run', 'tmp', 'shadowtrace', 'clr-debug-pipe'))


def ours(place):
    return [name for name in everything(place) if 'shadowtrace' in name]


def start(command, t, env, **more):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, start_new_session=True, **more)
    t.started.append(process)
    return process


# ---- stale folders and sockets

@needs('Ticker')
def test_what_the_killed_leave_is_gone_after_the_next_list_or_record(t):
    """record, the program, or both are killed; what lives keeps its own."""
    with own_places() as (place, env):
        for number, victims in enumerate((('record',), ('program',), ('record', 'program'), ())):
            log = t.path('%d.ndjson' % number)
            t.unchecked.add(log)
            record = start([harness.TOOL, 'record', '-o', log, '--check', '0', '--'] + PROGRAM.command('Ticker') +
                           ENDLESS, t, env)
            sockets = os.path.join(place, 'run', 'shadowtrace')
            until(lambda: os.path.isdir(sockets) and os.listdir(sockets), 'a socket')
            until(lambda: any(name.endswith('.json') for name in ours(place)), 'a status')
            program = int(os.listdir(sockets)[0].split('.')[0])
            alive = tool('list', env=env)
            t.true(alive.status == 0 and 'folder' not in alive.errors and str(program) in alive.text, alive)
            t.true(any('-run-' in name for name in ours(place)) and os.listdir(sockets), 'the living lost something')
            if 'record' in victims:
                record.kill()
                record.wait()
            if 'program' in victims:
                os.kill(program, signal.SIGKILL)
                until(lambda: is_dead(program), 'the end of the program')
            if victims == ():
                os.kill(program, signal.SIGTERM)
            if 'record' not in victims:
                record.wait(PATIENCE)
                t.equal([name for name in ours(place) if '-run-' in name], [], 'left by record, ended by itself')
            if number % 2:
                left = tool('record', '-q', '-o', t.path('true.ndjson'), '--', 'true', env=env)
            else:
                left = tool('list', env=env)
            if victims == ('record',):
                t.true('removed 1 folder left by killed recordings' in left.errors, left)
                t.true(str(program) in left.text, 'the program that goes on: %s' % left)
                os.kill(program, signal.SIGKILL)
                until(lambda: is_dead(program), 'the end of the program')
                left = tool('list', env=env)
            t.equal(ours(place), [], 'left after %s\n%s' % (victims, left))
            t.equal(os.listdir(sockets), [], 'sockets')


def test_folders_that_are_not_stale_recordings_stay(t):
    with own_places() as (place, env):
        keep = os.path.join(place, 'tmp', 'shadowtrace-%d-run-aaaaaa' % os.geteuid())
        target = os.path.join(place, 'target')
        os.mkdir(target)
        with open(os.path.join(target, 'mine'), 'w', encoding='utf-8'):
            pass
        os.symlink(target, keep)
        with open(keep[:-1] + 'b', 'w', encoding='utf-8'):
            pass
        os.mkdir(os.path.join(place, 'tmp', 'shadowtrace-%d-rub' % os.geteuid()))
        held = keep[:-1] + 'c'
        os.mkdir(held)
        before = everything(place)
        fd = os.open(held, os.O_RDONLY)
        import fcntl
        fcntl.flock(fd, fcntl.LOCK_EX)
        t.equal(tool('list', env=env).status, 0)
        t.equal(everything(place), before, 'removed')
        fcntl.flock(fd, fcntl.LOCK_UN)  # closing it is not enough: a child of another test has it, too, until it execs
        os.close(fd)
        tool('list', env=env)
        t.equal(sorted(set(before) - set(everything(place))), ['tmp/' + os.path.basename(held)], 'removed')


STRANGE = '''
import json, os, signal, subprocess, sys
folder = json.loads(os.environ['SHADOWTRACE_OPTIONS'])['status']
os.mkfifo(folder + '/1.json')
os.symlink('/dev/zero', folder + '/2.json')
open(folder + '/3.json', 'w').write(json.dumps({'state': 'ended', 'executable': '/x/third', 'seen': 1, 'lost': 0}))
open(folder + '/3-2.json', 'w').write(json.dumps({'state': 'ended', 'executable': '/x/other', 'seen': 2, 'lost': 0}))
if sys.argv[1:]:
    os.rename(folder, folder + '.away')
    os.symlink(sys.argv[1], folder)
'''


def test_what_stands_in_the_status_folder_cannot_hold_record_up(t):
    """A FIFO, a link without an end, two processes of one number; then a link in the folder's own place."""
    with own_places() as (place, env):
        r = run([harness.TOOL, 'record', '-o', t.path('x.ndjson'), '--', sys.executable, '-c', STRANGE], env=env)
        t.equal(r.status, 0, r)
        t.true('third' in r.errors and 'other' in r.errors, r)
        t.equal(ours(place), [], 'left')
        target = os.path.join(place, 'target')
        os.mkdir(target)
        with open(os.path.join(target, '5.json'), 'w', encoding='utf-8') as file:
            file.write('mine')
        r = run([harness.TOOL, 'record', '-o', t.path('x.ndjson'), '--', sys.executable, '-c', STRANGE, target], env=env)
        t.equal(r.status, 0, r)
        t.equal(os.listdir(target), ['5.json'], 'removed elsewhere')


@needs('Hello')
def test_processes_of_one_number_are_told_apart(t):
    """Three of PID namespaces of their own, each number 1; one that is killed while another of its number lives."""
    if os.geteuid() or run(['unshare', '--pid', '--fork', '--mount-proc', 'true']).status:
        t.skip('needs unshare(1) and the right to use it')
    hello = ' '.join(PROGRAM.command('Hello'))
    alone = 'unshare --pid --fork --mount-proc sh -c "exec %s"; ' % hello
    r = t.record(['sh', '-c', alone * 3], check=0)
    t.equal(r.status, 0, r)
    t.equal(r.errors.count('Hello (.NET'), 3, r)
    t.equal(len(r.paths), 3, r.paths)
    t.true('File exists' not in r.errors, r)


@needs('Ticker')
def test_a_killed_process_of_another_namespace_is_not_said_to_live(t):
    if os.geteuid() or run(['unshare', '--pid', '--fork', '--mount-proc', 'true']).status:
        t.skip('needs unshare(1) and the right to use it')
    ticker = ' '.join(PROGRAM.command('Ticker') + ENDLESS)
    killed = '''
        unshare --kill-child --pid --fork --mount-proc sh -c "exec %s" > "$0" &
        until grep -q "^[0-9]" "$0"; do sleep 0.05; done
        program=$(pgrep -P $!)
        kill -KILL $!
        while [ "$(ls /proc/$program/task | wc -l)" -gt 1 ] || grep -q "^State:.[^ZX]" /proc/$program/status; do
            sleep 0.05
        done 2> /dev/null
        :''' % ticker
    r = t.record(['sh', '-c', killed, t.path('said')], check=0)
    t.unchecked.add(r.path)
    t.true('killed, or crashed' in r.errors and 'still running' not in r.errors, r)


# ---- whatever happens to record, COMMAND runs, and its status is its own

def test_nobody_who_reads_the_summary(t):
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([harness.TOOL, 'record', '--', 'sh', '-c', 'trap "" TERM; exit 7'], stderr=write, env=ENVIRONMENT,
                               restore_signals=True)
    os.close(write)
    t.equal(process.wait(PATIENCE), 7, 'exit status')
    r = run([harness.TOOL, 'record', '-q', '--', 'sh', '-c', 'grep SigIgn /proc/self/status'])
    plain = run(['sh', '-c', 'grep SigIgn /proc/self/status'])
    t.equal(r.out, plain.out, 'signals that COMMAND ignores')


@needs('Hello')
def test_read_only_places_for_temporary_files(t):
    if os.geteuid() or run(['unshare', '--mount', 'true']).status:
        t.skip('needs unshare(1) and the right to use it')
    log = t.path('log.ndjson')
    mount = 'mount --bind {0} {0} && mount -o remount,bind,ro {0} && '
    line = mount.format('/tmp') + mount.format('/dev/shm') + 'mount --bind {0} {0} && mount -o remount,bind,rw {0} && '.format(
        t.path()) + 'exec "$@"'
    env = {k: v for k, v in ENVIRONMENT.items() if k not in ('TMPDIR', 'XDG_RUNTIME_DIR')}
    env['DOTNET_EnableDiagnostics_IPC'] = '0'  # the runtime's own socket in /tmp
    r = run(['unshare', '--mount', 'sh', '-c', line, 'sh', harness.TOOL, 'record', '-o', log, '--'] + PROGRAM.command('Hello'),
            env=env)
    t.equal(r.status, 0, r)
    t.true('Hello (.NET' in r.errors and 'none lost' in r.errors, r)
    t.equal(os.listdir(t.path()), ['log.ndjson'], 'files')


@needs('Hello')
def test_a_full_status_folder_is_no_crash(t):
    """There is room for one file of one page: the last state goes over the first."""
    if os.geteuid() or run(['unshare', '--mount', 'true']).status:
        t.skip('needs unshare(1) and the right to use it')
    small = t.path('small')
    os.mkdir(small)
    env = {k: v for k, v in ENVIRONMENT.items() if k != 'XDG_RUNTIME_DIR'}
    line = 'mount -t tmpfs -o size=4k,mode=700 tmpfs %s && TMPDIR=%s exec "$@"' % (small, small)
    r = run(['unshare', '--mount', 'sh', '-c', line, 'sh', harness.TOOL, 'record', '-o', t.path('log.ndjson'), '--', 'env', '-u',
             'TMPDIR'] + PROGRAM.command('Hello'), env=env)
    t.equal(r.status, 0, r)
    t.true('killed' not in r.errors and 'none lost' in r.errors, r)


# ---- whom a socket belongs to

def test_a_runtime_folder_of_another_user_is_not_used(t):
    if os.geteuid():
        t.skip('needs another user')
    for spoil in (lambda path: os.chown(path, 65534, 65534)), (lambda path: os.chmod(path, 0o755)):
        with tempfile.TemporaryDirectory() as place:
            os.mkdir(os.path.join(place, 'shadowtrace'), 0o700)
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(os.path.join(place, 'shadowtrace', '%d.sock' % os.getpid()))
                listener.listen(1)
                spoil(place)
                result = tool('dump', str(os.getpid()), env=dict(ENVIRONMENT, XDG_RUNTIME_DIR=place))
                t.true(result.status == 3 and 'not traced' in result.errors, result)


FAKE = '''
import os, socket, sys
os.setresuid(65534, 65534, 65534)
s = socket.socket(fileno=int(sys.argv[1]))
s.listen(4)
print('ready', flush=True)
while True:
    c = s.accept()[0]
    c.recv(1000)
    c.sendall(b'{"ok":true,"version":1,"name":"liar","threads":[],"methods":[]}\\n')
    c.close()
'''


def test_a_socket_that_another_user_serves_is_refused(t):
    """Bound in our folder, which the attacker had exchanged for his at the right moment; served by another user."""
    if os.geteuid():
        t.skip('needs another user')
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as listener:
        os.mkdir(os.path.join(place, 'shadowtrace'), 0o700)
        listener.bind(os.path.join(place, 'shadowtrace', '%d.sock' % os.getpid()))
        fake = t.start([sys.executable, '-c', FAKE, str(listener.fileno())], pass_fds=[listener.fileno()])
        fake.stdout.readline()
        env = dict(ENVIRONMENT, XDG_RUNTIME_DIR=place)
        for words in ['dump', str(os.getpid())], ['ctl', str(os.getpid()), 'status'], ['list']:
            result = tool(*words, env=env)
            t.true('another user' in result.text + result.errors and 'liar' not in result.text, result)


def test_list_takes_no_socket_that_is_about_to_listen(t):
    """Between bind and listen a socket refuses like one whose process is gone; the maker holds the folder's lock."""
    import fcntl
    with own_places() as (place, env):
        folder = os.path.join(place, 'run', 'shadowtrace')
        os.mkdir(folder, 0o700)
        fd = os.open(folder, os.O_RDONLY)
        path = os.path.join(folder, '4190000.sock')
        with socket.socket(socket.AF_UNIX) as listener:
            fcntl.flock(fd, fcntl.LOCK_EX)
            listener.bind(path)
            tool('list', env=env)
            t.true(os.path.exists(path), 'list removed a socket that was being made')
            fcntl.flock(fd, fcntl.LOCK_UN)
            tool('list', env=env)
            t.true(not os.path.exists(path), 'a stale one stays')
        os.close(fd)


@needs('Ticker')
def test_the_library_holds_the_lock_while_it_makes_its_socket(t):
    """Seen by its system calls: flock, bind, listen, unlock."""
    if run(['sh', '-c', 'command -v strace']).status:
        t.skip('needs strace')
    out = t.path('calls')
    r = run(['strace', '-f', '-qq', '-e', 'trace=flock,bind,listen', '-o', out, harness.TOOL, 'record', '-o', t.path('x.ndjson'), '--'] +
            PROGRAM.command('Ticker') + ['--seconds', '0'])
    t.equal(r.status, 0, r)
    with open(out, encoding='utf-8') as file:
        calls = [line for line in file if 'flock' in line or '/proc/self/fd' in line or 'listen' in line]
    at = next(i for i, line in enumerate(calls) if '.sock' in line)
    t.true('LOCK_EX' in calls[at - 1] and 'listen' in calls[at + 1] and 'LOCK_UN' in calls[at + 2], ''.join(calls))


# ---- what cannot hold the command up, or fill memory

@needs('Hello')
def test_a_source_that_is_a_fifo(t):
    r = t.record(PROGRAM.command('Hello'), check=0)
    fifo = t.path('fifo.cs')
    os.mkfifo(fifo)
    result = tool('annotate', '--source', fifo, r.path, 'Program.cs')
    t.true(result.status == 3 and 'fifo.cs' in result.errors, result)


def test_a_reply_without_an_end_takes_little_memory(t):
    """98 MB of empty arrays, and a dump whose one method has a huge id."""
    def endless(request):
        yield b'{"ok":true,"version":1,"x":['
        for _ in range(98):
            yield b'[],' * 349525
        yield b'[]]}\n'

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    pid = str(os.getpid())
    for words, most in (['ctl', pid, 'status'], 64), (['list'], 64), (['dump', pid], 400):
        with socket_of_this_process(endless) as env:
            result = run(['/usr/bin/time', '-f', 'peak %M', harness.TOOL] + words, env=env) \
                if os.path.exists('/usr/bin/time') else tool(*words, env=env, preexec=limited)
        t.true('sends more than' in result.text + result.errors, result)
        if 'peak' in result.errors:
            peak = int(result.errors.split('peak ')[1]) // 1024
            t.true(peak < most, '%s took %d MB' % (words[0], peak))
    big = {'ok': True, 'version': 1, 't': 5, 'copy_ns': 5, 'methods': [{'id': 4294967290, 'name': 'x'}], 'threads': []}
    with socket_of_this_process(lambda r: json.dumps(big).encode() + b'\n') as env:
        t.equal(tool('dump', pid, env=env, preexec=limited).status, 0, 'a method of a huge id')
