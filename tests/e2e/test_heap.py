"""Dumps of the heap of a running program: all that its objects refer to, and what holds them."""
import contextlib
import json
import os
import re
import signal
import socket
import struct

from control import Kept, Living
from harness import HOOKS, PATIENCE, PROGRAM, TOOL, each, heavy, lane, needs, one_line, run, runtime_sockets, sampled, tool, tool_json, until
from heapdump import Dump

ALONE = 'DOTNET_gcConcurrent=0'


def dump(t, program, name='heap'):
    """One, beside what the command says of it."""
    path = t.path(name)
    result = tool('ctl', str(program.pid), 'heap', '-o', path)
    t.equal(result.status, 0, 'exit status\n%s' % result)
    said = re.fullmatch(r'([\d,]+) objects, ([\d,]+) references, ([\d,]+) roots in ([\d,]+) bytes\n'
                        r'collection (\d+): full, blocking; the program stood still for [\d.]+ ms\n', result.text)
    t.true(said, result.text)
    found = Dump(path)
    t.equal([int(n.replace(',', '')) for n in said.groups()],
            list(found.ended[:3]) + [os.path.getsize(path), found.collection], 'what is said of it')
    t.equal(found.pid, program.pid, 'pid')
    return found


def holds(t, found, nodes):
    """What the program says that it keeps, and nothing that it dropped."""
    node, load, common = found.of('Kept.Node'), found.of('Kept.Load'), found.of('Kept.Common')
    list_of = set(node)
    t.equal((len(node), len(load), len(common)), (nodes, nodes, min(nodes, 1)), 'objects of the list')
    t.equal({found.objects[a][1] for a in node}, {40} if nodes else set(), 'bytes of a Node')
    t.equal({found.objects[a][1] for a in load}, {24} if nodes else set(), 'bytes of a Load')
    t.equal(sorted(r for a in node for r in found.objects[a][2] if r in found.objects and r not in list_of),
            sorted(load + common * nodes), 'what Nodes refer to beside Nodes')
    nexts = [r for a in node for r in found.objects[a][2] if r in list_of]
    t.equal((len(nexts), len(set(nexts))), (max(nodes - 1, 0), max(nodes - 1, 0)), 'references of Nodes to Nodes')
    t.equal([a for a in load for r in found.objects[a][2]], [], 'what Loads refer to')
    held = found.held()
    t.true(set(node + load + common) <= held, 'the list is held')


def holds_all(t, found, nodes):
    """The same, and what it has beside the list: an array of 5000, a key, what nothing held."""
    holds(t, found, nodes)
    marks, = found.of('Kept.Mark[]')
    t.equal(sorted(found.objects[marks][2]), sorted(found.of('Kept.Mark')), 'elements of the array')
    t.equal(found.objects[marks][1], 16 + 8 + 8 * 5000, 'bytes of the array')
    (key,), (value,) = found.of('Kept.Key'), found.of('Kept.Value')
    t.true((key, value) in found.pairs and value in found.held(), 'what a key holds')
    t.equal(found.of('Kept.Gone'), [], 'what nothing held')
    t.equal([c for c, _, _ in found.objects.values() if c == '?'], [], 'classes without a name')


@sampled
@needs('Kept')
@each('hooks', *HOOKS)
@each('collector', 'gcServer=0', 'gcServer=1', 'GCName=libclrgc.so')
def test_a_dump_has_what_the_program_keeps(t, hooks, collector):
    program = Kept(t, '--check', '0', '--hooks', hooks, nodes=5000, settings=[ALONE, 'DOTNET_' + collector])
    found = dump(t, program)
    holds_all(t, found, 5000)
    program.does('drop')
    holds(t, dump(t, program, 'later'), 0)
    t.equal(program.close(), 0, 'exit status')


BESIDE = {'net10.0': 'gcServer=0', 'net9.0': 'gcServer=1', 'net8.0': 'GCName=libclrgc.so', 'net10.0 elt2': 'gcServer=1'}


