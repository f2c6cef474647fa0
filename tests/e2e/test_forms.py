"""Programs in the other forms they are published in."""
import os

from harness import HOOKS, PROGRAM, SDK_FRAMEWORK, each, tool

RID = 'RuntimeIdentifier=linux-x64'
FORMS = {
    'single-file': ('PublishSingleFile=true', 'SelfContained=false', RID),
    'single-file-with-runtime': ('PublishSingleFile=true', 'SelfContained=true', RID),
    'trimmed': ('PublishSingleFile=true', 'PublishTrimmed=true', 'SelfContained=true', RID),
    'precompiled': ('PublishReadyToRun=true', 'SelfContained=false', RID)}


@each('form', *FORMS)
@each('hooks', *HOOKS)
def test_published_as(t, form, hooks):
    program = PROGRAM.publish('Hello', 'hello-' + form, 'TargetFramework=' + SDK_FRAMEWORK, *FORMS[form])
    r = t.record([program], hooks=hooks, check=1)
    t.equal(r.text, 'hello 99\nok\n', str(r))
    t.exact(r)
    greetings = [e for e in r.log.allocs if r.log.type(e) == 'Hello.Greeting']
    t.equal(len(greetings), 100, 'greetings')
    for e in greetings:
        t.equal(r.log.names(e['node'])[:2], ['Hello.Program.Greet(System.Int32)', 'Hello.Program.Main(System.String[])'])


def test_native_ahead_of_time_programs_are_refused(t):
    program = PROGRAM.publish('Hello', 'hello-aot', 'TargetFramework=' + SDK_FRAMEWORK, 'PublishAot=true', RID)
    result = tool('record', '-o', t.path('log.ndjson'), '--', program)
    t.true(result.status in (0, 2), str(result))
    t.true('ahead' in result.errors.lower() or 'nativeaot' in result.errors.lower(), str(result))
    t.true(not os.path.exists(t.path('log.ndjson')), 'a log was made')
