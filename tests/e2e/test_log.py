"""The log as a file: readable at any cut, at any end of its process, on a full disk."""
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

from control import Living, Said
from harness import ENDLESS, ENVIRONMENT, HOOKS, PATIENCE, PROGRAM, TOOL, UNTIL_EOF, each, needs, on_full_disk, one_line, run, tool, tool_json, until
from logfile import Log


def report_total(path):
    result = tool('report', '--no-lines', '--format=json', '--top', '1', path)
    return result.status, result.out, result.errors


@needs('Hello')
def test_a_log_cut_at_1000_places_is_readable_up_to_the_cut(t):
    r = t.record(PROGRAM.command('Hello'), check=5)
    with open(r.path, 'rb') as file:
        data = file.read()
    seed = random.randrange(1 << 30)
    t.note('seed %d' % seed)
    draw = random.Random(seed)
    places = sorted(draw.sample(range(1, len(data)), 1000) + [len(data) - 1], reverse=True)
    cut = t.path('cut.ndjson')
    t.unchecked.add(cut)
    shutil.copy(r.path, cut)
    whole = [0]  # allocation lines that end before each line's end
    ends = []
    at = 0
    for line in data.splitlines(keepends=True):
        at += len(line)
        ends.append(at)
        whole.append(whole[-1] + line.startswith(b'{"kind":"alloc"'))
    header = ends[0]
    line = len(ends)
    for place in places:
        os.truncate(cut, place)
        while line and ends[line - 1] > place:
            line -= 1
        status, out, err = report_total(cut)
        if place < header:
            t.true(status in (0, 3) and err.count('\n') <= 1, 'cut at %d, in the header: %d %r' % (place, status, err))
            continue
        t.equal(status, 0, 'cut at %d: %r' % (place, err))
        # A cut that leaves a whole object without its newline may count it.
        total = json.loads(out)['total']['allocs']
        t.true(total in (whole[line], whole[line] + (place + 1 in ends)), 'cut at %d: %d allocations, %d whole lines' % (
            place, total, whole[line]))
        on_a_line = place == (ends[line - 1] if line else 0) or place + 1 in ends
        t.equal(err.count('\n'), 0 if on_a_line else 1, 'cut at %d: %r' % (place, err))
        if not on_a_line:
            t.true('%s:%d:' % (cut, line + 1) in err and 'offset %d' % ends[line - 1] in err,
                   'cut at %d, in line %d from byte %d: %r' % (place, line + 1, ends[line - 1], err))
    # The other readers, at fewer places.
    shutil.copy(r.path, cut)
    for place in places[::25]:
        os.truncate(cut, place)
        if place < header:
            continue
        for arguments in ['compare', '--format=json'], ['validate']:
            result = tool(*arguments, cut)
            t.equal(result.status, 0, 'cut at %d\n%s' % (place, result))
            t.true(result.errors.count('\n') <= 1, 'cut at %d\n%s' % (place, result))


@needs('Hello')
def test_damaged_logs_are_reported_by_line_and_byte(t):
    r = t.record(PROGRAM.command('Hello'), check=5)
    with open(r.path, 'rb') as file:
        lines = file.read().splitlines(keepends=True)

    def damaged(name, data):
        path = t.path(name + '.ndjson')
        t.unchecked.add(path)
        with open(path, 'wb') as file:
            file.write(data)
        return path

    middle = len(lines) // 2
    offset = sum(map(len, lines[:middle]))
    for name, inserted in (('text', b'this is not json\n'), ('binary', bytes(range(1, 10)) + b'\xff\xfe\n'),
                           ('open', b'{"kind":"alloc"\n'), ('number', b'7\n'), ('no-kind', b'{"t":5}\n')):
        path = damaged(name, b''.join(lines[:middle]) + inserted + b''.join(lines[middle:]))
        result = tool('report', '--no-lines', path)
        t.equal(result.status, 0, str(result))
        t.true('%s:%d:' % (path, middle + 1) in result.errors and 'offset %d' % offset in result.errors, str(result))
        t.equal(result.errors.count('\n'), 1, str(result))
        result = tool('validate', path)
        t.equal(result.status, 1, str(result))
        t.true('%s:%d:' % (path, middle + 1) in result.text and 'offset %d' % offset in result.text, str(result))

    undefined = damaged('undefined', lines[0] + b'{"kind":"alloc","t":1,"thread":5,"class":77,"bytes":24,"node":99}\n')
    result = tool('report', '--no-lines', undefined)
    t.equal(result.status, 0, str(result))
    t.true('%s:2:' % undefined in result.errors and 'not defined' in result.errors, str(result))
    t.equal(tool('validate', undefined).status, 1, 'validate')

    newer = json.loads(lines[0])
    newer['version'] = 2
    path = damaged('newer', json.dumps(newer).encode() + b'\n' + b''.join(lines[1:]))
    for command in 'report', 'compare', 'validate':
        one_line(tool(command, path), 3, 'version 2', path)
    later = damaged('later', b''.join(lines[:-1]) + b'{"kind":"from-the-future","x":[1,{}]}\n' + lines[-1])
    result = tool('report', '--no-lines', later)
    t.equal((result.status, result.errors), (0, ''), str(result))
    one_line(tool('report', '/nowhere.ndjson'), 3, '/nowhere.ndjson')
    one_line(tool('report', t.folder), 3, t.folder)
    one_line(tool('report', damaged('random', os.urandom(5000))), 3, 'not a shadowtrace log')


