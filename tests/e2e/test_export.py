"""
What `export` writes, opened by whom it is written for: go tool pprof, speedscope in a browser, TraceEvent (PerfView's
engine), a strict reader of PerfView's XML. All must find the bytes and objects that the log's reports have, by type.
"""
import base64
import collections
import fcntl
import glob
import json
import os
import re
import resource
import shutil
import threading

import consumers
import harness
import test_compiler
from consumers import pprof
from harness import OUT, Skip, each, heavy, run, tool, tool_json

LOGS = sorted(set(glob.glob(os.path.join(harness.ROOT, 'tests/fixtures/logs/*.ndjson'))) -
              {os.path.join(harness.ROOT, 'tests/fixtures/logs', name) for name in ('invalid.ndjson', 'version2.ndjson')})
ENDINGS = {'pprof': '.pb.gz', 'speedscope': '.speedscope.json', 'nettrace': '.nettrace', 'perfview': '.perfView.xml.zip',
           'collapsed': '.collapsed'}
FLOAT_EXACT = 1 << 24  # PerfView's metrics are floats

# What NuGet says where there is no feed, or not this package in it.
NO_FEED = ('NU1101', 'NU1102', 'NU1301')


def export(t, form, logs, *options, name=None):
    made = t.path((name or os.path.basename(logs[0]).replace('.ndjson', '')) + ENDINGS[form])
    result = tool('export', '--format', form, '-o', made, *options, *logs)
    t.equal(result.status, 0, result)
    t.equal(result.out, b'', result)
    return made


def exact(log, *options):
    """What the log's report says: bytes, objects, and both by type."""
    report = tool_json('report', '--by', 'type', '--format', 'json', *options, log)
    rows = {row['type']: (row['bytes'], row['allocs']) for row in report['rows']}
    return report['total']['bytes'], report['total']['allocs'], rows