@needs('Kept', framework='net8.0')
@needs('Kept', framework='net9.0')
@needs('Kept', framework='net10.0')
@each('cell', *BESIDE)
def test_beside_concurrent_collections_events_tell_the_same(t, cell):
    """The runtime does not tell a profiler; it does tell a session, and nothing is left of that."""
    program = Kept(t, '--check', '0', '--hooks', (cell.split() + ['elt3'])[1], nodes=5000, framework=cell.split()[0],
                   settings=['DOTNET_gcConcurrent=1', 'DOTNET_' + BESIDE[cell]])
    for name, nodes in ('heap', 5000), ('again', 5000), ('later', 0):
        found = dump(t, program, name)
        holds_all(t, found, nodes)
        t.true([m for _, _, _, m in found.roots if m and 'Main' in m], 'roots of methods')
        t.equal([], list(found.sites), 'sites')
        program.does('collect' if name == 'heap' else 'drop')
    t.equal(program.close(), 0, 'exit status')


@needs('Kept')
def test_a_file_that_cannot_be_written_is_said_in_a_line(t):
    program = Kept(t, '--check', '0', nodes=20000, settings=[ALONE])
    os.makedirs(t.path('full'))
    missing = tool('ctl', str(program.pid), 'heap', '-o', t.path('nowhere', 'heap'))
    one_line(missing, 3, 'No such file')
    limit = ['prlimit', '--pid', str(program.pid), '--fsize=100000:']
    t.equal(run(limit).status, 0, 'prlimit')
    full = tool('ctl', str(program.pid), 'heap', '-o', t.path('full', 'heap'))
    one_line(full, 3, 'File too large')
    t.equal(os.listdir(t.path('full')), [], 'files')
    t.equal(run(['prlimit', '--pid', str(program.pid), '--fsize=unlimited:']).status, 0, 'prlimit')
    holds(t, dump(t, program), 20000)
    one_line(tool('ctl', str(program.pid), 'heap', '-o', t.path('heap')), 3, 'File exists')
    t.equal(program.close(), 0, 'exit status')


def written(pid):
    """Files without a name that it has open."""
    found = []
    for fd in os.listdir('/proc/%d/fd' % pid):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink('/proc/%d/fd/%s' % (pid, fd)))
    return [name for name in found if name.endswith(' (deleted)')]


@contextlib.contextmanager
def under_way(t, program, path):
    """A dump that waits for the collection, which cannot be made meanwhile; the command that asked for it."""
    with program.held():
        asked = t.start([TOOL, 'ctl', str(program.pid), 'heap', '-o', path])
        until(lambda: any(name.startswith(os.path.dirname(path)) for name in written(program.pid)), 'the file of the dump')
        yield asked


@needs('Kept')
@each('concurrent', 0, 1)
def test_one_dump_at_a_time(t, concurrent):
    program = Kept(t, '--check', '0', nodes=500, settings=['DOTNET_gcConcurrent=%d' % concurrent])
    with under_way(t, program, t.path('heap')) as first:
        one_line(tool('ctl', str(program.pid), 'heap', '-o', t.path('other')), 3, 'is running; try again')
        one_line(tool('ctl', str(program.pid), 'gc'), 3, 'is running; try again')
        t.equal([n for n in os.listdir(t.folder) if n in ('heap', 'other')], [], 'files')
    out, err = first.communicate(timeout=PATIENCE)
    t.equal((first.returncode, err), (0, b''), out)
    holds(t, Dump(t.path('heap')), 500)
    until(lambda: tool('ctl', str(program.pid), 'heap', '-o', t.path('other')).status == 0, 'the next one')
    holds(t, Dump(t.path('other')), 500)
    t.equal(program.close(), 0, 'exit status')


@needs('Kept')
@each('concurrent', 0, 1)
def test_a_program_killed_within_a_dump_leaves_no_file(t, concurrent):
    program = Kept(t, '--check', '0', nodes=500, settings=['DOTNET_gcConcurrent=%d' % concurrent])
    os.makedirs(t.path('dumps'))
    with under_way(t, program, t.path('dumps', 'heap')) as asked:
        os.kill(program.pid, signal.SIGKILL)
        asked.wait(PATIENCE)
    lines = asked.stderr.read().decode().splitlines()
    t.equal((asked.returncode, len(lines)), (3, 1), lines)
    t.true('has ended' in lines[0] or 'has closed the connection' in lines[0], lines)
    t.equal(os.listdir(t.path('dumps')), [], 'files')
    program.process.wait(PATIENCE)


@needs('Kept')
@each('options', ['--capture', 'snapshot'], ['--events', 'alloc,finalizers'], ['--paused'])
def test_a_dump_needs_no_frames_and_minds_no_other_use_of_collections(t, options):
    """No shadow stacks; the runtime's walk on all the time; nothing recorded."""
    program = Kept(t, '--check', '0', *options, nodes=500, settings=[ALONE])
    for name in 'heap', 'again':
        holds(t, dump(t, program, name), 500)
        program.does('collect')
    t.equal(program.close(), 0, 'exit status')


