"""
The first screen of `report LOG`, of programs as people have them: a formatter from NuGet, a database through EF Core, a
server. The line that allocates most is on it, and record's last lines say how to get there: the tests type what they say.
"""
import glob
import json
import os
import re
import shlex
import shutil
import signal
import tempfile
import threading
import urllib.request

import consumers
import harness
from harness import PROGRAM, PROGRAMS, SDK_FRAMEWORK, TOOL, Record, each, early, lane, needs, publishes, run, tool, until

CSHARPIER = '1.3.0'
COLUMNS, ROWS = 80, 24


def marked(program, mark):
    """The name of a line of its source, as reports have it: the one that ends with the mark."""
    with open(os.path.join(PROGRAMS, program, 'Program.cs'), encoding='utf-8') as file:
        found = [number for number, line in enumerate(file, 1) if line.rstrip().endswith('// ' + mark)]
    if len(found) != 1:
        raise AssertionError('%s: lines with the mark %r: %s' % (program, mark, found))
    return 'Program.cs:%d' % found[0]


def starting(program, text):
    """The name of the line that is this text."""
    with open(os.path.join(PROGRAMS, program, 'Program.cs'), encoding='utf-8') as file:
        return 'Program.cs:%d' % (file.read().splitlines().index(text) + 1)


def rows_of(command, cwd):
    """What a command writes on a terminal, in rows: a line that is too long takes more than one."""
    status, said, errors = harness.on_terminal(command, COLUMNS, ROWS, cwd)
    if status:
        raise AssertionError('exit status %d: %s' % (status, errors))
    return [line[at:at + COLUMNS] for line in said.splitlines() for at in range(0, max(len(line), 1), COLUMNS)]


class Recorded:
    """What `shadowtrace record -- COMMAND` said when it was done; its commands work where it was typed."""

    def __init__(self, t, folder, errors):
        self.t, self.folder = t, folder
        said = [line for line in errors.splitlines() if line.startswith('shadowtrace: ')]
        self.commands = [re.sub(r' {4}\(.*\)$', '', line[len('shadowtrace: '):]).strip() for line in said[-3:]]
        t.equal([shlex.split(command)[:2] for command in self.commands],
                [['shadowtrace', 'report'], ['shadowtrace', 'browse'], ['shadowtrace', 'html']], errors)
        self.log = os.path.join(folder, shlex.split(self.commands[0])[2])
        t.true(' allocations, ' in said[-4], errors)

    def first_screen(self):
        """All of it, and the rows of own code's table."""
        screen = rows_of([TOOL] + shlex.split(self.commands[0])[1:], self.folder)[:ROWS]
        first = [i for i, line in enumerate(screen) if line.startswith('Lines of own code')]
        self.t.equal(len(first), 1, '\n'.join(screen))
        return '\n'.join(screen), screen[first[0] + 2:]

    def json(self, *options):
        return harness.tool_json('report', *options, '--format', 'json', self.log)

    def first_row(self):
        """Of own code, in JSON."""
        return next(row for row in self.json('--view', 'overview')['rows'] if row['method'])

    def page(self):
        """Bytes by line of own code, as the page has them that the last command makes."""
        words = shlex.split(self.commands[2])[1:]
        result = tool(*words, cwd=self.folder)
        self.t.equal(result.status, 0, result)
        rows = consumers.browser_run(self.t, '''
            await page.goto(args.url);
            await page.waitForFunction('window.shadowtrace', {timeout: 90000});
            return page.evaluate('shadowtrace.nearest().map(row => [row.name, row.bytes])');
        ''', {'url': 'file://' + os.path.join(self.folder, words[-1])})
        return {name: size for name, size in rows if '.cs:' in name}


def where(row):
    return '%s:%s' % (os.path.basename(row.get('file') or ''), row.get('line'))


def record(t, command, *options, status=0, **more):
    """As it is typed: record chooses the name of the log."""
    def made():
        folder = tempfile.mkdtemp(dir=t.folder)
        return Record(run([TOOL, 'record', *options, '--'] + command, cwd=folder, **more), folder, None)
    result = t.unstarved(made)
    t.equal(result.status, status, result)
    return Recorded(t, result.folder, result.errors)


def csharpier():
    return PROGRAM.tool('csharpier', CSHARPIER)


