"""
.NET for arm64 on an x86-64 machine: qemu-user, Debian's arm64 libraries (`make arm64` unpacks them), and the runtime from NuGet.
The programs are those of the other tests; their launcher is made of the runtime's own. The library under test is build/aarch64's.
"""
import json
import os
import shutil
import stat
import struct

from harness import BUILDING, ENVIRONMENT, OUT, PROGRAM, PROGRAMS, ROOT, Record, Skip, fetches, run, tool

ARM64 = os.path.join(ROOT, 'build', 'aarch64')
SYSROOT = os.path.join(ARM64, 'sysroot')
LIBRARY = os.path.join(ARM64, 'libshadowtrace.so')
FOLDER = os.path.join(OUT, 'arm64')
PACKAGES = 'Microsoft.NETCore.App.Runtime.linux-arm64', 'Microsoft.NETCore.App.Host.linux-arm64'
TOOLSET = '4.14.0'
MADE = set()  # goals of `make arm64`, of this run
# The name of the program that an unused launcher has, in a place of 1,024 bytes: SHA-256 of "foobar".
PLACE = b'c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2'


def emulator(*goals):
    """The command that runs a program for arm64, of which `make arm64` makes these; skips without it."""
    names = ('qemu-aarch64', 'qemu-aarch64-static')
    found = [path for path in map(shutil.which, names) if path]
    if not found or not shutil.which('aarch64-linux-gnu-gcc'):
        raise Skip('qemu-user-static or gcc-aarch64-linux-gnu is not installed')
    if not os.path.exists(os.path.join(SYSROOT, 'done')):
        fetches("Debian's libraries for arm64")
    goals = goals or (os.path.relpath(LIBRARY, ROOT),)
    with PROGRAM.alone():
        if goals in MADE:
            return [found[0], '-L', SYSROOT]
        result = run(['nice', 'make', 'arm64', 'ARM64_GOALS=' + ' '.join(goals)], cwd=ROOT, timeout=1800)
    if result.status:
        raise AssertionError('`make arm64` fails\n%s' % result)
    MADE.add(goals)
    return [found[0], '-L', SYSROOT]


def record(t, framework, words, *options, status=0, timeout=1800):
    """A recording by the environment that `shadowtrace env` prints: without binfmt_misc no command can start such a program."""
    launcher = emulator() + words
    t.records += 1
    folder = t.path(str(t.records))
    os.makedirs(folder)
    path = os.path.join(folder, 'log.ndjson')
    said = tool('env', '-o', path, *options, env=dict(ENVIRONMENT, SHADOWTRACE_LIBRARY=LIBRARY))
    t.equal(said.status, 0, said)
    result = run(['sh', '-c', said.text + '\nexec "$@"', 'sh', *launcher], timeout=timeout, cwd=folder, env=environment(framework))
    t.equal(result.status, status, 'exit status\n%s' % result)
    return Record(result, folder, path)


def environment(framework):
    return dict(ENVIRONMENT, DOTNET_ROOT=_root(framework), DOTNET_SYSTEM_GLOBALIZATION_INVARIANT='1')


def _version(framework):
    return PROGRAM.patches.newest(framework)


def _package(name, version):
    folder = os.environ.get('NUGET_PACKAGES') or os.path.expanduser('~/.nuget/packages')
    return os.path.join(folder, name.lower(), version, 'runtimes', 'linux-arm64')


def _restore(names, version):
    if all(os.path.exists(_package(name, version)) for name in names):
        return
    fetches('packages for arm64')
    folder = os.path.join(FOLDER, 'restore')
    os.makedirs(folder, exist_ok=True)
    project = os.path.join(folder, 'packages.csproj')
    with open(project, 'w', encoding='utf-8') as file:
        file.write('<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>net10.0</TargetFramework></PropertyGroup>'
                   '<ItemGroup>%s</ItemGroup></Project>' % ''.join(
                       '<PackageDownload Include="%s" Version="[%s]" />' % (name, version) for name in names))
    result = run(['nice', 'dotnet', 'restore', project, '-nologo'], env=BUILDING)
    if result.status:
        raise Skip('%s %s cannot be restored' % (names[0], version))