@needs('Replacer')
@each('settings', ['gcConcurrent=1', 'gcServer=1'], ['gcConcurrent=0'])
def test_dumps_of_a_program_that_collects_all_the_time(t, settings):
    """Collections of all kinds, some of them beside the program: whatever a dump meets, it is of one of them, and whole."""
    program = Living(t, ['env'] + ['DOTNET_' + s for s in settings] + PROGRAM.command('Replacer') + ['--scale', '100000', '--collect', '2'],
                     '--check', '0', '--log', 'sites')
    program.wait()
    program.says(b'"Replacing.Branch"')
    collections = []
    for number in range(5):
        path = t.path('heap%d' % number)
        said = tool('ctl', str(program.pid), 'heap', '-o', path)
        t.equal(said.status, 0, said)
        objects, references = (int(n.replace(',', '')) for n in re.match(r'([\d,]+) objects, ([\d,]+) references', said.text).groups())
        found = tool_json('retained', '--format', 'json', '--no-lines', program.path, path)['total']
        t.equal(found['objects'] + found['loose_objects'], objects, 'objects')
        t.equal(found['outside'], 0, 'references to addresses without an object')
        t.true(references > objects / 10 and found['objects'] > 1000, said)
        collections.append(int(re.search(r'collection (\d+):', said.text)[1]))
    t.equal(collections, sorted(set(collections)), 'collections')
    t.true(collections[-1] > collections[0] + 4, 'others between them: %r' % collections)
    program.end(signal.SIGKILL)


def session_of_another(pid):
    """A session as dotnet-gcdump has one, through the diagnostics socket of the runtime, which collects as it begins."""
    text = lambda s: struct.pack('<I', len(s) + 1) + (s + '\0').encode('utf-16-le')
    body = struct.pack('<III', 64, 1, 1) + struct.pack('<QI', 0x1980001, 5) + text('Microsoft-Windows-DotNETRuntime') + text('')
    other = socket.socket(socket.AF_UNIX)
    other.connect(runtime_sockets(pid)[0])
    other.sendall(b'DOTNET_IPC_V1\0' + struct.pack('<HBBH', 20 + len(body), 2, 2, 0) + body)
    return other


@needs('Kept')
@each('concurrent', 0, 1)
def test_a_dump_beside_the_session_of_another(t, concurrent):
    program = Kept(t, '--check', '0', nodes=500, settings=['DOTNET_gcConcurrent=%d' % concurrent])
    reads = t.path('reads')
    with session_of_another(program.pid) as other:
        answer = other.recv(28, socket.MSG_WAITALL)
        t.equal((answer[:14], answer[16]), (b'DOTNET_IPC_V1\0', 0xff), 'a session: %r' % answer)
        with open(reads, 'wb') as file:
            other.settimeout(PATIENCE)
            while file.tell() < 60000:  # that of this client's collection
                file.write(other.recv(1 << 16))
        for name in 'heap', 'again':
            holds(t, dump(t, program, name), 500)
    # While the runtime ends the other's session it may leave out a part of what it tells: then that is what is said.
    torn = "shadowtrace ctl: process %d: the heap was not dumped: the runtime's references in the heap are inconsistent\n" % program.pid
    until(lambda: tool('ctl', str(program.pid), 'heap', '-o', t.path('ending')).errors != torn, 'the other session has ended')
    holds(t, dump(t, program, 'after'), 500)
    t.equal(program.close(), 0, 'exit status')


def lines_of(path, *kinds):
    with open(path, encoding='utf-8') as file:
        return [record for record in map(json.loads, file) if record['kind'] in kinds]


