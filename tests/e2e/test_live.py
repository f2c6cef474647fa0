"""
What is alive, by the call path that made it. A program that knows what it keeps (programs/Keeper) is held against the log's
lines, read here without the command (live.py), and against `report --view live`; and the table is held against the
runtime's own walk of the heap, object by object (--check-live).
"""
import collections
import copy
import itertools
import json
import os
import re

import live
import matrix
import test_compiler
import test_negative
from harness import (ENVIRONMENT, FRAMEWORKS, HOOKS, LIBRARY, Log, PROGRAM, Record, SDK_FRAMEWORK, SHARED, built, each, early, full,
                     lane, longer, needs, one_line, run, tool, waits)
from selection import covering


# Ways to collect: environment, arguments of Keeper.
COLLECTORS = {
    'workstation': {},
    'server': {'gcServer': '1', 'GCHeapCount': '2'},
    'adaptive': {'gcServer': '1', 'GCDynamicAdaptationMode': '1'},  # its count of heaps changes
    'segments': {'GCName': 'libclrgc.so'},
    'server-segments': {'GCName': 'libclrgc.so', 'gcServer': '1', 'GCHeapCount': '2'},
    'conservative': {'gcConservative': '1'},
    'gen0size': {'GCgen0size': '0x40000', 'GCgen0MaxBudget': '0x40000'},
    'large-gen0': {'GCgen0size': '0x8000000'},
    'gen0budget': {'GCgen0MaxBudget': '0x100000'},
    'conserve': {'GCConserveMemory': '7'},
}

# The log has the sums of at most one collection a second: how long Keeper waits after each that it reports, before another
# can come, ms.
WAIT = 1300

SETTINGS = collections.OrderedDict([
    ('framework', FRAMEWORKS), ('hooks', HOOKS), ('collector', tuple(COLLECTORS)), ('log', ('events', 'sites')),
    ('build', ('Keeper', 'KeeperDebug'))])

# Other tests look at these, too.
PLAIN = (SDK_FRAMEWORK, 'elt3', 'workstation', 'events', 'Keeper')
SITES = (SDK_FRAMEWORK, 'elt2', 'server', 'sites', 'KeeperDebug')
SHORT = (PLAIN, SITES, ('net8.0', 'elt2', 'conservative', 'events', 'Keeper'))
MORE = (('net9.0', 'elt3', 'segments', 'sites', 'Keeper'), (SDK_FRAMEWORK, 'elt3', 'large-gen0', 'events', 'KeeperDebug'))


# All pairs of two settings.
PAIRS = MORE + tuple(tuple(row[name] for name in SETTINGS) for row in covering(SETTINGS))
CELLS = {','.join(cell): cell for cell in SHORT + PAIRS}


def environment(collector):
    return dict(ENVIRONMENT, **{'DOTNET_' + name: value for name, value in COLLECTORS[collector].items()})


class Keeping:
    """A recording of Keeper that ended well: what it said, and what its log says."""

    def __init__(self, t, cell, *options, wait=WAIT):
        framework, hooks, collector, log, build = cell
        command = PROGRAM.command(build, framework) + ['--wait', str(wait)] + (['--conservative'] if collector == 'conservative' else [])
        self.record = r = t.record(command, '--live', '--log', log, *options, hooks=hooks, env=environment(collector))
        t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), 'exit status, last line\n%s' % '\n'.join(
            line for line in r.text.splitlines() if '"alive"' not in line) + r.errors)
        self.path, self.paths = r.path, r.paths[:0:-1] + [r.path]
        self.said, self.found = live.printed(r.text), live.Live(self.paths, build)


def kept(t, cell):
    """One that several tests look at is made once; none of them changes it."""
    return SHARED.get('keeper-' + ','.join(cell), lambda own: Keeping(own, cell)) if cell in SHORT else Keeping(t, cell)


