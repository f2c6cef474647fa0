"""Symbols that are missing, damaged, or of another build give one clear line and never a wrong line; reports by line."""
import json
import os
import re
import shutil
import subprocess

import harness
from harness import BUILD, BUILDING, OUT, PROGRAM, PROGRAMS, SDK_FRAMEWORK, SHARED, TOOL, needs, prepares, publishes
from test_lines import published

SOURCE = os.path.join(PROGRAMS, 'Lines', 'Program.cs')
SYMBOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'symbols')


def run(*words):
    done = subprocess.run([TOOL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def by_line(path, *options):
    status, out, err = run('report', '--by', 'line', '--format', 'json', *options, path)
    assert status == 0, err
    return json.loads(out)['rows'], err


def recorded(t, folder):
    """A recording of a copy of Lines, which may then be damaged, and its lines as they should be."""
    program = PROGRAM.publish(*published())
    shutil.copytree(os.path.dirname(program), folder, dirs_exist_ok=True)
    r = t.record([os.path.join(folder, os.path.basename(program))])
    t.equal(r.status, 0, r)
    return r


@publishes(lambda: [published(), published('debug')])
def test_symbols_that_cannot_be_used(t):
    folder = os.path.join(t.folder, 'app')
    r = recorded(t, folder)
    pdb, dll = os.path.join(folder, 'Lines.pdb'), os.path.join(folder, 'Lines.dll')
    with open(pdb, 'rb') as file:
        good = file.read()
    with open(dll, 'rb') as file:
        assembly = file.read()
    rows, err = by_line(r.path)
    right = sum('line' in row for row in rows)
    t.equal((right > 200, err), (True, ''), 'lines of the traced build')
    os.rename(pdb, pdb + '.away')
    rows, err = by_line(r.path)
    t.equal((sum('line' in row for row in rows), err), (right, ''), 'lines of the PDB in the log')
    os.rename(pdb + '.away', pdb)
    with open(r.path, 'rb') as file:
        lines = file.readlines()
    with open(r.path, 'wb') as file:  # with one that cannot be used: those of the files count
        file.writelines(line if not line.startswith(b'{"kind":"symbols"') else re.sub(b'"pdb":"[^"]*"', b'"pdb":"AAAA"', line)
                        for line in lines)

    def expect(what, words):
        rows, err = by_line(r.path)
        t.equal(sum('line' in row for row in rows), 0, 'lines, ' + what)
        t.equal((words in err, err.count('\n')), (True, 1), '%s: one line that says so: %s' % (what, err))

    forged = bytearray(good)
    forged[len(good) // 2] ^= 0xFF
    for what, content, words in (('truncated', good[:len(good) // 2], 'truncated'),
                                 ('forged', bytes(forged), 'Lines.pdb: '),
                                 ('a Windows PDB', b'Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0' + bytes(4096), 'Windows PDB'),
                                 ('no PDB', b'not a PDB', 'Lines.pdb: ')):
        with open(pdb, 'wb') as file:
            file.write(content)
        expect(what, words)
    os.remove(pdb)
    expect('PDB missing', 'no PDB next to it')

    # A PDB elsewhere; the assembly built anew, the traced one elsewhere.
    kept = os.path.join(t.folder, 'kept')
    os.makedirs(kept, exist_ok=True)
    with open(os.path.join(kept, 'Lines.pdb'), 'wb') as file:
        file.write(good)
    t.equal(sum('line' in row for row in by_line(r.path, '--symbols', kept)[0]), right, 'lines with --symbols')
    other = PROGRAM.publish(*published('debug'))
    for name in 'Lines.dll', 'Lines.pdb':
        shutil.copy(os.path.join(os.path.dirname(other), name), folder)
    expect('built anew', 'another build than the one that was traced')
    with open(os.path.join(kept, 'Lines.dll'), 'wb') as file:
        file.write(assembly)
    t.equal(sum('line' in row for row in by_line(r.path, '--symbols', kept)[0]), right, 'lines of the traced build')
    os.remove(dll)
    os.remove(pdb)
    expect('assembly gone', 'its file is gone')


def shared():
    """The same, for tests that change nothing."""
    return SHARED.get('symbols', lambda t: recorded(t, os.path.join(t.folder, 'app')))


@needs('Native')
def test_callers_that_are_no_frames(t):
    """Who started an async method stands under its stacks once it was resumed; a frame that calls through native code says so."""
    r = shared()
    status, out, err = run('report', '--by', 'site', '--names', 'full', '--depth', '0', '--top', '0', '--physical', r.path)
    t.equal((status, err), (0, ''))
    with open(SOURCE, encoding='utf-8') as file:
        source = file.read().splitlines()
    line = next(n for n, text in enumerate(source, 1) if 'Asynchronous.Run().GetAwaiter()' in text)
    stacks = out.split('(no managed frame)')[0].split('  at Lines.Asynchronous.Run ')
    t.equal(any('ExecutionContextCallback' in stack and 'in Program.cs:%d\n' % line in stack.split('started by ')[-1]
                for stack in stacks[1:] if 'started by ' in stack), True, 'started by line %d' % line)
    status, out, err = run('report', '--by', 'site', '--names', 'full', '--depth', '0', '--top', '0', r.path)
    t.equal(any('ExecutionContextCallback' in stack for stack in out.split('  at Lines.Asynchronous.Run ')[1:]), False,
            'a logical stack goes on where it was started')
    native = t.record(PROGRAM.command('Native'))
    status, out, err = run('report', '--by', 'site', '--names', 'full', '--depth', '0', '--top', '0', native.path)
    t.equal((native.status, status, err), (0, 0, ''), native)
    t.equal('  at Torture.Program.ReverseThrows()  (through native code)\n' in out, True, 'through native code')


def test_lines_in_reports(t):
    r = shared()
    status, out, err = run('report', '--by', 'line', '--top', '0', r.path)
    t.equal((status, err), (0, ''))
    with open(SOURCE, encoding='utf-8') as file:
        source = file.read().splitlines()
    ping = next(n for n, line in enumerate(source, 1) if 'Ping()' in line)
    rows, _ = by_line(r.path)
    row = next(row for row in rows if row.get('method') == 'Lines.Called.Ping()')
    t.equal(abs(row['line'] - ping) < 5, True, row)
    t.equal('Program.cs:%d Called.Ping object' % row['line'] in ' '.join(out.split()), True, 'a row of text')
    t.equal('\033' in out, False, 'no links where there is no terminal')
    # Names as written, and as logged.
    names = {frame['method'] for frame in json.loads(run('report', '--format', 'json', r.path)[1])['frames']}
    t.equal({'Lines.Asynchronous.Run', 'Lines.Asynchronous.Deeper'} <= names, True, 'folded names')
    names = {frame['method'] for frame in json.loads(run('report', '--names=raw', '--format', 'json', r.path)[1])['frames']}
    t.equal('Lines.Asynchronous.<Run>d__0.MoveNext()' in names and 'Lines.Asynchronous.Run' not in names, True, '--names=raw')
    # The margin adds up to the rows.
    status, out, err = run('annotate', '--format', 'json', '--source', SOURCE, r.path, 'Lines/Program.cs')
    t.equal((status, err), (0, ''))
    lines = {line['line']: line for line in json.loads(out)['lines']}
    t.equal(lines[row['line']]['text'], source[row['line'] - 1], 'text of the line')
    for line in lines.values():
        t.equal(sum(x['bytes'] for x in line['types']), line['bytes'], line)
    t.equal(lines[row['line']]['bytes'], sum(x['bytes'] for x in rows if x.get('line') == row['line']
                                             and x['file'] == row['file']), 'bytes of a line')
    status, out, err = run('annotate', '--all', '--source', SOURCE, r.path, 'Program.cs')
    t.equal((status, out.count('\n') >= len(source)), (0, True), 'the whole file')
    status, out, err = run('annotate', '--source', __file__, r.path, 'Program.cs')
    t.equal((status, 'is not the file that was compiled' in err, err.count('\n')), (0, True, 1), err)
    status, out, err = run('annotate', r.path, 'Nowhere.cs')
    t.equal((status, 'name a file "Nowhere.cs"' in err, out), (3, True, ''), err)


def assemblies():
    """The folder of the assemblies, of the same sources for all runners."""
    folder = os.path.join(OUT, 'symbols')
    with PROGRAM.once('symbols', [SYMBOLS]) as there:
        built = None if there else harness.run(['nice', 'sh', os.path.join(SYMBOLS, 'agreement.sh'), 'build', folder], timeout=600,
                                               env=dict(BUILDING, BUILD_WITH=' '.join(PROGRAM.server.properties())))
        if built and built.status:
            raise AssertionError(str(built))
    return folder


@prepares(assemblies)
def test_symbols_agree_with_the_sdk(t):
    """Every method of six assemblies: what src/tool/symbols says is what System.Reflection.Metadata says."""
    dump = os.path.join(t.folder, 'pdb_dump')
    root = os.path.dirname(BUILD)
    subprocess.run(['cc', '-D_GNU_SOURCE', '-I' + root + '/src/tool', '-I' + root + '/src/common', '-I' + root + '/include', '-o', dump,
                    os.path.join(SYMBOLS, 'pdb_dump.c'), os.path.join(BUILD, 'liball.a'), '-ljansson', '-lz'], check=True)
    done = harness.run(['sh', os.path.join(SYMBOLS, 'agreement.sh'), dump, assemblies()], timeout=600)
    t.equal(done.status, 0, done)
    t.equal(done.text.count('ok: '), 6, done)
    t.note('%d assemblies' % done.text.count('ok: '))


def linked():
    """What PROGRAM.publish takes; the file with the addresses is there then."""
    os.makedirs(OUT, exist_ok=True)
    addresses = os.path.join(OUT, 'sourcelink.json')
    with open(addresses, 'w', encoding='utf-8') as file:
        json.dump({'documents': {PROGRAMS + '/*': 'https://example.invalid/raw/0123abcd/*'}}, file)
    return ('Lines', 'lines-linked-%s' % SDK_FRAMEWORK, 'E2EFramework=' + SDK_FRAMEWORK, 'PathMap=', 'SourceLink=' + addresses)


@publishes(lambda: [linked()])
def test_links_and_addresses(t):
    program = PROGRAM.publish(*linked())
    r = t.record([program])
    t.equal(r.status, 0, r)
    row = next(row for row in by_line(r.path)[0] if row.get('method') == 'Lines.Called.Ping()')
    t.equal('url' in row, False, 'an address that was not asked for')
    where = 'Program.cs:%d' % row['line']
    link = '\033]8;;file://%s#L%d\033\\%s\033]8;;\033\\' % (row['file'], row['line'], where)
    url = 'https://example.invalid/raw/0123abcd/Lines/Program.cs#L%d' % row['line']

    def report(*options):
        status, out, err = run('report', '--by', 'line', '--top', '0', *options, r.path)
        t.equal((status, err), (0, ''))
        return out

    t.equal(link in report('--links', 'always'), True, '--links always')
    for when in 'never', 'auto':
        t.equal('\033' in report('--links', when), False, '--links ' + when)
    t.equal('\033' in report('--links', 'always', '--format', 'json'), False, 'links in JSON')
    t.equal(url in [line.strip() for line in report('--urls').splitlines()], True, '--urls: below the row')
    t.equal('example.invalid' in report(), False, 'an address that was not asked for')
    both = report('--urls', '--links', 'always')
    t.equal(link in both and url in both, True, 'both')
    t.equal(url in {row.get('url') for row in by_line(r.path, '--urls')[0]}, True, '--urls in JSON')
    for view in 'overview', 'tree', 'sites', 'lines', 'own':
        status, out, err = run('report', '--view', view, '--top', '0', '--depth', '0', '--all-frames', '--urls', r.path)
        t.equal((status, err), (0, ''), view)
        t.equal('\n' in out and 'https://example.invalid/raw/0123abcd/Lines/' in out, True, '--urls in the view ' + view)
    rows = json.loads(run('report', '--view', 'lines', '--urls', '--format', 'json', r.path)[1])['rows']
    t.equal(url in {row.get('url') for row in rows}, True, '--urls in JSON of a view')
    out = report('--no-lines')
    t.equal('Program.cs' in out, False, '--no-lines')
