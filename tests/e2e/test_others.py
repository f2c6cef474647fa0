"""
Programs that others wrote, with walks: compilers, builds, tools from NuGet, and programs that are built on packages. Each stack that
is walked equals the snapshot, and hardly one is left to a snapshot.
"""
import glob
import json
import os
import shutil

import harness
import matrix
from harness import ENVIRONMENT, PROGRAM, PROGRAMS, SDK, SDK_FRAMEWORK, each, lane, needs, publishes
from test_compiler import compiler
from test_first_screen import PUBLISHED, csharpier

FALLBACKS = 0.001  # share of the allocations
LEAST = 10_000  # stacks

BASIC = '''Imports System.Linq
Module Program
    Iterator Function Squares(n As Integer) As System.Collections.Generic.IEnumerable(Of Integer)
        For i = 1 To n
            Yield i * i
        Next
    End Function
    Sub Main()
        Try
            Dim odd = From s In Squares(100) Where s Mod 2 = 1 Group By Key = s Mod 10 Into Sum(s)
            For Each row In odd
                System.Console.WriteLine($"{row.Key}: {row.Sum}")
            Next
        Catch e As System.ArgumentException When e.Message.Length > 0
            System.Console.Error.WriteLine(e)
        End Try
    End Sub
End Module
'''

SCRIPT = '''type Tree = Leaf | Node of Tree * int * Tree
let rec insert v = function
    | Leaf -> Node(Leaf, v, Leaf)
    | Node(l, x, r) when v < x -> Node(insert v l, x, r)
    | Node(l, x, r) -> Node(l, x, insert v r)
let rec sum = function Leaf -> 0 | Node(l, x, r) -> sum l + x + sum r
let tree = Seq.fold (fun t i -> insert (i * 7919 % 1009) t) Leaf (seq { 1 .. 500 })
printfn "%d" (sum tree)
try failwith "thrown" with e when e.Message.Length > 0 -> printfn "%s" e.Message
'''

SHELL = '''
function Fibonacci([int] $n) { if ($n -lt 2) { $n } else { (Fibonacci ($n - 1)) + (Fibonacci ($n - 2)) } }
$rows = 1..200 | ForEach-Object { [pscustomobject]@{ Number = $_; Square = $_ * $_; Odd = $_ % 2 -eq 1 } }
$rows | Group-Object Odd | ForEach-Object { "$($_.Name): $(($_.Group | Measure-Object Square -Sum).Sum)" }
$rows | ConvertTo-Json | ConvertFrom-Json | Where-Object Odd | Sort-Object Square -Descending | Select-Object -First 3 | Format-Table
try { throw "thrown" } catch { $_.Exception.Message } finally { "done" }
Fibonacci 12
'''

CAKE = '''Task("Copy").Does(() => { foreach (var file in GetFiles("*.cake")) Information(file.FullPath); });
Task("Default").IsDependentOn("Copy").Does(() => Information("done"));
RunTarget("Default");
'''

INTERFACE = {
    'openapi': '3.0.1', 'info': {'title': 'Shop', 'version': '1'},
    'paths': {'/%s/{id}' % name: {'get': {
        'operationId': 'get' + name, 'parameters': [{'name': 'id', 'in': 'path', 'required': True, 'schema': {'type': 'integer'}}],
        'responses': {'200': {'description': 'ok', 'content': {'application/json': {'schema': {'$ref': '#/components/schemas/' + name}}}}}}}
        for name in ('Order', 'Customer')},
    'components': {'schemas': {
        'Order': {'type': 'object', 'properties': {'number': {'type': 'integer'}, 'customer': {'$ref': '#/components/schemas/Customer'}}},
        'Customer': {'type': 'object', 'properties': {'name': {'type': 'string'}, 'since': {'type': 'string', 'format': 'date-time'}}}}}}

COVERAGE = '''<?xml version="1.0"?><coverage line-rate="0.5" version="1.9" timestamp="1"><sources><source>%s</source></sources><packages>
<package name="Shop" line-rate="0.5"><classes>%s</classes></package></packages></coverage>'''


