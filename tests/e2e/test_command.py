"""The command as its users meet it: what it refuses and how, and that the recorded program does not notice."""
import fcntl
import os
import re
import signal
import subprocess
import termios

import harness
from control import is_dead
from harness import ENDLESS, ENVIRONMENT, HOOKS, PATIENCE, PROGRAM, TOOL, each, needs, one_line, run, tool, until


def with_environment(**more):
    return dict(ENVIRONMENT, **more)


# ---- refusals

@needs('Hello')
def test_wrong_use_gets_one_line_and_status_2(t):
    hello = PROGRAM.command('Hello')
    for arguments, words in (
            ([], ['command']),
            (['nonsense'], ['nonsense']),
            (['record'], ['command']),
            (['record', '--nonsense', '--'] + hello, ['--nonsense']),
            (['record', '--hooks', 'elt9', '--'] + hello, ['--hooks', 'elt9']),
            (['record', '--check', 'banana', '--'] + hello, ['--check', 'banana']),
            (['record', '--check', '-3', '--'] + hello, ['--check']),
            (['record', '--max-log', '1X', '--'] + hello, ['--max-log']),
            (['record', '--capture', 'both', '--only', '*', '--stacks', 'nothing', '--'] + hello, ['--stacks']),
            (['record', '-o'], ['-o']),
            (['record', str(os.getpid())], [str(os.getpid()), 'attach']),
            (['report'], ['log']),
            (['report', '--by', 'nothing', 'x'], ['--by']),
            (['report', '--format', 'xml', 'x'], ['--format']),
            (['compare'], ['log']),
            (['compare', '--nonsense', 'x'], ['--nonsense']),
            (['validate'], ['log']),
            (['help', 'nonsense'], ['nonsense'])):
        one_line(tool(*arguments), 2, *words)


@needs('Hello')
def test_what_keeps_a_profiler_out_is_named(t):
    hello = PROGRAM.command('Hello')
    for name in 'DOTNET_EnableDiagnostics', 'DOTNET_EnableDiagnostics_Profiler':
        one_line(tool('record', '--', *hello, env=with_environment(**{name: '0'})), 2, name)
    other = with_environment(CORECLR_ENABLE_PROFILING='1', CORECLR_PROFILER='{00000000-0000-0000-0000-000000000001}',
                             CORECLR_PROFILER_PATH='/nowhere/other.so')
    one_line(tool('record', '--', *hello, env=other), 2, 'CORECLR_')


@needs('Hello')
def test_commands_that_cannot_be_recorded(t):
    log = t.path('none.ndjson')
    one_line(tool('record', '-o', log, '--', 'no-such-command-at-all'), 127, 'no-such-command-at-all')
    one_line(tool('record', '-o', log, '--', '/etc/passwd'), 126, '/etc/passwd')
    one_line(tool('record', '-o', log, '--', '/bin/true'), 0, 'nothing was recorded')
    one_line(tool('record', '-o', log, '--', 'sh', '-c', 'exit 7'), 7, 'nothing was recorded')
    t.true(not os.path.exists(log), 'a log was made for nothing')


@needs('Hello')
def test_logs_that_cannot_be_written(t):
    hello = PROGRAM.command('Hello')
    there = t.path('there.ndjson')
    with open(there, 'w', encoding='utf-8') as file:
        file.write('mine\n')
    t.unchecked.add(there)
    one_line(tool('record', '-o', there, '--', *hello), 3, 'exists', there)
    with open(there, encoding='utf-8') as file:
        t.equal(file.read(), 'mine\n', 'the file that was there')
    link = t.path('link.ndjson')
    os.symlink(t.path('target.ndjson'), link)
    one_line(tool('record', '-o', link, '--', *hello), 3, link)
    t.true(not os.path.exists(t.path('target.ndjson')), 'written through a symbolic link')
    os.unlink(link)
    one_line(tool('record', '-o', '/nonexistent/folder/x.ndjson', '--', *hello), 3, '/nonexistent/folder')
    one_line(tool('record', '-o', '/proc/x.ndjson', '--', *hello), 3, '/proc')
    one_line(tool('record', '-o', '/proc/x/', '--', *hello), 3, 'cannot make the folder /proc/x: ')
    one_line(tool('record', '-o', there + '/inner/', '--', *hello), 3, there)


