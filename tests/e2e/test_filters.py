"""
What a filter gets is the exception that was thrown, however many collections move it in between: the runtime keeps it in a
plain pointer while it tells a profiler of the filter. What was caught is not kept.
"""
import re

from harness import ENVIRONMENT, FRAMEWORKS, PROGRAM, SDK_FRAMEWORK, each, needs, without

THROWS = 200
CAUGHT = ('catch', 'dynamic method', 'dynamic method, deeper and deeper', 'dynamic method in a filter',
          "out of a dynamic method's filter", 'out of a filter', 'finally', 'reflection', 'task',
          'dynamic method in a handler of first-chance exceptions')  # of LetGo, as often as it says how many are alive
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


@each('cell', *CELLS)
def test_what_was_caught_is_not_kept(t, cell):
    framework, mode = cell.split(',')
    r = t.record(PROGRAM.command('LetGo', framework), *MODES[mode], '--log', 'sites')
    t.equal((r.status, re.sub(r': 0$', '', r.text, flags=re.M)), (0, '\n'.join(CAUGHT) + '\n'), str(r))


test_what_was_caught_is_not_kept.needs = [('LetGo', framework) for framework in FRAMEWORKS]


@needs('Filters')
def test_without_pins_it_gets_something_else(t):
    """In the build for this the callback waits, as its thread does on a busy machine, so that collections come meanwhile."""
    r = filtered(t, SDK_FRAMEWORK, 'walk', env=without('pinned'))
    t.true(r.status, 'nothing was wrong')
    t.note((r.text or 'it died of status %d' % r.status).strip())
