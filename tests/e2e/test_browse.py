"""browse in tmux: a terminal as people have it, with its sizes, its signals and its shell."""
import atexit
import collections
import json
import os
import re
import shlex
import shutil
import signal
import tempfile

import consumers
import harness
from harness import PROGRAM, TOOL, each, early, lane, needs, run, tool, until
from test_compiler import command

FIXTURES = os.path.join(harness.ROOT, 'tests/fixtures')
SHOP = os.path.join(FIXTURES, 'browse/shop.ndjson')
COLOUR = re.compile(r'\x1b\[[0-9;]*3[0-7][0-9;]*m')


class Tmux:
    """A shell on a separate terminal, and its screen."""

    def __init__(self, t, columns, rows, **environment):
        folder = tempfile.mkdtemp(prefix='shadowtrace-tmux-')  # not below the test's: a socket's path has 107 bytes
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self.base = [consumers.program('tmux'), '-S', os.path.join(folder, 'socket'), '-f', '/dev/null']
        variables = dict(TERM='screen-256color', PS1='$ ', **environment)
        shell = ['env', '-u', 'NO_COLOR'] + ['%s=%s' % pair for pair in variables.items()] + ['bash', '--norc', '-i']
        self.ask('new-session', '-d', '-x', str(columns), '-y', str(rows), ' '.join(shlex.quote(word) for word in shell))
        atexit.register(run, self.base + ['kill-server'])  # of a test that failed
        self.until(lambda s: '$' in s)

    def ask(self, *words):
        result = run(self.base + list(words), timeout=60)
        if result.status:
            raise AssertionError(str(result))
        return result.text

    def screen(self, *how):
        return self.ask('capture-pane', '-p', *how)

    def until(self, what):
        """Until the screen says so; the screen then."""
        found = []

        def holds():
            found[:] = [self.screen()]
            return what(found[0])

        until(holds, lambda: 'the screen stays\n%s' % found[0])
        return found[0]

    def keys(self, *keys):
        self.ask('send-keys', *keys)

    def type(self, text):
        self.ask('send-keys', '-l', text)

    def start(self, *words):
        """A command of the shell."""
        self.type(' '.join(shlex.quote(word) for word in words))
        self.keys('Enter')

    def press(self, keys, what):
        """Letters, and the screen that they lead to."""
        self.type(keys)
        return self.until(what)

    def cursor(self):
        """The row under the cursor: the reversed one between the first and the last."""
        rows = self.screen('-e').splitlines()[1:-1]
        marked = [row for row in rows if re.search(r'\x1b\[[0-9;]*\b7m', row)]
        return re.sub(r'\x1b\[[0-9;]*m|[\x0e\x0f]', '', marked[0]) if marked else ''

    def resize(self, columns, rows):
        self.ask('resize-window', '-x', str(columns), '-y', str(rows))

    def pid(self):
        return int(self.ask('list-panes', '-F', '#{pane_pid}'))

    def is_as_before(self, t):
        """The shell's screen, with a cursor, and a terminal that shows what is typed."""
        until(lambda: self.ask('display-message', '-p', '#{alternate_on} #{cursor_flag}').strip() == '0 1',
              'the terminal is not as it was')
        self.start('stty', '-a')
        settings = self.until(lambda s: 'icanon' in s)
        for setting in 'icanon', 'echo', 'isig', 'icrnl':
            t.true(re.search(r'(?<![-\w])%s\b' % setting, settings), settings)

    def end(self):
        self.ask('kill-server')


def running(terminal, t):
    """The process id of browse."""
    found = until(lambda: run(['pgrep', '-P', str(terminal.pid()), 'shadowtrace']).text.split(), 'browse does not run')
    t.equal(len(found), 1, 'processes')
    return int(found[0])


def short(value):
    """Bytes as browse shows them in its columns."""
    if value < 1000:
        return '%d byte%s' % (value, '' if value == 1 else 's')
    for unit in 'KB', 'MB', 'GB':
        value /= 1000
        if value < 999.95:
            return '%.1f %s' % (value, unit)
    raise AssertionError(value)


def sums_by_type(log):
    classes = {record['id']: record['name'] for record in log.records if record['kind'] == 'class'}
    sums = collections.defaultdict(lambda: [0, 0])
    for record in log.records:
        if record['kind'] == 'alloc':
            sums[classes[record['class']]][0] += record['bytes']
            sums[classes[record['class']]][1] += 1
    return sums


def objects_by_size(screen):
    """Objects by the power of two that their row begins with, or is above."""
    shown = collections.Counter()
    for objects, least in re.findall(r' ([0-9,]+) ([0-9,]+) to [0-9,]+ ', screen):
        shown[int(least.replace(',', '')).bit_length() - 1] += int(objects.replace(',', ''))
    return shown


