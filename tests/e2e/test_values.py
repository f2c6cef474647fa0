"""Arguments, results and exact instantiations: what the trace says is what the program itself says."""
import collections
import json
import os
import struct

from harness import FRAMEWORKS, PROGRAM, SDK_FRAMEWORK, Skip, each, early, full, lane, longer, needs, one_line, publishes, sampled, tool
from logfile import plain

TRACED = '--args', 'Values.*', '--returns', 'Values.*'
BUILDS = {'release': 'true', 'debug': 'false'}


def published(framework, build):
    """What PROGRAM.publish takes: an executable for each framework and build."""
    runtime = [] if framework == SDK_FRAMEWORK else ['E2EBringRuntime=true']
    return ('Values', 'values-%s-%s' % (build, framework), 'E2EFramework=' + framework, 'Optimize=' + BUILDS[build], *runtime)


def command(framework, build):
    return [PROGRAM.publish(*published(framework, build))]


def same(a, b):
    """JSON values; a float that the program printed as a double is the same float."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return (isinstance(a, (int, float)) and isinstance(b, (int, float)) and
                (a == b or struct.pack('f', a) == struct.pack('f', b)))
    return type(a) is type(b) and a == b


def traced(log):
    """{(plain name, 'in', 'out' or 'back'): [value, ...]} in the order of the log; back: what by-refs led to."""
    found = collections.defaultdict(list)
    for r in log.others:
        if r['kind'] == 'values':
            for way, member in (('in', 'args'), ('out', 'returns'), ('back', 'out')):
                if member in r:
                    found[plain(log.methods[r['method']]['name']), way].append(r[member])
    return found


@sampled
@early
@publishes(lambda framework, build: [published(framework, build)])
@each('framework', *FRAMEWORKS)
@each('build', *BUILDS)
def test_the_trace_agrees_with_what_the_program_prints(t, framework, build):
    agrees(t, t.record(command(framework, build), *TRACED, check=1))


def agrees(t, r):
    t.exact(r)
    t.equal(r.log.end['values']['lost'], 0, 'values lost')
    t.equal(r.log.end['unmatched'], [], 'patterns without a method')
    found = traced(r.log)
    at, wrong, methods = collections.Counter(), [], set()
    for line in r.text.splitlines():
        way, method, printed = line.split('\t')
        methods.add(method)
        values = found[method, way]
        traced_value = values[at[method, way]] if at[method, way] < len(values) else '(nothing)'
        at[method, way] += 1
        if not same(json.loads(printed), traced_value):
            wrong.append('%s %s: printed %s, traced %s' % (way, method, printed, json.dumps(traced_value)))
    more = ['%s %s: %d printed, %d traced' % (way, m, at[m, way], len(found[m, way]))
            for m in methods for way in ('in', 'out', 'back')
            if (at[m, way] or way == 'back') and at[m, way] != len(found[m, way])]
    if wrong or more:
        raise AssertionError('%d of %d values differ:\n%s' % (len(wrong), sum(at.values()), '\n'.join((wrong + more)[:60])))
    t.true(len(methods) >= 200, 'only %d signatures' % len(methods))
    t.true(sum(n for (_, way), n in at.items() if way == 'back') >= 24, 'by-refs that were written')
    t.note('%d signatures, %d values' % (len(methods), sum(at.values())))


@sampled
@publishes(lambda framework, build: [published(framework, build)])
@each('framework', *FRAMEWORKS)
@each('build', *BUILDS)
def test_instantiations_are_what_the_methods_say_themselves(t, framework, build):
    r = t.record(command(framework, build) + ['exact'], '--exact-generics', check=1)
    t.exact(r)
    own = {m for m, d in r.log.methods.items() if r.log.modules.get(d.get('module'), {}).get('name') == 'Values'}
    names = {m: r.log.methods[m]['name'].split('(')[0] for m in own}
    # Who takes part is known by the plain name: the others say nothing of themselves.
    marks = [line.split('\t')[1:] for line in r.text.splitlines()]
    speakers = {plain(name) for mark in marks for name in mark}
    found = collections.Counter(
        tuple(names[m] for m in reversed(r.log.stack(a['node'])) if m in own and plain(names[m]) in speakers)
        for a in r.log.allocs if r.log.type(a) == 'Values.Mark')
    printed = collections.Counter(tuple(mark) for mark in marks)
    if found != printed:
        show = ['%d not found: %s' % (n, ' > '.join(s)) for s, n in (printed - found).items()] + [
            '%d found: %s' % (n, ' > '.join(s)) for s, n in (found - printed).items()]
        raise AssertionError('\n'.join(sorted(show)[:30]))
    t.true(len(printed) > 150, 'only %d stacks' % len(printed))
    t.note('%d stacks of %d instantiations' % (sum(printed.values()), len({n for s in printed for n in s})))


@publishes(lambda: [published(SDK_FRAMEWORK, 'debug')])
def test_what_has_no_end_is_cut(t):
    """Huge texts and arrays, rings, chains, objects whose constructor still runs."""
    r = t.record(command(SDK_FRAMEWORK, 'debug') + ['bounds'], '--args', 'Values.*', check=1)
    t.exact(r)
    t.equal(r.log.end['values']['lost'], 0, 'values lost')
    with open(r.path, 'rb') as file:
        longest = max(len(line) for line in file if line.startswith(b'{"kind":"values"'))
    t.true(longest < 100_000, 'a line of %d bytes' % longest)
    found = {name: values[-1] for (name, way), values in traced(r.log).items() if way == 'in'}
    huge = found['Values.Bounds.Huge']
    t.equal((huge['text']['length'], huge['text']['text']), (20_000_000, 'y' * 100))
    t.equal((huge['numbers']['length'], huge['numbers']['items']), (10_000_000, [0] * 10))
    t.equal((huge['texts']['length'], huge['texts']['items'][0]['length']), (100_000, 100_000))
    cyclic = json.dumps(found['Values.Bounds.Cyclic'])
    t.true('"cut": true' in cyclic and len(cyclic) < 100_000, cyclic[:300])
    t.true('"cut": true' in json.dumps(found['Values.Bounds.Deep']), found['Values.Bounds.Deep'])
    t.equal(found['Values.Begun..ctor'], {'this': {'type': 'Values.Whole'}})
    t.equal(found['Values.Whole.Seen'], {'this': {'type': 'Values.Whole'}, 'self': {'type': 'Values.Whole'},
                                         'pair': {'Item1': {'type': 'Values.Whole'}, 'Item2': 1}})
    t.equal(found['Values.Bounds.Refer'], {'pair': {'ref': {'X': 0, 'Y': 0}}})


def many_values(t, *options):
    """How many of 240,000 arguments and results were lost; the others are in the log."""
    r = t.record(command(SDK_FRAMEWORK, 'release') + ['many'], '--args', 'Values.Bounds.Next*', '--returns', 'Values.Bounds.Next*', *options)
    t.equal(r.status, 0, r)
    values = r.log.end['values']
    t.equal(values['posted'] + values['lost'], 240_000, 'arguments and results')
    return values['lost']


@publishes(lambda: [published(SDK_FRAMEWORK, 'release')])
def test_many_calls_lose_no_value(t):
    """Hooks never wait for the log's writer: their events wait in a buffer that grows, as those of traced calls do."""
    t.equal(many_values(t), 0, 'lost')