@needs('Hello')
def test_a_folder_for_logs_is_made(t):
    """With those above it; the programs that `env` is for would have no log without, so it says so."""
    folder = t.path('new/inner')
    for place, kinds in (folder + '/', ('shell', 'runsettings')), (t.path(), ()):
        noted = {kind for kind in ('shell', 'runsettings', 'docker', 'systemd', 'json')
                 if 'does not exist; if it is missing' in tool('env', '--format', kind, '-o', place).errors}
        t.equal(noted, set(kinds), place)
    said = tool('record', '-o', folder + '/', '--', *PROGRAM.command('Hello'))
    t.equal((said.status, len(os.listdir(folder))), (0, 1), said)
    t.equal(tool('env', '-o', folder + '/').errors, '')


@needs('Hello')
def test_a_library_that_cannot_be_loaded(t):
    hello = PROGRAM.command('Hello')
    bad = t.path('bad.so')
    with open(bad, 'w', encoding='utf-8') as file:
        file.write('not a library')
    for path in bad, '/nowhere/none.so':
        one_line(tool('record', '-o', t.path('x.ndjson'), '--', *hello, env=with_environment(SHADOWTRACE_LIBRARY=path)), 3, path)


@needs('Hello')
def test_a_library_of_another_version(t):
    """Refused before the program starts; the version is really there to be read in the library that is built."""
    version = tool('--version').text.split()[1]
    other = re.sub('[0-9]', '9', version)
    with open(harness.LIBRARY, 'rb') as file:
        data = file.read()
    path = t.path('other.so')
    with open(path, 'wb') as file:
        file.write(data.replace(b'"tracer":"%s"' % version.encode(), b'"tracer":"%s"' % other.encode()))
    one_line(tool('record', '-o', t.path('x.ndjson'), '--', *PROGRAM.command('Hello'), env=with_environment(SHADOWTRACE_LIBRARY=path)),
             3, 'other.so is of version %s, and this command of version %s' % (other, version))
    t.true(not os.path.exists(t.path('x.ndjson')), 'recorded')


@needs('Hello')
def test_damaged_options_leave_the_program_alone(t):
    """The library says nothing on the program's outputs and declines; the status folder has the reason."""
    environment = with_environment(CORECLR_ENABLE_PROFILING='1', CORECLR_PROFILER='{7B6A1F52-3C0E-4E57-9D35-5AD0B3C5E4A1}',
                                   CORECLR_PROFILER_PATH=harness.LIBRARY)
    plain = run(PROGRAM.command('Hello'))
    for options in '{"version":1,"output"', '{"version":99}', '{"version":1,"no-such-key":1}', '[]', '', 'x' * 100000:
        result = run(PROGRAM.command('Hello'), env=dict(environment, SHADOWTRACE_OPTIONS=options), cwd=t.folder)
        t.equal((result.status, result.out, result.err), (0, plain.out, b''), 'options %r' % options[:40])
    t.equal([f for f in os.listdir(t.folder) if 'ndjson' in f], [], 'logs')


@needs('Hello')
def test_results_that_cannot_be_written(t):
    r = t.record(PROGRAM.command('Hello'), check=1)
    for arguments in ['report'], ['report', '--format=json'], ['compare'], ['validate', '--format=json']:
        one_line(run(['sh', '-c', 'exec "$@" >/dev/full', 'sh', TOOL, *arguments, r.path]), 3)


# ---- passing through

@needs('Echo')
@each('hooks', *HOOKS)
def test_input_and_outputs_pass_through(t, hooks):
    data = bytes(range(256)) * 4000 + b'no newline at the end'
    command = PROGRAM.command('Echo') + ['err', 'to stderr', 'cat', 'status', '42']
    plain = run(command, stdin=data)
    r = t.record(command, '--quiet', hooks=hooks, stdin=data)
    t.equal((r.status, r.out == data, r.err), (42, True, b'to stderr\n'), 'recorded')
    t.equal((r.status, r.out, r.err), (plain.status, plain.out, plain.err), 'as without us')
    loud = t.record(command, hooks=hooks, stdin=data)
    t.true(loud.out == data, 'stdout with a summary')
    t.true(loud.err.startswith(b'to stderr\n'), 'stderr: %r' % loud.err)
    for line in loud.errors.splitlines()[1:]:
        t.true(line.startswith('shadowtrace: '), 'stderr: %r' % line)


