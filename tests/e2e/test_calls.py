"""Snapshots from inside of Enter hooks, with a seed: at every call the shadow stack equals them."""
import matrix
from harness import FRAMEWORKS, HOOKS, PROGRAM, each, needs, sampled

PROGRAMS = ('Exceptions', 'Native', 'Faults', 'Async', 'Tiers', 'Generics')


@sampled
def test_at_every_call(t, program, framework, hooks):
    equal_at_calls(t, t.record(PROGRAM.command(program, framework), '--check-calls', '1', hooks=hooks, check=0))


def equal_at_calls(t, r, least=5000):
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r)
    c = r.compare()
    calls = c['calls']
    t.equal(calls['mismatched'], 0, matrix.harness.show_mismatch(r.log))
    t.equal(calls['taken'], calls['equal'] + calls['entering'] + calls['dispatching'], calls)
    t.true(calls['equal'] > least, calls)
    t.true(calls['lost'] <= 2 and calls['dispatching'] <= 0.005 * calls['taken'], calls)
    t.equal([classes for classes in c['registers'].values() if 'other' in classes], [], 'registers that nothing explains')
    t.note('%(equal)d equal, %(entering)d on their way in, %(dispatching)d in a dispatch' % calls)


test_at_every_call = each('program', *PROGRAMS)(each('framework', *FRAMEWORKS)(each('hooks', *HOOKS)(test_at_every_call)))
test_at_every_call = needs('program')(test_at_every_call)


@needs('Hello')
def test_unasked_nothing_is_logged_of_it(t):
    r = t.record(PROGRAM.command('Hello'), check=1)
    t.equal(r.status, 0, str(r))
    t.true('calls' not in r.compare() and 'seeds' not in r.compare(), 'nothing was asked for')
