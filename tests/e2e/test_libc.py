"""One library for both C libraries: programs for musl, and glibc without room for thread-local data."""
import os
import subprocess

import harness
import musl
from harness import ENVIRONMENT, HOOKS, PROGRAM, each, full, lane, needs, one_line, run, sampled, until
from test_attach import ALLOCATES, attached_until, descriptors, has_samples, resident, sockets, threads, whole

TORTURE = ('Hello', 'Exceptions', 'Boundaries', 'Native', 'Faults', 'Async', 'TailCalls', 'Tiers', 'Generics', 'Dynamic',
           'Unload', 'Threads')
ATTACHES = full('attach', 2, 6)
# Those of `make check`: each way into managed code, threads that come and go, unloaded code.
ON_MUSL = ('Hello', 'Exceptions', 'Native', 'Async', 'Unload', 'Threads')
NO_ROOM = 'glibc.rtld.optional_static_tls=0'


def scaled(program):
    return [] if program == 'Hello' else ['--scale', '2']


@lane('combinations', sample=lambda program, **_: program in ON_MUSL)
@sampled
@needs(*TORTURE)
@each('program', *TORTURE)
@each('hooks', *HOOKS)
def test_on_musl_every_stack_equals_the_snapshot(t, program, hooks):
    env = musl.environment()
    r = t.record(musl.command(program) + scaled(program), hooks=hooks, check=1, env=env)
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r)
    t.exact(r)


@needs('Hello')
def test_on_musl_calls_live_objects_and_profiles_are_exact(t):
    env = musl.environment()
    r = t.record(musl.command('Hello'), '--events', 'all', '--check-calls', '1', '--live', '--check-live', '1', '--profile', '100', env=env)
    t.equal(r.text.splitlines()[-1:], ['ok'], str(r))
    t.equal(r.log.end['lost'], 0, r.log.end)
    c = r.compare()
    t.equal(c['mismatched'], 0, c)


@needs('Sampled')
def test_a_process_of_musl_is_attached_to_again_and_again(t):
    """musl unloads no library: each recording has a separate copy, and ends with its threads and descriptors closed."""
    env = musl.environment()
    command = musl.command('Sampled') + ALLOCATES
    process = t.start(['env'] + ['%s=%s' % item for item in env.items()] + command, stdin=subprocess.PIPE)
    until(lambda: sockets(process.pid), 'its socket')
    for i in range(ATTACHES):
        path = t.path('%d.ndjson' % i)
        attach = ['env', 'SHADOWTRACE_LIBRARY=' + musl.LIBRARY, harness.TOOL, 'attach', '-o', path, str(process.pid)]
        result = attached_until(t, attach, lambda: has_samples(path))
        t.equal(result.status, 0, 'attach\n%s' % result)
        t.true('attached to Sampled' in result.errors and 'none lost' in result.errors, result.errors)
        t.true(whole(t, path).allocs, 'samples')
        until(lambda: not [name for name in descriptors(process.pid) + threads(process.pid) if 'shadowtrace' in name],
              'nothing of the recording is left')
    t.note('%d attached; %d KB resident' % (ATTACHES, resident(process.pid)))


@needs('Hello')
def test_a_library_for_glibc_is_refused_for_a_program_for_musl(t):
    """The build's own library needs those of this system. One line, before the program starts."""
    env = dict(musl.environment(), SHADOWTRACE_LIBRARY=harness.LIBRARY)
    result = run([harness.TOOL, 'record', '-o', t.path('log.ndjson'), '--'] + musl.command('Hello'), env=env)
    one_line(result, 3, 'is a program for musl', 'libshadowtrace.so is for glibc: it needs liburcu-mb.so.8')
    t.true(not os.path.exists(t.path('log.ndjson')), 'a log')


@needs('Floats')
@each('hooks', *HOOKS)
def test_floating_point_arguments_survive_where_glibc_has_no_static_tls(t, hooks):
    """Before 2.40, glibc changes vector registers when a thread first asks for dynamic TLS: the tracer declines."""
    r = t.record(PROGRAM.command('Floats'), hooks=hooks, env=dict(ENVIRONMENT, GLIBC_TUNABLES=NO_ROOM))
    t.equal((r.status, r.text), (0, 'ok\n'), str(r))
    t.true("used up glibc's static TLS" in r.errors and 'glibc.rtld.optional_static_tls=1024' in r.errors, r.errors)
    t.true(not os.path.exists(r.path), 'a log')


@needs('Floats')
@each('hooks', *HOOKS)
def test_floating_point_arguments_survive(t, hooks):
    r = t.record(PROGRAM.command('Floats'), hooks=hooks, check=1)
    t.equal(r.text, 'ok\n', str(r))
    t.exact(r)
