"""The control socket and the commands that speak to it: list, dump, ctl; what they refuse, and that the program goes on."""
import codecs
import contextlib
import fcntl
import json
import os
import pty
import re
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import termios
import threading
import time

import harness
from control import Client, Kept, Living, folder
from harness import ENDLESS, ENVIRONMENT, HOOKS, PATIENCE, PROGRAM, each, needs, one_line, tool, tool_json, until


def asked(t, result):
    t.equal(result.status, 0, 'exit status\n%s' % result)
    return result


def frames(log, alloc):
    return [log.methods[m]['name'] for m in log.stack(alloc.get('node', 0))]


# ---- what it shows

@needs('WebServer')
@each('hooks', 'elt3', full=('combinations', HOOKS))
def test_dump_shows_every_managed_thread_with_names_and_lines(t, hooks):
    server = Living(t, PROGRAM.command('WebServer') + ENDLESS, '--check', '0', '--hooks', hooks)
    pid = server.wait()
    def busy():
        """A dump taken while its requests are under way."""
        dump = json.loads(asked(t, tool('dump', '--format=json', str(pid))).out)
        stacks = [thread['stack'] for thread in dump['threads']]
        seen = any('WebServer.Program.' in f['method'] for stack in stacks for f in stack) and \
            '.NET TP Worker' in {thread.get('name') for thread in dump['threads']} and \
            sum('il' in f for stack in stacks for f in stack[1:]) > 10
        return dump if seen else None

    dump = until(busy, 'a dump with frames of the program, names of threads, and IL offsets of calls under way')
    t.equal(dump['pid'], pid, 'pid')
    tasks = set(os.listdir('/proc/%d/task' % pid))
    for thread in dump['threads']:
        t.true(str(thread['os']) in tasks or thread['exact'], 'thread %s is not of the process' % thread['os'])
        t.true(len(thread['stack']) == thread['depth'], 'frames')
        t.true(thread['tries'] >= 1, 'tries')
    workers = re.compile(r'^thread \d+ "\.NET TP Worker": \d+ frames?$', re.M)
    text = until(lambda: next(filter(workers.search, [asked(t, tool('dump', str(pid))).text]), None), 'a worker in the text')
    t.true(re.search(r'^\d+ threads?, \d+ exact, copied in ', text, re.M), text[-300:])
    listed = json.loads(asked(t, tool('list', '--format=json')).out)
    t.equal([p['name'] for p in listed if p['pid'] == pid], ['WebServer'], 'list')
    t.unchecked.add(server.path)
    t.equal(server.end(signal.SIGKILL), 137, 'exit status')


@needs('Ticker')
def test_lines_of_frames_come_from_symbols(t):
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS + ['--threads', '3'], '--check', '0')
    pid = ticker.wait()

    def files():
        dump = json.loads(asked(t, tool('dump', '--format=json', str(pid))).out)
        return {f['file'] for thread in dump['threads'] for f in thread['stack'] if 'Ticker' in f['method'] and 'line' in f}

    if os.path.exists(PROGRAM.command('Ticker')[-1].replace('.dll', '.pdb')):
        found = until(files, 'a line in a dump')
        t.true(any(f.endswith('Program.cs') for f in found), 'files: %s' % found)
    ticker.end()