@needs('Kept')
def test_a_dump_says_where_living_objects_were_made(t):
    """As the log's live_site lines have it; the table of live objects and the runtime's walk meet the same objects."""
    program = Kept(t, '--check', '0', '--live', nodes=3000)
    found = dump(t, program)
    holds(t, found, 3000)
    t.equal(program.close(), 0, 'exit status')
    names = {r['id']: r['name'] for r in lines_of(program.path, 'class')}
    sites = {r['id']: r for r in lines_of(program.path, 'live_site')}
    t.equal([a for a in found.sites if a not in found.objects], [], 'living objects that the runtime did not meet')
    wrong = [(found.objects[a][0], names[sites[s]['class']]) for a, s in found.sites.items()
             if found.objects[a][0] != names[sites[s]['class']]]
    t.equal(wrong, [], 'classes')
    for name, count in ('Kept.Node', 3000), ('Kept.Load', 3000), ('Kept.Mark', 3000), ('Kept.Common', 1):
        made = [found.sites.get(a) for a in found.of(name)]
        t.equal((len(made), len(set(made)), None in made), (count, 1, False), 'sites of ' + name)
    alive = 0
    for r in lines_of(program.path, 'live_site', 'live'):
        if r['gc'] <= found.collection:
            alive += r.get('survived', 0) - sum(objects for _, _, objects, _ in r.get('died', []))
    t.equal(alive, len(found.sites), 'alive by the lines of the log')
    total, = [r for r in lines_of(program.path, 'live_total') if r['gc'] == found.collection]
    t.equal((total['depth'], total['exact']), (2, True), total)


@needs('Kept')
@each('hooks', *HOOKS)
def test_the_heap_at_the_end_of_a_program(t, hooks):
    path = t.path('end.heap')
    for name in path, None:
        r = t.record(PROGRAM.command('Kept') + ['--nodes', '700'], '--heap-at-exit', path, hooks=hooks, check=0,
                     stdin=b'collect\n')
        t.equal(r.status, 0, 'exit status\n%s' % r)
        if not name:  # the first one is there: this has its process id in its name
            name = t.path('end.%d.heap' % r.log.header['pid'])
        holds(t, Dump(name), 700)
        t.true('shadowtrace retained ' in r.errors and os.path.basename(name) in r.errors, r.errors)
    t.equal(len([n for n in os.listdir(t.folder) if 'heap' in n]), 2, 'files')


@needs('Kept')
def test_the_heap_at_the_end_is_that_of_the_table_of_live_objects(t):
    """By then the runtime has ended the tracer's session that reported collections."""
    path = t.path('end.heap')
    r = t.record(PROGRAM.command('Kept') + ['--nodes', '3000'], '--live', '--heap-at-exit', path, check=0, stdin=b'collect\n')
    t.equal(r.status, 0, 'exit status\n%s' % r)
    found = Dump(path)
    holds(t, found, 3000)
    t.equal(sorted(found.sites), sorted(found.objects), 'objects of the table, and of the heap')
    last = lines_of(r.log.path, 'live_total')[-1]
    t.equal((last['gc'], last['depth'], last['exact'], last['allocs']), (found.collection, 2, True, len(found.objects)), last)


@needs('Kept')
def test_a_heap_that_is_not_dumped_at_the_end_is_told_of(t):
    r = t.record(PROGRAM.command('Kept'), '--heap-at-exit', t.path('nowhere', 'heap'), check=0, stdin=b'collect\n')
    t.true(r.status == 0 and 'the heap was not dumped' in r.errors and 'No such file' in r.errors, r)
    t.true(r.log.end, 'the log has its end')


@needs('Kept')
def test_top_shows_what_is_alive(t):
    program = Kept(t, '--check', '0', '--live', nodes=3000)
    pid = str(program.pid)
    number = re.match(r'collection (\d+)', tool('ctl', pid, 'gc').text)[1]
    program.says(b'"kind":"live_total"')
    shown = tool('top', '--plain', '--count', '1', '--interval', '50ms', '--view', 'alive', pid)
    t.true('; collection %s, full %s\n' % (number, number) in shown.text, shown)
    rows = {tuple(line.split()[3:5]): line.split()[:3] for line in shown.text.splitlines()[2:] if line}
    kept = {row[0].split('.')[-1]: (row[1], numbers) for row, numbers in rows.items() if row[0] in ('Node', 'Kept.Node', 'Load', 'Kept.Load')}
    t.equal({name: numbers for name, (_, numbers) in kept.items()},
            {'Node': ['0', '3.0k', '120.0k'], 'Load': ['0', '3.0k', '72.0k']}, 'rows of the list\n%s' % shown)
    t.true(all('Make' in method for method, _ in kept.values()), kept)
    program.does('drop')
    t.equal(tool('ctl', pid, 'gc').status, 0, 'a second collection')
    program.says(b'"kind":"live_total"', 2)
    types = tool('top', '--plain', '--count', '1', '--interval', '50ms', '--view', 'alive-types', '--filter', 'Kept.', pid)
    t.true('Mark' in types.text and 'Node' not in types.text, types)
    t.equal(program.close(), 0, 'exit status')