def _root(framework):
    """The folder that DOTNET_ROOT names."""
    version = _version(framework)
    root = os.path.join(FOLDER, 'root-' + version)
    with PROGRAM.alone():
        if os.path.exists(root):
            return root
        _restore(PACKAGES, version)
        shared = os.path.join(root + '.new', 'shared/Microsoft.NETCore.App', version)
        host = os.path.join(root + '.new', 'host/fxr', version)
        shutil.rmtree(root + '.new', ignore_errors=True)
        package = _package(PACKAGES[0], version)
        shutil.copytree(os.path.join(package, 'native'), shared)
        libraries = os.path.join(package, 'lib')
        for name in os.listdir(os.path.join(libraries, *os.listdir(libraries))):
            os.link(os.path.join(libraries, *os.listdir(libraries), name), os.path.join(shared, name))
        os.makedirs(host)
        os.rename(os.path.join(shared, 'libhostfxr.so'), os.path.join(host, 'libhostfxr.so'))
        names = sorted(os.listdir(shared))
        _write(os.path.join(shared, 'Microsoft.NETCore.App.deps.json'), json.dumps(_depends(version, names)))
        os.rename(root + '.new', root)
    return root


def _depends(version, names):
    """A folder without such a file is no framework."""
    library = 'runtimepack.Microsoft.NETCore.App.Runtime.linux-arm64/' + version
    files = {'runtime': {name: {} for name in names if name.endswith('.dll')},
             'native': {name: {} for name in names if name.endswith('.so')}}
    target = '.NETCoreApp,Version=v%s/linux-arm64' % '.'.join(version.split('.')[:2])
    return {'runtimeTarget': {'name': target}, 'targets': {target: {library: files}},
            'libraries': {library: {'type': 'package', 'serviceable': True, 'sha512': ''}}}


def command(framework, program):
    """The command line that starts a program of tests/e2e/programs."""
    PROGRAM.command(program, framework)  # built, or the test fails
    _root(framework)
    built, folder = os.path.join(OUT, framework), os.path.join(FOLDER, framework)
    with PROGRAM.alone():
        os.makedirs(folder, exist_ok=True)
        _native(folder)
        with open(os.path.join(built, program + '.dll'), 'rb') as file:
            _write(os.path.join(folder, program + '.dll'), _for_arm64(file.read()))
        shutil.copy2(os.path.join(built, program + '.pdb'), folder)
        with open(os.path.join(built, program + '.runtimeconfig.json'), encoding='utf-8') as file:
            settings = json.load(file)['runtimeOptions'].get('configProperties', {})
        return _launcher(framework, folder, program, settings)


def compiler(framework):
    """The same for the C# compiler of NuGet: the SDK's is compiled for the machine of the SDK."""
    name = 'Microsoft.Net.Compilers.Toolset'
    source = os.path.join(os.path.dirname(os.path.dirname(_package(name, TOOLSET))), 'tasks', 'netcore', 'bincore')
    folder = os.path.join(FOLDER, 'csc-' + framework)
    _root(framework)
    with PROGRAM.alone():
        if not os.path.exists(source):
            _restore([name], TOOLSET)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        for path in os.listdir(source):
            if path.endswith('.dll'):
                shutil.copy2(os.path.join(source, path), folder)
        return _launcher(framework, folder, 'csc', {})


def _for_arm64(assembly):
    """A program that brings its runtime says that it is for x86-64; its code is IL anyway."""
    at = struct.unpack_from('<I', assembly, 60)[0] + 4
    return assembly[:at] + b'\x64\xaa' + assembly[at + 2:] if assembly[at:at + 2] == b'\x64\x86' else assembly


def _launcher(framework, folder, program, settings):
    version = _version(framework)
    _write(os.path.join(folder, program + '.runtimeconfig.json'), json.dumps({'runtimeOptions': {
        'framework': {'name': 'Microsoft.NETCore.App', 'version': version}, 'configProperties': settings}}))
    with open(os.path.join(_package(PACKAGES[1], version), 'native', 'apphost'), 'rb') as file:
        data = file.read()
    if data.count(PLACE) != 1:
        raise AssertionError('the launcher has %d places for a name' % data.count(PLACE))
    at = data.index(PLACE)
    _write(os.path.join(folder, program), data[:at] + (program + '.dll').encode().ljust(1024, b'\0') + data[at + 1024:])
    return [os.path.join(folder, program)]


def _native(folder):
    """The C library that programs call."""
    made, source = os.path.join(folder, 'libe2enative.so'), os.path.join(PROGRAMS, 'native', 'e2enative.c')
    if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(source):
        return
    result = run(['aarch64-linux-gnu-gcc', '--sysroot=' + SYSROOT, '-std=c11', '-O1', '-g', '-fPIC', '-shared', '-fno-omit-frame-pointer',
                  '-o', made + '.new', source, '-lpthread'])
    if result.status:
        raise AssertionError('cannot build the native library\n%s' % result)
    os.replace(made + '.new', made)


def _write(path, data):
    with open(path + '.new', 'wb') as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path + '.new', stat.S_IRWXU | stat.S_IRGRP | stat.S_IROTH)
    os.replace(path + '.new', path)