@needs('Ticker')
def test_status_says_what_is_lost(t):
    """The log's own line about it needs room that a full disk has not."""
    limit = 64 * 1024
    ticker = Living(t, ['env', 'DOTNET_EnableWriteXorExecute=0'] + PROGRAM.command('Ticker') + ENDLESS, '--check', '0',
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    pid = ticker.wait()
    status = until(lambda: next(filter(lambda s: s['lost'], [ticker.client().ask('status')]), None), 'something is lost')
    t.equal(status['lost_by'], {'write_failed': status['lost']}, 'reasons')
    text = asked(t, tool('ctl', str(pid), 'status')).text
    t.true(re.search(r'^[\d,]+ allocations are not in the log \(write_failed [\d,]+\)$', text, re.M), text)
    t.unchecked.add(ticker.path)
    t.equal(ticker.end(signal.SIGKILL), 137, 'exit status')


# ---- what it changes

@needs('Ticker')
def test_ctl_changes_what_is_recorded(t):
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0', '--paused')
    pid = str(ticker.wait())
    ticker.ticks()
    t.equal(ticker.client().ask('status')['written'], 0, 'events while paused')
    asked(t, tool('ctl', pid, 'mark', 'one'))
    t.true('recording' in asked(t, tool('ctl', pid, 'start')).text, 'start')
    ticker.writes()
    asked(t, tool('ctl', pid, 'only', 'Ticker.Program.Make*'))
    asked(t, tool('ctl', pid, 'mark', 'two ä\u2028'))
    ticker.writes()
    asked(t, tool('ctl', pid, 'sample', '4K'))
    ticker.writes(20)
    asked(t, tool('ctl', pid, 'stop'))
    t.true(' paused' in asked(t, tool('ctl', pid, 'status')).text, 'status')
    asked(t, tool('ctl', pid, 'mark', 'three'))
    ticker.ticks(10)
    ticker.says(b'"three"')
    t.equal(ticker.end(), 143, 'exit status')
    log = harness.Log(ticker.path, cut=True)
    marks = [(r['t'], r['text']) for r in log.others if r['kind'] == 'mark']
    t.equal([text for _, text in marks], ['one', 'two ä\u2028', 'three'], 'marks')
    configs = [r for r in log.others if r['kind'] == 'config']
    t.equal([(c['number'], c['paused'], c['sample'], c['only']) for c in configs],
            [(2, False, 0, []), (3, False, 0, ['Ticker.Program.Make*']), (4, False, 4096, ['Ticker.Program.Make*']),
             (5, True, 4096, ['Ticker.Program.Make*'])], 'configurations')
    t.true(log.allocs and min(a['t'] for a in log.allocs) >= marks[0][0], 'nothing before the start')

    def after(mark):
        """
        What began after a command had been answered, and the mark was set. Of each thread but the first, which may have
        been on its way, for as long as the machine let it wait.
        """
        seen, found = set(), []
        for a in log.allocs:
            if a['t'] > mark and (a['thread'] in seen or seen.add(a['thread'])):
                found.append(a)
        return found

    late = after(marks[1][0])
    t.true(late, 'nothing after `only`')
    for a in late:
        t.true(frames(log, a)[0].startswith('Ticker.Program.Make'), 'allocated by %s' % (frames(log, a)[:1],))
    sampled = [a for a in log.allocs if 'weight' in a]
    t.true(sampled and len(sampled) < len(late), 'sampled events')
    t.true(min(a['t'] for a in sampled) >= configs[2]['t'], 'sampled before it was asked for')
    t.equal(after(marks[2][0]), [], 'recorded after the stop')


def collections(path):
    """Of a log with --events gc: {number: its line}."""
    return {r['gc']: r for r in harness.Log(path, cut=True).others if r['kind'] == 'gc'}


@needs('Kept')
@each('more', [], ['--hooks', 'elt2'], ['--events', 'gc'], ['--capture', 'snapshot'])
def test_gc_makes_a_full_collection(t, more):
    """Those of the program and those asked for are counted alike; the answer and the log say the same of each."""
    program = Kept(t, '--check', '0', *(more if more[0:1] == ['--events'] else more + ['--events', 'alloc,gc']))
    pid = str(program.pid)
    program.does('collect')
    said = [asked(t, tool('ctl', pid, 'gc')).text for _ in range(3)]
    program.does('collect')
    client = program.client()
    reply = client.ask('gc')
    t.true(reply['ok'] and reply['took_ns'] >= reply['pause_ns'] > 0, reply)
    t.equal(program.close(), 0, 'exit status')
    line = re.compile(r'collection (\d+): full, blocking; the program stood still for (\d+\.\d) ms\n')
    numbers = [int(line.fullmatch(text)[1]) for text in said] + [reply['gc']]
    t.equal(sorted(set(numbers)), numbers, 'numbers')
    found = collections(program.path)
    induced = [n for n, r in sorted(found.items()) if r['reason'] == 'induced']
    t.equal(induced, [numbers[0] - 1] + numbers[:3] + [numbers[3] - 1, numbers[3]], 'numbers of collections that were asked for')
    t.equal({n: found[n]['generations'] for n in numbers}, {n: [0, 1, 2, 3, 4] for n in numbers}, 'generations')
    # The pause is measured around that of the log's line: they differ if the thread loses the processor in between.
    pauses = [float(line.fullmatch(text)[2]) * 1e6 for text in said] + [reply['pause_ns']]
    for n, pause in zip(numbers, pauses):
        t.true(found[n]['ns'] - 1e5 <= pause, 'pause of %d: %d, %s' % (n, pause, found[n]))


@needs('Kept')
def test_a_full_mark_stands_behind_its_collection(t):
    program = Kept(t, '--check', '0', '--events', 'alloc,gc')
    pid = str(program.pid)
    asked(t, tool('ctl', pid, 'mark', 'plain'))
    for arguments in ['--full', 'before'], ['after', '--full']:
        t.true(asked(t, tool('ctl', pid, 'mark', *arguments)).text.startswith('collection '), 'what it says')
        program.does('drop')
    t.equal(program.close(), 0, 'exit status')
    lines = [r for r in harness.Log(program.path).others if r['kind'] == 'mark' or r['kind'] == 'gc' and r['reason'] == 'induced']
    plain = [r for r in lines if r.get('text') == 'plain']  # its line may come behind others: nothing waits for the writer
    lines = [r for r in lines if r not in plain]
    t.equal([r.get('text') for r in lines], [None, 'before', None, 'after'], 'marks, and collections before them')
    t.equal([r['t'] for r in plain + lines], sorted(r['t'] for r in plain + lines), 'times')


@needs('Kept')
def test_nobody_waits_for_a_collection_but_who_asked_for_it(t):
    """While the runtime cannot stop a thread, the collection does not come; the socket answers as ever."""
    program = Kept(t, '--check', '0', '--events', 'alloc,gc')
    first, second, third = program.client(), program.client(), program.client()
    with program.held():
        first.send(b'{"command":"mark","text":"held","full":true}\n{"command":"status"}\n')
        t.true(second.ask('status')['ok'], 'status')  # by then the first one has been read
        refused = third.ask('gc')
        t.equal((refused['ok'], 'is running' in refused.get('error', '')), (False, True), refused)
        t.true(second.ask('dump')['ok'], 'dump')
        t.true(not harness.readable(first.socket, 0), 'no answer before the collection')
    reply = first.line()
    t.true(reply['ok'] and reply['took_ns'] > reply['pause_ns'] > 0, reply)
    t.true('pid' in first.line(), 'the next request of who waited')
    with program.held():
        third.send(b'{"command":"gc"}\n')
        t.true(second.ask('status')['ok'] and not second.ask('gc')['ok'], 'the collection is under way')
        third.close()
        t.true(second.ask('status')['ok'], 'status')
    after = until(lambda: next(filter(lambda r: r['ok'], [second.ask('gc')]), None), 'a collection after the one that nothing waits for')
    t.true(after['gc'] > reply['gc'] + 1, after)
    t.equal(program.close(), 0, 'exit status')
    marks = [r['text'] for r in program.log.others if r['kind'] == 'mark']
    t.equal(marks, ['held'], 'marks')


@needs('Kept')
def test_a_program_ends_while_a_collection_waits(t):
    program = Kept(t, '--check', '0')
    client = program.client()
    with program.held():
        client.send(b'{"command":"gc"}\n')
        t.true(program.client().ask('status')['ok'], 'status')
        program.process.stdin.close()
    t.equal(program.process.wait(PATIENCE), 0, 'exit status')
    t.true(program.log.end, 'the log has its end')


@needs('Ticker')
def test_rotate_begins_a_new_part_that_can_be_read_alone(t):
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0')
    pid = str(ticker.wait())
    parts = []
    for number in 1, 2, 3:
        ticker.writes()
        text = asked(t, tool('ctl', pid, 'rotate')).text.strip()
        parts.append(text.split(' is ', 1)[1])
        t.equal(parts[-1], '%s.%d' % (ticker.path, number), 'name of the part')
    ticker.writes()
    ticker.end()
    numbers = []
    for part in parts + [ticker.path]:
        log = harness.Log(part, cut=part == ticker.path)
        t.true(log.allocs, '%s has no events' % part)
        names = [log.classes[a['class']]['name'] for a in log.allocs]
        numbers.append(names.count('Ticker.Tick'))
        t.unchecked.add(part)
        t.equal(tool('validate', part).status, 0, part)
    t.true(min(numbers) > 0, 'ticks by part: %s' % numbers)
    whole = harness.tool_json('report', '--format=json', '--no-lines', '--by=type', *parts, ticker.path)
    t.equal([row['allocs'] for row in whole['rows'] if row['type'] == 'Ticker.Tick'], [sum(numbers)], 'ticks of all parts')
    threads = {h['id'] for part in parts + [ticker.path] for h in harness.Log(part, cut=True).threads.values()}
    t.equal(whole['total']['threads'], len(threads), 'threads of all parts')


@needs('Ticker')
@each('hooks', 'elt3', full=('combinations', HOOKS))
def test_every_event_belongs_to_one_configuration(t, hooks):
    """
    Two configurations in turn, as fast as they can be set: every allocation of Make, each event standing for itself
    (weight absent), or a sample of what others than Make allocate, each with a weight above its size. An event of Make
    with a weight, or of another method without one, would be a mixture. It begins paused: no event is of another one.
    """
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS + ['--threads', '4'], '--check', '0', '--hooks', hooks, '--paused')
    ticker.wait()
    ticker.ticks(1) # its threads make objects
    client = ticker.client()
    even = {'sample': 0, 'only': ['Ticker.Program.Make*'], 'paused': False}
    odd = {'sample': 64, 'only': ['Ticker.Program.<*'], 'paused': False}
    first = client.ask('set', **even)['number']
    for i in range(10000):
        reply = client.ask('set', **(odd if i % 2 else even))
        t.true(reply['ok'], reply)
    t.equal(reply['number'], first + 10000, 'changes')
    client.ask('set', paused=True)
    ticker.says(b'{"kind":"config"', 10002)
    t.equal(ticker.end(), 143, 'exit status')
    log = harness.Log(ticker.path, cut=True)
    changed = [r for r in log.others if r['kind'] == 'config']
    t.equal(len(changed), 10002, 'configurations in the log')
    kinds = {True: 0, False: 0}
    for a in log.allocs:
        made = bool(frames(log, a)) and frames(log, a)[0].startswith('Ticker.Program.Make')
        kinds[made] += 1
        if made == ('weight' in a):
            raise AssertionError('a mixture: %r allocated by %s' % (a, frames(log, a)[:1]))
    t.true(min(kinds.values()) > 100, 'events of both configurations: %s' % kinds)
    t.note('10,000 changes, %d and %d events' % (kinds[True], kinds[False]))


