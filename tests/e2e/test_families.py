"""Event families: a program that causes a known number of each, found exactly; and all at once where stacks are hard."""
import collections
import json

from control import Living
from harness import (ENVIRONMENT, FRAMEWORKS, HOOKS, PROGRAM, TOOL, each, early, full, longer, needs, one_line, run, sampled,
                     until, whole_stacks)
from logfile import plain

ALL_BUT_CALLS = 'alloc,threads,modules,classes,jit,exceptions,gc,suspend,transitions,finalizers'


def of(log, kind, **members):
    return [r for r in log.others if r['kind'] == kind and all(r.get(k) == v for k, v in members.items())]


def leaf(log, record):
    """The method on top of the stack of an event, plain."""
    return plain(log.names(record['node'])[0]) if record['node'] else ''


def sums(t, log, goes_on=False):
    """Each family: the lines are those that the end counts, and none is lost, but where threads go on after the end."""
    lines = collections.Counter(r['kind'] for r in log.others)
    for family, kind in (('threads', 'managed_thread'), ('modules', 'load'), ('classes', 'class_load'), ('jit', 'jit'),
                         ('exceptions', 'exception'), ('gc', 'gc'), ('suspend', 'suspend'),
                         ('transitions', 'transition'), ('finalizers', 'finalizer')):
        said = log.end.get('events', {}).get(family)
        if said:
            late = said['lost_by'].get('stopped', 0) if goes_on else 0
            t.equal((said['seen'] - late, said['written'], said['lost'] - late), (lines[kind], lines[kind], 0), family)


def ends(log):
    """How each exception that was thrown ended: {id: [events]}."""
    found = {r['id']: [] for r in of(log, 'exception', event='thrown')}
    for r in of(log, 'exception'):
        if r['event'] in ('caught', 'native', 'swallowed', 'superseded'):
            found[r['id']].append(r['event'])
    return found