@lane('load')
@publishes(lambda: [published(SDK_FRAMEWORK, 'release')])
def test_many_calls_lose_values_without_the_buffer(t):
    """On a machine on which the writer is slower than a thread that has a processor to itself."""
    lost = many_values(t, '--call-buffer', '0')
    if not lost:
        raise Skip('the writer keeps up with the program here')
    t.note('%d lost without the buffer' % lost)


@needs('Generics')
def test_a_pattern_that_matches_nothing_names_what_is_near(t):
    r = t.record(PROGRAM.command('Generics'), '--args', 'Torture.Prgram.Main(*', '--returns', '*SharedMethod*',
                 '--returns', '*sharedclass*Nothing')
    t.equal(r.status, 0)
    lines = [line for line in r.errors.splitlines() if 'no method that ran has such a name' in line]
    t.equal(len(lines), 2, r.errors)
    t.true('--args Torture.Prgram.Main(*' in lines[0] and 'near: Torture.Program.Main(System.String[])' in lines[0], lines[0])
    t.true('--returns *sharedclass*Nothing' in lines[1] and 'Torture.Program.SharedClass()' in lines[1], lines[1])
    t.equal([row['pattern'] for row in r.log.end['unmatched']], ['Torture.Prgram.Main(*', '*sharedclass*Nothing'])