def kill_while_ticking(t, hooks, *options):
    """Kills the program with -9 while it ticks; the log, and what was certain a second before."""
    path = t.path('killed.ndjson')
    process = t.start([TOOL, 'record', '-o', path] + (['--hooks', hooks] if hooks else []) + list(options) + ['--'] +
                      PROGRAM.command('Ticker') + ENDLESS + ['--threads', '2'], stdin=subprocess.DEVNULL)
    said = Said(process)
    until(lambda: said.old() and said.old()[-1][1] > 10_000, lambda: 'many ticks that are a second old: %s' % said.lines[-1:])
    said.kill()
    process.wait(PATIENCE)
    said.reader.join(PATIENCE)
    err = process.stderr.read()
    t.equal(process.returncode, 128 + 9, 'exit status: %r' % err)
    certain = said.old()[-1][1]
    return path, certain, err.decode()


@needs('Ticker')
@each('hooks', 'elt3', full=('combinations', HOOKS))
def test_kill_9_leaves_all_but_the_last_second(t, hooks):
    path, certain, err = kill_while_ticking(t, hooks)
    t.unchecked.add(path)
    log = Log(path, cut=True)
    t.true(log.end is None, 'it has an end')
    ticks = sum(log.type(e) == 'Ticker.Tick' for e in log.allocs)
    t.true(ticks >= certain, '%d ticks in the log, %d were a second old' % (ticks, certain))
    t.note('%d ticks, at least %d' % (ticks, certain))
    result = tool('report', '--no-lines', path)
    t.equal(result.status, 0, str(result))
    t.true('no end' in result.text, 'not marked as not ended\n%s' % result)
    t.equal(tool('validate', path).status, 0, 'validate')
    t.true('shadowtrace' in err, 'nothing said: %r' % err)


@needs('Ticker')
def test_kill_9_of_a_compressed_log(t):
    path, certain, _ = kill_while_ticking(t, None, '--compress')
    t.unchecked.add(path)
    result = tool('report', '--no-lines', '--format=json', '--type', 'Ticker.Tick', path)
    if not os.path.exists(path):
        path = [os.path.join(t.folder, f) for f in os.listdir(t.folder) if f.startswith('killed')][0]
        result = tool('report', '--no-lines', '--format=json', '--type', 'Ticker.Tick', path)
    t.equal(result.status, 0, str(result))
    ticks = sum(row['allocs'] for row in json.loads(result.out)['rows'] if row['type'] == 'Ticker.Tick')
    t.true(ticks >= certain, '%d ticks in the log, %d were a second old' % (ticks, certain))


@needs('KnownAllocs')
def test_a_full_disk_does_not_harm_the_program(t):
    """A file system of 512 KB: what was written stays readable, what was not is counted and told."""
    command = PROGRAM.command('KnownAllocs') + ['--seed', '3', '--scale', '4']
    result, path = on_full_disk(t, '--', *command)
    t.equal(result.status, 0, str(result))
    t.equal(result.text.splitlines()[-1], 'ok', str(result))
    log = Log(path, cut=True)
    t.true(log.allocs, 'nothing in the log')
    reported = tool('report', '--no-lines', path)
    t.equal(reported.status, 0, str(reported))
    t.equal(tool('validate', path).status, 0, 'validate')
    said = [line for line in result.errors.splitlines() if 'No space left' in line]
    t.equal(len(said), 1, 'one line about the disk\n%s' % result)


