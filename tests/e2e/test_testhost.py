"""
Tests of others under the tracer: `dotnet test --settings FILE`, the file being what `env --format runsettings` prints. It
builds a project with packages: in check-all only (SHADOWTRACE_TESTHOST).
"""
import glob
import os
import shutil

import harness
from harness import BUILDING, NO_PACKAGE, Skip, early, run, tool


@early
def test_xunit_under_vstest(t):
    """The process that runs the tests is recorded, and no other; its line of the tests' own code has what they make."""
    if not os.environ.get('SHADOWTRACE_TESTHOST'):
        t.skip('builds with packages: SHADOWTRACE_TESTHOST=1 runs it, as in make check-all')
    folder, logs = t.path('Tests'), t.path('logs <&>')
    shutil.copytree(os.path.join(harness.HERE, 'dotnet', 'Tests'), folder)
    os.makedirs(logs)
    printed = tool('env', '--format', 'runsettings', '--process', 'testhost', '-o', logs + '/')
    t.equal(printed.status, 0, printed)
    with open(os.path.join(folder, 'traced.runsettings'), 'wb') as file:
        file.write(printed.out)
    result = run(['nice', 'dotnet', 'test', '-nologo', '--settings', 'traced.runsettings', '-p:UseSharedCompilation=false'],
                 timeout=1800, env=BUILDING, cwd=folder)
    for code in NO_PACKAGE:
        if code in result.text:
            raise Skip('xunit cannot be had from NuGet (%s)' % code)
    t.equal(result.status, 0, result)
    t.true('Passed!' in result.text, result)
    found = glob.glob(os.path.join(glob.escape(logs), '*.ndjson'))
    t.equal([os.path.basename(path).split('-')[1] for path in found], ['testhost'], result)
    with open(os.path.join(folder, 'Tests.cs'), encoding='utf-8') as file:
        line = 1 + [text.endswith('// 7 in all\n') for text in file].index(True)
    rows = harness.tool_json('report', '--by', 'own', '--type', 'Leaf', '--format', 'json', found[0])['rows']
    t.equal([(row['allocs'], row['bytes'], row['line']) for row in rows], [(7, 7 * 24, line)])
