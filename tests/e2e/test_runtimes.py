"""The runtimes that other tests mean by a framework: the newest patch of each, with SDKs that are older than some."""
import test_logical
from harness import ENVIRONMENT, FRAMEWORKS, HOOKS, LIBRARY, PROGRAM, SDK_FRAMEWORK, SDK_PATCHED, built, each, needs

BROUGHT = tuple(framework for framework in FRAMEWORKS if framework != SDK_FRAMEWORK) + (SDK_PATCHED,)


@needs('Hello')
@each('framework', *BROUGHT)
def test_a_program_brings_the_newest_patch(t, framework):
    r = t.record(PROGRAM.command('Hello', framework), check=0)
    t.equal(r.status, 0, r)
    newest = PROGRAM.patches.newest(framework)
    t.true(r.log.header['runtime'] == newest or not newest, '%s, not %s' % (r.log.header['runtime'], newest))
    t.equal(r.log.header.get('unverified'), None, 'a version that the tests run on')
    t.note(r.log.header['runtime'])


@needs('LogicalRuntime')
@each('hooks', *HOOKS)
def test_a_version_never_seen_keeps_what_is_as_it_was(t, hooks):
    """.NET 11 under a number that nobody knows: each feature is judged by what the runtime has, so nothing is off."""
    library = built('negative/libshadowtrace.so', 'make negative', newer_than=LIBRARY)
    env = dict(ENVIRONMENT, SHADOWTRACE_LIBRARY=library, SHADOWTRACE_MAJOR='99', DOTNET_RuntimeAsync='1', DOTNET_GCgen0size='0x20000')
    r = t.record(PROGRAM.command('LogicalRuntime', FRAMEWORKS[0]), hooks=hooks, check=1, env=env)
    t.exact(r)
    t.equal(r.log.header.get('unverified'), True)
    t.equal(r.log.end.get('off'), None)
    if hooks == 'elt3':  # with elt2 no beginnings are kept
        test_logical.check(t, r)
        t.true(any('begun' in node for node in r.log.nodes.values()), 'where methods of runtime async were begun')


@needs('Sampled', framework='net11.0')
@each('mode', '0', '1')
def test_the_buffering_mode_of_events_changes_no_sample(t, mode):
    """The session of a profiler has no buffer: .NET 11 may let a full one hold up its threads (1), or drop events (0)."""
    r = t.record(PROGRAM.command('Sampled', 'net11.0'), '--sample', 'auto', check=1, env=dict(ENVIRONMENT, DOTNET_EventPipeBufferingMode=mode))
    t.true(t.exact(r)['compared'] > 500, r)
    t.equal(r.log.end['sampling'].get('unread', 0), 0, 'samples that were not understood')
