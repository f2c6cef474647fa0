"""
The package of the .NET tool (`make nupkg`): installed as on a machine that has only the SDK, with a separate home and
cache, and used; what its files need of glibc; and what it says where it does not run.
"""
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile

import harness
from harness import (BUILD, BUILDING, NO_PACKAGE, PROGRAM, ROOT, SHARED, TOOL, Record, Skip, built, each, early, lane, needs,
                     one_line, run, tool)

FOLDER = os.path.join(BUILD, 'package')
NATIVE = 'tools/net10.0/linux-x64/'
FLOOR = (2, 17)  # of glibc, as GLIBC_FLOOR in src/package/package.mk and the package's README say
# What every glibc has; libpthread and libdl are empty since 2.34.
OF_GLIBC = {'libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2', 'ld-linux-x86-64.so.2'}


def package():
    """Its path. If something for it could not be downloaded, the tests are skipped; `make check` keeps the output."""
    name = 'package/shadowtrace.%s.nupkg' % tool('--version').text.split()[1]
    said = os.path.join(FOLDER, 'said')
    if not os.path.exists(os.path.join(BUILD, name)) and os.path.exists(said):
        with open(said, encoding='utf-8', errors='replace') as file:
            reasons = [line.strip() for line in file if any(text in line for text in ('source.sh: ',) + NO_PACKAGE)]
        if reasons:
            raise Skip('no package: %s' % reasons[0])
    return built(name, 'make nupkg', newer_than=harness.LIBRARY)


def clean(t, **more):
    """The environment of a user who has nothing: the SDK's folders, a home and no caches."""
    home = t.path('home')
    os.makedirs(home, exist_ok=True)
    kept = {name: value for name, value in BUILDING.items() if not name.startswith(('NUGET_', 'DOTNET_CLI_HOME', 'XDG_'))}
    return dict(kept, HOME=home, **more)


def install(t, folder, **more):
    """dotnet tool install, with the package as the only source; returns the folder of the package's files."""
    file = package()
    result = run(['dotnet', 'tool', 'install', 'shadowtrace', '--tool-path', folder, '--source', os.path.dirname(file)],
                 timeout=600, env=clean(t, **more))
    t.equal(result.status, 0, result)
    version = os.path.basename(file)[len('shadowtrace.'):-len('.nupkg')]
    return os.path.join(folder, '.store', 'shadowtrace', version, 'shadowtrace', version)


class Installed:
    def __init__(self, t):
        self.tools = t.path('tools')
        self.files = install(t, self.tools)
        self.command = os.path.join(self.tools, 'shadowtrace')
        self.native = os.path.join(self.files, NATIVE)
        self.shim = os.path.join(self.files, 'tools/net8.0/any/shadowtrace.dll')


def installed():
    return SHARED.get('nupkg', Installed)


def unpacked(t):
    """The package's files, for a test that changes some."""
    folder = t.path('files')
    shutil.copytree(installed().files, folder)
    return folder


@early
@needs('KnownAllocs')
def test_install_record_report(t):
    """Three commands; what the second records is exact, and the third says what the command of this build says."""
    i = installed()
    log = t.path('log.ndjson')
    recorded = run([i.command, 'record', '--check', '1', '-o', log, '--'] + PROGRAM.command('KnownAllocs'), env=clean(t))
    t.exact(Record(recorded, t.folder, log))
    report = run([i.command, 'report', log], env=clean(t))
    t.equal(report.status, 0, report)
    t.true('KnownAllocs' in report.text and ' allocations, ' in report.text, report)
    t.equal(report.text, run([TOOL, 'report', log], env=clean(t)).text, 'what the command of this build reports')


def test_without_an_installation(t):
    """`dotnet tool exec` and `dnx`, and a manifest of a repository: `dotnet tool run`."""
    source, environment = ['--source', os.path.dirname(package())], clean(t)
    version = tool('--version').text
    for command in ['tool', 'exec'], ['dnx']:
        result = run(['dotnet', *command, '--yes', 'shadowtrace', *source, '--', '--version'], env=environment, cwd=t.folder)
        t.equal((result.status, result.text), (0, version), result)
    for command in ['new', 'tool-manifest'], ['tool', 'install', 'shadowtrace', *source]:
        result = run(['dotnet', *command], env=environment, cwd=t.folder)
        t.equal(result.status, 0, result)
    result = run(['dotnet', 'tool', 'run', 'shadowtrace', '--version'], env=environment, cwd=t.folder)
    t.equal((result.status, result.text), (0, version), result)


