"""
Recordings that are killed: record, the program, or both at once. Every prefix of a log reads, what reached the file stays in it, and
what lay about is gone after the next `list`: in `make check`, which kills a recording when its log has what the program said.

200 kills at random moments, after which nothing older than a second may be missing, are in the lane kills: on a busy machine the tracer
waits for a processor, its log is late, and the judgement, which subtracts that time, cannot fail.
"""
import concurrent.futures
import contextlib
import ctypes
import json
import os
import random
import re
import signal
import subprocess
import time

from control import Said, children
from harness import ENDLESS, ENVIRONMENT, PATIENCE, PROGRAM, PROGRAMS, TOOL, each, lane, needs, run, sampled, tool, until

KILLS = 200
AT_ONCE = 4

LOGS = {
    'events': [],
    'sites': ['--log', 'sites'],
    'calls': ['--events', 'calls', '--calls', 'Ticker.*'],
    'values': ['--args', 'Ticker.Program.Make*'],
    'samples': ['--profile', '100'],
    'families': ['--events', 'threads,modules,classes,jit,gc,suspend,transitions'],
}
VICTIMS = 'program', 'record', 'both'


class Buffer(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('size', ctypes.c_size_t), ('pos', ctypes.c_size_t)]


def unpacked(data):
    """As far as it goes: the last piece of a frame may be cut."""
    zstd = ctypes.CDLL('libzstd.so.1')
    zstd.ZSTD_createDCtx.restype = ctypes.c_void_p
    zstd.ZSTD_decompressStream.restype = ctypes.c_size_t
    context = ctypes.c_void_p(zstd.ZSTD_createDCtx())
    piece = ctypes.create_string_buffer(1 << 20)
    source = ctypes.create_string_buffer(data, len(data))
    got, text = Buffer(ctypes.addressof(source), len(data), 0), []
    while True:
        to = Buffer(ctypes.addressof(piece), len(piece), 0)
        if zstd.ZSTD_isError(ctypes.c_size_t(zstd.ZSTD_decompressStream(context, ctypes.byref(to), ctypes.byref(got)))):
            raise AssertionError('the log cannot be unpacked')
        text.append(piece.raw[:to.pos])
        if got.pos == got.size and to.pos < to.size:
            break
    zstd.ZSTD_freeDCtx(context)
    return b''.join(text)


def lines_of(path):
    """Whole lines as they are: most need not be parsed."""
    with open(path, 'rb') as file:
        data = file.read()
    if path.endswith('.zst'):
        data = unpacked(data) if data else data
    return data.split(b'\n')[:-1]


def of_kind(lines, kind):
    begins = b'{"kind":"%s"' % kind.encode()
    return [line for line in lines if line.startswith(begins)]


def ids(lines, kind, name):
    return {r['id'] for r in map(json.loads, of_kind(lines, kind)) if r['name'].startswith(name)}


def ticks(kind, lines):
    """How many of the program's Ticks the log tells of; None: it does not count them."""
    if kind == 'events':
        wanted = [b'"class":%d,' % number for number in ids(lines, 'class', 'Ticker.Tick')]
        return sum(any(text in line for text in wanted) for line in of_kind(lines, 'alloc'))
    if kind == 'sites':
        wanted = ids(lines, 'class', 'Ticker.Tick')
        return sum(r['allocs'] for r in map(json.loads, of_kind(lines, 'site')) if r['class'] in wanted)
    if kind == 'calls':
        wanted = ids(lines, 'method', 'Ticker.Program.Make(')
        return sum(code in wanted for r in map(json.loads, of_kind(lines, 'calls')) for code in r['e'][::2])
    if kind == 'values':
        return len(of_kind(lines, 'values'))
    return None


