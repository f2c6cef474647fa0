"""
What a filter gets is the exception that was thrown, however many collections move it in between: the runtime keeps it in a
plain pointer while it tells a profiler of the filter.
"""
from harness import ENVIRONMENT, FRAMEWORKS, PROGRAM, SDK_FRAMEWORK, each, needs, without

THROWS = 200
MODES = {
    'shadow': (),
    'own': ('--own',),
    'walk': ('--capture', 'walk'),
    'snapshot': ('--capture', 'snapshot'),
}
CELLS = ['%s,%s' % (framework, mode) for framework in FRAMEWORKS for mode in MODES
         if framework == SDK_FRAMEWORK or mode == 'walk']


def filtered(t, framework, mode, env=ENVIRONMENT):
    return t.record(PROGRAM.command('Filters', framework) + [str(THROWS)], *MODES[mode], '--log', 'sites',
                    env=dict(env, DOTNET_GCgen0size='0x40000'))


@each('cell', *CELLS)
def test_a_filter_gets_what_was_thrown(t, cell):
    r = filtered(t, *cell.split(','))
    t.equal((r.status, r.text), (0, '%d right, 0 wrong\n' % THROWS), str(r))


test_a_filter_gets_what_was_thrown.needs = [('Filters', framework) for framework in FRAMEWORKS]


@needs('Filters')
def test_without_pins_it_gets_something_else(t):
    """In the build for this the callback waits, as its thread does on a busy machine, so that collections come meanwhile."""
    r = filtered(t, SDK_FRAMEWORK, 'walk', env=without('pinned'))
    t.true(r.status, 'nothing was wrong')
    t.note((r.text or 'it died of status %d' % r.status).strip())
