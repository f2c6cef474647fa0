"""--own: whose code a module is, in programs of every form; own code hooked and nothing else, its stacks exact."""
import json
import os
import re
import shutil

from harness import (BUILDING, ENVIRONMENT, HOOKS, NO_PACKAGE, OUT, PROGRAM, PROGRAMS, Record, SDK_FRAMEWORK, SHADOWED, Skip, each, early, full,
                     lane, needs, one_line, publishes, run, sampled, tool, tool_json)
from test_forms import published
from portable_pdb import Pdb
from test_only import FRAMEWORKS

APP = ['OwnApp', 'OwnLib']
HOOKED = '--own', *SHADOWED


def owners(log):
    """Names of modules by whose code they are."""
    found = {}
    for module in log.modules.values():
        found.setdefault(module.get('owner'), set()).add(module['name'])
    return found


def own_frames_only(t, r, own):
    """All frames are of own modules; the types that the program makes have all their allocations, each below Main."""
    log = r.log
    found = owners(log)
    t.equal(found.get('own'), set(own), 'own modules of %s' % found)
    t.equal(found.get(None), None, 'modules of which nothing is known')
    hooked = {log.modules[log.methods[node['method']]['module']]['name'] for node in log.nodes.values()}
    t.equal(hooked - set(own), set(), 'modules with hooks that are not own')
    return found


def made(log):
    counts = {}
    for alloc in log.allocs:
        name = log.type(alloc)
        if name.startswith('Own'):
            counts[name] = counts.get(name, 0) + 1
    return counts


@sampled
@needs('OwnApp')
@each('hooks', *HOOKS)
@each('framework', *FRAMEWORKS)
def test_own_code_is_hooked_and_nothing_else(t, hooks, framework):
    command = PROGRAM.command('OwnApp', framework)
    r = t.record(command, *HOOKED, hooks=hooks, check=1)
    t.exact(r)
    t.true(r.text.endswith('ok\n'), r)
    found = own_frames_only(t, r, APP + ['Emitted'])
    if framework == SDK_FRAMEWORK:
        t.equal(found['package'], {'FSharp.Core'}, 'packages')
        mapped = next(a for a in r.log.allocs if r.log.type(a) == 'OwnApp.Mapped')
        names = r.log.names(mapped['node'])
        t.true('Packaged' in names[0] and names[1].startswith('OwnApp.Program.Packaged('), names)  # the package is between
    t.true('System.Private.CoreLib' in found['framework'], found)
    t.equal(r.log.header['options'].get('own'), True)
    counts = made(r.log)
    t.equal((counts['OwnApp.Waited'], counts['OwnLib.Part'], counts['OwnApp.Weight']), (20, 80, 3), counts)
    whole = t.record(command, hooks=hooks, check=0)
    t.equal(made(whole.log), counts, 'with all hooked')
    t.true(whole.log.end['nodes'] > r.log.end['nodes'], 'nodes')
    waited = next(row for row in r.report()['rows'] if row['type'] == 'OwnApp.Waited')
    t.true([name.split('(')[0] for name in waited['stack']][-1].endswith(('Main', '<Main>')), waited['stack'])