@needs('KnownAllocs')
def test_a_file_size_limit_does_not_harm_the_program(t):
    """ulimit -f: the limit's signal would end the program if it reached it."""
    limit = 400 * 1024

    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    # The runtime itself cannot start under such a limit unless it writes its code in place.
    environment = dict(ENVIRONMENT, DOTNET_EnableWriteXorExecute='0')
    r = t.record(PROGRAM.command('KnownAllocs') + ['--seed', '3', '--scale', '4'], preexec=lower, env=environment)
    t.equal(r.status, 0, str(r))
    t.equal(r.text.splitlines()[-1], 'ok', str(r))
    t.unchecked.add(r.path)
    t.true(os.path.getsize(r.path) <= limit, 'size')
    t.true(Log(r.path, cut=True).allocs, 'nothing in the log')


@needs('Ticker')
@each('what', 'calls', 'values', 'samples', 'sites')
def test_what_never_came_into_the_file_is_not_called_written(t, what):
    """Against a limit of the file's size: seen = in the file + lost, to the line, in what record says."""
    limit = 64 * 1024
    options = {'calls': ['--events', 'calls', '--calls', 'Ticker.*'], 'values': ['--args', 'Ticker.Program.Make*'],
               'samples': ['--profile', '1000'], 'sites': ['--log', 'sites', '--profile', '1000']}[what]

    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    r = Living(t, ['env', 'DOTNET_EnableWriteXorExecute=0'] + PROGRAM.command('Ticker') + UNTIL_EOF, *options, preexec_fn=lower,
               stdin=subprocess.PIPE)
    r.wait()
    size = lambda: os.path.getsize(r.path) if os.path.exists(r.path) else 0
    until(lambda: size() > limit - 4096, lambda: 'the limit; there are %d bytes' % size())
    r.ticks(20)
    t.equal(r.close(), 0, r.err)
    t.unchecked.add(r.path)
    log = Log(r.path, cut=True)
    t.true(log.end is None, 'it has an end')
    allocs = len(log.allocs) + sum(s['allocs'] for s in log.sites)
    found = {'calls': sum(code > 0 for c in log.others if c['kind'] == 'calls' for code in c['e'][::2]),
             'values': sum(c['kind'] == 'values' for c in log.others),
             'samples': sum(c['kind'] == 'sample' for c in log.others), 'sites': allocs}[what]
    plain = r.err.replace(',', '')
    lost = re.search(r'(\d+) of them LOST', plain)
    t.equal(int(re.search(r': (\d+) allocation', plain).group(1)) - (int(lost.group(1)) if lost else 0), allocs,
            'allocations\n%s' % r.err)
    if what != 'sites':
        lost, seen = re.search(r'of %s: (\d+) of (\d+)' % what.replace('samples', 'sample'), r.err).groups()
        t.equal(int(seen) - int(lost), found, '%s in the log\n%s' % (what, r.err))
        t.true(int(lost) > 1, r.err)
    t.note('%d %s in the file' % (found, what))


@needs('Ticker')
def test_a_limited_log_keeps_its_newest_part(t):
    limit = 1 << 20
    r = Living(t, PROGRAM.command('Ticker') + UNTIL_EOF + ['--threads', '2'], '--max-log', '1M', stdin=subprocess.PIPE)
    r.wait()
    until(lambda: r.client().ask('status')['part'] > 12, 'many parts')
    t.equal(r.close(), 0, r.err)
    parts = [r.path, r.path + '.1']
    t.equal(sorted(os.listdir(os.path.dirname(r.path))), [os.path.basename(part) for part in parts], 'parts')
    allocs = 0
    for part in parts:
        t.true(os.path.getsize(part) <= limit + 65536, '%s: %d bytes' % (part, os.path.getsize(part)))
        allocs += len(Log(part).allocs)  # each can be read alone; the newest may have just begun
        t.equal(tool('validate', part).status, 0, 'validate')
    t.true(allocs > 1000, '%d allocations' % allocs)
    end = r.log.end
    t.true(end, 'no end')
    t.equal((end['seen'], end['lost']), (end['written'], 0), 'seen')
    t.true(end['log_bytes'] > 4 * limit, 'the limit was never reached')
    gone = end['rotated_out']
    t.equal(allocs + gone['allocs'], end['written'], 'in both parts, and overwritten')
    t.true('none lost' not in r.err and '--max-log has overwritten %d of its parts' % gone['parts'] in r.err, r.err)
    for paths in [r.path], [r.path, r.path + '.1'], [r.path + '.1', r.path]:  # found, named, named first: each is read once
        report = tool_json('report', '--format=json', '--no-lines', *paths)
        t.equal(report['total']['allocs'], allocs, 'in both parts')
        t.equal((report['log']['complete'], gaps(report)), (False, {'rotated_out': gone['parts']}), report['log'])
    t.true('parts_missing' in gaps(tool_json('report', '--format=json', '--no-lines', r.path + '.1')), 'one part alone')