@needs('Ticker')
@each('hooks', *HOOKS)
def test_replies_are_as_the_schema_says(t, hooks):
    """Every kind of request and refusal on a living process, judged by the project's own checker."""
    program = harness.built('unit/control/test_replies', 'make unit')
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS + ['--threads', '3'], '--check', '0', '--hooks', hooks)
    ticker.wait()
    client = ticker.client()

    def with_offset():
        reply = client.ask('dump')
        return any(len(frame) > 1 for thread in reply['threads'] for frame in thread['frames']) and reply

    lines = [['dump_reply', until(with_offset, 'an IL offset in a dump')]]
    for command, members in (('sites', {}), ('status', {}), ('dump', {}), ('dump', {'frames': 2}), ('dump', {'lines': False}),
                             ('mark', {'text': 'here'}), ('set', {'only': ['*Make*'], 'sample': 64}), ('status', {}),
                             ('set', {'only': [], 'sample': 0}), ('rotate', {}), ('sites', {}), ('sites', {'most': 0})) * 3:
        reply = client.ask(command, **members)
        t.true(reply['ok'], '%s: %s' % (command, reply))
        lines += [[command + '_reply', reply], ['request', dict(members, command=command)]]
    for command, members in (('dump', {'frames': -1}), ('mark', {}), ('nonsense', {}), ('status', {'version': 2})):
        lines.append(['error', client.ask(command, **members)])
    path = t.path('replies')
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(line) + '\n' for line in lines)
    judged = harness.run([program, path], cwd=harness.ROOT)
    t.true(judged.status == 0 and '%d lines' % len(lines) in judged.text + judged.errors, judged)
    ticker.end()


