"""
Exceptions that code without hooks throws and catches while the first pass of another runs: at each allocation the shadow
stack equals the snapshot, on each runtime.
"""
from harness import HOOKS, PROGRAM, each, needs

FRAMEWORKS = ('net10.0', 'net9.0', 'net8.0')
FORMS = {'all': (), 'only': ('--only', 'Torture.*'), 'exclude': ('--exclude', 'Elsewhere.*')}


@needs('Rules', framework='net10.0')
@needs('Rules', framework='net9.0')
@needs('Rules', framework='net8.0')
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
@each('form', *FORMS)
def test_inside_of_the_first_pass(t, framework, hooks, form):
    r = t.record(PROGRAM.command('Rules', framework), *FORMS[form], hooks=hooks, check=1)
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r)
    t.exact(r)
