"""Large programs: a server under load, a whole build. The long form is in matrix.py --all."""
import harness
import matrix
from harness import HOOKS, PROGRAM, each, heavy, lane, needs


@lane('programs')
@needs('WebServer')
@each('hooks', *HOOKS)
def test_a_server_under_load(t, hooks):
    """In `make check`: with events of all families (test_families.py)."""
    r = t.record(PROGRAM.command('WebServer', harness.SDK_FRAMEWORK) + ['--scale', '3'], hooks=hooks, check=1)
    t.exact(r)
    t.equal(r.text.splitlines()[-1], 'ok', str(r))
    t.note(r.text.splitlines()[0])


@lane('programs')
@heavy
def test_a_whole_build(t):
    """Every process of `dotnet build` is recorded, and none of them minds."""
    numbers, wrong = matrix.judge(matrix.build_command(t.folder), t.folder, 'elt3', harness.ENVIRONMENT, 10_000, check=20)
    t.true(not wrong, wrong)
    t.note(matrix.describe(numbers))