# ---- profiles

@needs('WebServer')
@each('hooks', 'elt3', full=('programs', HOOKS))
def test_profile_by_shadow_and_by_snapshot_agree(t, hooks):
    for seconds in '1', '4', '16', '64':  # on a busy machine there are fewer samples in a second
        r = t.record(PROGRAM.command('WebServer') + ['--seconds', seconds], '--profile', '100', '--profile-snapshot', '--min-size',
                     '1G', hooks=hooks, check=0)
        t.equal(r.status, 0, 'exit status\n%s' % r)
        samples = [s for s in r.log.others if s['kind'] == 'sample']
        sources = {source: [s for s in samples if s.get('source', 'shadow') == source] for source in ('shadow', 'snapshot')}
        last = {p['source']: p for p in r.log.others if p['kind'] == 'profile'}
        enough = all(last[source]['ticks'] >= 50 and len(mine) > 100 for source, mine in sources.items())
        if enough:
            break
    t.true(enough, 'too few samples: %s' % last)
    for source, mine in sources.items():
        figures = last[source]
        t.equal(figures['samples'] - figures['lost'], len(mine), 'samples of %s' % source)
        t.equal(figures['approximate'], len([s for s in mine if s.get('approximate')]), 'approximate')
    beside = harness.tool_json('compare', '--format=json', r.path)['profile']
    t.true(beside['overlap'] > 0.8, 'the same in %s' % beside['overlap'])
    t.note('overlap %.3f; a moment: shadow %d us (worst %d), snapshot %d us (worst %d); approximate %d of %d' % (
        beside['overlap'], beside['shadow']['cost_ns']['p50'] // 1000, beside['shadow']['cost_ns']['worst'] // 1000,
        beside['snapshot']['cost_ns']['p50'] // 1000, beside['snapshot']['cost_ns']['worst'] // 1000,
        beside['shadow']['approximate'], beside['shadow']['samples']))
    for source in 'shadow', 'snapshot':
        folded = asked(t, tool('report', '--profile', '--format', 'folded', '--source', source, r.path)).text.splitlines()
        counts = [int(line.rsplit(' ', 1)[1]) for line in folded]
        mine = [s for s in samples if s.get('source', 'shadow') == source and s['node']]
        t.equal(sum(counts), len(mine), 'folded samples of %s' % source)
    text = asked(t, tool('report', '--profile', r.path)).text
    t.true('approximate' in text and 'method' in text, text[:300])


@needs('Hello')
def test_profile_refuses_what_makes_no_sense(t):
    hello = PROGRAM.command('Hello')
    for options in (['--profile', 'x'], ['--profile', '5000'], ['--profile-snapshot'],
                    ['--profile', '10', '--capture', 'snapshot']):
        one_line(tool('record', *options, '--', *hello), 2, '--profile' if options[1:2] == ['x'] else 'profile')
    r = t.record(hello, check=0)
    one_line(tool('report', '--profile', r.path), 3, 'no samples')
    one_line(tool('report', '--profile', '--format', 'xml', r.path), 2, '--format')


# ---- top