@needs('Echo')
def test_arguments_environment_and_folder_pass_through(t):
    echo = PROGRAM.command('Echo')
    odd = ['', ' two  blanks ', '"quoted"', "it's", '$HOME', '*', '--check', '-o', 'ünï', '--']
    r = t.record(echo + ['args'] + odd, '--quiet')
    t.equal(r.text, '|'.join(odd) + '\n', 'arguments')
    r = t.record(echo + ['env', 'E2E_ODD', 'env', 'E2E_NONE', 'env', 'CORECLR_PROFILER_PATH_64'], '--quiet',
                 env=with_environment(E2E_ODD='a b="c"'))
    t.equal(r.text, 'a b="c"\n(unset)\n(unset)\n', 'environment')


@needs('Echo')
def test_exit_statuses_pass_through(t):
    for status in 0, 1, 2, 3, 77, 127, 255:
        r = t.record(PROGRAM.command('Echo') + ['status', str(status)], '--quiet')
        t.equal((r.status, r.out, r.err), (status, b'', b''), 'status %d' % status)
        t.true(r.log.end, 'no end')


def start(t, name, *arguments, stdin=subprocess.DEVNULL, preexec=None):
    """A recording that runs, its program's first line read."""
    path = t.path(name + '.ndjson')
    process = t.start([TOOL, 'record', '--quiet', '-o', path, '--'] + PROGRAM.command('Echo') + list(arguments),
                      stdin=stdin, preexec_fn=preexec)
    return process, path, int(process.stdout.readline().split()[1])


def finish(process):
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError('no end: %r %r' % (out, err))
    return process.returncode, out.decode(), err.decode()


@needs('Echo')
@each('name', 'SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT')
def test_a_signal_reaches_the_program_once(t, name):
    process, path, _ = start(t, 'wait', 'wait', 'status', '5')
    os.kill(process.pid, getattr(signal, name))
    status, out, err = finish(process)
    t.equal((status, out, err), (5, 'signal %s\n' % name, ''), 'after %s' % name)
    t.true(harness.Log(path).end, 'the log has no end')


