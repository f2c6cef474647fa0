"""
What is alive, where it goes roughly: other settings of the collector, other listeners, code that is unloaded, children,
logs that cannot be written, ends within a collection. What is exact is held against the runtime's walk of its heap; what
is not says so.
"""
import itertools
import json
import os
import re
import subprocess

import live
import test_live
from harness import ENVIRONMENT, PATIENCE, PROGRAM, TOOL, UNTIL_EOF, each, needs, on_full_disk, one_line, run, tool, until

CHECKED = test_live.CHECKED

# Of the environment; Replacer's arguments.
SETTINGS = {
    # another listener, of all that the collector tells: the same ranges go to both
    'other-session': ({'EnableEventPipe': '1', 'EventPipeOutputPath': 'other.nettrace',
                       'EventPipeConfig': 'Microsoft-Windows-DotNETRuntime:0x4C00001:5'}, '--collect 20'),
    # it makes the runtime walk its whole heap at each full collection
    'heap-dump-session': ({'EnableEventPipe': '1', 'EventPipeOutputPath': 'other.nettrace',
                           'EventPipeConfig': 'Microsoft-Windows-DotNETRuntime:0x1980001:5'}, '--collect 20'),
    'hard-limit': ({'GCHeapHardLimit': '0xC000000'}, '--collect 20'),
    'without-end': ({'GCgen0size': '0x10000', 'GCgen0MaxBudget': '0x10000'}, '--types 2000'),
    'conservative': ({'gcConservative': '1'}, '--collect 20'),
}


def environment(settings):
    return dict(ENVIRONMENT, **{'DOTNET_' + name: value for name, value in settings.items()})


@needs('Replacer')
@each('setting', *SETTINGS)
def test_every_object_with(t, setting):
    env, arguments = SETTINGS[setting]
    r = test_live.enough(lambda: t.record(PROGRAM.command('Replacer') + arguments.split(), *CHECKED, env=environment(env),
                                          timeout=900), 100_000)
    t.equal(r.text.splitlines()[-1:], ['ok'], str(r))
    test_live.checked(t, r, 100_000)
    if setting.endswith('session'):
        t.true(os.path.getsize(os.path.join(r.folder, 'other.nettrace')) > 100_000, 'nobody else listened')


@needs('Collectible')
def test_every_object_of_contexts_that_are_unloaded(t):
    r = test_live.enough(lambda: t.record(PROGRAM.command('Collectible') + ['contexts', '100', '0'], *CHECKED), 5_000)
    test_live.checked(t, r, 5_000)
    back = r.log.end.get('given_back', {})
    t.true(back.get('modules', 0) >= 75, 'given back: %s' % back)


# ---- ends

VIEWS = 'live', 'end', 'peak', 'grown', 'temporary', 'lifetimes'


@needs('Replacer')
@each('log', 'events', 'sites')
def test_killed_while_it_collects(t, log):
    """Half of its time it collects. The log reads, its lines add up as far as its totals go, and each view says what is missing."""
    path = t.path('log.ndjson')
    t.killed.add(path)
    process = t.start([TOOL, 'record', '-o', path, '--live', '--log', log, '--'] + PROGRAM.command('Replacer') +
                      ['--scale', '1000', '--threads', '1', '--types', '200000'])
    # Not to the end of the log: it may grow faster than it is read.
    until(lambda: next(itertools.islice(each_total(path), log == 'sites', None), None), 'collections in the log')
    os.kill(pid_of(path), 9)
    errors = process.communicate(timeout=PATIENCE)[1].decode()
    t.true('killed' in errors, 'the summary does not say it:\n%s' % errors)
    first, last = totals(path)[0], totals(path)[-1]
    t.equal(tool('validate', path).status, 0, 'validate')
    with open(path, 'rb') as file:
        data = file.read()
    with open(path + '.whole', 'wb') as file:
        file.write(data[:data.rfind(b'\n') + 1])
    found = live.Live([path + '.whole'], '')
    t.true(found.last.total == last and last['exact'] and not found.end, 'exact up to there: %s' % found.last.total)
    for view in VIEWS if log == 'sites' else ('live', 'end'):  # such a log is large
        said = tool('report', '--no-lines', '--view', view, path)
        t.true(said.status == 0 and 'NOT COMPLETE' in said.text, said)
        t.true('collection %d ' % last['gc'] in said.text or view == 'peak', said)
        said = json.loads(tool('report', '--no-lines', '--format', 'json', '--view', view, path).text)
        t.equal((said['log']['complete'], said['total']['exact']), (False, True), view)
    if last['t'] > first['t']:
        t.note('in collections %d %% of the time' % (100 * (last['pauses'] - first['pauses']) / (last['t'] - first['t'])))


@needs('Replacer')
def test_cut_anywhere(t):
    """What stands behind the last total counts nowhere; a collection that is not in the log is not said not to have run."""
    r = t.record(PROGRAM.command('Replacer') + ['--collect', '20', '--scale', '4'], '--live', '--log', 'sites')
    with open(r.path, 'rb') as file:
        lines = file.readlines()
    at = [i for i, line in enumerate(lines) if line.startswith(b'{"kind":"live_total"')]
    of = [json.loads(lines[i]) for i in at]
    for number, cut in (0, at[0]), (0, at[0] - 3), (1, at[0] + 1), (1, at[1]), (1, at[1] - 5), (2, at[1] + 1):
        path = t.path('%d.ndjson' % cut)
        t.killed.add(path)
        with open(path, 'wb') as file:
            file.write(b''.join(lines[:cut]) + lines[cut][:20])
        for view in 'live', 'end', 'lifetimes':
            said = json.loads(tool('report', '--no-lines', '--format', 'json', '--view', view, path).text)
            t.equal((said['log']['complete'], said.get('collection', {}).get('gc')), (False, of[number - 1]['gc'] if number else None), view)
            if view == 'live':
                t.equal((said['total']['live_allocs'], said['total']['live_bytes']),
                        (of[number - 1]['allocs'], of[number - 1]['bytes']) if number else (0, 0), 'cut before line %d' % cut)
        text = tool('report', '--no-lines', '--view', 'live', path).text
        t.equal(text.startswith('No collection is in the log: 0 objects'), not number, text)