@sampled
@needs('Families')
@needs('Families', framework='net8.0')
@needs('Families', framework='net9.0')
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
def test_known_numbers_are_found(t, framework, hooks):
    r = t.record(PROGRAM.command('Families', framework=framework), '--events', ALL_BUT_CALLS, hooks=hooks, check=1)
    t.exact(r)
    log, known = r.log, json.loads(r.text)
    sums(t, log)
    names = {m: plain(d['name']) for m, d in log.methods.items()}
    types = {c: d['name'] for c, d in log.classes.items()}

    # threads
    named = of(log, 'managed_thread', event='named')
    ours = {m['id'] for m in named if m['name'].startswith('family-')}
    t.equal(len(ours), known['threads'], 'threads named')
    for event in 'created', 'destroyed':
        t.equal(sum(m['id'] in ours for m in of(log, 'managed_thread', event=event)), known['threads'], event)
    assigned = {m['os'] for m in of(log, 'managed_thread', event='assigned') if m['id'] in ours}
    t.true(assigned <= {d['os'] for d in log.threads.values()}, 'OS threads')

    # exceptions
    thrown = [e for e in of(log, 'exception', event='thrown') if types[e['class']] == 'Families.Known']
    t.equal(collections.Counter(e['message'] for e in thrown),
            collections.Counter(['number %d' % i for i in range(known['thrown'])] + ['number -1'] * known['filtered'] +
                                ['fallen']))
    t.equal({leaf(log, e) for e in thrown}, {'Families.Program.Throw', 'Families.Program.Fall'}, 'thrown by')
    ids = {e['id'] for e in thrown}
    t.true(all(ends(log)[i] == ['caught'] for i in ids), 'each is caught')
    where = collections.Counter((e['event'], names[e['method']]) for e in of(log, 'exception')
                                if e.get('id') in ids and e['event'] != 'thrown')
    run_exceptions, run_filters = 'Families.Program.RunExceptions', 'Families.Program.RunFilters'
    t.equal(where, {('finally', run_exceptions): known['thrown'], ('caught', run_exceptions): known['thrown'],
                    ('filter', run_filters): known['filtered'], ('caught', run_filters): known['filtered'],
                    ('caught', 'Families.Program.RunCalls'): 1})

    # gc, suspend
    induced = of(log, 'gc', reason='induced')
    t.equal(len(induced), known['induced'], 'collections asked for')
    t.equal(sum(g['generations'] == [0] for g in induced), known['young'], 'of generation 0')
    t.equal(sorted(g['gc'] for g in of(log, 'gc')), list(range(1, len(of(log, 'gc')) + 1)), 'numbers of collections')
    t.true(all(sum(g['after'][:3]) > 0 for g in induced), 'heap sizes')
    t.true(len(of(log, 'suspend', reason='gc')) >= len(induced), 'suspensions')
    t.true(all(s.get('stop_ns', 0) <= s['ns'] for s in of(log, 'suspend')), 'a part of the time')

    # finalizers
    t.equal(sum(types[f['class']] == 'Families.Finalized' for f in of(log, 'finalizer')), known['objects'], 'queued')
    t.equal(known['finalized'], known['objects'], 'finalized')

    # jit
    own = [names[j['method']] for j in of(log, 'jit', tier='first')]
    for method in 'RunThreads', 'RunExceptions', 'Throw', 'RunDynamic', 'RunContext':
        t.equal(own.count('Families.Program.' + method), 1, method)
    t.equal(own.count('Families.Directions.Run'), 2, 'compiled again for the second load')
    t.equal(sum(j['name'].startswith('Known') for j in of(log, 'jit', dynamic=True) if 'name' in j), known['dynamics'])
    versions = collections.defaultdict(list)
    for j in of(log, 'jit'):
        if 'method' in j:
            versions[j['method']].append(j['version'])
    t.true(all(sorted(v) == list(range(1, len(v) + 1)) for v in versions.values()), 'versions count from 1')

    # classes
    loaded = collections.Counter(types.get(c.get('class')) for c in of(log, 'class_load', event='loaded'))
    for name in 'First', 'Second', 'Third', 'Fourth', 'Known', 'Finalized':
        t.equal(loaded['Families.' + name], 1, name)
    t.equal(loaded['Families.Directions'], 2, 'loaded twice')

    # modules
    own = [m for m in of(log, 'load', what='module', event='loaded') if m['name'].endswith('/Families.dll')]
    t.equal([m.get('collectible') for m in own], [None, True], 'the module, and once more in a context')
    t.equal(known['unloaded'], True)
    unloaded = of(log, 'load', event='unloaded')
    t.equal(collections.Counter(m['what'] for m in unloaded), {'module': 1, 'assembly': 1}, 'unloaded')

    # transitions
    calls = collections.Counter((e['to'], e['by']) for e in of(log, 'transition')
                                if names.get(e.get('method')) == 'Families.Program.e2e_add')
    t.equal(calls, {('native', 'call'): known['pinvokes'], ('managed', 'return'): known['pinvokes']})


@needs('Families')
@each('family', 'threads', 'modules', 'classes', 'jit', 'exceptions', 'gc', 'suspend', 'transitions', 'finalizers')
def test_each_on_its_own(t, family):
    """Only its lines, no allocations, and as many as with all the others."""
    r = t.record(PROGRAM.command('Families'), '--events', family)
    t.equal(r.status, 0, r)
    log = r.log
    sums(t, log)
    t.equal(list(log.end['events']), [family])
    t.true(log.end['events'][family]['written'] > 0, 'nothing was recorded')
    t.equal(log.allocs, [])
    t.equal({r['kind'] for r in log.others} - {'family_lost', 'symbols'},
            {{'threads': 'managed_thread', 'modules': 'load', 'classes': 'class_load', 'exceptions': 'exception',
              'transitions': 'transition', 'finalizers': 'finalizer'}.get(family, family)})


def tiers_of(log):
    """{method, plain: the tiers in which it was compiled}"""
    found = collections.defaultdict(set)
    for j in of(log, 'jit'):
        if 'method' in j:
            found[plain(log.methods[j['method']]['name'])].add(j['tier'])
    return found