def marked(program, rounds):
    """{type and bytes: {line: how often}}, of lines with the mark `// M: TYPE BYTES; ...`"""
    found = {}
    with open(os.path.join(PROGRAMS, program, 'Program.cs'), encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            mark = re.search(r'// M: (.*)', line)
            for item in mark.group(1).split(';') if mark and not line.startswith('//') else ():
                made, _, count = item.strip().partition('=')
                found.setdefault(made, {})[number] = int(count or rounds)
    return found


AT_ONCE = {'DOTNET_TC_CallCountingDelayMs': '0'}  # optimised code as soon as 30 calls, twice, have asked for it


def methods_of(log, pdb, lines):
    """Names of the methods of OwnLines in which these are."""
    return {method['name'] for method in log.methods.values()
            if 'module' in method and log.modules[method['module']]['name'] == 'OwnLines'
            and any(point[2] in lines for point in pdb.lines.get(method['token'], ()))}


@sampled
@needs('OwnLines')
@each('hooks', *HOOKS)
@each('framework', *FRAMEWORKS)
def test_lines_between_which_a_value_stays_on_the_stack(t, hooks, framework):
    """Nothing but the call's target tells the lines apart."""
    command = PROGRAM.command('OwnLines', framework)
    pdb = Pdb(os.path.join(OUT, framework, 'OwnLines.pdb'))
    for env in {}, AT_ONCE, {'DOTNET_TieredCompilation': '0'}:
        # The session for rich debug info keeps the thread busy that compiles again; the program is short.
        r = t.record(command, '--own', *(['--no-rich'] if env == AT_ONCE else []), hooks=hooks, env=dict(ENVIRONMENT, **env))
        t.equal((r.status, r.text.splitlines()[-1]), (0, 'ok'), r)
        wanted = marked('OwnLines', int(r.text.split()[1]))
        t.equal(len(wanted), 20, wanted)
        own = {i for i, module in r.log.modules.items() if module['name'] == 'OwnLines'}
        found = {made: {} for made in wanted}
        for alloc in r.log.allocs:
            made = '%s %d' % (r.log.type(alloc), alloc['bytes'])
            if made in found and alloc['node']:
                number, il, il_last, _ = next(f for f in r.log.frames(alloc) if r.log.methods[f[0]].get('module') in own)
                method = r.log.methods[number]
                place = pdb.line(method['token'], il, il_last) if il is not None else None
                line = place[1] if place else method['name']
                found[made][line] = found[made].get(line, 0) + 1
        for made, lines in found.items():
            # Which call it was may not be known: of shared generic code for a while, and where optimised code has what was
            # called between two that are known in its own. Then no line is said, never another.
            unknown = sum(lines.pop(name, 0) for name in methods_of(r.log, pdb, wanted[made]))
            t.equal(sum(lines.values()) + unknown, sum(wanted[made].values()), (env, made))
            t.true(all(count <= wanted[made].get(line, 0) for line, count in lines.items()), (env, made, lines))
            # Whether any call is known before the code is optimised depends on the load: the lane judges.
            least = full('combinations', 0, 1) if env == AT_ONCE else unknown
            t.true(sum(lines.values()) >= least, (env, made, lines, unknown))


@sampled
@needs('Exceptions', 'Async', 'Generics', 'Unload')
@each('hooks', *HOOKS)
@each('program', 'Exceptions', 'Async', 'Generics', 'Unload')
def test_stacks_are_the_snapshots_own_methods(t, hooks, program):
    """As under --only; the same methods are hooked."""
    r = t.record(PROGRAM.command(program), *HOOKED, hooks=hooks, check=1)
    t.true(t.exact(r)['equal'] > 100, 'too few comparisons')
    t.equal(owners(r.log)['own'], {program})


@needs('WebServer')
def test_a_server(t):
    r = t.record(PROGRAM.command('WebServer', SDK_FRAMEWORK) + ['--scale', '2'], *HOOKED, check=1)
    t.exact(r)
    own_frames_only(t, r, ['WebServer'])


@needs('OwnApp', 'OwnPlugin')
def test_plugins(t):
    """With a separate deps.json; with its PDB alone; with neither; loaded from bytes."""
    built = os.path.dirname(PROGRAM.command('OwnApp')[-1])
    places = {}
    for place, endings in (('whole', ('.dll', '.deps.json', '.pdb')), ('pdb', ('.dll', '.pdb')), ('bare', ('.dll',))):
        os.mkdir(t.path(place))
        for ending in endings:
            shutil.copy(os.path.join(built, 'OwnPlugin' + ending), t.path(place))
        places[place] = t.path(place, 'OwnPlugin.dll')
    for how, place, own in (('plugin', 'whole', True), ('plugin', 'pdb', True), ('plugin', 'bare', False),
                            ('bytes', 'bare', True)):
        r = t.record(PROGRAM.command('OwnApp') + [how, places[place]], *HOOKED, check=1)
        t.exact(r)
        t.equal('OwnPlugin' in owners(r.log)['own'], own, '%s %s' % (how, place))
        names = r.log.names(next(a for a in r.log.allocs if r.log.type(a) == 'OwnPlugin.Piece')['node'])
        t.equal('OwnPlugin.Plugin.Run(System.Int32)' in names, own, names)


@early
@publishes(lambda form: [published(form)])
@each('form', 'single-file', 'single-file-with-runtime')
def test_a_single_file(t, form):
    """Its deps.json is in its bundle."""
    program = PROGRAM.publish(*published(form))
    r = t.record([program], *HOOKED, check=1)
    t.exact(r)
    own_frames_only(t, r, ['Hello'])


@needs('OwnApp')
def test_started_in_other_ways(t):
    """`dotnet exec` with a deps.json of another name; without any; through links."""
    built = os.path.dirname(PROGRAM.command('OwnApp', SDK_FRAMEWORK)[-1])
    copy = t.path('copy')
    os.mkdir(copy)
    for name in 'OwnApp.dll', 'OwnLib.dll', 'FSharp.Core.dll', 'OwnApp.runtimeconfig.json':
        shutil.copy(os.path.join(built, name), copy)
    shutil.copy(os.path.join(built, 'OwnApp.deps.json'), os.path.join(copy, 'other.json'))
    os.symlink('copy', t.path('link'))
    assembly = os.path.join(copy, 'OwnApp.dll')
    deps = os.path.join(copy, 'OwnApp.deps.json')

    def judge(command, own, status=0):
        r = t.record(command, *HOOKED, check=1)
        t.exact(r, status)
        said = [line for line in r.errors.splitlines() if not line.startswith('shadowtrace:     shadowtrace ')]
        t.equal(len(said), 1, r)  # the summary with its commands, and no word more
        own_frames_only(t, r, own)

    everything = APP + ['FSharp.Core', 'Emitted']
    judge(['dotnet', 'exec', '--depsfile', os.path.join(copy, 'other.json'), assembly], APP + ['Emitted'])
    judge(['dotnet', assembly], everything)  # without any: what lies in the folder
    os.symlink('other.json', deps)
    judge(['dotnet', os.path.join(t.path('link'), 'OwnApp.dll')], APP + ['Emitted'])


@needs('OwnApp')
def test_dotnet_run(t):
    """The SDK's own code is nobody's; that of the program it starts is its."""
    project = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs', 'OwnApp', 'OwnApp.csproj')
    folder = t.path('logs')
    os.mkdir(folder)
    result = tool('record', *HOOKED, '--check', '50', '-o', folder, '--', 'dotnet', 'run', '--no-build', '-c', 'Release', '--project',
                  project, '-p:E2EOut=' + OUT, '-p:E2EBringRuntime=false', '-p:TargetFramework=' + SDK_FRAMEWORK, cwd=t.folder)
    t.equal(result.status, 0, result)
    t.true('ok' in result.text, result)
    logs = {name.split('-')[1]: Record(result, folder, os.path.join(folder, name)) for name in os.listdir(folder)}
    own_frames_only(t, logs['OwnApp'], APP + ['Emitted'])
    t.equal(owners(logs['dotnet'].log).get('own'), None, 'own code of the SDK')
    t.true('--own:' not in result.errors, result)
    for r in logs.values():
        c = r.compare()
        t.true(c['equal'] == c['compared'] > 10, c)


TESTS = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup><TargetFramework>%s</TargetFramework><NuGetAudit>false</NuGetAudit></PropertyGroup>
  <ItemGroup><PackageReference Include="Microsoft.NET.Test.Sdk" Version="17.12.0" />
  <PackageReference Include="NUnit" Version="4.2.2" /><PackageReference Include="NUnit3TestAdapter" Version="4.6.0" /></ItemGroup>
</Project>
""" % SDK_FRAMEWORK
CART = """using System.Threading.Tasks;
using NUnit.Framework;
namespace Shop.Tests;
public class Thing { public int Number; }
public class CartTests
{
    static object last;
    [Test] public void Adds() { for (int i = 0; i < 50; i++) last = new Thing { Number = i }; Assert.That(((Thing)last).Number, Is.EqualTo(49)); }
    [Test] public async Task Waits() { await Task.Delay(5); last = new Thing(); Assert.That(last, Is.Not.Null); }
}
"""


@lane('programs')
@early
def test_a_test_host(t):
    """`dotnet vstest`: the host, the adapter and the framework of tests are packages; the tests are own."""
    folder = os.path.join(OUT, 'own-tests')
    assembly = os.path.join(folder, 'bin', 'Release', SDK_FRAMEWORK, 'Shop.Tests.dll')
    os.makedirs(folder, exist_ok=True)
    for name, text in (('Shop.Tests.csproj', TESTS), ('CartTests.cs', CART), ('Directory.Build.props', '<Project />\n')):
        path = os.path.join(folder, name)
        if not os.path.exists(path) or open(path, encoding='utf-8').read() != text:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
            shutil.rmtree(os.path.join(folder, 'bin'), ignore_errors=True)
    if not os.path.exists(assembly):
        built = run(['nice', 'dotnet', 'build', folder, '-c', 'Release', '-nologo', '-v:q', '-nodeReuse:false',
                     '-p:UseSharedCompilation=false'], timeout=600, env=BUILDING)
        if any(code in built.text for code in NO_PACKAGE):
            raise Skip('the packages of NUnit cannot be restored')
        t.equal(built.status, 0, built)
    logs = t.path('logs')
    os.mkdir(logs)
    result = tool('record', *HOOKED, '--check', '1', '--process', 'testhost', '-o', logs, '--', 'dotnet', 'vstest', assembly,
                  cwd=t.folder)
    t.equal(result.status, 0, result)
    r = Record(result, logs, os.path.join(logs, os.listdir(logs)[0]))
    found = own_frames_only(t, r, ['Shop.Tests'])
    t.true({'testhost', 'NUnit3.TestAdapter', 'nunit.framework'} & found['package'], found)
    t.equal(sum(r.log.type(a) == 'Shop.Tests.Thing' for a in r.log.allocs), 51, 'things')
    t.exact(r, ends_amid=True)


@needs('OwnApp')
def test_own_code_says_otherwise(t):
    """Modules and methods, also the framework's; the log and its readers go by it."""
    r = t.record(PROGRAM.command('OwnApp'), *HOOKED, '--own-code', 'OwnLib', '--own-code', 'OwnApp.Program.Sorted*',
                 '--own-code', 'System.Linq', check=1)
    t.exact(r)
    t.equal(owners(r.log)['own'], {'OwnLib', 'System.Linq'})
    names = {d['name'].split('(')[0] for d in r.log.methods.values()}
    t.true('OwnApp.Program.Sorted' in names and 'OwnLib.Maker.Make' in names, names)
    t.true('OwnApp.Program.Thrown' not in names and 'OwnApp.Program.Emitted' not in names, names)
    t.true(any(name.startswith('System.Linq.') for name in names), names)


@needs('OwnApp')
def test_a_pattern_that_nothing_matches_is_named(t):
    for options in ['--own'], []:
        r = t.record(PROGRAM.command('OwnApp'), *options, '--own-code', 'OwnLob', '--own-code', 'OwnApp')
        t.equal([(x['option'], x['pattern']) for x in r.log.end['unmatched']], [('own-code', 'OwnLob')])
        lines = [line for line in r.errors.splitlines() if '--own-code' in line]
        t.equal(len(lines), 1, r)
        t.true('--own-code OwnLob: no module or method that ran has such a name; near: OwnLib' in lines[0], lines)
    r = t.record(PROGRAM.command('OwnApp'), '--own-code', 'OwnApp.Program.Thrown*')
    t.equal(r.log.end['unmatched'], [], 'a method that ran, without --own')


@needs('OwnApp')
def test_where_nothing_is_own_that_is_said(t):
    r = t.record(PROGRAM.command('OwnApp'), *HOOKED, '--own-code', 'Nobody*')
    t.true('--own-code Nobody*: no module or method' in r.errors, r)
    t.equal(len(r.log.nodes), 0, 'nodes')


@needs('OwnApp')
def test_reports_go_by_it(t):
    """By the log's word; by --own-code in its place; logs of before, which have no word, by the main assembly."""
    r = t.record(PROGRAM.command('OwnApp', SDK_FRAMEWORK))
    said = tool_json('report', '--by', 'own', '--format', 'json', r.path)
    t.equal(sorted(said['own_code']['modules']), sorted(APP + ['Emitted']), 'own code')
    t.equal(sum(row['bytes'] for row in said['rows']), r.log.end['bytes'], 'bytes')
    chosen = tool_json('report', '--by', 'own', '--own-code', 'OwnLib', '--format', 'json', r.path)
    t.equal(chosen['own_code']['modules'], ['OwnLib'])
    old = t.path('old.ndjson')
    with open(r.path, encoding='utf-8') as log, open(old, 'w', encoding='utf-8') as file:
        file.writelines(re.sub(',"owner":"[a-z]*"', '', line) for line in log)
    t.true('OwnApp' in tool_json('report', '--by', 'own', '--format', 'json', old)['own_code']['modules'], 'of a log of before')
    for command, *more in ['report'], ['export', '--format', 'collapsed', '-o', t.path('x')], ['html', '-o', t.path('x.html')]:
        one_line(tool(command, *more, '--own-code', 'OwnLob', r.path), 2, '--own-code OwnLob', 'near: OwnLib')


@needs('OwnApp')
def test_options_of_own_are_as_others(t):
    env = json.loads(tool('env', '--own', '--own-code', 'A.*', '--format', 'json', '-o', t.path('log.ndjson')).out)
    options = json.loads(env['SHADOWTRACE_OPTIONS'])
    t.equal((options['own'], options['own_code']), (True, ['A.*']))


@needs('WebServer')
@needs('WebServer', framework='net11.0')
@each('framework', SDK_FRAMEWORK, 'net11.0')
def test_a_server_allocated_what_the_runtime_itself_counts(t, framework):
    """Boxes, delegates and continuations included: each object before the one that follows the runtime's own total."""
    # The objects of the session for rich debug info are left out of the log, not of the total.
    r = t.record(PROGRAM.command('WebServer', framework) + ['--scale', '2', '--total', 'yes'], '--own', '--no-rich', check=0)
    t.equal((r.status, r.log.end['lost']), (0, 0), r)
    said = int(re.search(r'^allocated (\d+)$', r.text, re.M)[1])
    marker = next(a for a in r.log.allocs if r.log.classes[a['class']]['name'] == 'WebServer.Marker')
    before = [a for a in r.log.allocs if a['t'] < marker['t'] and a.get('heap') != 'frozen']
    bytes_ = sum(a['bytes'] for a in before)
    t.note('%d objects, %d bytes; the runtime says %d (%+d)' % (len(before), bytes_, said, bytes_ - said))
    t.true(abs(bytes_ - said) < 1000, '%d bytes of %d objects; the runtime says %d' % (bytes_, len(before), said))
