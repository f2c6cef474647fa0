"""
Exceptions that code without hooks throws and catches while the first pass of another runs (tests/e2e/programs/Rules/
Nested.cs): at each allocation the shadow stack equals the snapshot; in every form in matrix.py --all. And walks of the runtime that end early: counted apart, each proven.
"""
import re

from harness import ENVIRONMENT, FRAMEWORKS, HOOKS, PROGRAM, PROGRAMS, SHADOWED, each, needs, sampled



def cases():
    """Arguments that pick all of Nested.cs but its random nestings."""
    with open(PROGRAMS + '/Rules/Nested.cs', encoding='utf-8') as file:
        found = re.findall(r'^ {12}\("([a-z-]+)\*", ', file.read(), re.M)
    return [word for name in found if not name.startswith('mixer') for word in ('--case', name)]


# Each hook set with one choice of methods here; the others: matrix.py --all.
CHOSEN = {'elt2': (), 'elt3': ('--only', 'Torture.*', *SHADOWED)}


@sampled
@needs('Rules', framework='net10.0')
@needs('Rules', framework='net9.0')
@needs('Rules', framework='net8.0')
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
def test_inside_of_the_first_pass(t, framework, hooks):
    r = t.record(PROGRAM.command('Rules', framework) + cases(), *CHOSEN[hooks], hooks=hooks, check=1)
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r)
    t.true(t.exact(r)['equal'] > 15_000, 'too few comparisons')


# Runtime, whether with its older exception handling, hooks; and whether its walks end early.
WALKS = {'net8.0-elt2': ('net8.0', False, 'elt2', True), 'net8.0-elt3': ('net8.0', False, 'elt3', True),
         'net9.0-legacy-elt2': ('net9.0', True, 'elt2', True), 'net9.0-legacy-elt3': ('net9.0', True, 'elt3', True),
         'net9.0': ('net9.0', False, 'elt3', False), 'net10.0': ('net10.0', False, 'elt3', False)}


@needs('Rules', framework='net10.0')
@needs('Rules', framework='net9.0')
@needs('Rules', framework='net8.0')
@each('runtime', *WALKS)
def test_walks_that_end_early(t, runtime):
    framework, legacy, hooks, early = WALKS[runtime]
    environment = dict(ENVIRONMENT, DOTNET_LegacyExceptionHandling='1') if legacy else ENVIRONMENT
    for case, some in ('ends-early', early), ('ends-early-not', False):
        r = t.record(PROGRAM.command('Rules', framework) + ['--case', case], hooks=hooks, check=1, env=environment)
        t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), 'exit status, last line\n%s' % r)
        c = r.compare()
        found = c['snapshots'].get('ended_early', 0)
        t.equal((c['mismatched'], c['equal']), (0, c['compared']), 'different, equal')
        t.equal(c['compared'] + c['snapshots']['refused'] + found, len(r.log.allocs), 'all that was allocated')
        t.equal(c['snapshots']['taken'], len(r.log.allocs), 'snapshots taken')
        t.equal(found > 0, some, 'walks that ended early: %d' % found)
        t.note('%s: %d ended early, %d equal' % (case, found, c['equal']))