@lane('programs')
@early
def test_the_compiler_at_all_sizes(t):
    """Totals are those of the log's lines; each view, search, filter and path is reached by its keys."""
    r = t.record(command(t, 'made')[0])
    with open(r.path, encoding='utf-8') as file:
        log = type('Log', (), {'records': [json.loads(line) for line in file]})
    sums = sums_by_type(log)
    total = [sum(pair[i] for pair in sums.values()) for i in (0, 1)]
    whole = '{:,} bytes in {:,} objects'.format(*total)
    strings = '{:,} bytes in {:,} objects'.format(*sums['System.String'])
    terminal = Tmux(t, 120, 40)

    terminal.start(TOOL, 'browse', r.path)
    terminal.until(lambda s: '[1 overview]' in s and whole in s and short(total[0]) in s)
    terminal.press('3', lambda s: '[3 types]' in s)
    shown = dict((name, pair) for pair, name in re.findall(r'^ *[0-9.<%]+ +([0-9.]+ \w+ +[0-9,]+)  (.*?) *\d*$',
                                                           terminal.screen(), re.M))
    t.equal(shown['string'].split('  ')[0].strip(), short(sums['System.String'][0]), 'string')
    t.equal(shown['string'].split()[-1], '{:,}'.format(sums['System.String'][1]), 'objects of string')

    classes = collections.Counter(record['bytes'].bit_length() - 1 for record in log.records if record['kind'] == 'alloc')
    # the heading is there before the last row is
    terminal.press('9', lambda s: '[9 sizes]' in s)
    until(lambda: objects_by_size(terminal.screen()) == classes,
          lambda: 'objects by size: %s, expected %s' % (objects_by_size(terminal.screen()), classes))
    terminal.press('0', lambda s: '[0 time]' in s and '0.000 s' in s)
    terminal.press('8', lambda s: '[8 namespaces]' in s and 'Microsoft.CodeAnalysis' in s)
    terminal.press('\r', lambda s: 'methods of ' in s)

    terminal.press('2H', lambda s: 'new ' in s)
    path = [float(share) for share in re.findall(r'^ *([0-9.]+)%.*[ <]-[* ]', terminal.screen(), re.M)]
    t.true(len(path) > 5 and path == sorted(path, reverse=True), 'the heaviest path: %s' % path)
    terminal.press('F/fastallocatestring\r', lambda s: '; /fastallocatestring' in s)
    until(lambda: 'FastAllocateString' in terminal.cursor(), lambda: 'under the cursor: %s' % terminal.cursor())
    terminal.press('c', lambda s: 'callers of string.FastAllocateString' in s)
    caller = terminal.press('jc', lambda s: 'callers of string.FastAllocateString' not in s and 'callers of' in s)
    t.true(re.search(r'100|[0-9.]+%', caller), caller)
    terminal.press('?', lambda s: 'shift-tab' in s)
    terminal.keys('Escape')
    terminal.until(lambda s: 'callers of' in s)
    terminal.press('ftype=string\r', lambda s: 'only type=string' in s)
    terminal.press('1', lambda s: strings in s)
    terminal.press('f\x15\r', lambda s: whole in s)

    for columns, rows in (80, 24), (40, 12), (20, 5):
        terminal.resize(columns, rows)
        terminal.press('2', lambda s, c=columns: '[2 tree]' in s and 0 < max(map(len, s.splitlines())) <= c)
        terminal.until(lambda s, r=rows: s.splitlines()[-1].startswith('?help') and len(s.splitlines()) == r)
        terminal.press('4', lambda s: '[4 methods]' in s)
        terminal.press('8', lambda s: '[8 namespaces]' in s)
        terminal.press('9', lambda s, c=columns: '[9 sizes]' in s and max(map(len, s.splitlines())) <= c)
        terminal.press('0', lambda s, c=columns: '[0 time]' in s and max(map(len, s.splitlines())) <= c)
        terminal.press('1', lambda s: '[1 overview]' in s)
    terminal.resize(100, 30)
    terminal.until(lambda s: whole in s)
    terminal.press('q', lambda s: '$' in s and 'overview' not in s)
    terminal.is_as_before(t)
    terminal.end()


@each('variables,coloured', ({}, True), ({'NO_COLOR': '1'}, False))
def test_colours_only_where_they_are_wanted(t, **window):
    variables, coloured = window['variables,coloured']
    terminal = Tmux(t, 80, 24, **variables)
    terminal.start(TOOL, 'browse', SHOP)
    terminal.until(lambda s: '12,768 bytes in 99 objects' in s)
    terminal.press('2', lambda s: '[2 tree]' in s and '*Program.Main' in s)
    t.equal(bool(COLOUR.search(terminal.screen('-e'))), coloured, 'colours')
    terminal.keys('Down')
    until(lambda: '*Program.Main' in terminal.cursor(), 'the cursor is not seen')
    terminal.end()