def judged(t, keeping, moments=17):
    """All that Keeper says of itself is in the log."""
    said, found = keeping.said, keeping.found
    equal, wrong = live.judge(said, found)
    t.true(not wrong, '%d differ, %d are equal:\n%s' % (len(wrong), equal, '\n'.join(wrong[:40])))
    t.true(sum(row['kind'] == 'moment' for row in said) == moments and equal > 60 * moments, 'only %d numbers' % equal)
    t.true(not found.early, 'allocated before a collection, by lines after it:\n%s' % '\n'.join(found.early[:20]))
    surprises = [row['text'] for row in said if row['kind'] == 'surprise']
    t.note('%d numbers equal%s' % (equal, ', %d surprises' % len(surprises) if surprises else ''))
    return said, found


@early
@waits
@longer('live')
@each('cell', *(','.join(cell) for cell in full('live', SHORT, PAIRS)))
def test_keeper(t, cell):
    judged(t, kept(t, CELLS[cell]))


test_keeper.needs = sorted({(cell[4], cell[0]) for cell in full('live', SHORT, PAIRS)})


@needs('Keeper', framework=PLAIN[0])
def test_the_judge_sees_one_object(t):
    """One that is missing, of another site, or dead a collection too late."""
    keeping = kept(t, PLAIN)
    said = keeping.said
    moment = [row for row in said if row['kind'] == 'moment'][3]
    row = next(row for row in said if row['kind'] == 'alive' and row['moment'] == moment['moment'] and row['objects'] > 100)
    found = copy.copy(keeping.found)
    found.moments = dict(found.moments)
    found.moments[moment['gc']] = changed = copy.copy(found.moments[moment['gc']])
    changed.alive = alive = copy.deepcopy(changed.alive)
    key = live.matched(row, alive)[0]
    for change in ((-1, 0), (1, 0), (0, 8), (0, -8)):
        before = list(alive[key])
        alive[key] = [before[0] + change[0], before[1] + change[1]]
        t.true(live.judge(said, found)[1], 'not seen: %r more of %s' % (change, key))
        alive[key] = before
    alive[key[0], 'Keeping.Unknown'] = [1, 24]
    t.true(live.judge(said, found)[1], 'not seen: one of another type')
    del alive[key[0], 'Keeping.Unknown']
    t.true(not live.judge(said, found)[1], 'seen where there is nothing')


@needs('Keeper', framework=PLAIN[0])
def test_parts_of_a_rotated_log_open_with_what_is_alive(t):
    """Of moments that are closer together, so that the log has sums of a few."""
    keeping = Keeping(t, PLAIN, '--max-log', '8M', wait=300)
    said, both, newest = keeping.said, keeping.found, live.Live([keeping.path], 'Keeper')
    t.true(len(keeping.paths) > 1, 'parts: %s' % keeping.paths)
    t.true(newest.opened, 'the newest part does not open with what is alive')
    t.equal(Log(keeping.path).end.get('not_written'), None, 'lines that could not be written')
    moments = [row for row in said if row['kind'] == 'moment' and row['gc'] in newest.moments][-3:]
    t.true(moments, 'no moment is in the newest part')
    for moment in moments:
        for row in [row for row in said if row['kind'] == 'alive' and row['moment'] == moment['moment']]:
            for found, what in (newest, 'the newest part alone'), (both, 'all parts'):
                alive = found.moments[moment['gc']].alive
                sums = [sum(alive[key][i] for key in live.matched(row, alive)) for i in (0, 1)]
                t.equal(sums, [row['objects'], row['bytes']], '%s of %s at gc %d, by %s' % (row['type'], row['method'], moment['gc'], what))
    t.note('%d moments in the newest part' % len(moments))


# ---- the views, against the log's lines