@needs('Echo')
@each('name', 'SIGINT', 'SIGQUIT')
def test_a_key_reaches_the_program_once(t, name):
    """Ctrl-C and Ctrl-\\ go to every process at the terminal: the program has the signal already."""
    ours, theirs = os.openpty()
    try:
        process, path, _ = start(t, 'key', 'wait', 'status', '6', stdin=theirs,
                                 preexec=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.write(ours, b'\x03' if name == 'SIGINT' else b'\x1c')
        status, out, err = finish(process)
    finally:
        os.close(ours)
        os.close(theirs)
    t.equal((status, out, err), (6, 'signal %s\n' % name, ''), 'after the key')
    t.true(harness.Log(path).end, 'the log has no end')


def made(path):
    """Allocations in a log that is being written."""
    with open(path, 'rb') as file:
        return file.read().count(b'{"kind":"alloc"')


@needs('Echo')
@each('name', 'SIGKILL', 'SIGTERM', 'SIGUSR1')
def test_a_program_killed_by_a_signal(t, name):
    process, path, pid = start(t, 'sleep', 'sleep')
    number = getattr(signal, name)
    until(lambda: made(path) > 100, 'allocations in the log')
    os.kill(pid, number)
    if name != 'SIGTERM':  # the runtime ends the program in order
        t.killed.add(path)
    status, out, err = finish(process)
    t.equal(status, 128 + number, 'exit status; %r %r' % (out, err))
    t.true(len(harness.Log(path, cut=True).allocs) > 100, 'too few allocations')


@needs('Echo')
def test_the_program_outlives_the_command(t):
    """kill -9 of `record` itself: the program goes on and its log is whole."""
    process, path, pid = start(t, 'orphan', 'wait', 'out', 'still here', 'status', '0')
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    os.kill(pid, signal.SIGTERM)
    t.equal(process.stdout.read(), b'signal SIGTERM\nstill here\n', 'stdout')
    until(lambda: is_dead(pid), 'the end of the program')
    t.true(harness.Log(path).end, 'the log has no end')


# ---- several processes

def logs(folder):
    return sorted(f for f in os.listdir(folder) if f.endswith('.ndjson'))


@needs('Spawner', 'Hello')
@each('hooks', *HOOKS)
def test_each_process_has_its_log(t, hooks):
    r = t.record(PROGRAM.command('Spawner') + ['--scale', '3'] + PROGRAM.command('Hello'), hooks=hooks, check=1)
    t.exact(r)
    t.equal(r.text.count('ok\n'), 4, 'lines\n%s' % r)
    t.equal(len(r.paths), 4, 'logs')
    for path in r.paths:
        log = harness.Log(path)
        t.true(log.end and not log.mismatches, 'log %s' % path)
        if path != r.path:
            t.equal(os.path.basename(path), 'log.%d.ndjson' % log.header['pid'], 'name')
            t.true(any(d['name'] == 'Hello.Greeting' for d in log.classes.values()), 'not a log of Hello')
        t.equal(os.stat(path).st_mode & 0o777, 0o600, 'mode')


@needs('Spawner', 'Hello')
def test_only_matching_processes_are_recorded(t):
    command = PROGRAM.command('Spawner') + ['--scale', '2'] + PROGRAM.command('Hello')
    r = t.record(command, '--process', 'Hello')
    t.equal(r.status, 0, str(r))
    found = [harness.Log(p) for p in r.paths]
    t.equal(len(found), 2, 'logs')
    for log in found:
        t.true(any('Hello.dll' in c or c.endswith('Hello') for c in log.header['command']), log.header['command'])
    r = t.record(command, '--process', 'Nobody')
    t.equal((r.status, r.paths), (0, []), 'nobody matches')
    t.true('shadowtrace' in r.errors, 'nothing said about recording nothing')


@needs('Spawner', 'Ticker')
def test_processes_that_outlive_the_command_are_named(t):
    at_work = '"$@" > "$0"; until grep -q "^[0-9]" "$0"; do sleep 0.05; done'  # the one that outlives it says how far it is
    r = t.record(['sh', '-c', at_work, t.path('said')] + PROGRAM.command('Spawner') + ['--outlive'] + PROGRAM.command('Ticker') +
                 ENDLESS)
    t.equal(r.status, 0, str(r))
    t.true('still' in r.errors and 'Ticker' in r.errors, 'not named\n%s' % r)
    for path in r.paths:
        t.unchecked.add(path)
        harness.Log(path, cut=True)


def test_rows_fit_terminals_of_any_width(t):
    """Rows and stacks by a key, of a difference and of events: no line of them wraps, and no method loses its name."""
    logs = os.path.join(harness.ROOT, 'tests', 'fixtures', 'logs')
    small, newer, events, lines = (os.path.join(logs, name + '.ndjson') for name in ('small', 'newer', 'shop-events', 'lines'))
    symbols = '--symbols=' + os.path.join(harness.ROOT, 'tests', 'fuzz', 'corpus', 'symbols')
    shown = {
        'site': ('report', '--by', 'site', small), 'method': ('report', '--by', 'method', small),
        'line': ('report', '--by', 'line', symbols, lines), 'diff': ('diff', '--by', 'site', small, newer),
        'diff by type': ('diff', '--by', 'type', small, newer), 'exceptions': ('events', 'exceptions', events)}
    for columns in 20, 30, 45, 60, 79:
        for what, arguments in shown.items():
            status, said, _ = harness.on_terminal([TOOL, *arguments], columns)
            t.equal(status, 0, what)
            rows = said.replace('\r', '').split('\n\n')[0 if what == 'exceptions' else 1].split('\n')
            if what == 'exceptions':  # its five counts take 51 columns, and have their headings above
                rows, least = rows[1:], 53
            else:
                least = 0
            t.equal([row for row in rows if len(row.rstrip()) > max(columns, least)], [], '%s on %d columns' % (what, columns))
            if what in ('site', 'diff'):
                t.equal('Add<T>' in said or 'Basket.Add' in said, True, '%s on %d columns: %s' % (what, columns, said))
