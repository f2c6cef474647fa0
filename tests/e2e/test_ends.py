"""Processes that end hard: the exit status is theirs, and the log is right as far as it goes."""
from harness import HOOKS, PROGRAM, each, needs, sampled
from logfile import Log

# way: (exit status, whether the log has an end; None: either)
WAYS = {
    'stack-overflow': (134, False), 'fail-fast': (134, None), 'unhandled': (134, None), 'unhandled-thread': (134, None),
    'unhandled-native': (134, None), 'unhandled-filter': (134, None), 'unhandled-handler': (134, None), 'abort': (134, False),
    'segfault': (139, False), 'kill': (137, False), 'term': (143, None), 'exit-running': (3, True),
    'exit-native-running': (4, True), 'exit-in-finalizer': (5, True), 'exit-in-catch': (6, True),
    'exit-in-callback': (7, True), 'exit-now': (8, None), 'exit-native': (9, None), 'return-running': (0, True),
    'process-exit-handler': (0, True), 'fork-exit': (0, True), 'fork-exec': (0, True), 'vfork-exec': (0, True),
    'threads-in-native': (0, True)}

RUNNING = ('exit-running', 'exit-native-running', 'return-running', 'fork-exit', 'fork-exec', 'vfork-exec', 'exit-native')


@sampled
@needs('HardEnd')
@each('way', *WAYS)
@each('hooks', *HOOKS)
def test_ends(t, way, hooks):
    status, ended = WAYS[way]
    r = t.record(PROGRAM.command('HardEnd') + [way], hooks=hooks, check=1)
    t.equal(r.status, status, str(r))
    t.equal(r.text, 'ending\n', 'stdout')
    t.unchecked.add(r.path)
    log = Log(r.path, cut=True)
    t.true(not log.mismatches, 'stacks differ')
    if ended is not None:
        t.equal(log.end is not None, ended, 'the log has an end')
    if log.end:
        t.equal(log.end['seen'], log.end['written'] + log.end['lost'], 'seen')
        t.equal(log.end['written'], len(log.allocs), 'written')
        # What other threads allocate while recording stops is counted, and named.
        lost = dict(log.end['lost_by'])
        if way in RUNNING:
            t.true(lost.pop('stopped', 0) <= 8, 'lost: %s' % log.end['lost_by'])
        t.equal(sum(lost.values()), 0, 'lost: %s' % log.end['lost_by'])
    t.true(len(log.allocs) > 1000, '%d allocations' % len(log.allocs))
    t.equal(len(r.paths), 1, 'logs: a forked child writes none')
    if log.check:
        t.equal(log.check['equal'], log.check['compared'], 'equal')
        t.note('%d equal' % log.check['equal'])