@needs('Replacer')
def test_rotated_while_it_collects(t):
    """Parts begin wherever one is full, also between the lines of a collection; those that are left add up."""
    r = t.record(PROGRAM.command('Replacer') + ['--collect', '50', '--scale', '3'], '--live', '--max-log', '8M', timeout=600)
    t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), str(r))
    parts = r.paths[:0:-1] + [r.path]
    found = live.Live(parts, '')
    t.true(len(parts) > 1 and found.opened and found.last.total['exact'], '%d parts, %d opened' % (len(parts), found.opened))
    last = json.loads(tool('report', '--no-lines', '--format', 'json', '--view', 'live', r.path).text)
    t.equal((last['total']['live_allocs'], last['total']['live_bytes']), (found.last.total['allocs'], found.last.total['bytes']), 'alive')
    t.note('%d parts, %d collections' % (len(parts), len(found.moments)))


def each_total(path):
    if os.path.exists(path):
        with open(path, 'rb') as file:
            yield from (json.loads(line) for line in file if line.startswith(b'{"kind":"live_total"') and line.endswith(b'\n'))


def totals(path):
    return list(each_total(path))


def pid_of(path):
    if not os.path.exists(path):
        return 0
    with open(path, 'rb') as file:
        line = file.readline()
    return json.loads(line)['pid'] if line.endswith(b'\n') else 0


# ---- what is refused while it records

@needs('Ticker')
def test_nothing_can_be_left_out_later(t):
    """One line, and it records on as before; what changes nothing is no error."""
    path = t.path('log.ndjson')
    process = t.start([TOOL, 'record', '-o', path, '--live', '--'] + PROGRAM.command('Ticker') + UNTIL_EOF, stdin=subprocess.PIPE)
    pid = str(until(lambda: pid_of(path), 'the program'))
    for command in (['stop'], ['only', 'Ticker.*'], ['sample', '1M']):
        one_line(tool('ctl', pid, *command), 3, '--live')
    for command in (['start'], ['sample', '0'], ['status']):
        said = tool('ctl', pid, *command)
        t.true(said.status == 0 and 'recording' in said.text, said)
    one_line(tool('report', '--view', 'live', '--at', 'nowhere', path), 2, 'nowhere')
    process.communicate(timeout=PATIENCE)
    found = live.Live([path], 'Ticker')
    t.true(found.end and found.end['lost'] == 0 and found.lines['config'] <= 2, 'lines: %s' % found.lines)


# ---- logs that cannot be written

@needs('Replacer')
@each('log', 'events', 'sites')
def test_a_full_disk(t, log):
    """The program runs on, what is missing is counted by kind, and what there is adds up."""
    r, path = on_full_disk(t, '--live', '--log', log, '--', *PROGRAM.command('Replacer'), '--collect', '5', '--scale', '4')
    t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), str(r))
    t.true('No space left' in r.errors and re.search(r'LOST of .*live_total: \d+ of', r.errors), 'what is missing is not said:\n%s' % r)
    t.equal(tool('validate', path).status, 0, 'validate')
    of = totals(path)
    said = tool('report', '--no-lines', '--view', 'live', path)
    t.true(said.status == 0 and 'NOT COMPLETE' in said.text, said)
    t.true(said.text.startswith('After collection %d ' % of[-1]['gc'] if of else 'No collection is in the log'), said)


# ---- children

@needs('HardEnd')
@each('way', 'fork-exit', 'vfork-exec')
def test_children_that_are_no_runtime(t, way):
    """They share pages with the table for a moment, and leave it alone."""
    r = test_live.enough(lambda: t.record(['env', 'DOTNET_GCgen0size=0x40000'] + PROGRAM.command('HardEnd') + [way], *CHECKED), 1_001)
    t.equal((r.status, r.text, len(r.paths)), (0, 'ending\n', 1), str(r))
    numbers, found = test_live.walked(r), live.Live([r.path], '')
    t.equal([numbers[name] for name in ('missing', 'extra', 'other_class')], [0, 0, 0], 'missing, extra, of another type: %s' % numbers)
    t.true(numbers['equal'] > 1000, 'only %s' % numbers)
    t.true(found.last.total['exact'], 'not exact: %s' % found.last.total)  # while the runtime ends others allocate, and collect
    t.equal(set(found.end['lost_by']) - {'stopped'}, set(), 'lost')
    t.note('%d equal' % numbers['equal'])


# ---- collections beside the program, and code that is unloaded anyway

@needs('Collectible')
def test_unloaded_code_is_given_back_where_the_table_has_ended(t):
    """A collection ran beside the program: the table is over, says so, and holds nothing that others wait for."""
    command = test_live.concurrent(t, 'Collectible') + ['contexts', '200', '0', 'beside']
    r = t.record(command, '--live', '--log', 'sites')
    t.equal(r.status, 0, str(r))
    back = r.log.end.get('given_back', {})
    last = totals(r.path)[-1]
    t.note('%s, %s' % (last, back))
    t.equal((last['exact'], last.get('why')), (False, 'concurrent'), 'exact, why')
    t.true(back.get('modules', 0) >= 100, 'given back: %s' % back)
