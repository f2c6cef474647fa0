"""
Runtime async: the runtime, not the compiler, suspends and resumes methods (.NET 10 with DOTNET_RuntimeAsync=1, 11). Such a method
returns a continuation beside its result, is entered again when it is resumed, and is not left when it suspends.
"""
from harness import ENVIRONMENT, HOOKS, PROGRAM, SHADOWED, each, needs, run, sampled

FRAMEWORKS = ('net10.0', 'net11.0')
PROGRAMS = ('RuntimeAsync', 'RuntimeAsyncDebug')  # optimised, and as a Debug build has it
SWITCHED_ON = dict(ENVIRONMENT, DOTNET_RuntimeAsync='1')


def command_of(program, framework, *arguments):
    return PROGRAM.command(program, framework) + list(arguments)


def as_unprofiled(t, r, command):
    plain = run(command, env=SWITCHED_ON)
    t.equal((plain.status, plain.out), (0, b'ok\n'), 'unprofiled\n%s' % plain)
    t.equal((r.status, r.out), (plain.status, plain.out), 'recorded\n%s' % r)


@sampled
@needs(*PROGRAMS)
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
@each('program', *PROGRAMS)
def test_every_stack_is_the_snapshots(t, framework, program, hooks):
    r = t.record(command_of(program, framework), hooks=hooks, check=1, env=SWITCHED_ON)
    as_unprofiled(t, r, command_of(program, framework))
    t.true(t.exact(r)['equal'] > 15_000, 'too few comparisons')
    names = {r.log.methods[n['method']]['name'].split('(')[0] for n in r.log.nodes.values() if n.get('method')}
    awaiting = {'Torture.Program.' + name for name in ('Suspended', 'Later', 'Down', 'Through', 'Mixed')}
    t.equal(names & awaiting, awaiting if hooks == 'elt3' else set(), 'methods of runtime async in stacks')
    spared = r.log.end['hooks']['spared']
    t.true(spared > 0, 'no method was left without hooks')
    t.true('{:,} method{} not hooked'.format(spared, ' is' if spared == 1 else 's are') in r.errors, r.errors)
    # What returns a Task without being one of them keeps its hooks; .NET 11 compiles it as one where it is awaited.
    t.equal('Torture.Program.Plain.Do' in names, hooks == 'elt3' or framework == 'net10.0', 'Plain.Do in a stack')


@sampled
@needs(PROGRAMS[0])
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
def test_own_methods_only(t, framework, hooks):
    """No hook removes the frame of a suspended method if its caller has none: the first reader does."""
    early = dict(SWITCHED_ON, DOTNET_TC_OnStackReplacement_InitialCounter='10', DOTNET_OSR_HitLimit='1')
    r = t.record(command_of(PROGRAMS[0], framework), '--only', 'Torture.*', *SHADOWED, hooks=hooks, check=1, env=early)
    as_unprofiled(t, r, command_of(PROGRAMS[0], framework))
    t.true(t.exact(r)['equal'] > 15_000, 'too few comparisons')


@sampled
@needs(PROGRAMS[0])
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
def test_calls_and_snapshots_in_hooks(t, framework, hooks):
    command = command_of(PROGRAMS[0], framework, '--case', 'suspended', '--case', 'recursion', '--case', 'filters-and-finallys')
    r = t.record(command, '--events', 'calls', hooks=hooks, env=SWITCHED_ON)
    as_unprofiled(t, r, command)
    t.equal(r.log.end['lost'], 0, 'lost')
    r = t.record(command, '--check-calls', '1', hooks=hooks, check=1, env=SWITCHED_ON)
    t.exact(r)