def record_formatter(t, *options):
    with tempfile.TemporaryDirectory() as tree:  # where no .gitignore hides it
        for path in sorted(glob.glob(os.path.join(PROGRAMS, '*', '*.cs'))):
            shutil.copy(path, os.path.join(tree, os.path.relpath(path, PROGRAMS).replace(os.sep, '.')))
        return record(t, [csharpier(), 'check', tree], *options, status=1, timeout=600)  # 1: some are not formatted as it would


@lane('programs')
@early
def test_a_formatter(t):
    """csharpier, a tool from NuGet, and a tree of sources. Its lists of documents grow in DocListBuilder."""
    r = record_formatter(t)
    screen, _ = r.first_screen()
    t.true(re.search(r'^Lines of own code, CSharpier.*: 9\d\.\d%', screen, re.M), screen)
    types = re.search(r'^ *[\d,]+ +[\d.]+% +[\d,]+ +Doc\[\] +\(spread over (\d+) places\)$', screen, re.M)
    t.true(types, screen)  # no line makes more than half
    overview = r.json('--view', 'overview')
    t.equal(sorted(overview['own_code']['modules']), ['CSharpier', 'CSharpier.Core'])
    docs = [(where(row), share['bytes']) for row in overview['rows'] for share in row['types']
            if share['type'].endswith('.Doc[]') and row['method']]
    most = max(docs, key=lambda doc: doc[1])
    t.true(most[0].startswith('DocListBuilder.cs:') and 2 * most[1] <= sum(size for _, size in docs), docs)
    lines = r.json('--by', 'line', '--type', '*.Doc[]', '--top', '1')['rows']
    t.equal(where(lines[0]), most[0], 'what --by line says')


DATABASE = ('Blogging', 'blogging', 'TargetFramework=' + SDK_FRAMEWORK)


@lane('programs')
@early
@publishes(lambda: [DATABASE])
def test_a_database(t):
    program = PROGRAM.publish(*DATABASE)
    r = record(t, [program, t.path('blogging.db')])
    hot, copy = marked('Blogging', 'hot'), marked('Blogging', 'copy')
    screen, own = r.first_screen()
    t.true(re.match(r' *[\d,]+ +\d\d\.\d%.* ' + re.escape(hot) + ' ', own[0]), screen)
    t.true(own[1].strip() == '| await db.SaveChangesAsync(); // hot', screen)
    t.equal(where(r.first_row()), hot)
    lines = {where(row): row for row in r.json('--by', 'own', '--top', '0')['rows'] if row['method']}
    copies = [share for share in lines[copy]['types'] if share['type'] == 'Draft']
    t.equal([(share['allocs'], share['bytes']) for share in copies], [(300, 300 * 32)], 'copies at the line that copies')
    t.equal([row['method'] for row in lines.values() if 'Clone' in row['method']], [], 'lines of what the compiler wrote')
    t.equal(r.page(), {line: row['bytes'] for line, row in lines.items() if row['bytes']}, 'lines of the page')


# Programs as people build them on packages: an index and searches, scripts that call back, messages on a bus.
BUILT_ON_PACKAGES = {program: (program, program.lower(), 'TargetFramework=' + SDK_FRAMEWORK)
                     for program in ('Searching', 'Scripting', 'Messaging')}


PUBLISHED = dict(BUILT_ON_PACKAGES, Blogging=DATABASE)


@lane('programs')
@early
@needs('Endpoints', framework=SDK_FRAMEWORK)
@publishes(lambda program, mode: [PUBLISHED[program]] if program in PUBLISHED else [])
@each('program', 'csharpier', 'Endpoints', *PUBLISHED)
@each('mode', 'default', 'own')
def test_own_code_built_on_packages_has_its_lines(t, program, mode):
    """Of the bytes of own code at most one in a hundred has no line."""
    options = ['--own'] if mode == 'own' else []
    if program == 'csharpier':
        r = record_formatter(t, *options)
    elif program == 'Endpoints':
        r = record(t, PROGRAM.command(program, SDK_FRAMEWORK) + ['500'], *options)
    else:
        r = record(t, [PROGRAM.publish(*PUBLISHED[program])] + ([t.path('blogging.db')] if program == 'Blogging' else []), *options)
    modules = r.json('--view', 'overview')['own_code']['modules']
    t.equal(sorted(modules), ['CSharpier', 'CSharpier.Core'] if program == 'csharpier' else [program])
    own = [row for row in r.json('--by', 'own', '--top', '0')['rows'] if row['method']]
    without = [(row['method'], row['bytes'], row.get('no_line')) for row in own if 'line' not in row]
    known, unknown = sum(row['bytes'] for row in own), sum(size for _, size, _ in without)
    t.note('%d of %d bytes of own code have no line' % (unknown, known))
    t.true(known > 1_000_000 and unknown <= 0.01 * known, without)


