"""What comes and goes: code that is unloaded leaves nothing behind in the tracer, and the log stays true of it."""
import os
import statistics

from harness import ENVIRONMENT, HOOKS, PROGRAM, TOOL, each, heavy, lane, needs, run, tool

KINDS = {'contexts': (5000, 500), 'expressions': (100000, 500), 'regexes': (10000, 500)}  # how many, measured from which
LIMIT = 4096  # KB more than unprofiled, median of:
TIMES = 5
FIXED_HEAP = dict(ENVIRONMENT, DOTNET_GCHeapHardLimit='0x8000000')


@needs('Collectible')
@each('hooks', *HOOKS)
def test_what_was_unloaded_is_given_back(t, hooks):
    """And its memory is other code's then: each allocation is still where the snapshot beside it says."""
    count = 100
    r = t.record(PROGRAM.command('Collectible') + ['contexts', str(count), '0'], '--capture', 'both', hooks=hooks, env=FIXED_HEAP)
    t.equal(r.status, 0, str(r))
    log = r.log
    t.equal((log.end['lost'], len(log.mismatches)), (0, 0), 'lost, differ')
    back = log.end.get('given_back', {})
    t.true(back.get('modules', 0) >= count * 0.9, 'given back: %s' % back)
    t.true(back['methods'] >= count and back['classes'] >= 3 * count and back['nodes'] >= 2 * count, 'given back: %s' % back)
    t.equal(len({n['id'] for n in log.nodes.values()}), len(log.nodes), 'ids of nodes')
    beside = {(s['thread'], s['t']): s for s in log.snapshots if 'refused' not in s}
    judged = 0
    for a in log.allocs:
        snapshot = beside.get((a['thread'], a['t']))
        if snapshot:
            judged += 1
            t.equal(list(log.stack(a['node'])), snapshot['stack'], 'stack of %s' % a)
    t.true(judged > 10 * count, '%d judged' % judged)
    inside = [c for c in log.classes.values() if 'Plugin' in c['name']]
    t.true(len({c['id'] for c in inside}) >= 3 * count, '%d classes of contexts' % len(inside))
    t.equal(tool('validate', r.path).status, 0, 'validate')
    t.note('%s given back, %d judged' % (back, judged))


def grows(t, kind, rich, options=None, hooked=True):
    """
    KB from the 500th to the last: of the process's own memory, and of all with its files. options: of `record`; None:
    unprofiled, with the JIT's settings of a recording. Hooks exclude precompiled code. Under DOTNET_RichDebugInfo the runtime
    (8 to 11) leaks what the JIT reports about each method: ~CEECodeGenInfo frees neither m_inlineTreeNodes nor
    m_richOffsetMappings. That is 60 to 100 bytes for one of these expressions, and 2 KB for a regex.
    """
    command = PROGRAM.command('Collectible') + [kind] + [str(n) for n in KINDS[kind]]
    environment, path = FIXED_HEAP, t.path('grows.ndjson')
    if options is None:
        environment = dict(environment, DOTNET_ReadyToRun='0' if hooked else '1', DOTNET_RichDebugInfo='1' if rich else '0')
    else:
        command = [TOOL, 'record', '--quiet', '-o', path, *options, '--', *command]
    r = run(command, timeout=3600, env=environment)
    t.equal(r.status, 0, str(r))
    if options is not None:
        os.unlink(path)
    before, all_before, after, all_after = map(int, r.text.split()[-4:])
    return after - before, all_after - all_before


without = {}  # by kind, and by whether with rich debug info and as with hooks: how it grows unprofiled, run after run


def compare(t, kind, rich, options, hooked=True):
    plain, ours = without.setdefault((kind, rich, hooked), []), []
    for i in range(TIMES):
        if i == len(plain):
            plain.append(grows(t, kind, rich, hooked=hooked))
        ours.append(grows(t, kind, rich, options))
    for what, profiled, unprofiled in zip(('private', 'with files'), zip(*ours), zip(*plain)):
        more = statistics.median(profiled) - statistics.median(unprofiled)
        told = '%d KB more %s: %s, %s without' % (more, what, profiled, unprofiled)
        t.note(told)
        t.true(more <= LIMIT, told)


@lane('unload')
@heavy
@needs('Collectible')
@each('kind', *KINDS)
@each('log', 'events', 'sites')
def test_memory_stays_what_it_was(t, kind, log):
    compare(t, kind, True, ['--log', log])


@lane('unload')
@heavy
@needs('Collectible')
def test_memory_stays_without_what_the_runtime_leaks(t):
    compare(t, 'expressions', False, ['--no-rich'])


@lane('unload')
@heavy
@needs('Collectible')
@each('options', '--capture walk', '--own')
def test_memory_stays_with_walks(t, options):
    compare(t, 'contexts', True, [*options.split(), '--log', 'sites'], hooked=False)