class Elf:
    """What a file asks of the dynamic linker, read from what that reads: the dynamic section."""
    NEEDED, STRTAB, RPATH, VERNEED = 1, 5, 15, 0x6ffffffe

    def __init__(self, data):
        self.data = data
        start, size, count = struct.unpack_from('<Q', data, 32)[0], *struct.unpack_from('<HH', data, 54)
        segments = [struct.unpack_from('<IIQQQQ', data, start + i * size) for i in range(count)]
        self.loaded = [(address, offset, length) for kind, _, offset, address, _, length in segments if kind == 1]
        offset, length = next((offset, length) for kind, _, offset, _, _, length in segments if kind == 2)
        self.dynamic = [struct.unpack_from('<QQ', data, offset + at) for at in range(0, length, 16)]
        self.strings = self.offset(self.value(self.STRTAB))

    def value(self, tag):
        return next((value for found, value in self.dynamic if found == tag), None)

    def offset(self, address):
        return next(offset + address - start for start, offset, length in self.loaded if start <= address < start + length)

    def text(self, at):
        start = self.strings + at
        return self.data[start:self.data.index(b'\0', start)].decode()

    def needed(self):
        return {self.text(value) for tag, value in self.dynamic if tag == self.NEEDED}

    def rpath(self):
        at = self.value(self.RPATH)
        return at and self.text(at)

    def versions(self):
        """{(library, version)} of .gnu.version_r."""
        found, at = set(), self.offset(self.value(self.VERNEED))
        while True:
            _, count, library, first, following = struct.unpack_from('<HHIII', self.data, at)
            entry = at + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from('<IHHII', self.data, entry)
                found.add((self.text(library), self.text(name)))
                entry += step
            if not following:
                return found
            at += following


def elf_files():
    """{name: bytes} of every ELF file in the package, wherever it lies."""
    with zipfile.ZipFile(package()) as file:
        found = {name: file.read(name) for name in file.namelist()}
    return {name: data for name, data in found.items() if data.startswith(b'\x7fELF')}


def test_what_it_needs_of_glibc(t):
    """No version that is newer than the README says, in any file; and no library but glibc's and its own."""
    files = elf_files()
    own = {os.path.basename(name) for name in files}
    t.equal(own, {'shadowtrace', 'libshadowtrace.so', 'libjansson.so.4', 'liburcu-memb.so.8'})
    newest = (0,)
    for name, data in files.items():
        elf = Elf(data)
        t.equal(os.path.dirname(name) + '/', NATIVE)
        t.equal(elf.needed() - OF_GLIBC - own, set(), name)
        if elf.needed() & own:
            t.equal(elf.rpath(), '$ORIGIN', name)
        versions = elf.versions()
        t.true(versions, '%s needs no version: was it read?' % name)
        for library, version in versions:
            if library in own:
                continue
            t.true(library in OF_GLIBC and version.startswith('GLIBC_'), (name, library, version))
            number = tuple(int(part) for part in version[len('GLIBC_'):].split('.'))
            t.true(number <= FLOOR, '%s needs %s of %s' % (name, version, library))
            newest = max(newest, number)
    t.equal(newest, FLOOR, 'the oldest glibc it could run on is older than it says')
    with zipfile.ZipFile(package()) as file:
        t.true('glibc %d.%d or later' % FLOOR in ' '.join(file.read('README.md').decode().split()), 'the README says another')
    # The same reading finds what this machine's build needs: more.
    with open(harness.LIBRARY, 'rb') as file:
        versions = {tuple(int(part) for part in v[len('GLIBC_'):].split('.'))
                    for library, v in Elf(file.read()).versions() if library in OF_GLIBC}
    t.note('%d.%d; the build of this machine %d.%d' % (newest + max(versions)))


@each('file', 'shadowtrace', 'libshadowtrace.so')
def test_it_links_what_lies_beside_it(t, file):
    """Also where the environment has another folder first, with libraries of this system."""
    i = installed()
    system = os.path.dirname(subprocess.run(['cc', '-print-file-name=libjansson.so.4'], check=True,
                                            stdout=subprocess.PIPE, text=True).stdout.strip())
    result = run(['/lib64/ld-linux-x86-64.so.2', '--list', os.path.join(i.native, file)],
                 env=clean(t, LD_LIBRARY_PATH=system))
    t.equal(result.status, 0, result)
    found = dict(line.split(' => ') for line in result.text.splitlines() if ' => ' in line)
    ours = {name.strip(): os.path.dirname(path.split()[0]) for name, path in found.items() if name.strip() not in OF_GLIBC}
    t.equal(set(ours.values()), {os.path.realpath(i.native)}, result)
    t.equal(set(ours), {'libjansson.so.4'} | ({'liburcu-memb.so.8'} if file.endswith('.so') else set()))