def test_the_terminal_is_as_before_however_it_ends(t):
    terminal = Tmux(t, 80, 24)
    for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV:
        terminal.start('clear')
        terminal.start(TOOL, 'browse', SHOP)
        terminal.until(lambda s: '[1 overview]' in s)
        os.kill(running(terminal, t), number)
        terminal.until(lambda s: '[1 overview]' not in s)
        terminal.is_as_before(t)
    terminal.start('clear')
    terminal.start(TOOL, 'browse', SHOP)
    terminal.until(lambda s: '[1 overview]' in s)
    terminal.keys('C-c')
    terminal.is_as_before(t)
    terminal.end()


def test_it_stops_and_goes_on(t):
    terminal = Tmux(t, 80, 24)
    terminal.start(TOOL, 'browse', SHOP)
    terminal.until(lambda s: '[1 overview]' in s)
    terminal.press('2', lambda s: '[2 tree]' in s)
    terminal.keys('C-z')
    terminal.until(lambda s: 'Stopped' in s)
    terminal.is_as_before(t)
    terminal.start('fg')
    terminal.until(lambda s: '[2 tree]' in s and 'Program.Main' in s)
    os.kill(running(terminal, t), signal.SIGTSTP)  # from outside
    terminal.until(lambda s: '[2 tree]' not in s)
    terminal.is_as_before(t)
    terminal.start('fg')
    terminal.until(lambda s: '[2 tree]' in s)
    terminal.keys('q')
    terminal.is_as_before(t)
    terminal.end()


@needs('KnownAllocs')
def test_source_in_an_editor_and_without(t):
    r = t.record(PROGRAM.command('KnownAllocs'))
    given, editor = t.path('given'), t.path('an editor')
    with open(editor, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\nprintf "%%s\\n" "$@" > %s.new\nmv %s.new %s\n' % ((shlex.quote(given),) * 3))
    os.chmod(editor, 0o755)
    terminal = Tmux(t, 100, 30, EDITOR='"%s" --wait $(touch /nothing)' % editor)
    terminal.start(TOOL, 'browse', '--source', harness.PROGRAMS, r.path)
    terminal.until(lambda s: '[1 overview]' in s)
    # It is compared: all of it has to be there. What is drawn last are the cursor's place, and the keys.
    screen = terminal.press('5', lambda s: '[5 lines]' in s and re.search(r' 1/\d+\n.*self/total.*$', s.rstrip()))
    name, line = re.search(r'(\w+\.cs):(\d+)', terminal.cursor()).groups()
    terminal.type('e')
    until(lambda: os.path.exists(given), 'the editor was not started')
    with open(given, encoding='utf-8') as file:
        words = file.read().splitlines()
    t.equal(words[:-2], ['--wait', '$(touch', '/nothing)'], 'no shell has read them')
    t.equal(words[-2], '+' + line, 'line')
    t.true(os.path.isabs(words[-1]) and words[-1].endswith('/' + name) and os.path.exists(words[-1]), words)
    terminal.until(lambda s: s == screen)

    with open(words[-1], encoding='utf-8') as file:
        text = file.read().splitlines()[int(line) - 1].strip()
    terminal.press('v', lambda s: text[:40] in s)
    t.true(text[:40] in terminal.cursor(), terminal.cursor())
    terminal.press('q', lambda s: '[5 lines]' in s)
    terminal.end()


def test_several_logs_open_as_one(t):
    small = os.path.join(FIXTURES, 'logs/small.ndjson')
    totals = [harness.tool_json('report', '--by', 'type', '--format', 'json', path)['total'] for path in (SHOP, small)]
    terminal = Tmux(t, 80, 24)
    terminal.start(TOOL, 'browse', SHOP, small)
    terminal.until(lambda s: '{:,} bytes in {:,} objects'.format(*(sum(total[what] for total in totals)
                                                                   for what in ('bytes', 'allocs'))) in s)
    terminal.press('L', lambda s: '[L logs]' in s and 'shop.ndjson' in s and 'small.ndjson' in s)
    terminal.end()


def test_without_a_terminal_it_says_which_command_to_use(t):
    result = tool('browse', SHOP)
    t.equal((result.status, result.text, result.errors.count('\n')), (2, '', 1), str(result))
    t.true('report --view tree' in result.errors and 'terminal' in result.errors, result.errors)
    for variable in 'TERM=dumb', '-uTERM':
        terminal = Tmux(t, 200, 10)
        terminal.start('env', variable, TOOL, 'browse', SHOP)
        screen = terminal.until(lambda s: 'report --view tree' in s)
        t.true('overview' not in screen, screen)
        terminal.type('echo status $?')
        terminal.keys('Enter')
        terminal.until(lambda s: 'status 2' in s)
        terminal.end()