def latest(lines):
    """When the last thing happened that the log tells of: CLOCK_MONOTONIC, ns."""
    times = [re.search(rb'"t":(\d+)', line) for line in lines]
    return json.loads(lines[0])['clock'] + max((int(t.group(1)) for t in times if t), default=0)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def recorded(path, options, environment, victim, ready):
    """Killed as soon as ready(what it said) returns; what it said."""
    process = subprocess.Popen([TOOL, 'record', '-o', path] + options + ['--'] + PROGRAM.command('Ticker') + ENDLESS,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    said = Said(process)
    try:
        ready(said)
    finally:
        end(process, said, victim)
    return said


def waiting(after):
    """For recorded(): until `after` seconds after its first word, or (below 0) after its start."""
    return lambda said: until(lambda: said.old(after), 'the first word') if after >= 0 else time.sleep(-after)


def end(process, said, victim):
    said.pid = said.pid or next(iter(children(process.pid)), None)
    if victim != 'program':
        kill(process.pid)
        if victim == 'record':  # the program goes on, and its log with it
            time.sleep(0.3)
    if said.pid:
        said.kill()
    else:
        kill(process.pid)  # it had not started yet
    process.wait(PATIENCE)
    said.reader.join(PATIENCE)
    process.stderr.close()
    process.stdout.close()


def one(t, number, environment):
    kind = list(LOGS)[number % len(LOGS)]
    packed = number // len(LOGS) % 2
    chosen = random.Random(number)
    victim = VICTIMS[chosen.randrange(3)]
    after = chosen.uniform(1.0, 3.0) if chosen.random() < 0.7 else -chosen.uniform(0.02, 2.0)
    path = t.path('%d.ndjson%s' % (number, '.zst' if packed else ''))
    t.unchecked.add(path)
    said = recorded(path, LOGS[kind] + (['--compress'] if packed else []), environment, victim, waiting(after))
    what = '%d: %s%s, %s killed after %.2f s' % (number, kind, ' packed' if packed else '', victim, after)
    if not os.path.exists(path) or not os.path.getsize(path):
        t.true(not said.lines, '%s: no log' % what)
        return 0
    lines = lines_of(path)
    result = tool('validate', path)
    t.equal(result.status, 0, '%s\n%s' % (what, result))
    old = said.old()
    certain = old[-1][1] if old else 0
    found = ticks(kind, lines)
    if found is not None:
        t.true(found >= certain, '%s: %d ticks in the log, %d were a second old' % (what, found, certain))
    elif len(old) > 3:  # of what happens now and then, something between two words
        t.true(latest(lines) >= old[-4][0] * 1e9,
               '%s: the last line is %.2f s old' % (what, said.killed[0] - latest(lines) / 1e9))
    return certain


def left_behind(t, run_folder, environment):
    """What is in the folder of sockets and of temporary files after a `list`, which removes what dead processes left."""
    t.equal(run([TOOL, 'list'], env=environment).status, 0, 'list')
    left = [name for name in os.listdir(run_folder) if name.startswith('shadowtrace')]
    for name in list(left):
        inside = os.path.join(run_folder, name)
        if os.path.isdir(inside) and not os.listdir(inside) and name == 'shadowtrace':
            left.remove(name)  # the folder of all sockets stays
    return left


def private(t):
    """A folder for sockets and temporary files, and the environment that names it."""
    run_folder = t.path('run')
    os.makedirs(run_folder, 0o700)
    return run_folder, dict(ENVIRONMENT, XDG_RUNTIME_DIR=run_folder, TMPDIR=run_folder)


@sampled
@needs('Ticker')
@each('kind', *LOGS)
@each('victim', *VICTIMS)
@each('packed', 'plain', 'packed')
def test_what_reached_the_log_survives_a_kill(t, kind, victim, packed):
    """
    The log reaches the file while the program runs: the test waits until the file has every tick of the program's third word, or
    in a log that does not count them something that is newer than the word.
    """
    path = t.path('log.ndjson' + ('.zst' if packed == 'packed' else ''))
    t.unchecked.add(path)
    run_folder, environment = private(t)
    word = []

    def has_it():
        if not os.path.exists(path) or not os.path.getsize(path):
            return False
        lines = lines_of(path)
        found = ticks(kind, lines)
        return bool(lines) and (latest(lines) > word[0][0] * 1e9 if found is None else found >= word[0][1])

    def ready(said):
        word.append(until(lambda: said.lines[2:], 'the third word')[0])
        until(has_it, 'the log has what the program said: %d ticks' % word[0][1])

    recorded(path, LOGS[kind] + (['--compress'] if packed == 'packed' else []), environment, victim, ready)
    result = tool('validate', path)
    t.equal(result.status, 0, result)
    t.true(has_it(), 'what had reached the log is missing after the kill')
    t.equal(left_behind(t, run_folder, environment), [], 'left behind')


@lane('kills')
@needs('Ticker')
def test_nothing_older_than_a_second_is_missing_after_a_kill(t):
    run_folder, environment = private(t)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        certain = list(pool.map(lambda number: one(t, number, environment), range(KILLS)))
    t.equal(left_behind(t, run_folder, environment), [], 'left behind')
    t.true(sum(n > 0 for n in certain) >= KILLS // 4, 'too few were killed late enough: %s' % certain)
    t.note('%d killed, %d of them with something a second old' % (KILLS, sum(n > 0 for n in certain)))


@lane('kills')
@needs('Ticker')
def test_a_log_that_is_late_is_seen(t):
    """The negative control: what is written reaches the file ten minutes late, and the same judgement finds that out."""
    library = t.path('late.so')
    source = os.path.join(PROGRAMS, 'native', 'late.c')
    made = run([os.environ.get('CC', 'cc'), '-std=c11', '-Wall', '-Wextra', '-O1', '-fPIC', '-shared', '-o', library, source])
    t.equal(made.status, 0, 'building\n%s' % made)
    path = t.path('late.ndjson')
    t.unchecked.add(path)
    found = {}
    for preload in '', library:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        said = recorded(path, LOGS['events'], dict(ENVIRONMENT, LD_PRELOAD=preload), 'program', waiting(2.0))
        certain = said.old()[-1][1]
        found[preload] = ticks('events', lines_of(path)) if os.path.getsize(path) else 0
        t.true((found[preload] >= certain) == (not preload), 'preloaded %r: %d ticks in the log, %d were a second old' % (
            preload, found[preload], certain))
    t.note('%d of %d ticks in time' % (found[library], certain))