@needs('KeeperDebug', framework=SITES[0])
def test_views_say_what_the_lines_say(t):
    """By call path and type: alive after each collection, at the peak, at the end, grown, and how old what died had become."""
    keeping = kept(t, SITES)
    said, found = keeping.said, keeping.found

    def view(name, *options):
        return keeping.record.report('--view', name, '--by', 'site', '--names=raw', *options)

    def alive(gc):
        return live.own(found.moments[gc].alive)
    gcs = [row['gc'] for row in said if row['kind'] == 'moment']
    for gc in gcs[::3] + gcs[-1:]:
        report = view('live', '--at', str(gc))
        t.equal((report['total']['live_allocs'], report['total']['live_bytes']),
                (found.moments[gc].total['allocs'], found.moments[gc].total['bytes']), 'total at gc %d' % gc)
        t.equal(report['total']['exact'], True, 'exact')
        t.equal(live.own(live.of_report(report, 'live_allocs', 'live_bytes')), alive(gc), 'alive at gc %d' % gc)
    peak = max(found.moments.values(), key=lambda moment: moment.total['bytes']).total['gc']
    report = view('peak')
    t.equal(report['collection']['gc'], peak, 'peak')
    t.equal(live.own(live.of_report(report, 'live_allocs', 'live_bytes')), alive(peak), 'at the peak')
    t.equal(live.own(live.of_report(view('end'), 'live_allocs', 'live_bytes')), alive(found.last.total['gc']), 'at the end')
    first, second = gcs[0], gcs[3]
    before, after = alive(first), alive(second)
    grown = {key: [after.get(key, [0, 0])[i] - before.get(key, [0, 0])[i] for i in (0, 1)] for key in set(before) | set(after)}
    t.equal(live.own(live.of_report(view('grown', '--from', str(first), '--to', str(second)), 'grown_allocs', 'grown_bytes')),
            live.own(grown), 'grown from gc %d to gc %d' % (first, second))
    died = collections.defaultdict(lambda: [0, 0])
    for row in view('lifetimes')['rows']:
        method = next((live.plain(frame) for frame in row['stack'] if frame.startswith('Keeping.')), None)
        for generation, age, objects, size in row.get('died', []):
            died[method, row['type'], generation, age][0] += objects
            died[method, row['type'], generation, age][1] += size
    lines = {key + cell: value for key, cells in found.last.died.items() for cell, value in cells.items()}
    t.equal(live.own(died), live.own(lines), 'died, by generation and age')


# ---- the table against the runtime's own walk of the heap

CHECKED = '--live', '--check-live', '1', '--log', 'sites'

def walked(r):
    """The last word of the log on the walks of the heap, None if there were none; `compare` says the same."""
    with open(r.path, 'rb') as file:
        numbers = [json.loads(line)['live'] for line in file if line.startswith(b'{"kind":"check"') and b'"live":' in line]
    if not numbers:
        return None
    c, numbers = r.compare(), numbers[-1]
    if 'live' in c and any(c['live'][name] != numbers[name] for name in ('compared', 'equal', 'missing', 'extra', 'other_class')):
        raise AssertionError('compare says %s, the log %s' % (c['live'], numbers))
    return numbers


def outline(path):
    """The header, the last sums and the end of a log, which may be large."""
    found = {}
    with open(path, 'rb') as file:
        for line in file:
            kind = line[9:line.find(b'"', 9)]
            if kind in (b'header', b'live_total', b'end'):
                found[kind] = line
    return [json.loads(found[kind]) for kind in (b'header', b'live_total', b'end')]


def enough(record, least):
    """
    What record() returns, once the walks of the heap have compared enough objects: a loaded machine may let a collection
    pass before the tracer has walked the heap. The last of five recordings counts.
    """
    for _ in range(5):
        r = record()
        numbers = walked(r) if r.status == 0 else None
        if r.status or numbers and numbers['compared'] >= least:
            break
    return r