@each('file', 'liburcu-memb.so.8', 'libjansson.so.4')
def test_what_lies_beside_exports_what_debians_does(t, file):
    """It is compiled here from Debian's source."""
    system = subprocess.run(['cc', '-print-file-name=' + file], check=True, stdout=subprocess.PIPE, text=True)
    exported = [run(['nm', '-D', '--defined-only', '--format=just-symbols', path]).text.split()
                for path in (os.path.join(installed().native, file), system.stdout.strip())]
    t.true(len(exported[0]) > 10, exported)
    t.equal(*exported)


def test_it_exports_what_the_library_does(t):
    """Nothing of what stands in for parts of glibc: another library would be bound to that."""
    exported = [run(['nm', '-D', '--defined-only', '--format=just-symbols', path]).text.split()
                for path in (os.path.join(installed().native, 'libshadowtrace.so'), harness.LIBRARY)]
    t.true('DllGetClassObject' in exported[0], exported)
    t.equal(*exported)
    command = run(['nm', '-D', '--defined-only', '--format=just-symbols', os.path.join(installed().native, 'shadowtrace')])
    t.equal(set(command.text.split()) & {'stat', 'lstat', 'fstat', 'renameat2', '__libc_start_main'}, set())


def test_symbols_lie_beside_it(t):
    """Nothing of them is in the package; each file's build id leads to them, and they name its functions."""
    with tarfile.open(package()[:-len('.nupkg')] + '.debug.tar.gz') as archive:
        archive.extractall(t.path('debug'), filter='data')
    names = {'shadowtrace': 'record_library_find', 'libshadowtrace.so': 'stack_enter_slow', 'liburcu-memb.so.8': 'urcu_memb_synchronize_rcu',
             'libjansson.so.4': 'json_object'}
    for name, data in elf_files().items():
        path = t.path(os.path.basename(name))
        with open(path, 'wb') as file:
            file.write(data)
        sections = run(['readelf', '-SW', path]).text
        t.true('.symtab' not in sections and '.debug_' not in sections, sections)
        identity = run(['readelf', '-n', path]).text.split('Build ID:')[1].split()[0]
        symbols = t.path('debug', '.build-id', identity[:2], identity[2:] + '.debug')
        t.true(os.path.exists(symbols), '%s: no %s' % (name, symbols))
        lines = run(['addr2line', '-f', '-e', symbols, address_of(symbols, names[os.path.basename(name)])]).text
        t.true(lines.startswith(names[os.path.basename(name)] + '\n') and '.c:' in lines, lines)


def address_of(path, function):
    found = [line.split()[0] for line in run(['nm', path]).text.splitlines() if line.split()[-1] == function]
    if len(found) != 1:
        raise AssertionError('%s in %s: %s' % (function, path, found))
    return '0x' + found[0]


def test_the_same_files_make_the_same_package(t):
    """pack.py twice; times and order in the package are fixed."""
    file = package()
    with zipfile.ZipFile(file) as packed:
        t.equal({entry.date_time for entry in packed.infolist()}, {(1980, 1, 1, 0, 0, 0)})
        names = packed.namelist()
    t.equal(names, sorted(names))
    again = t.path('again.nupkg')
    version = os.path.basename(file)[len('shadowtrace.'):-len('.nupkg')]
    result = run([sys.executable, os.path.join(ROOT, 'src/package/nuget/pack.py'), version, '%d.%d' % FLOOR,
                  os.path.join(FOLDER, 'shim'), again, 'linux-x64=' + os.path.join(FOLDER, 'native')])
    t.equal(result.status, 0, result)
    t.equal(digest(again), digest(file))


def test_what_needs_more_is_not_packed(t):
    """A library as it is built for this machine."""
    shutil.copy(harness.LIBRARY, t.path('libshadowtrace.so'))
    out = t.path('package.nupkg')
    result = run([sys.executable, os.path.join(ROOT, 'src/package/nuget/pack.py'), '1.0.0', '%d.%d' % FLOOR,
                  os.path.join(FOLDER, 'shim'), out, 'linux-x64=' + t.folder])
    one_line(result, 1, 'libshadowtrace.so needs glibc 2.', 'the package is for %d.%d and later' % FLOOR)
    t.true(not os.path.exists(out), 'there is a package')


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.sha256(file.read()).hexdigest()


