"""
Tests of others under the tracer: `dotnet test --settings FILE`, the file being what `env --format runsettings` prints; and
the package Shadowtrace in such tests. They build projects with packages: in check-all only (SHADOWTRACE_TESTHOST).
"""
import glob
import os
import re
import shutil

import harness
from harness import BUILDING, NO_PACKAGE, OUT, ROOT, SHARED, TOOL, Skip, each, early, run, tool


def settings(t, *options):
    """A file that makes the process of the tests record itself, and the folder of its logs."""
    logs = t.path('logs <&>')
    os.makedirs(logs)
    printed = tool('env', '--format', 'runsettings', '--process', 'testhost', '-o', logs + '/', *options)
    t.equal(printed.status, 0, printed)
    path = t.path('traced.runsettings')
    with open(path, 'wb') as file:
        file.write(printed.out)
    return path, logs


def dotnet(what, *words, **more):
    result = run(['nice', 'dotnet', *words, '-p:UseSharedCompilation=false'], timeout=1800, **{'env': BUILDING, **more})
    for code in NO_PACKAGE:
        if code in result.text:
            raise Skip('%s cannot be had from NuGet (%s)' % (what, code))
    return result


@early
def test_xunit_under_vstest(t):
    """The process that runs the tests is recorded, and no other; its line of the tests' own code has what they make."""
    if not os.environ.get('SHADOWTRACE_TESTHOST'):
        t.skip('builds with packages: SHADOWTRACE_TESTHOST=1 runs it, as in make check-all')
    folder = t.path('Tests')
    shutil.copytree(os.path.join(harness.HERE, 'dotnet', 'Tests'), folder)
    path, logs = settings(t)
    result = dotnet('xunit', 'test', '-nologo', '--settings', path, cwd=folder)
    t.equal(result.status, 0, result)
    t.true('Passed!' in result.text, result)
    found = glob.glob(os.path.join(glob.escape(logs), '*.ndjson'))
    t.equal([os.path.basename(path).split('-')[1] for path in found], ['testhost'], result)
    with open(os.path.join(folder, 'Tests.cs'), encoding='utf-8') as file:
        line = 1 + [text.endswith('// 7 in all\n') for text in file].index(True)
    rows = harness.tool_json('report', '--by', 'own', '--type', 'Leaf', '--format', 'json', found[0])['rows']
    t.equal([(row['allocs'], row['bytes'], row['line']) for row in rows], [(7, 7 * 24, line)])


def package(t):
    """The assembly of the package, built as `make nupkg-shadowtrace` does."""
    folder = os.path.join(OUT, 'managed')
    result = dotnet('Shadowtrace', 'msbuild', os.path.join(ROOT, 'src/managed/Shadowtrace'), '-restore', '-nologo', '-v:q',
                    '-nodeReuse:false', '-p:OutFolder=' + folder)
    t.equal(result.status, 0, result)
    return os.path.join(folder, 'Shadowtrace', 'Shadowtrace.dll')


@early
@each('framework', 'xunit', 'nunit', 'mstest')
def test_allocations_are_asserted(t, framework):
    """Untraced and traced: what holds passes; what does not fails, when it is traced with its line; tests at the same time
    count their own only."""
    if not os.environ.get('SHADOWTRACE_TESTHOST'):
        t.skip('builds with packages: SHADOWTRACE_TESTHOST=1 runs it, as in make check-all')
    folder = t.path('Asserted')
    shutil.copytree(os.path.join(harness.HERE, 'dotnet', 'Asserted'), folder)
    shutil.copy(SHARED.get("Shadowtrace.dll", package), folder)
    with open(os.path.join(folder, 'Tests.cs'), encoding='utf-8') as file:
        line = 1 + [text.endswith('// each\n') for text in file].index(True)
    path, logs = settings(t)
    for traced in False, True:
        words = ['--settings', path] if traced else []
        result = dotnet(framework, 'test', '-nologo', '-c', 'Release', *words, '-p:TestFramework=' + framework, cwd=folder,
                        env={**BUILDING, 'SHADOWTRACE': TOOL})
        t.true(re.search(r'Failed: +1, Passed: +7\b', result.text), '%s\n%s' % ('traced' if traced else 'not traced', result))
        t.true('More_than_was_allowed: 224 bytes, at most 96 were allowed' in result.text, result)
        row = re.search(r'224 bytes +7 objects +Leaf +Tests\.cs:(\d+) .*More_than_was_allowed\+lambda', result.text)
        t.equal(row and int(row[1]), line if traced else None, result)
        t.equal('is known in a process that is recorded' in result.text, not traced, result)
    t.equal(len(glob.glob(os.path.join(glob.escape(logs), '*.ndjson'))), 1, 'one log')
