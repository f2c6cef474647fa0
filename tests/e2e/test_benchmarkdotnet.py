"""
The package Shadowtrace.BenchmarkDotNet: what [ShadowtraceDiagnoser] says of benchmarks whose allocations are known, beside
what MemoryDiagnoser says. BenchmarkDotNet builds and runs a project for each run: minutes, so in check-all only
(SHADOWTRACE_BENCHMARKS).
"""
import glob
import json
import os
import re
import shutil

import harness
from harness import BUILDING, NO_PACKAGE, OUT, ROOT, SHARED, TOOL, Skip, early, lane, run

SOURCE = os.path.join(harness.HERE, 'dotnet', 'Benchmarks')
NAME = 'Shadowtrace.BenchmarkDotNet'


def dotnet(t, *words, **more):
    result = run(['nice', 'dotnet', *words], timeout=1800, env=BUILDING, **more)
    for code in NO_PACKAGE:
        if code in result.text:
            raise Skip('BenchmarkDotNet is not available from NuGet (%s)' % code)
    t.equal(result.status, 0, result)
    return result


def library(t):
    """The package's assembly, built as `make nupkg-benchmarkdotnet` does."""
    folder = os.path.join(OUT, 'managed')
    dotnet(t, 'msbuild', os.path.join(ROOT, 'src/managed', NAME), '-restore', '-nologo', '-v:q', '-nodeReuse:false',
           '-p:UseSharedCompilation=false', '-p:OutFolder=' + folder)
    return os.path.join(folder, NAME, NAME + '.dll')


class Sample:
    """A copy of the benchmarks, built."""

    def __init__(self, t):
        self.folder = t.path('Benchmarks')
        shutil.copytree(SOURCE, self.folder)
        shutil.copy(library(t), self.folder)
        dotnet(t, 'build', '-c', 'Release', '-nologo', '-v:q', '-nodeReuse:false', '-p:UseSharedCompilation=false', cwd=self.folder)

    def run(self, t, *arguments, **more):
        command = ['nice', 'dotnet', 'bin/Release/net10.0/Benchmarks.dll', *arguments]
        result = run(command, timeout=3600, cwd=self.folder, env={**BUILDING, 'SHADOWTRACE': TOOL, **more})
        t.equal(result.status, 0, result)
        return result

    def known(self):
        """[(objects, type, bytes, line)] of one operation, from the marks of the source."""
        with open(os.path.join(self.folder, 'Program.cs'), encoding='utf-8') as file:
            for number, line in enumerate(file, 1):
                found = re.search(r'; // (\d+) (\S+) (\d+)$', line)
                if found:
                    yield int(found[1]), found[2], int(found[3]), 'Program.cs:%d' % number


def sample():
    return SHARED.get('benchmarks', Sample)


def shown(text):
    """{benchmark: (objects, bytes, [(objects, bytes, type, line, path)])} of what is below the table."""
    found, rows = {}, None
    for line in text.splitlines():
        head = re.match(r'(\S+: .*): ([\d.,]+) objects?, ([\d.,]+) bytes per operation \(([\d,]+) operations\)$', line)
        row = re.match(r' +([\d.,]+) +([\d.,]+)  (\S+) +(\S+) +(\S.*)$', line)
        if head:
            rows = []
            method = re.match(r'Known\.(\w+)', head[1])[1] + ''.join(re.findall(r'\[length=(\d+)\]', head[1]))
            found[method] = (float(head[2]), float(head[3]), rows, int(head[4].replace(',', '')))
        elif row and rows is not None:
            rows.append((float(row[1]), float(row[2]), row[3], row[4], row[5]))
    return found


@lane('benchmarks')
@early
def test_objects_and_bytes_per_operation(t):
    """As MemoryDiagnoser's bytes, exactly; and the lines that the source says."""
    s = sample()
    result = s.run(t)
    paths = glob.glob(os.path.join(s.folder, 'BenchmarkDotNet.Artifacts/results/*-report-full.json'))
    t.equal(len(paths), 1, result)
    with open(paths[0], encoding='utf-8') as file:
        benchmarks = json.load(file)['Benchmarks']
    t.equal(len(benchmarks), 4)
    said = shown(result.text)
    for benchmark in benchmarks:
        name = benchmark['Method'] + benchmark['Parameters'].removeprefix('length=')
        objects, size, rows, operations = said[name]
        metrics = {metric['Descriptor']['Id']: metric['Value'] for metric in benchmark['Metrics']}
        t.equal(size, benchmark['Memory']['BytesAllocatedPerOperation'], '%s: bytes beside MemoryDiagnoser' % name)
        t.equal(metrics['Shadowtrace objects'], objects, name)
        t.equal(objects, {'Nested': 3, 'Nothing': 0}.get(name, 1), name)
        t.equal((sum(row[0] for row in rows), sum(row[1] for row in rows)), (objects, size), name)
        t.equal(operations, 3 * 3200, 'operations of the iterations that were measured')
    known = {(count, count * size, kind, line) for count, kind, size, line in s.known()}
    t.equal({row[:4] for row in said['Nested'][2]}, known)
    t.equal({row[4] for row in said['Nested'][2]}, {'Known.Nested', 'Known.Nested > Known.Make'})
    t.true(re.search(r'\| +Objects +\|', result.text), result)
    pages = glob.glob(os.path.join(s.folder, 'BenchmarkDotNet.Artifacts/shadowtrace/*.html'))
    t.equal(len(pages), 3, 'pages: none of the benchmark that allocates nothing')


@lane('benchmarks')
def test_a_benchmark_in_this_process(t):
    """One line; the benchmark runs."""
    result = sample().run(t, 'in-process')
    lines = [line for line in result.text.splitlines() if 'ShadowtraceDiagnoser: ' in line]
    t.equal(len(set(lines)), 1, result)
    t.true('not recorded' in lines[0] and lines[0].endswith('Inside.Leaf'), lines)
    t.true(re.search(r'^\| Leaf ', result.text, re.M), result)


@lane('benchmarks')
def test_without_the_command(t):
    result = sample().run(t, 'in-process', SHADOWTRACE='/nowhere/shadowtrace')
    lines = [line for line in result.text.splitlines() if 'ShadowtraceDiagnoser: ' in line]
    t.true(lines and 'the command shadowtrace is not found' in lines[0], result)