class Screen:
    """What a VT100 shows: enough of it for top."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.cells = [[' '] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.first, self.last = 0, rows - 1  # what scrolls
        self.decoder = codecs.getincrementaldecoder('utf-8')('replace')
        self.begun = ''  # of a control sequence, the rest of which has not come yet

    def scroll(self, start, end):
        """The line at start goes, an empty one comes at end."""
        del self.cells[start]
        self.cells.insert(end, [' '] * self.columns)

    def feed(self, data):
        text = self.begun + self.decoder.decode(data)
        self.begun = re.search(r'(\x1b(\[[?0-9;]*|[()])?)?$', text).group()
        text = text[:len(text) - len(self.begun)]
        at = 0
        while at < len(text):
            match = re.compile(r'\x1b\[([?0-9;]*)([A-Za-z])|\x1b[()].|\x1b[=>78M]|[\x00\x07\x0e\x0f]').match(text, at)
            if match:
                at = match.end()
                if match.group() == '\x1bM' and self.row == self.first:
                    self.scroll(self.last, self.first)
                elif match.group() == '\x1bM':
                    self.row -= 1
                elif match.group(2):
                    self.control(match.group(2), [int(n) for n in match.group(1).strip('?').split(';') if n])
                continue
            c = text[at]
            at += 1
            if c == '\r':
                self.column = 0
            elif c == '\n' and self.row == self.last:
                self.scroll(self.first, self.last)
            elif c == '\n':
                self.row = min(self.row + 1, self.rows - 1)
            elif c == '\b':
                self.column = max(self.column - 1, 0)
            elif c >= ' ':
                if self.row < self.rows and self.column < self.columns:
                    self.cells[self.row][self.column] = c
                self.column += 1

    def control(self, letter, n):
        first = n[0] if n else 1
        if letter == 'H':
            self.row, self.column = (n + [1, 1])[0] - 1, (n + [1, 1])[1] - 1 if len(n) > 1 else 0
        elif letter == 'r':
            self.first, self.last = (n[0] - 1, n[1] - 1) if len(n) == 2 else (0, self.rows - 1)
            self.row = self.column = 0
        elif letter in 'ABCD':
            self.row += {'A': -first, 'B': first}.get(letter, 0)
            self.column += {'C': first, 'D': -first}.get(letter, 0)
        elif letter == 'K':
            what = n[0] if n else 0
            for i in range(0 if what else self.column, self.column + 1 if what == 1 else self.columns):
                self.cells[self.row][i] = ' '
        elif letter == 'J':
            for i in range(self.row, self.rows):
                for k in range(self.column if i == self.row else 0, self.columns):
                    self.cells[i][k] = ' '

    @property
    def text(self):
        return '\n'.join(''.join(line).rstrip() for line in self.cells)


class Terminal:
    def __init__(self, rows, columns, command, **more):
        self.screen = Screen(rows, columns)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, dict(ENVIRONMENT, LINES=str(rows), COLUMNS=str(columns), **more))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def until(self, what, seconds=PATIENCE):
        """Reads until the screen says so."""
        start = time.monotonic()
        while not what(self.screen.text):
            if time.monotonic() - start > seconds * harness.crowd():
                raise AssertionError('the screen stays\n%s' % self.screen.text)
            if harness.readable(self.fd, 0.2):
                try:
                    self.screen.feed(os.read(self.fd, 65536))
                except OSError:
                    time.sleep(0.1)

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        """Reads what is left; the exit status."""
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def deepest_first(screen):
    """Of a screen of threads, drawn to its end."""
    depths = [int(n) for n in re.findall(r'^ +(\d+) +\d+ ', screen, re.M)]
    return len(depths) > 2 and depths == sorted(depths, reverse=True)


@needs('Ticker')
@each('rows,columns,term', (24, 80, 'vt100'), (60, 200, 'vt100'), (6, 30, 'vt100'))
def test_top_on_a_terminal(t, **window):
    rows, columns, term = window['rows,columns,term']
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS + ['--threads', '3'], '--check', '0')
    top = Terminal(rows, columns, [harness.TOOL, 'top', '--names', 'full', str(ticker.wait())], TERM=term)
    top.until(lambda s: 'Ticker (p' in s and ('Ticker.Tick' in s or columns < 80))
    if columns >= 80:
        top.until(lambda s: re.search(r'^ +[1-9][0-9.]*[kM]? +[1-9]', s, re.M))  # a rate, from the second look on
        top.press('/nothing that is there\r')
        top.until(lambda s: 'Ticker.Tick' not in s)
        top.press('/' + '\x7f' * 30 + 'Ticker.Tick  \r')
        top.until(lambda s: 'PAUSED' not in s and 'Program.Make' in s)
        top.press('s')
        top.until(lambda s: 'by objects/s' in s)
        top.press('p')
        top.until(lambda s: 'PAUSED' in s)
        top.press('\r')
        top.until(lambda s: 'at Ticker.Program.Make' in s)
        top.press('1p2')
        top.until(lambda s: 'types by' in s and 'PAUSED' not in s)
        top.press('/\x7f\x7f\r')
        top.until(lambda s: re.search('^.{31}  Ticker.Tick$', s, re.M))
        top.press('\r')
        top.until(lambda s: 'ker.Tick by' in s and 'Program.Make' in s)
        top.press('\r')
        top.until(lambda s: 'at Ticker.Program.Make' in s)
        top.press('\x1b')
        top.until(lambda s: 'at Ticker.Program.Make' not in s)
        top.press('\x1b')
        top.until(lambda s: 'types by' in s)
        top.press('/' + '\x7f' * 30 + '\r3')
        top.until(lambda s: 'threads by depth' in s and ('Ticker.Program.' in s or 'Threading.Thread' in s) and deepest_first(s))
    else:
        top.press('2')
        top.until(lambda s: 'bytes/s' in s)
    top.press('q')
    t.equal(top.end(), 0, 'exit status')
    ticker.end()


@needs('Ticker')
@each('log', 'full', 'sites')
def test_top_without_a_terminal_is_plain_text(t, log):
    sums = ['--log', log] if log == 'sites' else []
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS + ['--threads', '3'], '--check', '0', *sums)
    pid = str(ticker.wait())

    def top(*words):
        return asked(t, tool('top', *words, pid)).text

    text = top('--count', '2', '--rows', '5')
    t.true('\x1b' not in text and text.count('call sites by') == 2, text)
    until(lambda: re.search(r'^ +[1-9][0-9.]*[kM]? +[1-9].* Tick ', top('--count', '2', '--rows', '5'), re.M),
          'a rate of Ticker.Tick')
    until(lambda: re.search(r'  Tick$', top('--once', '--view', 'types'), re.M), 'types')
    t.true('Thread' in asked(t, tool('top', '--once', '--view', 'threads', pid)).text, 'threads')
    t.true(not re.search(r'  Tick\b', asked(t, tool('top', '--once', '--filter', 'Object', pid)).text), 'filter')
    unknown = Terminal(24, 80, [harness.TOOL, 'top', '--interval', '900s', pid], TERM='dumb')  # nothing scrolls what it says away
    unknown.until(lambda s: 'plain text' in s)
    os.kill(unknown.pid, signal.SIGTERM)
    t.equal(unknown.end(), -15, 'a terminal without a screen')
    ticker.end()


@needs('Ticker')
def test_stacks_of_hooked_methods_only_are_marked_as_such(t):
    """dump, top and profile of --own, whose allocations have whole paths; and how to get all."""
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--own', '--check', '0', '--profile', '100')
    pid = str(ticker.wait())
    said = 'Hooked methods only, as recorded: without --own and --only all methods have frames.'
    t.equal(asked(t, tool('dump', pid)).text.splitlines()[-1], said, 'dump')
    t.equal(tool_json('dump', '--format=json', pid).get('some_hooked'), True, 'dump in JSON')
    t.true('threads by depth; hooked methods only' in asked(t, tool('top', '--once', '--view', 'threads', pid)).text, 'top')
    until(lambda: tool('profile', '--quiet', ticker.path).status == 0, 'samples')
    ticker.end()
    t.true(said in tool('profile', ticker.path).text.splitlines(), 'profile')
    t.equal(tool_json('profile', '--format=json', ticker.path).get('some_hooked'), True, 'profile in JSON')
    all_ = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0')
    pid = str(all_.wait())
    t.true(said not in asked(t, tool('dump', pid)).text, 'with hooks in all methods')
    t.equal(tool_json('dump', '--format=json', pid).get('some_hooked'), None, 'the same in JSON')
    all_.end()


# ---- 64 threads at full speed

LEVEL = re.compile(r'^Towers\.Program\.(?:M(\d)|(C)aught)\(')
SHAPE = re.compile('([xC]*)([0-7C]*)(.*)$')
CLIMB = '12345670' * 32


def letter(name):
    """Of a method: its number for M0 to M7, C for Caught, x for all others."""
    found = LEVEL.match(name)
    return found.group(1) or 'C' if found else 'x'


def possible(letters):
    """
    Whether the program can have this stack, oldest first: Climb, M1, M2, ... M7, M0, M1, ..., Caught between, and at the end
    the runtime's own frames while an exception is thrown or caught.
    """
    _, climbed, above = SHAPE.match(letters).groups()
    levels = climbed.replace('C', '')
    return levels == CLIMB[:len(levels)] and len(above) <= 40


def all_climb(client):
    """Until 64 threads climb, with the lowest priority: at full speed, and yet the thread that looks at them gets its turn."""
    def climbers():
        found = [t['os'] for t in client.ask('dump', frames=1)['threads'] if t.get('name', '').startswith('climber')]
        return found if len(found) == 64 else None

    for climber in until(climbers, '64 threads that climb'):
        os.setpriority(os.PRIO_PROCESS, climber, 19)


def ask_for_stacks(client, number):
    """Every other time the limit of frames is another one: then no text of the time before is of use, and all is copied."""
    client.send(b'{"command":"dump","lines":false,"frames":%d}\n' % (2048 - number // 2 % 2))


class Towers:
    """Judges dumps. What is said of a thread in the very same words as the time before has been judged already."""

    def __init__(self):
        self.dumps = self.stacks = self.exact = self.deepest = self.threads = 0
        self.copies, self.letters, self.judged = [], {}, {}

    def take(self, line):
        head, methods = line.split(b'],"methods":', 1)
        for method in json.loads(methods[:-1]):
            self.letters[method['id']] = letter(method['name'])
        head, *threads = head.split(b'{"os":')
        self.copies.append(int(head.split(b'"copy_ns":')[1].split(b',')[0]))
        judged = {text: self.judged[text] if text in self.judged else self.judge(text) for text in threads}
        self.dumps += 1
        self.threads = len(threads)
        self.stacks += len(threads)
        self.exact += sum(judged[text] for text in threads)
        self.judged = judged

    def judge(self, text):
        """Whether the copy is exact."""
        thread = json.loads(b'{"os":' + text.rstrip(b','))
        sure = ''.join([self.letters[f[0]] for f in reversed(thread['frames'])][:thread.get('certain')])
        self.deepest = max(self.deepest, thread['depth'])
        if not possible(sure):
            raise AssertionError('a stack that the program cannot have: %r %s' % (
                {k: v for k, v in thread.items() if k != 'frames'}, sure))
        return thread['exact']


def look_at_towers(t, count, seconds, hooks):
    towers = Living(t, PROGRAM.command('Towers'), '--check', '0', '--min-size', '1G', '--hooks', hooks, stdin=subprocess.PIPE)
    towers.wait()
    client, seen = towers.client(), Towers()
    all_climb(client)
    end = time.monotonic() + seconds
    ask_for_stacks(client, 0)
    while seen.dumps < min(count, 100) or seen.dumps < count and time.monotonic() < end:
        ask_for_stacks(client, seen.dumps + 1)  # the next one is made while this one is looked at
        seen.take(client.text())
    t.true(seen.threads >= 64, 'threads: %d' % seen.threads)
    t.true(seen.deepest > 100, 'deepest %d' % seen.deepest)
    t.equal(towers.end(), 143, 'exit status')
    seen.copies.sort()
    t.note('%d dumps, %d stacks, %.3f %% exact, none torn; a copy of all: median %d us, worst %d us' % (
        seen.dumps, seen.stacks, 100.0 * seen.exact / seen.stacks, seen.copies[len(seen.copies) // 2] // 1000,
        seen.copies[-1] // 1000))


@harness.longer('dumps')
@harness.early
@needs('Towers')
@each('hooks', 'elt3', full=('combinations', HOOKS))
def test_no_dump_of_64_threads_at_full_speed_is_torn(t, hooks):
    count = harness.full('dumps', 500, 100_000)
    look_at_towers(t, count, 60 + count / 20, hooks)


@harness.early
def test_without_the_grace_period_readers_meet_what_was_given_back(t):
    program = harness.built('negative/unit/stack/test_copies', 'make negative')
    short = dict(ENVIRONMENT, COPIES='10', SECONDS='10')
    t.equal(harness.run([program], env=short).status, 0, 'with it')
    # By itself: reading what was given back may end the program in a test before it.
    without = harness.run([program, 'nothing_is_given_back*'], env=dict(short, SHADOWTRACE_WITHOUT='grace_period'))
    t.true(without.status != 0 and 'FAILED  ] nothing_is_given_back' in without.text + without.errors, without)


# ---- what it refuses

@needs('Ticker')
def test_processes_that_cannot_be_looked_into(t):
    gone = os.fork()
    if gone == 0:
        os._exit(0)
    os.waitpid(gone, 0)
    for command in ['dump', str(gone)], ['ctl', str(gone), 'status'], ['top', '--once', str(gone)]:
        one_line(tool(*command), 3, str(gone), 'does not exist')
        one_line(tool(*[str(os.getpid()) if c == str(gone) else c for c in command]), 3, 'not traced')
    for command in ['dump', '1x'], ['ctl', '-1', 'start'], ['ctl', 'x', 'start'], ['dump', '0']:
        one_line(tool(*command), 2)
    for command in (['dump'], ['dump', '1', '2'], ['dump', '--frames', '0', '1'], ['dump', '--format', 'xml', '1'], ['ctl'],
                    ['ctl', '1'], ['ctl', '1', 'nonsense'], ['ctl', '1', 'mark'], ['ctl', '1', 'start', 'now'],
                    ['ctl', '1', 'sample', 'banana'], ['list', 'x'], ['top'], ['top', '--view', 'all', '1'],
                    ['top', '--interval', '0', '1']):
        one_line(tool(*command), 2)
    if os.geteuid() == 0:
        other = t.start(['setpriv', '--reuid', '65534', '--clear-groups', 'sleep', '900'])
        until(lambda: os.stat('/proc/%d' % other.pid).st_uid == 65534, 'a process of another user')
        one_line(tool('dump', str(other.pid)), 3, 'not traced')  # root may look into anyone's that is


def test_what_does_not_speak_as_we_do_is_refused(t):
    """This process has a socket in a separate folder, too; it speaks another version, something else, or not at all."""
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as listener:
        environment = dict(ENVIRONMENT, XDG_RUNTIME_DIR=place)
        os.makedirs(folder(place), 0o700)
        listener.bind(os.path.join(folder(place), '%d.sock' % os.getpid()))
        listener.listen(1)
        listener.settimeout(PATIENCE)
        for reply, word in ((b'{"ok":true,"version":2,"threads":[]}\n', 'does not use the protocol of this shadowtrace'),
                            (b'{"ok":false,"version":2,"error":"use version 2"}\n', 'use version 2'),
                            (b'HTTP/1.1 400 Bad Request\n', 'does not use the protocol'), (b'', 'closed the connection')):
            def serve(reply=reply):
                client = listener.accept()[0]
                client.recv(1000)
                client.sendall(reply)
                client.close()
            thread = threading.Thread(target=serve)
            thread.start()
            one_line(tool('dump', str(os.getpid()), env=environment), 3, word)
            thread.join()


@needs('Ticker')
def test_no_control_means_no_socket(t):
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0', '--no-control')
    ticker.ticks()
    found = harness.run(['pgrep', '-P', str(ticker.process.pid)]).text.split()
    t.equal(len(found), 1, 'processes')
    ticker.pid = int(found[0])
    t.true(not os.path.exists(os.path.join(folder(), found[0] + '.sock')), 'a socket of %s' % found)
    one_line(tool('dump', found[0]), 3, 'not traced', '--no-control')
    ticker.end()


@needs('Ticker')
def test_a_process_that_was_killed_leaves_a_socket_that_list_removes(t):
    with tempfile.TemporaryDirectory() as place:  # separate: any other recording that begins would remove it, too
        environment = dict(ENVIRONMENT, XDG_RUNTIME_DIR=place)
        ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0', runtime=place)
        pid = ticker.wait()
        path = os.path.join(folder(place), '%d.sock' % pid)
        mode = os.lstat(path)
        t.true(stat.S_ISSOCK(mode.st_mode) and mode.st_mode & 0o777 == 0o600, 'mode %o' % mode.st_mode)
        t.equal(os.stat(folder(place)).st_mode & 0o777, 0o700, 'mode of the folder')
        t.unchecked.add(ticker.path)
        ticker.process.kill()  # record would remove it
        ticker.process.wait(PATIENCE)
        os.kill(pid, signal.SIGKILL)
        until(lambda: not harness.run(['pgrep', '-r', 'D,I,R,S,T', '-g', str(ticker.process.pid)]).text, 'the end of both')
        t.true(os.path.exists(path), 'the socket is gone already')
        result = tool('list', env=environment)
        t.equal(result.status, 0, 'list\n%s' % result)
        t.true('removed' in result.errors and not os.path.exists(path), 'not removed\n%s' % result)
        one_line(tool('dump', str(pid), env=environment), 3, str(pid))


@needs('Ticker')
def test_a_folder_that_is_not_ours_alone_is_not_used(t):
    def open_to_all(path):
        os.mkdir(path)
        os.chmod(path, 0o777)

    def a_file(path):
        open(path, 'w').close()

    def of_another(path):
        os.mkdir(path, 0o700)
        os.chown(path, 65534, 65534)

    for spoil in (open_to_all, a_file, lambda path: os.symlink('/tmp', path)) + ((of_another,) if not os.geteuid() else ()):
        with tempfile.TemporaryDirectory() as place:  # a short name: there is not much room in a socket's
            spoil(os.path.join(place, 'shadowtrace'))
            env = dict(ENVIRONMENT, XDG_RUNTIME_DIR=place)
            one_line(tool('dump', '1', env=env), 3, 'cannot trust')
            result = tool('list', env=env)
            t.true(result.status == 3 and 'cannot trust' in result.errors, 'list\n%s' % result)


def place_of_nobody():
    """A user whose place in /tmp is taken by a file, and the file; other runs of this test have others."""
    for user in range(60000, 65000):
        path = '/tmp/shadowtrace-%d' % user
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            return str(user), path
    raise AssertionError('no user is left')


@needs('Hello')
def test_without_a_socket_the_program_runs_and_the_user_hears_why(t):
    """Neither place can be used: one is open to all, the other is taken by a file."""
    if os.geteuid() != 0:
        t.skip('needs another user, whose place in /tmp can be taken')
    user, taken = place_of_nobody()
    try:
        work = t.path('work')
        os.mkdir(work)
        os.chmod(work, 0o777)
        r = harness.run(['setpriv', '--reuid', user, '--clear-groups', harness.TOOL, 'record', '-o', work + '/log.ndjson',
                         '--'] + PROGRAM.command('Hello'), env=dict(ENVIRONMENT, HOME=work, DOTNET_CLI_HOME=work))
        if r.status:
            t.skip('another user cannot run the program here: %s' % r.errors.strip()[:100])
        log = harness.Log(work + '/log.ndjson')
        t.true('not a directory' in log.header.get('uncontrolled', ''), 'header: %s' % log.header)
        t.true('not a directory' in r.errors, 'the summary: %s' % r.errors)
    finally:
        os.unlink(taken)


def goes_on(client, calls):
    """Waits until the program has made more than `calls` calls."""
    until(lambda: client.ask('status')['calls'] > calls, 'the program stands still')


@harness.early
@needs('Ticker')
def test_bad_clients_get_one_line_each_and_the_program_goes_on(t):
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0')
    ticker.wait()
    good = ticker.client()
    before = good.ask('status')['calls']
    for request, word in ((b'garbage\n', 'JSON'), (b'\xff\xfe\x00\n', 'JSON'), (b'[]\n', 'object'), (b'7\n', 'object'),
                          (b'{}\n', 'command'), (b'{"command":"nonsense"}\n', 'nonsense'),
                          (b'{"command":"status","version":2}\n', 'version'), (b'{"command":"mark"}\n', 'text'),
                          (b'{"command":"mark","text":""}\n', 'text'), (b'{"command":"mark","text":7}\n', 'text'),
                          (b'{"command":"set"}\n', 'nothing'), (b'{"command":"set","sample":-1}\n', 'sample'),
                          (b'{"command":"set","sample":1e3}\n', 'sample'), (b'{"command":"set","only":[""]}\n', 'only'),
                          (b'{"command":"set","only":"x"}\n', 'only'), (b'{"command":"set","paused":1}\n', 'paused'),
                          (b'{"command":"dump","frames":"x"}\n', 'frames'), (b'{"command":"status","more":1}\n', 'more'),
                          (b'{"command":"status","command":"dump"}\n', 'JSON'), (b'\n', 'JSON')):
        good.send(request)
        reply = good.line()
        t.true(reply['ok'] is False and word in reply['error'], '%r: %r' % (request, reply))
    huge = ticker.client()
    try:
        huge.send(b'x' * 300000)
    except OSError:
        pass  # it may be closed before all is sent
    reply = huge.line()
    t.true(reply['ok'] is False and '65536' in reply['error'], reply)

    many = [ticker.client() for _ in range(100)]
    for client in many:
        client.send(b'{"command":"status"}\n')
    for client in many:
        t.true(client.line()['ok'], 'one of a hundred')
    beyond = [ticker.client() for _ in range(40)]
    refused = 0
    for client in beyond:
        try:
            client.send(b'{"command":"status"}\n')
            refused += not client.line()['ok']
        except (EOFError, OSError):
            refused += 1
    t.true(refused >= 10, '%d of 40 beyond 128 were refused' % refused)
    for client in many + beyond:
        client.close()

    deaf = ticker.client()  # asks on and on, and reads nothing: it is let go once its reply has waited too long
    deaf.socket.settimeout(1)
    sent = 0
    try:
        while sent < 1 << 24:
            deaf.send(b'{"command":"dump"}\n' * 1000)
            sent += 19000
    except OSError:
        pass
    half = ticker.client()
    half.send(b'{"command":')
    goes_on(good, before)
    for client, what in (half, 'half a request'), (deaf, 'a deaf client'):
        look = select.poll()
        look.register(client.socket, 0)  # a closed connection is reported in any case
        t.true(look.poll(PATIENCE * 1000), '%s is still connected' % what)
    goes_on(good, good.ask('status')['calls'])
    t.equal(ticker.end(), 143, 'exit status')


@needs('Ticker')
def test_a_stopped_process_is_said_to_be_silent(t):
    ticker = Living(t, PROGRAM.command('Ticker') + ENDLESS, '--check', '0')
    pid = ticker.wait()
    os.kill(pid, signal.SIGSTOP)
    tasks = '/proc/%d/task' % pid
    until(lambda: all(open('%s/%s/stat' % (tasks, task), encoding='utf-8').read().rsplit(')', 1)[1].split()[0] == 'T'
                      for task in os.listdir(tasks)), 'a stop of each thread, which stops for itself')
    try:
        one_line(tool('dump', str(pid)), 3, 'does not answer')
    finally:
        os.kill(pid, signal.SIGCONT)
    t.equal(tool('dump', str(pid)).status, 0, 'it goes on')
    ticker.end()