@lane('nupkg')
@early
def test_another_folder_makes_the_same_package(t):
    """The whole build again, elsewhere."""
    file, there = package(), t.path('elsewhere')
    for name in 'src', 'hooks', 'include', 'Makefile', 'LICENSE', 'tests/tls-size', 'tests/tests.mk':
        copy = shutil.copytree if os.path.isdir(os.path.join(ROOT, name)) else shutil.copy
        os.makedirs(os.path.dirname(os.path.join(there, name)), exist_ok=True)
        copy(os.path.join(ROOT, name), os.path.join(there, name))
    for source in 'liburcu', 'jansson':
        shutil.copytree(os.path.join(FOLDER, source), os.path.join(there, 'build/package', source))
    result = run(['nice', 'make', '-C', there, '-j2', 'nupkg'], timeout=3600, env=BUILDING)
    t.equal(result.status, 0, result)
    t.equal(digest(os.path.join(there, 'build/package', os.path.basename(file))), digest(file))


# ---- The shim: for SDKs that start managed tools only, and for machines that the command is not for.

def test_the_shim_becomes_the_command(t):
    """Arguments as they are, signals as they were, the exit status; NuGet keeps no permission to run a file."""
    files = unpacked(t)
    shim, native = os.path.join(files, 'tools/net8.0/any/shadowtrace.dll'), os.path.join(files, NATIVE, 'shadowtrace')
    os.chmod(native, 0o644)
    odd = [b'a b', b'', b'\xff\xfe', 'ü'.encode(), b'"']
    script = 'import os, sys\nprint([os.fsencode(a) for a in sys.argv[1:]])\nprint(open("/proc/self/status").read())\nsys.exit(7)'
    said = [run([*start, 'record', '-q', '-o', t.path('none.ndjson'), '--', sys.executable, '-c', script,
                 *map(os.fsdecode, odd)], env=clean(t))
            for start in (['dotnet', shim], [native])]
    t.equal([result.status for result in said], [7, 7], said[0])
    lines = [[line for line in result.text.splitlines() if line.startswith(('[', 'SigIgn', 'SigBlk'))] for result in said]
    t.equal(lines[0], lines[1])
    t.equal(lines[0][0], str(odd))
    t.true(os.access(native, os.X_OK), 'still no permission to run it')


@each('machine', 'linux-musl-x64', 'linux-arm64')
def test_it_is_installed_where_it_does_not_run(t, machine):
    """There NuGet chooses the shim, not the command; it says what the package runs on."""
    folder = t.path('tools')
    install(t, folder, DOTNET_RUNTIME_ID=machine)  # what the host takes for the machine's name
    result = run([os.path.join(folder, 'shadowtrace'), 'report', 'x.ndjson'], env=clean(t, DOTNET_RUNTIME_ID=machine))
    one_line(result, 3, 'shadowtrace: does not run on ' + machine, 'it needs Linux on x86-64 with glibc')
    t.equal(result.text, '')


@each('machine', 'alpine.3.20-x64', 'osx-arm64', 'debian.12-x64', 'rhel.8-x64')
def test_the_shim_and_names_of_machines(t, machine):
    """A distribution's own SDK has another name for the machine."""
    result = run(['dotnet', installed().shim, '--version'], env=clean(t, DOTNET_RUNTIME_ID=machine))
    if machine.startswith(('debian', 'rhel')):
        t.equal((result.status, result.text), (0, tool('--version').text), result)
    else:
        one_line(result, 3, machine, 'it needs Linux on x86-64 with glibc')


def test_the_shim_and_a_command_that_does_not_start(t):
    """Another dynamic linker (as on musl), another processor, a file that is cut, one that is gone."""
    files = unpacked(t)
    shim, native = os.path.join(files, 'tools/net8.0/any/shadowtrace.dll'), os.path.join(files, NATIVE, 'shadowtrace')
    with open(native, 'rb') as file:
        whole = file.read()
    linker = b'/lib64/ld-linux-x86-64.so.2'
    t.equal(whole.count(linker + b'\0'), 1)
    for content, words in ((whole.replace(linker, b'/lib64/ld-nothere-86-64.so.'), 'its dynamic linker, glibc\'s, is not on this machine'),
                           (whole[:18] + struct.pack('<H', 183) + whole[20:], 'it is damaged, or not for this processor'),
                           (b'', 'it is damaged, or not for this processor')):
        with open(native, 'wb') as file:
            file.write(content)
        one_line(run(['dotnet', shim, '--version'], env=clean(t)), 3, 'cannot start ' + native, words)
    os.unlink(native)
    one_line(run(['dotnet', shim, '--version'], env=clean(t)), 3, native + ' is missing; install the tool again')