def gaps(report):
    """Why a log is not complete: {reason: count}."""
    return {gap['reason']: gap['count'] for gap in report['log']['gaps']}


def begun_anew(path):
    """By its first lines, which need not be whole."""
    with contextlib.suppress(OSError), open(path, 'rb') as file:
        return b'"rotated_out"' in file.read(4096)


def while_it_is_written(t, change, noticed, *options):
    """A recording whose log `change` is done to in its middle, and goes on when it has noticed: its path, what record said."""
    ticker = Living(t, PROGRAM.command('Ticker') + UNTIL_EOF, *options, stdin=subprocess.PIPE)
    ticker.wait()
    ticker.writes(20_000)
    change(ticker.path)
    until(lambda: noticed(ticker.path), 'a log that has begun anew')
    ticker.ticks(10)
    t.equal(ticker.close(), 0, ticker.err)
    return ticker.path, ticker.err


@needs('Ticker')
def test_a_log_that_is_moved_is_whole_where_it_is(t):
    path, err = while_it_is_written(t, lambda path: os.rename(path, path + '.old.ndjson'), lambda path: True)
    log = Log(path + '.old.ndjson')
    t.true('none lost' in err and 'moved' in err, err)
    t.true('/log.ndjson.old.ndjson    (' in err, err)
    t.equal(log.end['file'], {'moved': path + '.old.ndjson'}, 'file')
    t.equal((log.end['lost'], log.end['written']), (0, len(log.allocs)), 'lost, written')
    t.true(not os.path.exists(path), 'another log')
    t.true(tool_json('report', '--format=json', '--no-lines', path + '.old.ndjson')['log']['complete'], 'not complete')


@needs('Ticker')
@each('how', 'removed', 'truncated')
def test_what_is_gone_of_a_log_is_told(t, how):
    path, err = while_it_is_written(t, os.remove if how == 'removed' else lambda path: os.truncate(path, 0), begun_anew)
    t.true('none lost' not in err and 'its log was ' + how in err and 'gone since' in err, err)
    log = Log(path)  # it started again
    gone = log.end['rotated_out']
    t.true(how in log.end['file'] and gone['allocs'] > 10_000, log.end)
    t.equal(log.end['written'], len(log.allocs) + gone['allocs'], 'written')
    t.equal(log.end['seen'], log.end['written'] + log.end['lost'], 'seen')
    t.equal(log.header['rotated_out'], gone, 'in the header')
    report = tool_json('report', '--format=json', '--no-lines', path)
    t.true(not report['log']['complete'] and {'file', 'rotated_out'} <= set(gaps(report)) <= {'file', 'rotated_out', 'lost'},
           report['log'])


@needs('Exceptions')
@each('stacks', 'node', 'inline')
def test_a_path_that_was_not_kept_says_so(t, stacks):
    """When the table of call paths is full, what is said of an allocation is still true: the snapshot beside it is the judge."""
    r = t.record(PROGRAM.command('Exceptions'), '--max-nodes', '200', '--capture', 'both', '--stacks', stacks)
    t.equal(r.status, 0, str(r))
    log = r.log
    t.equal((log.end['lost'], len(log.mismatches)), (0, 0), 'lost, differ')
    beside = {(s['thread'], s['t']): s for s in log.snapshots if 'refused' not in s}
    cut = judged = 0
    for a in log.allocs:
        cut += a.get('cut', False)
        t.true(not a.get('cut') or 'il' not in a, 'an instruction of a method that is not named: %s' % a)
        snapshot = beside.get((a['thread'], a['t']))
        if not snapshot:
            continue
        judged += 1
        whole = [log.methods[m]['name'] for m in snapshot['stack']]
        kept = a['stack'] if 'stack' in a else log.names(a['node'])
        expected = whole[len(whole) - len(kept):] if a.get('cut') else whole
        t.true(kept == expected and (len(kept) < len(whole) or not a.get('cut')), '%s\n%s\n%s' % (a, kept, whole))
    t.true(judged > 1000 and 0 < cut < len(log.allocs), '%d judged, %d of %d cut' % (judged, cut, len(log.allocs)))
    t.equal(log.end['cut_allocs'], cut, 'cut_allocs')
    t.true('{:,} allocations have only the beginning of their call path'.format(cut) in r.errors, r.errors)
    t.true(log.end['nodes_refused'] > 0, 'nodes_refused')
    t.equal(tool('validate', r.path).status, 0, 'validate')
    report = tool_json('report', '--format=json', '--no-lines', '--by=method', r.path)
    shown = sum(row['allocs'] for row in report['rows'] if row.get('method') == '(path not kept)')
    t.equal((shown, gaps(report)), (cut, {'paths_not_kept': cut}), 'as report shows them')
    sites = t.record(PROGRAM.command('Exceptions'), '--max-nodes', '200', '--log', 'sites').log
    t.equal(sites.end['cut_allocs'], sum(s['allocs'] for s in sites.sites if s.get('cut')), 'cut_allocs of sites')
    t.true(sites.end['cut_allocs'] > 0 and not any('il' in s for s in sites.sites if s.get('cut')), 'sites')
    t.note('%d of %d cut' % (cut, len(log.allocs)))