def checked(t, r, least, lines=True):
    """After every collection, object by object; and that the log's lines add up."""
    t.equal(r.status, 0, str(r))
    header, total, end = outline(r.path)
    if lines:
        live.Live([r.path], '')
    t.true(total['exact'], 'not exact: %s' % total)
    numbers = walked(r)
    t.true(numbers, 'the heap was never walked')
    if header['runtime'].startswith('8.'):  # it walks within each collection, and nobody has to make it stop
        t.equal([numbers[name] for name in ('not_walked', 'busy')], [0, 0], 'not walked, busy: %s' % numbers)
    t.equal([numbers[name] for name in ('missing', 'extra', 'other_class')], [0, 0, 0], 'missing, extra, of another type: %s' % numbers)
    # early: a frozen object between its making and the runtime's word of it, met again later and then equal
    t.equal(numbers['equal'] + numbers.get('early', 0), numbers['compared'], 'equal')
    t.true(numbers.get('early', 0) <= numbers['walks'], 'early: %s' % numbers)
    t.true(numbers['compared'] >= least, 'only %s' % numbers)
    if lines:
        t.equal(end['lost'], 0, 'lost')
    elif end['lost']:
        t.note('%d lines lost: %s' % (end['lost'], end['lost_by']))  # the table has what the log has not
    t.note('%d walks, %d objects compared, %d equal' % (numbers['walks'], numbers['compared'], numbers['equal']))
    return numbers


def checked_all(t, r, least):
    """In each of its processes, which may end before they collect."""
    t.equal(r.status, 0, str(r))
    compared = 0
    for path in r.paths:
        numbers = walked(Record(r, r.folder, path))
        compared += numbers['compared'] if numbers else 0
        t.equal([numbers[name] for name in ('missing', 'extra', 'other_class')] if numbers else [0, 0, 0], [0, 0, 0], '%s: %s' % (path, numbers))
    t.true(compared >= least, '%d compared' % compared)
    t.note('%d logs, %d objects compared' % (len(r.paths), compared))
    return {'compared': compared}


STOPPED = (('net10.0', 'elt3', 'workstation'), ('net11.0', 'elt2', 'adaptive'), ('net10.0', 'elt2', 'server'),
           ('net9.0', 'elt2', 'segments'), ('net8.0', 'elt3', 'workstation'))
CHECKS = {','.join(cell): cell for cell in full('live', STOPPED, list(itertools.product(FRAMEWORKS, HOOKS, COLLECTORS)))}


@longer('live')
@each('cell', *CHECKS)
def test_every_object_of_random_replacement(t, cell):
    framework, hooks, collector = CHECKS[cell]
    more = full('live', 1, 5)
    checked(t, enough(lambda: t.record(PROGRAM.command('Replacer', framework) + ['--scale', str(more), '--collect', '5'], *CHECKED,
                                       hooks=hooks, env=environment(collector), timeout=900), 100_000 * more), 100_000 * more)


test_every_object_of_random_replacement.needs = sorted({('Replacer', cell[0]) for cell in CHECKS.values()})


@lane('live')
@each('hooks', *HOOKS)
def test_every_object_of_the_compiler(t, hooks):
    """
    It asks for server collection, which leaves gen0 as large as it is: four collections. So it has seven or eight, of which
    a busy machine lets some pass before a tracer thread has walked the heap.
    """
    traced, _ = test_compiler.command(t, 'traced')
    checked(t, enough(lambda: t.record(traced, *CHECKED, hooks=hooks, timeout=900,
                                       env=dict(ENVIRONMENT, DOTNET_gcServer='0', DOTNET_GCgen0size='0x80000')), 30_000), 30_000)


@lane('live')
@each('hooks', *HOOKS)
@each('program', 'fsc', 'build')
def test_every_object_of_large_programs(t, hooks, program):
    """The F# compiler; `dotnet build`, in each of its processes."""
    command = matrix.build_command(t.folder)
    if program == 'fsc':
        command = [part.replace('{made}', t.path('made')) for part in matrix.compilers(t.folder)[1][1]]
    r = t.record(command, '--live', '--check-live', '1', '--log', 'sites', hooks=hooks, timeout=1800,
                 env=dict(ENVIRONMENT, DOTNET_GCgen0size='0x400000'))
    if program == 'fsc':
        checked(t, r, 1_000_000, lines=False)
        return
    checked_all(t, r, 100_000)


