"""Programs that end before their first managed frame: their status and their message are their own."""
import os
import shutil
import signal

from harness import ENVIRONMENT, HOOKS, OUT, PROGRAM, each, needs, run, sampled

FRAMEWORK = 'net10.0'


def no_main(t):
    return os.path.join(OUT, FRAMEWORK, 'NoMain.dll')


def lost_base(t):
    for ending in '.dll', '.runtimeconfig.json':
        shutil.copy(os.path.join(OUT, FRAMEWORK, 'LostBase' + ending), t.folder)
    return t.path('LostBase.dll')


def bad_image(t):
    shutil.copy(os.path.join(OUT, FRAMEWORK, 'NoMain.runtimeconfig.json'), t.path('Bad.runtimeconfig.json'))
    with open(t.path('Bad.dll'), 'wb') as file:
        file.write(bytes(4096))
    return t.path('Bad.dll')


def bad_type(t):
    return os.path.join(OUT, FRAMEWORK, 'RuntimeAsync.dll')  # without the variable that allows its methods


FORMS = {'no-main': (no_main, 'MissingMethodException'), 'lost-base': (lost_base, 'FileNotFoundException'),
         'bad-image': (bad_image, 'BadImageFormatException'), 'bad-type': (bad_type, 'TypeLoadException')}


def as_unprofiled(t, command, *options, env, **more):
    plain = run(command, env=env)
    r = t.record(command, *options, env=env, **more)
    own = r.errors.split('shadowtrace: ')[0]
    t.equal((plain.status, r.status), (-signal.SIGABRT, 128 + signal.SIGABRT), 'exit status')
    # Printed stacks have frames that precompiled code has inlined.
    without = [''.join(line for line in text.splitlines(True) if not line.startswith('   at ')) for text in (own, plain.errors)]
    t.equal((r.text, without[0]), (plain.text, without[1]), 'output')
    return plain, r


@sampled
@needs('NoMain', 'LostBase', 'RuntimeAsync', framework=FRAMEWORK)
@each('hooks', *HOOKS)
@each('form', *FORMS)
def test_status_and_message_are_the_programs(t, form, hooks):
    make, exception = FORMS[form]
    command = ['dotnet', make(t)]
    plain, _ = as_unprofiled(t, command, env=ENVIRONMENT, hooks=hooks)
    t.true(exception in plain.errors, plain)


def no_difference(t, r, least):
    """A program that ends before its log's first second may have no sums: a difference would have its own record."""
    t.true(len(r.log.allocs) > least, 'only %d allocations' % len(r.log.allocs))
    t.equal((r.compare()['mismatched'], r.log.mismatches), (0, []), 'differences')


@needs('ThrowingStart', 'StartupHook', framework=FRAMEWORK)
@each('hooks', *HOOKS)
def test_exceptions_before_main_and_when_it_cannot_run(t, hooks):
    """The log has what a startup hook and its UnhandledException handler throw and catch; stacks equal the snapshot."""
    env = dict(ENVIRONMENT, DOTNET_STARTUP_HOOKS=os.path.join(OUT, FRAMEWORK, 'StartupHook.dll'))
    plain, r = as_unprofiled(t, PROGRAM.command('ThrowingStart', FRAMEWORK), '--events', 'exceptions,alloc', hooks=hooks, check=1, env=env)
    t.equal(plain.text, 'unhandled: System.TypeInitializationException\n', 'unprofiled\n%s' % plain)
    thrown = [x for x in r.log.others if x['kind'] == 'exception' and x['event'] == 'thrown']
    t.equal(len([x for x in thrown if x.get('message') in ('hook', 'handler')]), 20, 'exceptions of the hook')
    no_difference(t, r, 300)


@needs('Hello', framework=FRAMEWORK)
@each('hooks', *HOOKS)
def test_a_startup_hook_that_is_missing(t, hooks):
    """CoreLib catches one exception and throws another before any code of the program was compiled."""
    env = dict(ENVIRONMENT, DOTNET_STARTUP_HOOKS=t.path('Missing.dll'))
    plain, r = as_unprofiled(t, PROGRAM.command('Hello', FRAMEWORK), hooks=hooks, check=1, env=env)
    t.true('startup hook' in plain.errors.lower(), plain)
    no_difference(t, r, 100)