@needs('Generics')
@each('options', '--hooks elt3 --args X', '--hooks elt3 --returns X', '--hooks elt3 --exact-generics',
      '--capture snapshot --args X', '--args X --value-length x', '--args X --value-items -1')
def test_wrong_use_is_one_line(t, options):
    one_line(tool('record', '-o', t.path('never.ndjson'), *options.split(), '--', *PROGRAM.command('Generics')), 2)
    t.true(not os.path.exists(t.path('never.ndjson')), 'a log was made')


HARD = ('deep', 'rethrow-deep', 'collided-deep', 'finally-chain', 'filter-chain', 'recursion-in-finally', 'generic-frames',
        'struct-methods', 'lambda', 'catch-type-of-generic', 'using', 'stack-trace')


@early
@longer('combinations')
@needs('Exceptions')
def test_stacks_stay_exact_with_everything_on(t):
    """Every method of the libraries and, in a few cases, of the program, copied at every call. All cases in the lane combinations."""
    cases = full('combinations', [word for case in HARD for word in ('--case', case)], [])
    r = t.record(PROGRAM.command('Exceptions') + cases, '--args', '*', '--returns', '*', '--exact-generics', '--value-items', '3',
                 '--value-length', '20', check=1)
    t.exact(r)
    values = {v['id']: v for v in r.log.others if v['kind'] == 'values'}
    t.true(len(values) > 10000, 'only %d values' % len(values))
    for event in r.log.allocs:
        if 'values' not in event:
            continue
        stack = r.log.stack(event['node'])
        value, above = values[event['values']], len(stack)
        while value: # each belongs to the frame at its depth, the older ones further down
            t.equal(value['method'], stack[len(stack) - 1 - value['depth']], 'method of values %d' % value['id'])
            t.true(value['depth'] < above, 'order of frames')
            above = value['depth']
            value = values.get(value.get('parent'))
    t.note('%d values' % len(values))


@needs('Generics')
def test_inline_stacks_carry_the_arguments_of_their_frames(t):
    r = t.record(PROGRAM.command('Generics'), '--args', 'Torture.*', '--stacks', 'inline', check=1)
    t.equal(r.status, 0)
    values = {v['id']: v for v in r.log.others if v['kind'] == 'values'}
    count = 0
    for event in r.log.allocs:
        at = values.get(event.get('values'))
        for row in event.get('args', []):
            t.equal(row['args'], at['args'], 'arguments')
            t.equal(event['stack'][row['frame']], r.log.methods[at['method']]['name'], 'frame')
            t.equal(row['frame'] + at['depth'] + 1, len(event['stack']), 'depth')
            at = values.get(at.get('parent'))
            count += 1
        t.true(at is None, 'an older frame is missing')
    t.true(count > 500, 'only %d' % count)


@needs('Generics')
def test_traced_calls_have_values_without_allocations(t):
    r = t.record(PROGRAM.command('Generics'), '--events', 'calls', '--args', 'Torture.*', '--returns', 'Torture.*')
    t.equal(r.status, 0)
    texts = [json.dumps(v) for v in r.log.others if v['kind'] == 'values']
    t.true(len(texts) > 1000, 'only %d values' % len(texts))
    t.equal([x for x in texts if '"type": "?"' in x][:3], [], 'objects of unknown types')