@needs('Kept')
def test_top_says_that_what_is_alive_is_not_known(t):
    program = Kept(t, '--check', '0')
    shown = tool('top', '--plain', '--count', '1', '--interval', '50ms', '--view', 'alive', str(program.pid))
    t.true(shown.status == 0 and 'they need record --live' in shown.text, shown)
    t.equal(program.close(), 0, 'exit status')


@needs('Kept')
@each('options', [], ['--log', 'sites'])
def test_a_full_mark_stands_behind_what_its_collection_found(t, options):
    program = Kept(t, '--check', '0', '--live', *options)
    numbers = []
    for name in 'one', 'two', 'three':
        numbers.append(int(re.match(r'collection (\d+)', tool('ctl', str(program.pid), 'mark', '--full', name).text)[1]))
        program.does('collect')
    t.equal(program.close(), 0, 'exit status')
    lines = lines_of(program.path, 'mark', 'live_total')
    marks = [i for i, r in enumerate(lines) if r['kind'] == 'mark']
    t.equal([lines[i]['text'] for i in marks], ['one', 'two', 'three'], 'marks')
    t.equal([lines[i - 1].get('gc') for i in marks], numbers, 'collections reported before the marks')


@needs('Kept')
@each('options', [], ['--log', 'sites'])
def test_a_full_mark_stands_behind_it_while_threads_start(t, options):
    """The collection's line waits for rings of threads that are new, and the mark for that line."""
    program = Kept(t, '--check', '0', '--live', *options)
    program.does('threads')
    for i in range(40):
        tool('ctl', str(program.pid), 'mark', '--full', str(i))
    t.equal(program.close(), 0, 'exit status')
    found = None
    for line in lines_of(program.path, 'mark', 'live_total'):
        if line['kind'] == 'mark':
            t.true(found, 'no collection is reported between mark %s and the one before' % line['text'])
        found = line['kind'] == 'live_total'


@lane('live')
@heavy
@needs('Kept')
@each('options', ['--live'], [])
def test_ten_million_objects(t, options):
    """A list that is three million objects long; the commands have a gigabyte and a half of addresses."""
    nodes, path = 3_400_000, t.path('heap')
    program = Kept(t, '--check', '0', '--log', 'sites', *options, nodes=nodes)
    said = tool('ctl', str(program.pid), 'heap', '-o', path)
    t.equal(said.status, 0, said)
    objects = int(said.text.split(' ', 1)[0].replace(',', ''))
    t.true(3 * nodes < objects < 3 * nodes + 20_000, said)
    with open('/proc/%d/status' % program.pid, encoding='utf-8') as file:
        peak = int(re.search(r'VmHWM:\s*(\d+)', file.read())[1]) << 10
    t.true(not options or peak < 100e6 + 2 * 96 * nodes + 32 * objects, 'memory of the program: %d MB' % (peak >> 20))
    t.equal(program.close(), 0, 'exit status')

    def asked(*words):
        result = run(['prlimit', '--as=1500000000', TOOL, *words])
        t.equal(result.status, 0, result)
        return json.loads(result.out)

    rows = {row['type']: row for row in asked('retained', '--format', 'json', '--names', 'raw', program.path, path)['types']}
    t.equal((rows['Kept.Node']['objects'], rows['Kept.Node']['retained_bytes']), (nodes, 64 * nodes + 24), 'the list')
    t.equal((rows['Kept.Mark[]']['retained_objects'], rows['Kept.Mark[]']['retained_bytes']), (nodes + 1, 32 * nodes + 24), 'the array')
    way, = asked('retained', '--format', 'json', '--type', 'Kept.Load', program.path, path)['paths']
    t.equal((way['objects'], len(way['steps'])), (nodes, 3), 'ways to its end')
    if options:
        alive = asked('report', '--view', 'live', '--by', 'type', '--format', 'json', '--names', 'raw', program.path)
        t.equal({row['type']: row['live_allocs'] for row in alive['rows'] if row['type'].startswith('Kept.') and row['live_allocs'] > 9},
                {'Kept.Node': nodes, 'Kept.Load': nodes, 'Kept.Mark': nodes}, 'alive')
