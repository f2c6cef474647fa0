"""Trees of processes: each has its log, and one report is over all that lie in a folder."""
import json
import os

import harness
from harness import BUILDING, PROGRAM, SHARED, TOOL, early, needs, run, tool, tool_json

COPIES = 3
PROJECT = {
    'Directory.Build.props': '<Project />\n',
    'app.csproj': '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>%s'
                  '</TargetFramework></PropertyGroup></Project>\n' % harness.SDK_FRAMEWORK,
    'Program.cs': 'System.Console.WriteLine("ok");\n'}


def record(t, folder, command, *options, **more):
    """Into a folder that `record` makes."""
    result = run([TOOL, 'record', '--check', '0', '-o', folder + '/', *options, '--', *command], timeout=600, **more)
    t.equal(result.status, 0, result)
    return result


def make(t):
    folder = t.path('spawned')
    said = record(t, folder, PROGRAM.command('Spawner') + ['--scale', str(COPIES)] + PROGRAM.command('Hello'))
    return folder, said.errors


def spawned():
    return SHARED.get('processes', make)


def logs_of(folder):
    return {log.header['pid']: log for log in (harness.Log(os.path.join(folder, name)) for name in os.listdir(folder))}


@needs('Spawner', 'Hello')
def test_a_report_over_a_folder_has_a_row_for_each_process_with_its_name(t):
    folder, said = spawned()
    logs = logs_of(folder)
    report = tool_json('report', '--view', 'processes', '--format', 'json', folder)
    rows = report['rows']
    t.equal(sorted(row['process'] for row in rows), ['Hello'] * COPIES + ['Spawner'])
    t.equal({row['pid']: (row['allocs'], row['bytes']) for row in rows},
            {pid: (log.end['seen'], log.end['bytes']) for pid, log in logs.items()}, 'each has what its own log has')
    t.equal(report['total']['bytes'], sum(log.end['bytes'] for log in logs.values()))
    first = min(rows, key=lambda row: row['began_ns'])
    t.equal((first['process'], first['began_ns']), ('Spawner', 0), 'who began')
    for row in rows:
        t.equal(row['command'], ' '.join(logs[row['pid']].header['command']))
        t.true(row['began_ns'] + row['ran_ns'] <= first['ran_ns'] or row is first, 'the first waits for the others')
    t.true('shadowtrace report --view processes ' in said and 'spawned/    (all logs in it)' in said, said)


@needs('Spawner', 'Hello')
def test_a_folder_is_the_same_as_its_logs_in_each_command(t):
    folder, _ = spawned()
    names = [os.path.join(folder, name) for name in os.listdir(folder)]
    folder_view, logs_view = (tool_json('report', '--view', 'types', '--format', 'json', *words) for words in ([folder], names))
    for view in folder_view, logs_view:
        view['rows'].sort(key=lambda row: row['type'])  # those with the same bytes are in the order of the logs
    t.equal(folder_view['rows'], logs_view['rows'])
    text = tool('report', folder).text
    t.true('of %d processes.' % (COPIES + 1) in text and '\nProcesses\n' in text, text)
    t.true('Hello (pid ' in text and 'Spawner (pid ' in text, text)
    t.equal(tool('validate', folder).status, 0)
    for words in ['export', '--format', 'collapsed', '-o', '-'], ['html', '-o', '-']:
        made = tool(*words, folder)
        t.true(made.status == 0 and len(made.out) > 1000, (words, made.status, made.errors))


@needs('Spawner', 'Hello')
def test_process_names_whose_logs_are_read(t):
    folder, _ = spawned()
    for pattern, count in ('Hello', COPIES), ('Hello.dll', COPIES), ('Spaw*', 1), ('*', COPIES + 1):
        rows = tool_json('report', '--view', 'processes', '--process', pattern, '--format', 'json', folder)['rows']
        t.equal(len(rows), count, pattern)
    wrong = tool('report', '--process', 'hello', folder)
    t.equal(wrong.status, 2, wrong)
    t.true('no log is of a process "hello"; they are of ' in wrong.errors and 'Hello.dll' in wrong.errors, wrong)


def test_a_folder_without_a_log_says_so(t):
    folder = t.path('none')
    os.makedirs(os.path.join(folder, 'inner'))
    with open(os.path.join(folder, 'notes.txt'), 'w', encoding='utf-8') as file:
        file.write('no log\n')
    for command in ['report'], ['html', '-o', '-'], ['validate']:
        said = tool(*command, folder)
        t.equal(said.status, 3, said)
        t.true(said.errors.count('\n') == 1 and 'folder' in said.errors, said)


@early
def test_a_build_is_recorded_with_each_process_that_it_starts(t):
    """`dotnet build`, with a compiler server of its own: the SDK's program and the compiler, each by its name."""
    project, folder = t.path('project'), t.path('logs')
    os.makedirs(project)
    for name, text in PROJECT.items():
        with open(os.path.join(project, name), 'w', encoding='utf-8') as file:
            file.write(text)
    result = record(t, folder, ['dotnet', 'build', '-nologo', '-v:q', '-nodeReuse:false', '-p:UseSharedCompilation=false'],
                    '--log', 'sites', '--own', env=BUILDING, cwd=project)
    report = tool_json('report', '--view', 'processes', '--format', 'json', folder)
    names = {row['process'] for row in report['rows']}
    t.true({'dotnet', 'csc'} <= names, (names, result))
    t.equal(sum(row['bytes'] for row in report['rows']), report['total']['bytes'])
    for log in os.listdir(folder):
        json.loads(tool('report', '--format', 'json', '--top', '1', os.path.join(folder, log)).out)
    compiler = tool_json('report', '--view', 'types', '--process', 'csc', '--format', 'json', folder)
    t.true(any(row.get('module') == 'Microsoft.CodeAnalysis' for row in compiler['rows']), compiler['rows'][:5])