def written(t, name, text):
    path = t.path(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


def of_sdk(number):
    return lambda t: matrix.made_in(t.folder, matrix.compilers(t.folder)[number][1])


def basic_compiler(t):
    references = ['-r:' + path for path in compiler()[1] if not path.endswith('Microsoft.VisualBasic.dll')]
    return ['dotnet', os.path.join(SDK, 'Roslyn/bincore/vbc.dll'), '-nologo', '-noconfig', '-nostdlib', '-vbruntime*', '-optioninfer+', '-out:' + t.path('made.dll'),
            *references, written(t, 'sample.vb', BASIC)]


def interactive(t):
    return ['dotnet', os.path.join(SDK, 'FSharp/fsi.dll'), '--nologo', '--quiet', '--exec', written(t, 'sample.fsx', SCRIPT)]


def templates(t):
    return ['dotnet', 'new', 'webapi', '--no-restore', '--no-update-check', '-o', t.path('made'), '--debug:custom-hive', t.path('hive')]


def format_of_sdk(t):
    sources = t.path('sources')
    os.makedirs(sources)
    for path in glob.glob(os.path.join(PROGRAMS, '[A-F]*', '*.cs')):
        shutil.copy(path, os.path.join(sources, os.path.relpath(path, PROGRAMS).replace(os.sep, '.')))
    return ['dotnet', 'format', 'whitespace', '--folder', sources]


def formatter(t):
    format_of_sdk(t)
    written(t, 'sources/.csharpierignore', '!*.cs\n')  # the sources are below a folder that git ignores
    return [csharpier(), 'format', t.path('sources')]


def fantomas(t):
    shutil.copy(os.path.join(PROGRAMS, 'TailCalls/Program.fs'), t.path('Program.fs'))
    return [PROGRAM.tool('fantomas', '8.1.1'), t.path('Program.fs')]


def decompiler(t):
    return [PROGRAM.tool('ilspycmd', '9.1.0.7988'), PROGRAM.command('KnownAllocs', SDK_FRAMEWORK)[1]]


def documents(t):
    for number in range(30):
        written(t, 'pages/page%d.md' % number, ''.join('# Part %d\n\n- [next](page%d.md)\n\n|a|b|\n|-|-|\n|1|`2`|\n\n' % (i, (number + 1) % 30)
                                                       for i in range(10)))
    return [PROGRAM.tool('docfx', '2.81.0'), 'build', written(t, 'pages/docfx.json', json.dumps(
        {'build': {'content': [{'files': ['*.md']}], 'output': 'site', 'template': ['default']}}))]


def shell(t):
    return [PROGRAM.tool('PowerShell', '7.6.9', 'pwsh'), '-NoProfile', '-NonInteractive', '-File', written(t, 'sample.ps1', SHELL)]


def cake(t):
    return [PROGRAM.tool('Cake.Tool', '7.0.0', 'dotnet-cake'), written(t, 'build.cake', CAKE)]


def client(t):
    return [PROGRAM.tool('Microsoft.OpenApi.Kiota', '1.38.0', 'kiota'), 'generate', '-l', 'CSharp', '-c', 'Shop', '-n', 'Shop',
            '-d', written(t, 'shop.json', json.dumps(INTERFACE)), '-o', t.path('made')]


def compatibility(t):
    _, references = compiler()
    path = next(path for path in references if path.endswith('System.Linq.dll'))
    return [PROGRAM.tool('Microsoft.DotNet.ApiCompat.Tool', '10.0.401', 'apicompat'), '-l', path, '-r', path]


def coverage(t):
    source = os.path.join(PROGRAMS, 'KnownAllocs/Program.cs')
    classes = ''.join('<class name="Shop.C%d" filename="%s" line-rate="0.5"><methods/><lines>%s</lines></class>' % (
        number, source, ''.join('<line number="%d" hits="%d"/>' % (line, line % 3) for line in range(1, 60))) for number in range(20))
    return [PROGRAM.tool('dotnet-reportgenerator-globaltool', '5.6.0', 'reportgenerator'),
            # a pattern, in which the brackets of the test's folder would have a meaning
            '-reports:' + os.path.basename(written(t, 'coverage.xml', COVERAGE % ('/', classes))), '-targetdir:made']


def lint(t):
    shutil.copy(os.path.join(PROGRAMS, 'TailCalls/Program.fs'), t.path('Program.fs'))
    return [PROGRAM.tool('dotnet-fsharplint', '0.27.2'), 'lint', '--file-type', 'file', t.path('Program.fs')]


def built_on(name, *arguments):
    return lambda t: [PROGRAM.publish(*PUBLISHED[name])] + [a.replace('{folder}', t.folder) for a in arguments]


# How each is started, in a separate folder, and its exit status if that is not 0.
OTHERS = {
    'csc': of_sdk(0), 'vbc': basic_compiler, 'fsc': of_sdk(1), 'fsi': interactive, 'build': lambda t: matrix.build_command(t.folder),
    'templates': templates, 'format': format_of_sdk, 'csharpier': formatter, 'fantomas': fantomas, 'fsharplint': lint, 'ilspy': decompiler,
    'docfx': documents, 'powershell': shell, 'cake': cake, 'kiota': client, 'apicompat': compatibility, 'reportgenerator': coverage,
    'Searching': built_on('Searching'), 'Scripting': built_on('Scripting'), 'Messaging': built_on('Messaging'),
    'Blogging': built_on('Blogging', '{folder}/blogging.db'),
    'Endpoints': lambda t: PROGRAM.command('Endpoints', SDK_FRAMEWORK) + ['500'],
    'WebServer': lambda t: PROGRAM.command('WebServer', SDK_FRAMEWORK) + ['--scale', '2']}
STATUS = {'fsharplint': 255}  # it has found something
WAYS = {'walk': ('--capture', 'walk'), 'own': ('--own',)}


@lane('programs')
@needs('KnownAllocs', 'Endpoints', 'WebServer', framework=SDK_FRAMEWORK)
@publishes(lambda program, way: [PUBLISHED[program]] if program in PUBLISHED else [])
@each('program', *OTHERS)
@each('way', *WAYS)
def test_every_walk_equals_the_snapshot(t, program, way):
    """In all processes of the program."""
    r = t.record(OTHERS[program](t), *WAYS[way], '--log', 'sites', check=1, timeout=1800, cwd=t.folder,
                 env=dict(ENVIRONMENT, DOTNET_ROLL_FORWARD='Major'))  # a tool may be made for an older runtime
    t.equal(r.status, STATUS.get(program, 0), str(r))
    ends = [harness.last_record(path) for path in r.paths]
    t.true(ends and all(end['kind'] == 'end' for end in ends), 'ends')
    total = {name: sum(end['snapshots'][name] for end in ends) for name in ('compared', 'equal', 'mismatched', 'refused')}
    walks = [end['walks'] for end in ends if end.get('walks')]
    seen, taken, fallbacks = sum(end['seen'] for end in ends), *(sum(walk[name] for walk in walks) for name in ('taken', 'fallbacks'))
    t.note('%d processes: %d compared, %d equal, %d refused, %d fallbacks' % (
        len(ends), total['compared'], total['equal'], total['refused'], fallbacks))
    t.equal((total['mismatched'], total['equal']), (0, total['compared']), 'different')
    t.equal(sum(end['lost'] for end in ends), 0, 'lost')
    t.equal(taken + fallbacks, seen, 'walks')
    t.equal(total['compared'] + total['refused'], taken, 'compared')
    t.true(fallbacks < FALLBACKS * seen, 'fallbacks: %s' % [walk['fallbacks_by'] for walk in walks])
    t.true(total['equal'] >= LEAST, '%d are too few' % total['equal'])
