"""Trees of processes: each has its log, and one report is over all that lie in a folder."""
import json
import os
import re

import harness
from harness import BUILDING, PROGRAM, SHARED, TOOL, early, lane, needs, run, tool, tool_json

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
def test_each_log_says_whose_child_its_process_is(t):
    """From the parent up to the first process of the system, by number and birth; a shell in between is named."""
    folder, _ = spawned()
    logs = logs_of(folder)
    first = next(log.header for log in logs.values() if any('Spawner' in word for word in log.header['command']))
    for log in logs.values():
        header = log.header
        t.true(0 < header['born'] <= header['clock'] // 10**7 + 1, 'ticks of 10 ms, as the clock has it: %s' % header)
        ages = [header['born']] + [parent['born'] for parent in header['parents']]
        t.equal(ages, sorted(ages, reverse=True), 'who starts another is older')
        t.true(header['parents'][0]['name'] == ('shadowtrace' if header is first else 'dotnet'), header['parents'])
        t.true(os.getpid() in [parent['pid'] for parent in header['parents']], 'this test is among them')
        if header is not first:
            t.equal(header['parents'][0], dict(pid=first['pid'], born=first['born'], name='dotnet'))
    rows = tool_json('report', '--view', 'processes', '--format', 'json', folder)['rows']
    t.equal({row['pid']: row.get('parent') for row in rows},
            {pid: None if pid == first['pid'] else first['pid'] for pid in logs})
    shell = t.path('shell')
    record(t, shell, ['sh', '-c', '"$@"; true', 'sh'] + PROGRAM.command('Spawner') +
           ['sh', '-c', '"$@"; true', 'sh'] + PROGRAM.command('Hello'))
    text = tool('report', '--view', 'processes', shell).text
    t.true(re.search(r'  Spawner \(pid \d+\)', text) and re.search(r'  sh > Hello \(pid \d+\)', text), text)


@needs('Hello')
def test_each_part_of_a_log_says_it(t):
    """--max-log: as it was when the recording began."""
    folder = t.path('parts')
    record(t, folder, PROGRAM.command('Hello'), '--max-log', '100K')
    parts = [harness.Log(os.path.join(folder, name)).header for name in os.listdir(folder)]
    t.true(len(parts) > 1, 'several parts')
    t.equal([(part['born'], part['parents']) for part in parts], [(parts[0]['born'], parts[0]['parents'])] * len(parts))


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


@lane('programs')
@early
def test_a_build_is_recorded_with_each_process_that_it_starts(t):
    """`dotnet build`, without a compiler server: the SDK's program and the compiler, each by its name. Then `dotnet run`."""
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
    folder = t.path('run')
    said = record(t, folder, ['dotnet', 'run', '--no-build', '-v:q'], '--log', 'sites', '--own', env=BUILDING, cwd=project)
    t.equal(said.text, 'ok\n')
    rows = tool_json('report', '--view', 'processes', '--format', 'json', folder)['rows']
    t.equal(sorted(row['process'] for row in rows), ['app', 'dotnet'])
    t.true(any((row['method'] or '').startswith('Program.') for row in
               tool_json('report', '--by', 'own', '--process', 'app', '--format', 'json', folder)['rows']), 'own code of it')