@needs('Tiers')
def test_tiers_are_told_apart(t):
    """A loop is replaced by the thread that runs it; tier 1 comes from another thread, when that finds the time."""
    once = tiers_of(t.record(PROGRAM.command('Tiers'), '--events', 'jit').log)
    for method in 'Osr', 'OsrCatches', 'NestedLoops':
        t.equal(once['Torture.Program.' + method], {'first', 'again'}, method)

    for case, method in ('promoted', 'Torture.Program.Hot'), ('promoted-while-running', 'Torture.Program.Waiting'):
        program = Living(t, PROGRAM.command('Tiers') + ['--case', case, '--scale', '100000000'], '--events', 'jit')
        program.wait()
        until(lambda: 'tier1' in tiers_of(program.log_so_far).get(method, ()), '%s in tier 1' % method)
        t.equal(program.end(), 143, 'exit status')
        t.equal(tiers_of(program.log)[method], {'first', 'tier1'}, method)

    never = t.record(PROGRAM.command('Tiers'), '--events', 'jit', env={**ENVIRONMENT, 'DOTNET_TieredCompilation': '0'})
    t.equal(set().union(*tiers_of(never.log).values()), {'first'}, 'code is made once')


@sampled
@needs('Exceptions', 'Boundaries')
@each('program', 'Exceptions', 'Boundaries')
@each('hooks', *HOOKS)
def test_stacks_stay_exact_with_all_families(t, program, hooks):
    r = t.record(PROGRAM.command(program), '--events', 'all', hooks=hooks, check=1)
    t.exact(r)
    sums(t, r.log)
    found = ends(r.log)
    t.true(found and all(len(e) == 1 for e in found.values()), 'each exception has one end')
    t.equal(sum(e['event'] == 'caught' and 'id' not in e for e in of(r.log, 'exception')), 0, 'caught, and not thrown')


@early
@longer('load')
@needs('WebServer')
@each('hooks', 'elt3', full=('programs', HOOKS))
def test_a_server_under_load_with_all_families(t, hooks):
    """
    Collections too, by a small budget; nothing is lost silently, halves are paired, stacks stay exact. In the
    lane load a longer load, and the calls of all methods: millions.
    """
    load, calls = full('load', ('1', ['--calls', 'Microsoft.AspNetCore.*', '--calls', 'WebServer.*']), ('2', []))
    r = t.record(PROGRAM.command('WebServer') + ['--scale', load], '--events', 'all', '--call-buffer', '4G', *calls,
                 hooks=hooks, check=1, env={**ENVIRONMENT, 'DOTNET_GCgen0size': '20000', 'DOTNET_GCgen0MaxBudget': '20000'}, timeout=600)
    t.exact(r)
    log = r.log
    sums(t, log, goes_on=True)
    trace = Calls(t, log)
    t.equal((trace.missing, trace.sums['ends_missing'], log.end['events']['calls']['lost']), (0, 0, 0), 'calls')
    collections_ = of(log, 'gc')
    t.true(collections_, 'no collection')
    t.equal(sorted(g['gc'] for g in collections_), list(range(1, len(collections_) + 1)), 'each begins and ends once')
    stops = of(log, 'suspend', reason='gc')
    t.true(len(stops) >= len(collections_), '%d suspensions for %d collections' % (len(stops), len(collections_)))
    t.true(all('stop_ns' in s for s in of(log, 'suspend') if 'aborted' not in s), 'none stood still')
    t.equal([j for j in of(log, 'jit') if 'ns' not in j and 'unloaded' not in j], [], 'compilations without a beginning')
    found = ends(log)
    t.equal(sorted(i for i, e in found.items() if len(e) != 1), [], 'each exception has one end')
    t.note('%d collections, %d suspensions, %d compilations, %d exceptions, %d calls' % (
        len(collections_), len(of(log, 'suspend')), len(of(log, 'jit')), len(found), trace.sums['entered']))


class Calls:
    """The call trace of a log, by its own reading of the rules: [(thread, depth, method, t, ns, how it ended)]."""

    def __init__(self, t, log):
        self.calls, self.missing, self.sums = [], 0, collections.Counter()
        ends = {0: 'left', -1: 'tail_calls', -2: 'unwound', -4: 'ends_missing'}
        open_calls = collections.defaultdict(list)
        for r in of(log, 'calls'):
            stack, now = open_calls[r['thread']], r['t']
            t.equal(r['depth'], len(stack), 'depth')
            if 'open' in r:
                t.equal(r['open'], [n for m, at, _ in stack for n in (m, at)], 'open')
            for code, number in zip(r['e'][::2], r['e'][1::2]):
                if code == -3:
                    self.missing += number
                    continue
                if code == -5:
                    continue
                now += number
                if code > 0:
                    self.sums['entered'] += 1
                    stack.append((code, now, len(self.calls)))
                    self.calls.append(None)
                else:
                    t.true(stack, 'a call ends, and none is open')
                    method, at, index = stack.pop(-1 if code > -16 else code + 14)
                    how = ends.get(code, 'unwound')
                    self.sums[how] += 1
                    self.calls[index] = (r['thread'], len(stack), plain(log.methods[method]['name']), at, now - at, how)
        self.sums['open'] = sum(map(len, open_calls.values()))
        self.calls = [c for c in self.calls if c]
        said = log.end['calls']
        for key in 'entered', 'left', 'tail_calls', 'unwound', 'ends_missing', 'open':
            t.equal(said[key], self.sums[key], key)
        t.equal(said['missing'], self.missing, 'missing')
        t.equal(said['entered'], sum(said[k] for k in ('left', 'tail_calls', 'unwound', 'ends_missing', 'open')))