@needs('WebServer')
@each('collector', 'workstation', full=('live', ('workstation', 'server')))
def test_every_object_of_a_server(t, collector):
    hooks, scale = ('elt3', 8) if collector == 'workstation' else ('elt2', 4)
    r = enough(lambda: t.record(PROGRAM.command('WebServer') + ['--scale', str(scale)], *CHECKED, hooks=hooks,
                                env=dict(environment(collector), DOTNET_GCgen0size='0x20000'), timeout=900), 1_000)
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line')
    checked(t, r, 1_000)  # one walk, and not of the largest heap: a busy machine has no time for more


# ---- each rule of the table switched off: the walk of the heap sees it

# rule: framework, arguments of Replacer, way to collect. On .NET 8 it is the other walk that sees it.
RULES = {
    'live_bounds': (SDK_FRAMEWORK, '--collect 5', 'workstation'),
    'live_split': (SDK_FRAMEWORK, '--collect 5', 'workstation'),
    'live_merge': ('net8.0', '--collect 5', 'workstation'),
    'live_depth': (SDK_FRAMEWORK, '--collect 5', 'workstation'),
}

# No runtime lets a collection run while an object is noted and not known yet: none came in a million collections beside
# first objects of types, methods and modules that nobody had met, emitted, loaded and collectible, with every option that
# asks the runtime more, on .NET 8, 9 and 10. The made-up heap of the unit test has one.
MADE_UP = {'live_open': 'an_object_whose_key_comes_late_is_young_until_it_is_known'}


def differing(t, rule, without):
    framework, arguments, collector = RULES[rule]
    env = dict(environment(collector), SHADOWTRACE_LIBRARY=built('negative/libshadowtrace.so', 'make negative', newer_than=LIBRARY))
    if without:
        env['SHADOWTRACE_WITHOUT'] = rule
    r = enough(lambda: t.record(PROGRAM.command('Replacer', framework) + arguments.split(), *CHECKED, hooks='elt3', env=env,
                                timeout=900), 1)
    t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), 'exit status, last line\n%s' % r)
    numbers = walked(r)
    t.true(numbers['compared'] > 0, 'nothing compared: %s' % numbers)
    return numbers['missing'] + numbers['extra'] + numbers['other_class'], numbers['compared']


@needs('Replacer')
@needs('Replacer', framework='net8.0')
@each('rule', *RULES)
def test_without(t, rule):
    t.equal(differing(t, rule, False)[0], 0, 'differences with %s' % rule)
    for _ in range(5):
        found, compared = differing(t, rule, True)
        if found:
            break
    t.true(found, 'without %s no difference in %d comparisons' % (rule, compared))
    t.note('%d of %d differ' % (found, compared))


@each('rule', *MADE_UP)
def test_a_made_up_heap_differs_without(t, rule):
    program = built('negative/unit/live/test_live', 'make negative')
    t.equal(run([program, MADE_UP[rule]]).status, 0, 'with it')
    without = run([program, MADE_UP[rule]], env=dict(ENVIRONMENT, SHADOWTRACE_WITHOUT=rule))
    t.true(without.status != 0 and 'FAILED  ] ' + MADE_UP[rule] in without.text + without.errors, without)


def test_every_rule_has_a_row(t):
    found = {rule for rule in test_negative.rule_names() - set(test_negative.RULES) if rule.startswith('live_')}
    t.equal(found, set(RULES) | set(MADE_UP), 'rules')


# ---- what is refused, and what the log says when it cannot be exact

@needs('Hello')
@each('option', '--types=*', '--min-size=100', '--sample=1K', '--paused', '--events=gc', '--stacks=inline')
def test_what_leaves_allocations_out_is_refused(t, option):
    path = t.path('log.ndjson')
    r = tool('record', '--live', option, '-o', path, '--', *PROGRAM.command('Hello'))
    one_line(r, 2, 'live', re.match(r'--([a-z-]+)', option).group(1).split('-')[0])
    t.true(not os.path.exists(path), 'a log was made')


