"""One library for both C libraries: programs for musl, and glibc without room for thread-local data."""
import itertools
import os
import subprocess

import harness
import musl
import test_compiler
import test_values
from harness import ENVIRONMENT, HOOKS, PROGRAM, SDK_FRAMEWORK, each, full, heavy, lane, longer, needs, one_line, run, runtime_sockets, until
from test_attach import (ALLOCATES, attached_in_another_root, attached_until, descriptors, has_samples, in_another_root, resident,
                         threads, whole)

FRAMEWORKS = 'net8.0', SDK_FRAMEWORK, 'net11.0'  # there is no package of 9 for musl
TORTURE = ('Hello', 'Exceptions', 'Boundaries', 'Native', 'Faults', 'Async', 'TailCalls', 'Tiers', 'Generics', 'Dynamic',
           'Unload', 'Threads')
# Those of `make check`, on the SDK's runtime: each way into managed code, threads that come and go, unloaded code.
# Native is left to the lane: its C library is compiled for glibc, and 2 of 480 runs without a tracer crashed.
ON_MUSL = {'Hello': 'elt2', 'Exceptions': 'elt3', 'Boundaries': 'elt3', 'Async': 'elt3', 'Unload': 'elt2', 'Threads': 'elt3'}
ATTACHES = full('musl', 2, 6)
NO_ROOM = 'glibc.rtld.optional_static_tls=0'


def scaled(program):
    return [] if program == 'Hello' else ['--scale', '2']


def exact(t, framework, words, *options, hooks=None):
    """Of a program for musl, every stack equals the snapshot."""
    r = t.record(words, *options, hooks=hooks, check=1, env=musl.environment(framework))
    t.equal(r.status, 0, str(r))
    t.exact(r)
    return r


@lane('musl', sample=lambda framework, program, hooks: framework == SDK_FRAMEWORK and ON_MUSL.get(program) == hooks)
@needs('program')
@each('framework', *FRAMEWORKS)
@each('program', *TORTURE)
@each('hooks', *HOOKS)
def test_on_musl_every_stack_equals_the_snapshot(t, framework, program, hooks):
    r = exact(t, framework, musl.command(program, framework) + scaled(program), hooks=hooks)
    t.equal(r.text.splitlines()[-1:], ['ok'], 'last line\n%s' % r)


@lane('musl')
@heavy
@needs('Hello')
@each('run', *('%s %s' % pair for pair in itertools.product(FRAMEWORKS[1:], HOOKS)))
def test_on_musl_the_compiler_is_exact(t, run):
    """That of NuGet needs .NET 9. Its options name the test's folder, which may have no comma."""
    framework, hooks = run.split()
    if not os.path.exists(os.path.join(musl.environment(framework)['LD_LIBRARY_PATH'], musl.OPENSSL[1])):
        t.skip('the machine has no libssl.so.3, with which the compiler hashes')
    words, _ = test_compiler.command(t, 'made')
    exact(t, framework, musl.RUNTIMES.compiler(framework) + words[2:], hooks=hooks)


@lane('musl')
@heavy
@needs('WebServer')
@each('framework', *FRAMEWORKS)
@each('hooks', *HOOKS)
def test_on_musl_a_server_under_load_is_exact(t, framework, hooks):
    exact(t, framework, musl.command('WebServer', framework) + ['--scale', '3'], hooks=hooks)


@lane('musl')
@needs('Values')
@each('framework', *FRAMEWORKS)
def test_on_musl_the_trace_agrees_with_what_the_program_prints(t, framework):
    env = musl.environment(framework)
    test_values.agrees(t, t.record(musl.command('Values', framework), *test_values.TRACED, check=1, env=env))


@needs('Hello')
@each('framework', SDK_FRAMEWORK, full=('musl', FRAMEWORKS))
def test_on_musl_calls_live_objects_and_profiles_are_exact(t, framework):
    env = musl.environment(framework)
    r = t.record(musl.command('Hello', framework), '--events', 'all', '--check-calls', '1', '--live', '--check-live', '1',
                 '--profile', '100', env=env)
    t.equal(r.text.splitlines()[-1:], ['ok'], str(r))
    t.equal(r.log.end['lost'], 0, r.log.end)
    c = r.compare()
    t.equal(c['mismatched'], 0, c)


def nothing_is_left(pid):
    """musl unloads no library: each recording has a separate copy, and ends with its threads and descriptors closed."""
    until(lambda: not [name for name in descriptors(pid) + threads(pid) if 'shadowtrace' in name], 'nothing of the recording is left')


@longer('musl')
@needs('Sampled')
def test_a_process_of_musl_is_attached_to_again_and_again(t):
    env = musl.environment()
    process = t.start(musl.command('Sampled') + ALLOCATES, stdin=subprocess.PIPE, env=env)
    until(lambda: runtime_sockets(process.pid), 'its socket')
    sizes = []
    for i in range(ATTACHES):
        path = t.path('%d.ndjson' % i)
        attach = ['env', 'SHADOWTRACE_LIBRARY=' + musl.LIBRARY, harness.TOOL, 'attach', '-o', path, str(process.pid)]
        result = attached_until(t, attach, lambda: has_samples(path))
        t.equal(result.status, 0, 'attach\n%s' % result)
        t.true('attached to Sampled' in result.errors and 'none lost' in result.errors, result.errors)
        t.true(whole(t, path, 'snapshot').allocs, 'samples')
        nothing_is_left(process.pid)
        sizes.append(resident(process.pid))
    t.note('%d attached; KB resident after each: %s' % (ATTACHES, sizes))


@longer('musl')
@needs('Sampled')
def test_a_process_of_musl_in_another_root_is_attached_to_again_and_again(t):
    """A root as Alpine's, in which there is no glibc: a copy of the library is put there, for each recording."""
    env = musl.environment()
    pid = in_another_root(t, musl.command('Sampled') + ALLOCATES,
                          'mount -t tmpfs none "$root" && mkdir "$root/tmp" "$root/lib" "$root/proc" "$root/dev" && '
                          'cp %s "$root/lib/" && mount --rbind /dev "$root/dev"' % musl.LINKER, env)
    t.equal([path for path in ('lib64', 'usr') if os.path.exists('/proc/%d/root/%s' % (pid, path))], [], "what is glibc's")
    sizes = []
    for _ in range(ATTACHES):
        attached_in_another_root(t, pid, ['env', 'SHADOWTRACE_LIBRARY=' + musl.LIBRARY, harness.TOOL], 'snapshot')
        nothing_is_left(pid)
        sizes.append(resident(pid))
    t.note('%d attached; KB resident after each: %s' % (ATTACHES, sizes))


@needs('Hello')
def test_a_library_for_glibc_is_refused_for_a_program_for_musl(t):
    """The build's own library needs those of this system. One line, before the program starts."""
    env = dict(musl.environment(), SHADOWTRACE_LIBRARY=harness.LIBRARY)
    result = run([harness.TOOL, 'record', '-o', t.path('log.ndjson'), '--'] + musl.command('Hello'), env=env)
    one_line(result, 3, 'is a program for musl', 'libshadowtrace.so is for glibc: it needs liburcu-memb.so.8')
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
