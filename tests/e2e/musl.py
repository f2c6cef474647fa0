"""
.NET for musl on a machine with glibc: the runtime from NuGet, Debian's package musl (the dynamic linker), and what the runtime
needs of a C++ library: the machine's own, with libstdc++.c in front of it. Programs are those of the SDK's framework.
"""
import json
import os
import shutil

from harness import BUILD, ENVIRONMENT, OUT, PROGRAM, SDK_FRAMEWORK, Skip, fetches, run

LINKER = '/lib/ld-musl-x86_64.so.1'
LIBRARY = os.path.join(BUILD, 'package', 'native', 'libshadowtrace.so')
FOLDER = os.path.join(OUT, 'musl')
HERE = os.path.dirname(os.path.abspath(__file__))


def environment():
    """Of programs for musl, and of the command that records them; skips without them."""
    if not os.path.exists(LINKER):
        raise Skip('the dynamic linker of musl is not installed (package musl)')
    if not os.path.exists(LIBRARY):
        raise Skip('the library of the package is not built (make nupkg)')
    return dict(ENVIRONMENT, DOTNET_ROOT=_runtime(), LD_LIBRARY_PATH=_cxx(), DOTNET_SYSTEM_GLOBALIZATION_INVARIANT='1',
                SHADOWTRACE_LIBRARY=LIBRARY)


def command(program):
    """The command line that starts a program: its launcher for musl, beside the files of the ordinary one."""
    PROGRAM.command(program, SDK_FRAMEWORK)  # built, or the test fails
    folder, ordinary = os.path.join(FOLDER, 'programs'), os.path.join(OUT, SDK_FRAMEWORK)
    os.makedirs(folder, exist_ok=True)
    with PROGRAM.alone():
        for name in os.listdir(ordinary):
            source, link = os.path.join(ordinary, name), os.path.join(folder, name)
            if '.' in name and os.path.isfile(source) and not (os.path.exists(link) and os.path.samefile(source, link)):
                shutil.rmtree(link, ignore_errors=True) if os.path.isdir(link) else os.path.lexists(link) and os.unlink(link)
                os.link(source, link)
        launcher = os.path.join(folder, program)
        _write(launcher, _launcher_of(program))
    return [launcher]


def _write(path, data):
    with open(path + '.new', 'wb') as file:
        file.write(data)
    os.chmod(path + '.new', 0o755)
    os.replace(path + '.new', path)


def _launcher_of(program):
    """A launcher has the name of its assembly in a place of 1,024 bytes."""
    with open(os.path.join(FOLDER, 'published', 'Hello'), 'rb') as file:
        data = file.read()
    place, name = b'Hello.dll'.ljust(1024, b'\0'), program.encode() + b'.dll'
    if data.count(place) != 1:
        raise AssertionError('the launcher of Hello has its name in %d places' % data.count(place))
    return data.replace(place, name.ljust(1024, b'\0'))


def _runtime():
    """The folder that DOTNET_ROOT names, of a program that brings its runtime."""
    root, published = os.path.join(FOLDER, 'root'), os.path.join(FOLDER, 'published')
    if os.path.exists(root):
        return root
    fetches('the runtime for musl')
    program = PROGRAM.publish('Hello', os.path.join('musl', 'published'), 'RuntimeIdentifier=linux-musl-x64',
                              'SelfContained=true', 'TargetFramework=' + SDK_FRAMEWORK)
    with PROGRAM.alone():
        if os.path.exists(root):
            return root
        version = _version(program + '.runtimeconfig.json')
        framework = os.path.join(root + '.new', 'shared/Microsoft.NETCore.App', version)
        host = os.path.join(root + '.new', 'host/fxr', version)
        shutil.rmtree(root + '.new', ignore_errors=True)
        os.makedirs(framework)
        os.makedirs(host)
        for name in os.listdir(published):
            source = os.path.join(published, name)
            if os.path.isfile(source) and not name.startswith(('Hello', '.', 'libe2e')):
                os.link(source, os.path.join(host if name == 'libhostfxr.so' else framework, name))
        _write(os.path.join(framework, 'Microsoft.NETCore.App.deps.json'), _of_the_framework(program + '.deps.json'))
        os.rename(root + '.new', root)
    return root


def _version(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)['runtimeOptions']['includedFrameworks'][0]['version']


def _of_the_framework(path):
    """What a program depends on, without the program itself: a folder without such a file is no framework."""
    with open(path, encoding='utf-8') as file:
        all_of_it = json.load(file)
    for part in list(all_of_it['targets'].values()) + [all_of_it['libraries']]:
        part.pop('Hello/1.0.0', None)
    return json.dumps(all_of_it).encode()


def _cxx():
    """The folder of what stands in for a C++ library that is built for musl."""
    folder, source = os.path.join(FOLDER, 'cxx'), os.path.join(HERE, 'musl', 'libstdc++.c')
    made = os.path.join(folder, 'libstdc++.so.6')
    with PROGRAM.alone():
        if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(source):
            return folder
        os.makedirs(folder, exist_ok=True)
        for name, copy in ('libstdc++.so.6', 'libstdc++-gnu.so'), ('libgcc_s.so.1', 'libgcc_s.so.1'):
            shutil.copy(os.path.realpath(run(['cc', '-print-file-name=' + name]).text.strip()), os.path.join(folder, copy))
        # Needed by name only: __tls_get_addr is musl's own.
        _cc('-x', 'c', '/dev/null', '-o', os.path.join(folder, 'ld-linux-x86-64.so.2'), '-Wl,-soname,ld-linux-x86-64.so.2')
        empty = os.path.join(folder, 'empty.so')
        _cc('-x', 'c', '/dev/null', '-o', empty, '-Wl,-soname,libstdc++-gnu.so')
        _cc('-D_GNU_SOURCE', '-O2', '-w', '-fno-stack-protector', '-mtls-dialect=gnu2', source, '-o', made + '.new',
            '-Wl,-soname,libstdc++.so.6', '-Wl,--no-as-needed', empty)
        os.unlink(empty)
        os.replace(made + '.new', made)
    return folder


def _cc(*arguments):
    result = run(['cc', '-shared', '-fPIC', '-nostdlib', *arguments])
    if result.status:
        raise AssertionError('cannot compile for musl\n%s' % result)
