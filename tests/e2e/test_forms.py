"""Programs in the other forms they are published in."""
import os
import shutil

from harness import HOOKS, PROGRAM, SDK_FRAMEWORK, each, early, lane, needs, publishes, sampled, tool, tool_json

RID = 'RuntimeIdentifier=linux-x64'
FORMS = {
    'single-file': ('PublishSingleFile=true', 'SelfContained=false', RID),
    'single-file-with-runtime': ('PublishSingleFile=true', 'SelfContained=true', RID),
    # Small, so compressed in no time; its symbols are embedded.
    'trimmed': ('PublishSingleFile=true', 'PublishTrimmed=true', 'SelfContained=true', 'EnableCompressionInSingleFile=true',
                'DebugType=embedded', RID),
    'precompiled': ('PublishReadyToRun=true', 'SelfContained=false', RID)}


def published(form, **_):
    """What PROGRAM.publish takes."""
    return ('Hello', 'hello-' + form, 'TargetFramework=' + SDK_FRAMEWORK, *FORMS[form])


@sampled
@early
@publishes(lambda **cell: [published(**cell)])
@each('form', *FORMS)
@each('hooks', *HOOKS)
def test_published_as(t, form, hooks):
    program = PROGRAM.publish(*published(form))
    r = t.record([program], hooks=hooks, check=1)
    t.equal(r.text, 'hello 99\nok\n', str(r))
    t.exact(r)
    greetings = [e for e in r.log.allocs if r.log.type(e) == 'Hello.Greeting']
    t.equal(len(greetings), 100, 'greetings')
    for e in greetings:
        t.equal(r.log.names(e['node'])[:2], ['Hello.Program.Greet(System.Int32)', 'Hello.Program.Main(System.String[])'])


def own_lines(path):
    """The program's lines that allocate, and the number of the program's objects: the runtime's vary by form."""
    rows = [r for r in tool_json('report', '--by', 'line', '--format', 'json', path)['rows'] if r.get('file')]
    own = [(r['file'], r['line'], r['type'], r['allocs']) for r in rows if r['type'].startswith('Hello.')]
    return sorted(own), sorted({(r['file'], r['line']) for r in rows})


@needs('Hello')
@publishes(lambda form: [published(form)])
@each('form', 'single-file', 'single-file-with-runtime', 'trimmed')
def test_a_single_file_has_the_lines_of_the_ordinary_program(t, form):
    ordinary = own_lines(t.record(PROGRAM.command('Hello', SDK_FRAMEWORK)).path)
    single = PROGRAM.publish(*published(form))
    t.true(ordinary[0] and ordinary[0][0][3] == 100, 'no lines in the ordinary form: %s' % (ordinary,))
    t.equal(own_lines(t.record([single]).path), ordinary, 'lines')


@publishes(lambda: [published('single-file')])
def test_a_single_file_that_is_gone_is_said(t):
    program = PROGRAM.publish(*published('single-file'))
    moved = t.path('Hello')
    shutil.copy(program, moved)
    r = t.record([moved])
    os.unlink(moved)
    result = tool('report', r.path)
    t.equal(result.status, 0, str(result))
    t.true('Hello' in result.errors and 'its file is gone' in result.errors, str(result))


@lane('programs')
def test_native_ahead_of_time_programs_are_refused(t):
    program = PROGRAM.publish('Hello', 'hello-aot', 'TargetFramework=' + SDK_FRAMEWORK, 'PublishAot=true', RID)
    result = tool('record', '-o', t.path('log.ndjson'), '--', program)
    t.true(result.status in (0, 2), str(result))
    t.true('ahead' in result.errors.lower() or 'nativeaot' in result.errors.lower(), str(result))
    t.true(not os.path.exists(t.path('log.ndjson')), 'a log was made')