@needs('Hello')
@each('option', '--check-live=1', '--live-memory=1M')
def test_options_of_the_table_need_it(t, option):
    one_line(tool('record', option, '-o', t.path('log.ndjson'), '--', *PROGRAM.command('Hello')), 2, '--live')


@needs('Replacer')
def test_memory_that_is_full_is_said(t):
    """The program runs on, the log says from where on it is not exact, and so does the summary."""
    r = t.record(PROGRAM.command('Replacer'), '--live', '--live-memory', '1M', '--log', 'sites')
    t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), str(r))
    with open(r.path, 'rb') as file:
        totals = [json.loads(line) for line in file if line.startswith(b'{"kind":"live_total"')]
    t.equal((totals[-1]['exact'], totals[-1].get('why')), (False, 'memory'), 'exact, why: %s' % totals[-1])
    t.true('not exact' in r.errors.lower(), 'the summary does not say it:\n%s' % r.errors)


def concurrent(t, program):
    """The command of a program whose own settings have collections run beside it."""
    command = PROGRAM.command(program)
    with open(os.path.splitext(command[-1])[0] + '.runtimeconfig.json', encoding='utf-8') as file:
        settings = json.load(file)
    settings['runtimeOptions'].setdefault('configProperties', {})['System.GC.Concurrent'] = True
    copy = t.path('concurrent.runtimeconfig.json')
    with open(copy, 'w', encoding='utf-8') as file:
        json.dump(settings, file)
    return ['dotnet', 'exec', '--runtimeconfig', copy] + command[1:]


@needs('Replacer')
def test_concurrent_collection_forced_on_is_seen(t):
    """By the program's own settings: that wins over the variable. What is written then is not called exact, or it is off."""
    command = concurrent(t, 'Replacer') + ['--scale', '5']
    r = t.record(command, *CHECKED)
    t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), str(r))
    found = live.Live([r.path], '')
    if found.last.total['exact']:
        checked(t, enough(lambda: t.record(command, *CHECKED), 100_000), 100_000)
        t.note('the environment wins: off')
    else:
        t.equal(found.last.total.get('why'), 'concurrent', 'why')


@needs('Replacer')
def test_concurrent_collection_by_the_environment_is_overruled(t):
    """Said by record, for it changes how the program runs; exact."""
    r = enough(lambda: t.record(PROGRAM.command('Replacer') + ['--collect', '5'], *CHECKED,
                                env=dict(ENVIRONMENT, DOTNET_gcConcurrent='1')), 100_000)
    checked(t, r, 100_000)
    t.true('concurrent' in r.errors.lower(), 'not said:\n%s' % r.errors)


@needs('Hello')
def test_a_log_without_it_says_what_is_missing(t):
    r = t.record(PROGRAM.command('Hello'))
    t.equal(r.status, 0, str(r))
    said = tool('report', '--view', 'live', r.path)
    one_line(said, 2, '--live')


@needs('Replacer')
@each('how', 'fail-fast', 'kill')
def test_a_program_that_ends_hard_between_collections(t, how):
    """The log is good up to there: its lines add up, and what it holds was exact."""
    r = t.record(PROGRAM.command('Replacer') + ['--scale', '10', '--collect', '1', '--end', how], '--live', '--log', 'sites')
    t.equal(r.status, {'fail-fast': 134, 'kill': 137}[how], 'exit status\n%s' % r)
    t.killed.add(r.path)
    t.true('crashed' in r.errors or 'killed' in r.errors, 'the summary does not say it:\n%s' % r.errors)
    with open(r.path, 'rb') as file:
        whole = file.read()
    path = t.path('whole.ndjson')
    with open(path, 'wb') as file:
        file.write(whole[:whole.rfind(b'\n') + 1])
    t.killed.add(path)
    found = live.Live([path], '')
    t.true(all(moment.total['exact'] for moment in found.moments.values()), 'not exact')
    t.true(not found.end and found.moments, 'it has an end, or no collection')
    t.note('%d collections in the log' % len(found.moments))
