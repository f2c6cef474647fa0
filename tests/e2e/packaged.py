"""
Runtimes from NuGet's packages for another system than this one (musl, arm64): the folders that DOTNET_ROOT names, and programs of
the other tests with launchers for them, which are made of the runtime's own.
"""
import json
import os
import shutil
import stat

from harness import BUILDING, OUT, PROGRAM, SDK_FRAMEWORK, Skip, fetches, run

CORE = 'Microsoft.NETCore.App'
TOOLSET = 'Microsoft.Net.Compilers.Toolset', '4.14.0'
# The name of the program that an unused launcher has, in a place of 1,024 bytes: SHA-256 of "foobar".
PLACE = b'c3ab8ff13720e8ad9047dd39466b3c8974e592c2fa383d4a3960714caef0c4f2'


class Packaged:
    """Those of one runtime identifier, in a folder of build/e2e."""

    def __init__(self, rid, folder):
        self.rid, self.folder = rid, os.path.join(OUT, folder)

    def root(self, framework):
        """The folder that DOTNET_ROOT names."""
        root = os.path.join(self.folder, 'root-' + _version(framework))
        self._framework(root, CORE, framework)
        return root

    def command(self, framework, program, adjusted=lambda assembly: assembly, native=None):
        """
        The command line that starts a program of tests/e2e/programs, in a folder for its framework.
        adjusted: what becomes of its assembly. native(folder): puts the C library that programs call there; else this system's.
        """
        PROGRAM.command(program, framework)  # built, or the test fails
        built, folder = os.path.join(OUT, framework), os.path.join(self.folder, framework)
        with open(os.path.join(built, program + '.runtimeconfig.json'), encoding='utf-8') as file:
            options = json.load(file)['runtimeOptions']
        named = options.get('includedFrameworks') or options.get('frameworks') or [options['framework']]
        for name in [one['name'] for one in named]:
            self._framework(self.root(framework), name, framework)
        with PROGRAM.alone():
            os.makedirs(folder, exist_ok=True)
            native(folder) if native else _copy(os.path.join(built, 'libe2enative.so'), folder)
            with open(os.path.join(built, program + '.dll'), 'rb') as file:
                write(os.path.join(folder, program + '.dll'), adjusted(file.read()))
            for name in [program + '.pdb'] + _needed(built, program):
                _copy(os.path.join(built, name), folder)
            return self._launcher(framework, folder, program, [one['name'] for one in named], options.get('configProperties', {}))

    def compiler(self, framework):
        """The same for the C# compiler of NuGet, which is IL only: the SDK's is compiled for the machine of the SDK."""
        source = os.path.join(_package(*TOOLSET), 'tasks', 'netcore', 'bincore')
        folder = os.path.join(self.folder, 'csc-' + framework)
        self.root(framework)
        with PROGRAM.alone():
            if not os.path.exists(source):
                self._restore(*TOOLSET)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
            for path in os.listdir(source):
                if path.endswith('.dll'):
                    shutil.copy2(os.path.join(source, path), folder)
            return self._launcher(framework, folder, 'csc', [CORE], {})

    def _restored(self, name, version):
        """The folder of what a package has for this runtime identifier."""
        path = os.path.join(_package(name + '.' + self.rid, version), 'runtimes', self.rid)
        if not os.path.exists(path):
            self._restore(name + '.' + self.rid, version)
        return path

    def _restore(self, name, version):
        fetches('packages for ' + self.rid)
        folder = os.path.join(self.folder, 'restore')
        os.makedirs(folder, exist_ok=True)
        project = os.path.join(folder, 'packages.csproj')
        with open(project, 'w', encoding='utf-8') as file:
            file.write('<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>net10.0</TargetFramework></PropertyGroup>'
                       '<ItemGroup><PackageDownload Include="%s" Version="[%s]" /></ItemGroup></Project>' % (name, version))
        result = run(['nice', 'dotnet', 'restore', project, '-nologo'], env=BUILDING)
        if result.status:
            raise Skip('%s %s cannot be restored' % (name, version))

    def _framework(self, root, name, framework):
        """Puts a shared framework there."""
        version = _version(framework)
        shared = os.path.join(root, 'shared', name, version)
        if os.path.exists(shared):
            return
        with PROGRAM.alone():
            if os.path.exists(shared):
                return
            package = self._restored(name + '.Runtime', version)
            shutil.rmtree(shared + '.new', ignore_errors=True)
            os.makedirs(shared + '.new')
            for folder, _, files in os.walk(package):
                for file in files:
                    _link(os.path.join(folder, file), os.path.join(shared + '.new', file))
            host = os.path.join(shared + '.new', 'libhostfxr.so')
            if os.path.exists(host):
                os.makedirs(os.path.join(root, 'host/fxr', version), exist_ok=True)
                os.replace(host, os.path.join(root, 'host/fxr', version, 'libhostfxr.so'))
            files = sorted(os.listdir(shared + '.new'))
            write(os.path.join(shared + '.new', name + '.deps.json'), json.dumps(self._depends(name, version, files)))
            os.rename(shared + '.new', shared)

    def _depends(self, name, version, names):
        """A folder without such a file is no framework."""
        library = 'runtimepack.%s.Runtime.%s/%s' % (name, self.rid, version)
        files = {'runtime': {name: {} for name in names if name.endswith('.dll')},
                 'native': {name: {} for name in names if name.endswith('.so')}}
        target = '.NETCoreApp,Version=v%s/%s' % ('.'.join(version.split('.')[:2]), self.rid)
        return {'runtimeTarget': {'name': target}, 'targets': {target: {library: files}},
                'libraries': {library: {'type': 'package', 'serviceable': True, 'sha512': ''}}}

    def _launcher(self, framework, folder, program, names, settings):
        write(os.path.join(folder, program + '.runtimeconfig.json'), json.dumps({'runtimeOptions': {
            'frameworks': [{'name': name, 'version': _version(framework)} for name in names], 'configProperties': settings}}))
        # One launcher starts every version of the runtime.
        host = self._restored('Microsoft.NETCore.App.Host', _version(SDK_FRAMEWORK))
        with open(os.path.join(host, 'native', 'apphost'), 'rb') as file:
            data = file.read()
        if data.count(PLACE) != 1:
            raise AssertionError('the launcher has %d places for a name' % data.count(PLACE))
        at = data.index(PLACE)
        write(os.path.join(folder, program), data[:at] + (program + '.dll').encode().ljust(1024, b'\0') + data[at + 1024:])
        return [os.path.join(folder, program)]


def _copy(path, folder):
    """In one step: a program that runs meanwhile has mapped the file that is there."""
    with open(path, 'rb') as file:
        write(os.path.join(folder, os.path.basename(path)), file.read())


def _needed(built, program):
    """The assemblies that a program has besides its own and the runtime's."""
    with open(os.path.join(built, program + '.deps.json'), encoding='utf-8') as file:
        described = json.load(file)
    parts = described['targets'][described['runtimeTarget']['name']]
    paths = [path for name, part in parts.items() if not name.startswith('runtimepack.') for path in part.get('runtime', {})]
    return [name for name in map(os.path.basename, paths) if name != program + '.dll']


def _version(framework):
    return PROGRAM.patches.newest(framework)


def _package(name, version):
    folder = os.environ.get('NUGET_PACKAGES') or os.path.expanduser('~/.nuget/packages')
    return os.path.join(folder, name.lower(), version)


def _link(source, path):
    try:
        os.link(source, path)
    except OSError:  # another file system
        shutil.copy2(source, path)


def write(path, data):
    with open(path + '.new', 'wb') as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path + '.new', stat.S_IRWXU | stat.S_IRGRP | stat.S_IROTH)
    os.replace(path + '.new', path)