@needs('Families')
@each('hooks', *HOOKS)
def test_known_calls_are_traced(t, hooks):
    r = t.record(PROGRAM.command('Families'), '--events', 'alloc,calls', '--calls', 'Families.*', hooks=hooks, check=1)
    t.exact(r)
    calls = Calls(t, r.log).calls
    found = collections.Counter((c[2], c[5]) for c in calls)
    # Tiered code may turn the last of Fib's calls into a tail call: it has none.
    t.equal(found['Families.Program.Fib', 'left'], 1973, 'Fib(15)')
    t.equal(found['Families.Program.Fall', 'unwound'], 31, 'left by the exception')
    slow = [c for c in calls if c[2] == 'Families.Program.Slow']
    t.true(len(slow) == 3 and all(c[4] >= 20e6 for c in slow), slow)
    t.equal({c[1] for c in slow}, {2}, 'below Main and RunCalls')


@needs('Families')
def test_filters_of_calls(t):
    command = PROGRAM.command('Families')
    log = t.record(command, '--events', 'calls', '--calls', 'Families.Program.Fib*', '--max-depth', '4').log
    t.equal(len(Calls(t, log).calls), 1 + 2 + 4 + 8, 'four levels of Fib(15)')
    log = t.record(command, '--events', 'calls', '--calls', 'Families.*', '--min-duration', '15000000').log
    calls = Calls(t, log).calls
    t.equal(sum(c[2] == 'Families.Program.Slow' for c in calls), 3)
    t.equal([c for c in calls if c[4] < 15e6], [], 'shorter ones')
    r = t.record(command, '--events', 'calls', '--calls', 'Familes.Program.Fib*', '--calls', 'Families.*')
    t.true('--calls Familes.Program.Fib*: no method that ran has such a name; near: Families.Program.Fib' in r.errors, r.errors)
    t.equal([(row['option'], row['pattern']) for row in r.log.end['unmatched']], [('calls', 'Familes.Program.Fib*')])
    t.true(('Families.Program.RunCalls', 1) in {(c[2], c[1]) for c in calls}, 'their caller')


CALLING = {
    'TailCalls': ('mutual', 'mutual-throws', 'more-arguments-throw', 'struct-result', 'interfaces', 'inside-try', 'inside-finally',
                  'rethrown', 'async', 'sequences'),
    'Boundaries': ('static-constructor-nested', 'activator-generic', 'invoke', 'invoke-unwrapped', 'delegate-multicast',
                   'thread-start', 'comparer', 'reflection-catch', 'reflection-finally', 'unwrapped-filter', 'delegate-finally')}


@early
@sampled
@needs('TailCalls', 'Boundaries')
@each('program', 'TailCalls', 'Boundaries')
@each('hooks', *HOOKS)
def test_every_call_has_its_end(t, program, hooks):
    """Tail calls, recursion, exceptions through everything; stacks stay exact. All cases of the programs in the lane combinations."""
    cases = full('combinations', [word for case in CALLING[program] for word in ('--case', case)], [])
    r = t.record(PROGRAM.command(program) + cases, '--events', 'alloc,calls', '--full', 'wait', hooks=hooks, check=1)
    t.exact(r)
    sums = Calls(t, r.log).sums
    t.note('%d calls, %d tail calls, %d unwound' % (sums['entered'], sums['tail_calls'], sums['unwound']))
    t.true(sums['tail_calls' if program == 'TailCalls' else 'unwound'] > 0, sums)


def replay(path, *options):
    return json.loads(run([TOOL, 'replay', '--quiet', '--format', 'json', '--limit', '0', *options, path]).text)


