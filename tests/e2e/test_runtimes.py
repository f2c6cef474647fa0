"""The runtimes that other tests mean by a framework: the newest patch of each, with SDKs that are older than some."""
from harness import FRAMEWORKS, PROGRAM, SDK_FRAMEWORK, SDK_PATCHED, each, needs

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