@early
@publishes(lambda: [BUILT_ON_PACKAGES['Scripting']])
def test_what_inlined_methods_make_has_the_line_of_their_call(t):
    """Optimised, Double.ToString and Char.ToString are inlined into an iterator of own code, with what makes the texts."""
    r = record(t, [PROGRAM.publish(*BUILT_ON_PACKAGES['Scripting'])], '--optimized')
    rows = [row for row in r.json('--by', 'own', '--top', '0')['rows'] if row['method'] and row['method'].endswith('Tags')]
    texts = {where(row): share['allocs'] for row in rows for share in row['types'] if share['type'].endswith('String')}
    t.equal(texts, {starting('Scripting', '    foreach (var digit in price.ToString(CultureInfo.InvariantCulture))'): 6000,
                    starting('Scripting', '        yield return digit.ToString();'): 22520}, rows)


def serve(t, pgo, *options):
    """Records the server; 200 requests; Ctrl-C."""
    folder = t.path('typed')
    os.makedirs(folder)
    process = t.start(['env', 'DOTNET_TieredPGO=' + pgo, TOOL, 'record', *options, '--'] + PROGRAM.command('Weather', SDK_FRAMEWORK) + ['--urls', 'http://127.0.0.1:0'],
                      cwd=folder)
    said, errors = [], []
    readers = [threading.Thread(target=lambda of=of, to=to: to.extend(of), daemon=True)
               for of, to in ((process.stdout, said), (process.stderr, errors))]
    for reader in readers:
        reader.start()
    url = until(lambda: re.search(r'http://127\.0\.0\.1:\d+', b''.join(said).decode()), 'the server does not listen').group()
    for _ in range(200):
        with urllib.request.urlopen(url + '/weatherforecast', timeout=harness.PATIENCE) as answer:
            t.equal(len(json.load(answer)), 200)
    process.send_signal(signal.SIGINT)
    t.equal(harness.wait(process, harness.PATIENCE), 0, b''.join(errors).decode())
    for reader in readers:
        reader.join()
    return Recorded(t, folder, b''.join(errors).decode())


def judge_server(t, r, profiles=False):
    """
    With profiles the JIT may inline a lambda of own code into a method of the framework that calls it, where it has no frame and no
    line if no own frame is below. When it does depends on how the machine shares its processors.
    """
    hot = marked('Weather', 'hot')
    screen, own = r.first_screen()
    own = own['(no own frame)' in own[0]:]  # what the server makes by itself may be more
    t.true(re.match(r' *[\d,]+ .* ' + re.escape(hot) + ' .*Weath', own[0]), screen)
    t.true(own[1].strip() == '| new WeatherForecast // hot', screen)
    first = r.first_row()
    t.equal((where(first), first['types'][0]['type']), (hot, 'WeatherForecast'))
    made = {row.get('no_own_frame', where(row)): row['allocs']
            for row in r.json('--by', 'own', '--top', '0', '--type', 'WeatherForecast')['rows']}
    t.equal((made.get(hot, 0) + (made.get(True, 0) if profiles else 0), sum(made.values())), (40000, 40000), 'objects')


@needs('Weather', framework=SDK_FRAMEWORK)
@each('pgo', '0', full=('programs', ('0', '1')))
def test_a_server(t, pgo):
    judge_server(t, serve(t, pgo), profiles=pgo == '1')


@needs('Weather', framework=SDK_FRAMEWORK)
@each('frames', 'none', 'walk')
def test_a_server_and_its_own_code(t, frames):
    """
    What it makes before it serves is on the lines that make it: of methods without hooks, values stay on the stack. The handler
    calls its lambda through the framework: only a walk tells on which line.
    """
    r = serve(t, '1', '--own', '--framework-frames', frames)
    judge_server(t, r, profiles=True)
    rows = [row for row in r.json('--view', 'overview')['rows'] if row['method']]
    lines = {where(row): row for row in rows}
    for line in 'var builder = WebApplication.CreateBuilder(args);', 'var app = builder.Build();', 'app.Run();':
        row = lines.get(starting('Weather', line))
        t.true(row and row['total_bytes'] > 100000, (line, lines))
    of = 'bytes' if frames == 'none' else 'total_bytes'
    t.equal([row[of] for row in rows if not row.get('line') and row[of] > 10000], [], 'without a line')
