"""
What `export` writes, opened by whom it is written for: speedscope in a browser, TraceEvent (PerfView's engine), go tool pprof.
That all formats have what the log's reports have is held by test_agree.py.
"""
import base64
import os
import re

import consumers
import harness
from consumers import pprof
from harness import Skip, early, tool_json
from readback import OF_ALL_LOGS, exact, export, read_collapsed, read_speedscope, read_traces
from test_agree import compile_csharp


def test_stacks_come_back_with_instructions(t):
    """TraceEvent finds each stack of a log, with modules, methods and IL offsets, as the log's report has it."""
    log = os.path.join(harness.ROOT, 'tests/fixtures/logs/small.ndjson')
    trace, xml = read_traces(t, [export(t, 'nettrace', [log]), export(t, 'perfview', [log])], '--stacks')
    main, add = 'shop!Shop.Program.Main(System.String[])', 'shop!Shop.Basket.Add<T>(System.String, T)'
    t.true({stack for stack in trace['stacks'] if stack.startswith(main)}, sorted(trace['stacks']))
    plain = {re.sub(r'\+-?\d+(?=;)', '', stack).replace('system.private.corelib!', 'System.Private.CoreLib!'): size
             for stack, size in trace['stacks'].items()}
    t.equal(plain['%s;%s;[System.Byte[]]' % (main, add)], 90024)
    t.equal(xml['stacks']['%s;%s;Type System.Byte[]' % (main, add)], 90024)
    offsets = {stack for stack in trace['stacks'] if re.search(r'\+\d+;', stack)}
    report = harness.whole_stacks(tool_json('report', '--format', 'json', log))
    t.equal(len(trace['stacks']), len(report['rows']))
    t.true(offsets, sorted(trace['stacks']))


@consumers.each_browser
def test_speedscope_opens_it(t, browser):
    """The table of its sandwich view has the heaviest type of the compiler, with the report's bytes."""
    log = compile_csharp(t)
    bytes_, objects, rows = exact(log)
    made = export(t, 'speedscope', [log])
    script = t.path('profile.js')
    with open(made, 'rb') as file, open(script, 'w', encoding='ascii') as out:
        out.write('speedscope.loadFileFromBase64("csc.speedscope.json", "%s")' % base64.b64encode(file.read()).decode())
    page = os.path.join(consumers.packages(), 'speedscope/dist/release/index.html')
    found = consumers.browser_run(t, '''
        await page.goto(args.url);
        if (!await page.evaluate(() => document.createElement('canvas').getContext('webgl')))
            return null;
        await page.waitForFunction(() => document.title.includes('csc') || document.body.innerText.includes('csc.dll'));
        await page.keyboard.press('3');
        await page.waitForFunction(() => document.querySelectorAll('table tr').length > 3);
        return {title: await page.title(), text: await page.evaluate(() => document.body.innerText), messages,
                rows: await page.evaluate(() => [...document.querySelectorAll('table tr')].slice(0, 5).map(r => r.innerText)),
                requests};
    ''', {'url': 'file://%s#localProfilePath=%s' % (page, script)}, browser=browser, size=(1600, 900))
    t.true(found or browser != 'chromium', 'Chromium draws WebGL without a graphics card')
    if not found:
        raise Skip('%s has no WebGL here, which speedscope draws with' % browser)
    heaviest = max(rows, key=lambda name: rows[name][0])
    shown = '%.2f MB' % (rows[heaviest][0] / 1024 / 1024)
    t.true(any(heaviest in row and shown in row for row in found['rows']), (heaviest, shown, found))
    t.equal([url for url in found['requests'] if not url.startswith(('file:', 'data:', 'blob:'))], [])


def deep_log(t, depth):
    """A log of one stack, each frame of which allocates 24 bytes."""
    path = t.path('deep.ndjson')
    with open(os.path.join(harness.ROOT, 'tests/fixtures/logs/small.ndjson'), encoding='utf-8') as file:
        header = file.readline()
    with open(path, 'w', encoding='utf-8') as file:
        file.write(header +
                   '{"kind":"module","id":1,"name":"App","path":"/a/App.dll"}\n'
                   '{"kind":"thread","id":1,"os":9}\n'
                   '{"kind":"class","id":1,"name":"App.<b>&amp;\\";[]\\u202e","module":1}\n'
                   '{"kind":"method","id":1,"name":"App.P.Down(System.Int32)","module":1}\n')
        for node in range(1, depth + 1):
            file.write('{"kind":"node","id":%d,"parent":%d,"method":1,"il":%d}\n' % (node, node - 1, node % 3))
            file.write('{"kind":"alloc","t":%d,"thread":1,"class":1,"bytes":24,"node":%d,"il":9}\n' % (node, node))
    return path


@early
def test_stacks_of_100000_frames_and_hostile_names(t):
    depth = 100000
    log = deep_log(t, depth)
    made = {form: export(t, form, [log], '--min-share', '1') for form in OF_ALL_LOGS}
    top = pprof(t, '-top', '-unit=B', made['pprof'])  # -raw takes minutes: the text of a stack costs its square
    t.true('100%% of %dB total' % (24 * depth) in top, top[:2000])
    t.equal(read_speedscope(made['speedscope']).total, [24 * depth, depth])
    t.equal(read_collapsed(made['collapsed']).types, {'App.<b>&amp:":[]?': [24 * depth, 0]})
    trace, xml = read_traces(t, [made['nettrace'], made['perfview']])
    t.equal((trace['bytes'], trace['types']), (24 * depth, {'App.<b>&amp;";[]\u202e': 24 * depth}))
    t.equal((xml['bytes'], xml['types']), (24 * depth, {'Type App.<b>&amp;";[]\u202e': 24 * depth}))


def test_otlp_is_what_the_published_messages_say(t):
    """protoc, with the messages of opentelemetry-proto: none of our code reads it."""
    messages = os.environ.get('SHADOWTRACE_OTLP_PROTO')
    if not messages:
        t.skip('no package has the messages of OTLP profiles; SHADOWTRACE_OTLP_PROTO names a checkout of opentelemetry-proto')
    log = compile_csharp(t)
    bytes_, objects, _ = exact(log)
    with open(export(t, 'otlp', [log], '--min-share', '0'), 'rb') as file:
        made = file.read()
    base = 'opentelemetry.proto.%s.v1development.%s'
    for package, message, path in (('profiles', 'ProfilesData', 'profiles/v1development/profiles.proto'),
                                   ('collector.profiles', 'ExportProfilesServiceRequest',
                                    'collector/profiles/v1development/profiles_service.proto')):
        result = harness.run([consumers.program('protoc'), '-I', messages, '--decode=' + base % (package, message),
                              'opentelemetry/proto/' + path], stdin=made)
        t.equal((result.status, result.err), (0, b''), 'protoc')
        t.true(not re.search(r'^ *\d+[:{ ]', result.text, re.M), 'a field that the messages do not have')
        space, counts = result.text.split('dictionary {')[0].split('  profiles {')[1:3]
        t.equal([sum(map(int, re.findall(r'values: (\d+)', part))) for part in (space, counts)], [bytes_, objects], message)
