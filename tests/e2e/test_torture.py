"""
Every behaviour that makes or unmakes frames: at each allocation the shadow stack equals the runtime's own snapshot. In `make
check` each program is a cell of the matrix (test_matrix.py).
"""
from harness import HOOKS, PROGRAM, each, early, lane, needs

PROGRAMS = ('Exceptions', 'Boundaries', 'Native', 'Faults', 'Async', 'TailCalls', 'Tiers', 'Generics', 'Dynamic', 'Unload',
            'Threads')


@lane('combinations')
@needs('program')
@each('program', *PROGRAMS)
@each('hooks', *HOOKS)
def test_every_stack_equals_the_snapshot(t, program, hooks):
    r = t.record(PROGRAM.command(program) + ['--scale', '2'], hooks=hooks, check=1)
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r)
    spared = ' not hooked, and in no stack' in r.errors  # the framework of .NET 11, under ELT2
    t.equal(r.errors.count('\n') <= 4 + spared, True, 'stderr\n%s' % r)
    t.exact(r)


@early
@needs('Deep')
@each('hooks', 'elt3', full=('combinations', HOOKS))
def test_deep_stacks(t, hooks):
    r = t.record(PROGRAM.command('Deep'), hooks=hooks, check=1)
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r)
    t.exact(r)
    deepest = max(max((b['to'] for b in c['by_depth']), default=0) for c in r.log.checks)
    t.true(deepest >= 100_000, 'compared at %d frames at most' % deepest)


@needs('Native')
@each('hooks', *HOOKS)
def test_a_thread_enters_again_while_its_data_are_destroyed(t, hooks):
    r = t.record(PROGRAM.command('Native') + ['--case', 'native-thread-destructor', '--scale', '10'], hooks=hooks, check=1)
    t.exact(r)


@needs('Threads')
@each('hooks', 'elt3', full=('combinations', HOOKS))
def test_thousands_of_short_threads(t, hooks):
    r = t.record(PROGRAM.command('Threads') + ['--case', 'short-threads', '--scale', '15'], hooks=hooks, check=1)
    t.exact(r)
    t.true(r.log.end['threads'] > 2000, '%d threads' % r.log.end['threads'])
    ended = sum('end' in d for d in r.log.threads.values())
    t.true(ended > 2000, '%d threads with an end' % ended)


@needs('Threads')
def test_thread_names(t):
    r = t.record(PROGRAM.command('Threads') + ['--case', 'names'])
    t.equal(r.status, 0)
    names = {d.get('name') for d in r.log.threads.values()}
    for name in 'plain', 'with "quotes" and \\', 'Ünïcødé ☃ 𝄞', 'line\nbreak\ttab', '\ufffd lone':
        t.true(name in names, '%r is not among %r' % (name, names))