@needs('Families')
def test_replay_is_the_trace(t):
    r = t.record(PROGRAM.command('Families'), '--events', 'alloc,calls,exceptions', '--calls', 'Families.*')
    trace = Calls(t, r.log)
    ends = {'left': 'left', 'tail_calls': 'tail_call', 'unwound': 'unwound', 'ends_missing': 'unknown'}

    def wanted(calls):
        return collections.Counter((c[0], c[3], c[4], c[2], ends[c[5]]) for c in calls)

    def found(rows):
        return collections.Counter((c['thread'], c['t'], c['ns'], plain(c['method']), c['end']) for c in rows
                                   if 'method' in c)

    whole = replay(r.path)
    t.equal(found(whole['rows']), wanted(trace.calls))
    t.true(all(row['depth'] == c[1] for row, c in zip((x for x in whole['rows'] if 'method' in x and x['thread'] == 1),
                                                      (c for c in trace.calls if c[0] == 1))), 'depth')
    thrown = [x['message'] for x in whole['rows'] if x.get('exception') == 'Families.Known']
    t.equal(len(thrown), len([e for e in of(r.log, 'exception', event='thrown')
                              if r.log.classes[e['class']]['name'] == 'Families.Known']))
    slow = [x for x in whole['rows'] if x.get('method', '').startswith('Families.Program.Slow(')]
    t.equal([(x['allocs'], x['bytes']) for x in slow[1:]], [(1, 1024), (1, 1024)], 'allocated inside')
    run_calls = next(x for x in whole['rows'] if x.get('method') == 'Families.Program.RunCalls()')
    within = [a for a in r.log.allocs if a['thread'] == 1 and run_calls['t'] <= a['t'] <= run_calls['t'] + run_calls['ns']]
    t.equal(run_calls['bytes'], sum(a['bytes'] for a in within), 'by all that it called')

    # A range: what was open at some time in it.
    low, high = slow[1]['t'] + 1000, slow[2]['t'] + 1000
    part = replay(r.path, '--from', str(low), '--to', str(high), '--thread', '1')
    t.equal(found(part['rows']), wanted(c for c in trace.calls if c[0] == 1 and c[3] <= high and c[3] + c[4] >= low))
    own = replay(r.path, '--method', 'Families.Program.Fib*', '--depth', '3')
    t.equal(sum('method' in x for x in own['rows']), 7, 'three levels of Fib')
    by_time = [x['t'] for x in replay(r.path, '--interleaved')['rows']]
    t.equal(by_time, sorted(by_time))

    # A damaged log, and one that was cut: no call has two ends, the rest is as it was.
    with open(r.path, 'rb') as file:
        lines = file.read().split(b'\n')
    batches = [i for i, line in enumerate(lines) if line.startswith(b'{"kind":"calls"')]
    lines[batches[len(batches) // 2]] = b'{"kind":"calls","t":1,'
    for name, kept in (('damaged', lines), ('cut', lines[:batches[-len(batches) // 3]])):
        path = t.path(name + '.log')
        with open(path, 'wb') as file:
            file.write(b'\n'.join(kept) + b'\n')
        rows = replay(path)['rows']
        same = found(rows) & wanted(trace.calls)
        t.true(sum(same.values()) > 10 and max(x['depth'] for x in rows) <= max(c[1] for c in trace.calls) + 1, name)
    text = run([TOOL, 'replay', '--limit', '5', r.path])
    t.equal(text.status, 0)
    t.true(text.text.startswith('Thread 1\n') and 'Program.Main' in text.text and '--limit 0' in text.text, text)


@needs('Families')
def test_reports_say_what_the_log_holds(t):
    r = t.record(PROGRAM.command('Families'), '--events', 'alloc,calls,jit,exceptions,gc,suspend', '--calls', 'Families.*')
    known, log = json.loads(r.text), r.log

    def report(*topic):
        text = run([TOOL, 'report', *topic, r.path])
        t.equal(text.status, 0, text)
        return whole_stacks(json.loads(run([TOOL, 'report', *topic, '--names=raw', '--format', 'json', '--quiet', r.path]).text))

    exceptions = report('--exceptions')
    own = [x for x in exceptions['rows'] if x['exception'] == 'Families.Known']
    t.equal(sorted((x['thrown'], x['caught'], plain(x['stack'][0])) for x in own),
            sorted([(known['thrown'],) * 2 + ('Families.Program.Throw',), (known['filtered'],) * 2 + ('Families.Program.Throw',),
                    (1, 1, 'Families.Program.Fall')]))
    catchers = {plain(x['method']): x['caught'] for x in exceptions['catchers'] if x['exception'] == 'Families.Known'}
    t.equal(catchers, {'Families.Program.RunExceptions': known['thrown'], 'Families.Program.RunFilters': known['filtered'],
                       'Families.Program.RunCalls': 1})

    gc = report('--gc')
    t.equal(len(gc['rows']), len(of(log, 'gc')))
    t.equal(sum(x['reason'] == 'induced' for x in gc['rows']), known['induced'])
    t.equal(sum(x['bytes'] for x in gc['rows']) + gc['since']['bytes'], sum(a['bytes'] for a in log.allocs))
    t.equal(sum(x['allocs'] for x in gc['rows']) + gc['since']['allocs'], len(log.allocs))
    shares = [x for row in gc['rows'] + [gc['since']] for x in row['by']]
    t.true(all(x['type'] for x in shares) and any(len(x['stack']) > 1 for x in shares), 'sites')
    t.true(any('line' in frame for frame in gc['frames']), 'sites have lines')
    t.equal([sorted(-x['bytes'] for x in row['by']) for row in gc['rows']], [[-x['bytes'] for x in row['by']] for row in gc['rows']])
    t.true(all(sum(x['bytes'] for x in row['by']) == row['bytes'] for row in gc['rows'] if len(row['by']) < 10), 'all sites')

    jit = {x['method']: x for x in report('--jit')['rows']}
    t.equal(sum(x['compiled'] for x in jit.values()), sum('unloaded' not in j for j in of(log, 'jit')))
    t.equal(sum(x['ns'] for x in jit.values()), sum(j.get('ns', 0) for j in of(log, 'jit')))
    stops = report('--suspensions')['rows']
    t.equal(collections.Counter({x['reason']: x['count'] for x in stops}),
            collections.Counter(s['reason'] for s in of(log, 'suspend')))

    calls = {plain(x['method']): x for x in report('--calls')['rows']}
    trace = Calls(t, log).calls
    t.equal({m: x['calls'] for m, x in calls.items()}, dict(collections.Counter(c[2] for c in trace)))
    outermost = [c for c in trace if c[2] == 'Families.Program.Fib' and c[1] == min(
        d[1] for d in trace if d[2] == 'Families.Program.Fib')]
    t.equal(calls['Families.Program.Fib']['total_ns'], sum(c[4] for c in outermost), 'recursion counts once')
    t.equal(sum(x['self_ns'] for x in calls.values()), sum(c[4] for c in trace if c[1] == 0), 'each moment is somebody\'s')

    timed = {plain(x['method']): x for x in report('--by', 'method')['rows'] if x['method'] and 'calls' in x}
    t.true(timed.keys() <= calls.keys() and len(timed) > 2, 'methods that allocate and are traced: %s' % sorted(timed))
    for name, row in timed.items():
        for key in 'calls', 'total_ns', 'self_ns':
            t.equal(row[key], calls[name][key], '%s of %s' % (key, name))
    t.true(' self  method' in run([TOOL, 'report', '--by', 'method', r.path]).text, 'columns of calls')
    one_line(run([TOOL, 'report', '--gc', '--jit', r.path]), 2, '--jit')


def test_wrong_families_are_refused(t):
    for value, word in (('gcc', 'finalizers'), ('', 'alloc'), ('alloc,', 'threads'), ('alloc,,gc', 'jit')):
        one_line(run([TOOL, 'record', '--events', value, '--', 'true']), 2, '--events', word)
    one_line(run([TOOL, 'replay']), 2, 'log')
    one_line(run([TOOL, 'replay', '--depth', 'x', 'a.log']), 2, '--depth')
    one_line(run([TOOL, 'replay', '/nonexistent/a.log']), 3, 'a.log')
    one_line(run([TOOL, 'record', '--max-depth', '3', '--', 'true']), 2, '--max-depth', 'add calls to --events')
    one_line(run([TOOL, 'record', '--events', 'calls', '--capture', 'snapshot', '--', 'true']), 2, 'calls', 'capture')
