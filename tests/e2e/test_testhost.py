"""
Tests of others under the tracer: `dotnet test --settings FILE`, the file being what `env --format runsettings` prints; and
the package Shadowtrace.Allocations in such tests. They build projects with packages, in the lane testhost.
"""
import glob
import os
import re
import shutil
import time
import zipfile

import harness
import test_nupkg
from harness import BUILDING, NO_PACKAGE, OUT, ROOT, SHARED, TOOL, Skip, each, early, lane, run, tool


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


def dotnet(what, *words, program='dotnet', **more):
    result = run(['nice', program, *words, '-p:UseSharedCompilation=false'], timeout=1800, **{'env': BUILDING, **more})
    for code in NO_PACKAGE:
        if code in result.text:
            raise Skip('%s is not available from NuGet (%s)' % (what, code))
    return result


@lane('testhost')
@early
def test_xunit_under_vstest(t):
    """The process that runs the tests is recorded, and no other; its line of the tests' own code has what they make."""
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
    whole = t.path('whole') # and of all that `dotnet test` starts
    result = dotnet('xunit', 'record', '--own', '--log', 'sites', '-o', whole + '/', '--', 'dotnet', 'test', '-nologo', '--no-build',
                    program=TOOL, cwd=folder)
    t.equal(result.status, 0, result)
    rows = harness.tool_json('report', '--view', 'processes', '--format', 'json', whole)['rows']
    t.equal(sorted(row['process'] for row in rows), ['dotnet', 'testhost', 'vstest.console'])
    rows = harness.tool_json('report', '--by', 'own', '--type', 'Leaf', '--format', 'json', whole)['rows']
    t.equal([(row['allocs'], row['bytes'], row['line']) for row in rows], [(7, 7 * 24, line)], 'in the report over all')


class Feed:
    """A folder with the package, made as `make nupkg-shadowtrace` does, and with the tool's: NuGet tells them apart."""

    def __init__(self, t):
        self.folder, made = t.path('feed'), os.path.join(OUT, 'managed')
        os.makedirs(self.folder)
        self.version = '0.1.%d' % time.time()  # one that NuGet has not kept
        result = dotnet('Shadowtrace', 'msbuild', os.path.join(ROOT, 'src/managed/Shadowtrace'), '-restore', '-t:Pack', '-nologo',
                        '-v:q', '-nodeReuse:false', '-p:OutFolder=' + made, '-p:PackageOutputPath=' + self.folder,
                        '-p:PackageVersion=' + self.version)
        t.equal(result.status, 0, result)
        tool_package = test_nupkg.package()
        shutil.copy(tool_package, self.folder)
        ids = [id_of(path) for path in glob.glob(os.path.join(glob.escape(self.folder), '*.nupkg'))]
        t.equal(sorted(one.lower() for one in ids), ['shadowtrace', 'shadowtrace.allocations'])


def id_of(path):
    """The name that NuGet knows a package by."""
    with zipfile.ZipFile(path) as package:
        spec = next(name for name in package.namelist() if name.endswith('.nuspec'))
        return re.search(r'<id>(.*?)</id>', package.read(spec).decode())[1]


@lane('testhost')
@early
@each('framework', 'xunit', 'nunit', 'mstest')
def test_allocations_are_asserted(t, framework):
    """Untraced and traced: what holds passes; what does not fails, when it is traced with its line; tests at the same time
    count their own only."""
    folder = t.path('Asserted')
    shutil.copytree(os.path.join(harness.HERE, 'dotnet', 'Asserted'), folder)
    feed = SHARED.get('feed', Feed)
    with open(os.path.join(folder, 'Tests.cs'), encoding='utf-8') as file:
        line = 1 + [text.endswith('// each\n') for text in file].index(True)
    path, logs = settings(t)
    for traced in False, True:
        words = ['--settings', path] if traced else []
        result = dotnet(framework, 'test', '-nologo', '-c', 'Release', *words, '-p:TestFramework=' + framework,
                        '-p:AllocationsFeed=' + feed.folder, '-p:AllocationsVersion=' + feed.version, cwd=folder,
                        env={**BUILDING, 'SHADOWTRACE': TOOL})
        t.true(re.search(r'Failed: +1, Passed: +7\b', result.text), '%s\n%s' % ('traced' if traced else 'not traced', result))
        t.true('More_than_was_allowed: 224 bytes, at most 96 were allowed' in result.text, result)
        row = re.search(r'224 bytes +7 objects +Leaf +Tests\.cs:(\d+) .*More_than_was_allowed\+lambda', result.text)
        t.equal(row and int(row[1]), line if traced else None, result)
        t.equal('is known in a process that is recorded' in result.text, not traced, result)
    t.equal(len(glob.glob(os.path.join(glob.escape(logs), '*.ndjson'))), 1, 'one log')