def reader():
    """The folder of a program that reads .nettrace and .perfView.xml.zip; built once for all runners."""
    source, folder = os.path.join(harness.HERE, 'dotnet/TraceReader'), os.path.join(OUT, 'dotnet/TraceReader')
    os.makedirs(folder, exist_ok=True)
    stamp = '%s\n' % harness.SDK
    for path in sorted(glob.glob(os.path.join(source, '*.cs*'))):
        with open(path, encoding='utf-8') as file:
            stamp += file.read()
    with open(os.path.join(folder, '.lock'), 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp_path = os.path.join(folder, '.stamp')
        if os.path.exists(stamp_path):
            with open(stamp_path, encoding='utf-8') as file:
                if file.read() == stamp:
                    return os.path.join(folder, 'out/TraceReader.dll')
        result = run(['nice', 'dotnet', 'build', '-c', 'Release', '-nologo', '-v', 'q', '-o', os.path.join(folder, 'out'),
                      '-p:BaseIntermediateOutputPath=%s/' % os.path.join(folder, 'obj'), source], timeout=600)
        if result.status:
            for reason in NO_FEED:
                if reason in result.text:
                    raise Skip('TraceEvent cannot be had: NuGet says %s' % reason)
            raise AssertionError('tests/e2e/dotnet/TraceReader does not build\n%s' % result)
        with open(stamp_path, 'w', encoding='utf-8') as file:
            file.write(stamp)
    return os.path.join(folder, 'out/TraceReader.dll')


def read_traces(t, paths, *options):
    result = run(['dotnet', reader(), *options, *paths], timeout=300, cwd=t.folder)
    t.equal(result.status, 0, result)
    return json.loads(result.out)


def read_pprof(t, *paths):
    """(bytes, objects, both by type, text) of all samples, as pprof prints them."""
    text = pprof(t, '-raw', *paths)
    t.true('alloc_objects/count alloc_space/bytes[dflt]' in text, text[:500])
    by_type, samples = collections.defaultdict(lambda: [0, 0]), 0
    for objects, size, rest in re.findall(r'^ +(\d+) +(\d+): ([^\n]*\n(?: +\S[^\n]*:\[[^\n]*\n)*)', text, re.M):
        label = re.search(r'type:\[(.*?)\](?: own:\[|\n)', rest)
        samples += 1
        row = by_type[label.group(1) if label else None]
        row[0] += int(size)
        row[1] += int(objects)
    return (sum(row[0] for row in by_type.values()), sum(row[1] for row in by_type.values()),
            {name: tuple(row) for name, row in by_type.items()}, text)


def read_speedscope(path):
    with open(path, encoding='utf-8') as file:
        made = json.load(file)
    frames = [frame['name'] for frame in made['shared']['frames']]
    by_type = collections.defaultdict(lambda: [0, 0])
    for number, profile in enumerate(made['profiles'][:2]):
        for stack, weight in zip(profile['samples'], profile['weights'], strict=True):
            by_type[frames[stack[-1]]][number] += weight
        assert sum(profile['weights']) == profile['endValue'], path
    bytes_, objects = (profile['endValue'] for profile in made['profiles'][:2])
    return bytes_, objects, {name: tuple(row) for name, row in by_type.items()}


def read_collapsed(path):
    by_type = collections.defaultdict(int)
    with open(path, encoding='utf-8') as file:
        for line in file:
            stack, size = line.rstrip('\n').rsplit(' ', 1)
            by_type[re.search(r';\[([^;]*)\]$', ';' + stack).group(1)] += int(size)
    return sum(by_type.values()), dict(by_type)


def same_types(t, found, expected, what):
    """Bytes by type: of one log's reports, and of an export."""
    expected = {name: size for name, size in expected.items() if size}
    if found != expected:
        wrong = [(name, found.get(name), expected.get(name)) for name in {*found, *expected}
                 if found.get(name) != expected.get(name)]
        raise AssertionError('%s: type, found, expected: %s' % (what, sorted(wrong, key=str)[:10]))


def holds(t, log, *options):
    """Each format of one log against its report, but those that take a program to read: they are returned."""
    bytes_, objects, rows = exact(log)
    types = {name: row[0] for name, row in rows.items()}
    name = os.path.basename(log).replace('.ndjson', '')
    found = read_speedscope(export(t, 'speedscope', [log], *options))
    t.equal(found[:2], (bytes_, objects), name)
    same_types(t, {key: row[0] for key, row in found[2].items()}, types, name)
    found = read_collapsed(export(t, 'collapsed', [log], *options))
    t.equal(found[0], bytes_, name)
    same_types(t, found[1], {key.replace(';', ':'): size for key, size in types.items()}, name)
    text = tool('report', '--by', 'type', log).text
    t.true('{:,}'.format(bytes_) in text, 'the total %d is not in: %s' % (bytes_, text))
    return {form: export(t, form, [log], *options) for form in ('pprof', 'nettrace', 'perfview')}


def test_all_formats_have_the_bytes_of_the_report(t):
    """Text, JSON and each export of all logs of tests/fixtures, read back: to the byte, by type."""
    made = {log: holds(t, log, '--min-share', '0') for log in LOGS}
    totals = {log: exact(log) for log in LOGS}
    read = read_traces(t, [files[form] for files in made.values() for form in ('nettrace', 'perfview')])
    for (log, files), trace, xml in zip(made.items(), read[::2], read[1::2], strict=True):
        bytes_, _, rows = totals[log]
        types = {name: row[0] for name, row in rows.items()}
        t.equal((trace['bytes'], trace['lost']), (bytes_, 0), log)
        same_types(t, trace['types'], types, log)
        t.true(max(types.values(), default=0) < FLOAT_EXACT, 'too large for floats')
        t.equal(xml['bytes'], bytes_, log)
        same_types(t, {name.replace('Type ', '', 1): size for name, size in xml['types'].items()}, types, log)
    filled = [log for log in LOGS if totals[log][0]]
    found = read_pprof(t, *[made[log]['pprof'] for log in filled])
    t.equal(found[:2], tuple(sum(totals[log][i] for log in filled) for i in (0, 1)))


_recording, _recorded = threading.Lock(), []


def compile_csharp(t):
    """A log of the C# compiler, the same for all tests."""
    with _recording:
        if not _recorded:
            command, _ = test_compiler.command(t, 'out')
            record = t.record(command, '--check', '0', log='csc.ndjson', timeout=600)
            t.equal(record.status, 0, record)
            os.makedirs(os.path.join(OUT, 'export'), exist_ok=True)
            _recorded.append(shutil.copy(record.path, os.path.join(OUT, 'export')))
        return _recorded[0]


def test_the_compiler_in_each_format(t):
    log = compile_csharp(t)
    bytes_, objects, rows = exact(log)
    types = {name: row[0] for name, row in rows.items()}
    made = holds(t, log)
    found = read_pprof(t, made['pprof'])
    t.equal(found[:2], (bytes_, objects))
    t.equal(found[2], rows)
    whole = export(t, 'nettrace', [log], '--min-share', '0', name='whole')
    single = export(t, 'nettrace', [log], '--each', name='each')
    trace, all_sites, each_object, xml = read_traces(t, [made['nettrace'], whole, single, made['perfview']])
    sites = len(tool_json('report', '--format', 'json', log)['rows'])
    t.equal(each_object['events'], objects)
    with open(export(t, 'speedscope', [log], '--each', name='each'), encoding='utf-8') as file:
        threads = json.load(file)['profiles'][2:]
    t.equal((len(threads), sum(sum(thread['weights']) for thread in threads)), (len(each_object['threads']), bytes_))
    t.true(len(each_object['threads']) > 1 and each_object['last'] > 100, 'threads and times are lost')
    for one in trace, all_sites, each_object:
        t.equal((one['bytes'], one['lost']), (bytes_, 0))
        same_types(t, one['types'], types, 'nettrace')
    t.true(trace['events'] < all_sites['events'] <= sites, (trace['events'], all_sites['events'], sites))
    t.equal(xml['bytes'], bytes_)
    t.true('below (smaller ones)' in xml['notes'], xml['notes'])
    top = pprof(t, '-top', made['pprof'])
    heaviest = max(types, key=types.get)
    t.true(heaviest in top.split('flat%')[1].splitlines()[1], top[:2000])
    t.note('%s objects, %d samples' % (objects, trace['events']))


@heavy
def test_the_fsharp_compiler(t):
    """Four million objects: what `make check-all` has time for. With the default --min-share pprof has to be quick."""
    if not os.environ.get('SHADOWTRACE_FSHARP'):
        t.skip('minutes: part of `make check-all`')
    import matrix
    _, command, _ = matrix.compilers(t.folder)[1]
    record = t.record([part.replace('{made}', t.path('made')) for part in command], '--check', '0', '--log', 'sites', timeout=900)
    t.equal(record.status, 0, record)
    bytes_, objects, rows = exact(record.path)
    made = holds(t, record.path)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    top = pprof(t, '-top', made['pprof'])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    t.true(max(rows, key=lambda name: rows[name][0]) in top, top[:2000])
    t.equal(read_pprof(t, made['pprof'])[2], rows)
    trace, xml = read_traces(t, [made['nettrace'], made['perfview']])
    t.equal((trace['bytes'], trace['lost']), (bytes_, 0))
    same_types(t, trace['types'], {name: row[0] for name, row in rows.items()}, 'nettrace')
    t.true(abs(xml['bytes'] - bytes_) < bytes_ / FLOAT_EXACT * len(rows), (xml['bytes'], bytes_))
    t.true(seconds <= 20, 'go tool pprof -top takes %.1f s of CPU' % seconds)
    t.note('%s objects, %s samples, pprof -top %.1f s of CPU' % (objects, trace['events'], seconds))


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


@each('browser', *consumers.BROWSERS)
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
        await page.waitForFunction(() => document.title.includes('csc') || document.body.innerText.includes('csc.dll'));
        await page.keyboard.press('3');
        await page.waitForFunction(() => document.querySelectorAll('table tr').length > 3);
        return {title: await page.title(), text: await page.evaluate(() => document.body.innerText), messages,
                rows: await page.evaluate(() => [...document.querySelectorAll('table tr')].slice(0, 5).map(r => r.innerText)),
                requests};
    ''', {'url': 'file://%s#localProfilePath=%s' % (page, script)}, browser=browser, size=(1600, 900))
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


def test_stacks_of_100000_frames_and_hostile_names(t):
    depth = 100000
    log = deep_log(t, depth)
    made = {form: export(t, form, [log], '--min-share', '1') for form in ENDINGS}
    top = pprof(t, '-top', '-unit=B', made['pprof'])  # -raw takes minutes: the text of a stack costs its square
    t.true('100%% of %dB total' % (24 * depth) in top, top[:2000])
    t.equal(read_speedscope(made['speedscope'])[:2], (24 * depth, depth))
    t.equal(read_collapsed(made['collapsed']), (24 * depth, {'App.<b>&amp:":[]?': 24 * depth}))
    trace, xml = read_traces(t, [made['nettrace'], made['perfview']])
    t.equal((trace['bytes'], trace['types']), (24 * depth, {'App.<b>&amp;";[]\u202e': 24 * depth}))
    t.equal((xml['bytes'], xml['types']), (24 * depth, {'Type App.<b>&amp;";[]\u202e': 24 * depth}))