@needs('Ticker')
@each('full', 'wait', 'drop')
def test_what_is_lost_is_counted(t, full):
    r = t.record(PROGRAM.command('Ticker') + ['--seconds', '1', '--threads', '3'], '--full', full)
    t.equal(r.status, 0, str(r))
    log = r.log
    t.equal(log.end['seen'], log.end['written'] + log.end['lost'], 'seen')
    t.equal(log.end['written'], len(log.allocs), 'written')
    t.equal(sum(log.end['lost_by'].values()), log.end['lost'], 'lost by reason')


@needs('Threads')
def test_times_and_clock(t):
    """Times of a thread do not fall, and lie within the run."""
    r = t.record(PROGRAM.command('Threads'))
    log = r.log
    last = {}
    for e in log.allocs:
        t.true(e['t'] >= last.get(e['thread'], 0), 'time falls in %r' % e)
        last[e['thread']] = e['t']
    t.true(max(last.values()) <= log.end['t'] <= (r.seconds + 1) * 1e9, 'end at %d, run of %.1f s' % (log.end['t'], r.seconds))


# What a command takes, told by a process that is small itself: a child begins with as much as its parent has.
MEASURED = ('''import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)''')


def test_json_of_a_deep_recursion_is_no_more_than_three_times_its_log(t):
    """20,000 call sites, 5,000 frames deep, 100,000 nodes: with every row's whole stack it would be gigabytes, and as much memory."""
    nodes, depth, sites, path = 100_000, 5_000, 20_000, t.path('deep.ndjson')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('{"kind":"header","format":"shadowtrace","version":1,"pid":7,"executable":"x","runtime":"10.0.1","hooks":"elt3",'
                   '"clock":5,"started":"2026-11-21T10:00:00Z"}\n{"kind":"thread","id":1,"os":7}\n'
                   '{"kind":"class","id":1,"name":"System.String"}\n{"kind":"method","id":1,"name":"Deep.Program.Walk(Deep.Node)"}\n')
        for i in range(nodes):
            file.write('{"kind":"node","id":%d,"parent":%d,"method":1,"il":%d}\n' % (i + 1, i if i % depth else 0, (i * 31 + i // depth) % sites))
        for i in range(sites):
            file.write('{"kind":"alloc","t":%d,"thread":1,"class":1,"bytes":24,"node":%d,"il":%d}\n' % (i, i * 7919 % nodes + 1, i))
    t.unchecked.add(path)
    printed = t.path('deep.json')
    with open(printed, 'wb') as out:
        process = subprocess.run([sys.executable, '-c', MEASURED, TOOL, 'report', '--quiet', '--format=json', path], stdout=out,
                                 stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    size, log, memory = os.path.getsize(printed), os.path.getsize(path), int(process.stderr) >> 10
    t.note('%.1f times the log, %d MB of memory' % (size / log, memory))
    t.equal(process.returncode, 0)
    t.true(size <= 3 * log, '%d bytes of a log of %d' % (size, log))
    t.true(memory <= 100, '%d MB' % memory)
    with open(printed, 'rb') as file:
        report = json.load(file)
    t.equal((len(report['rows']), len(report['frames']) <= 2 * sites, nodes <= len(report['stacks']) <= nodes + sites), (sites, True, True))
