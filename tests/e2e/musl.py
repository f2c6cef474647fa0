"""
.NET for musl on a machine with glibc: the runtime from NuGet, Debian's package musl (the dynamic linker), and what the runtime
needs of a C++ library: the machine's own, with libstdc++.c in front of it.
"""
import os
import shutil

from harness import BUILD, ENVIRONMENT, PROGRAM, SDK_FRAMEWORK, Skip, run
from packaged import Packaged

LINKER = '/lib/ld-musl-x86_64.so.1'
LIBRARY = os.path.join(BUILD, 'package', 'native', 'libshadowtrace.so')
RUNTIMES = Packaged('linux-musl-x64', 'musl')
OPENSSL = 'libcrypto.so.3', 'libssl.so.3'  # what hashes is theirs
HERE = os.path.dirname(os.path.abspath(__file__))


def environment(framework=SDK_FRAMEWORK):
    """Of programs for musl, and of the command that records them; skips without them."""
    if not os.path.exists(LINKER):
        raise Skip('the dynamic linker of musl is not installed (package musl)')
    if not os.path.exists(LIBRARY):
        raise Skip('the library of the package is not built (make nupkg)')
    return dict(ENVIRONMENT, DOTNET_ROOT=RUNTIMES.root(framework), LD_LIBRARY_PATH=_cxx(),
                DOTNET_SYSTEM_GLOBALIZATION_INVARIANT='1', SHADOWTRACE_LIBRARY=LIBRARY)


def command(program, framework=SDK_FRAMEWORK):
    """The command line that starts a program of tests/e2e/programs."""
    return RUNTIMES.command(framework, program)


def _cxx():
    """The folder of what stands in for a C++ library that is built for musl."""
    folder, source = os.path.join(RUNTIMES.folder, 'cxx'), os.path.join(HERE, 'musl', 'libstdc++.c')
    made = os.path.join(folder, 'libstdc++.so.6')
    with PROGRAM.alone():
        if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(source):
            return folder
        os.makedirs(folder, exist_ok=True)
        for name, copy in ('libstdc++.so.6', 'libstdc++-gnu.so'), ('libgcc_s.so.1', 'libgcc_s.so.1'):
            shutil.copy(_of_this_machine(name), os.path.join(folder, copy))
        for name in filter(os.path.isabs, map(_of_this_machine, OPENSSL)):
            shutil.copy(name, folder)
        # Needed by name only: __tls_get_addr is musl's own.
        _cc('-x', 'c', '/dev/null', '-o', os.path.join(folder, 'ld-linux-x86-64.so.2'), '-Wl,-soname,ld-linux-x86-64.so.2')
        empty = os.path.join(folder, 'empty.so')
        _cc('-x', 'c', '/dev/null', '-o', empty, '-Wl,-soname,libstdc++-gnu.so')
        _cc('-D_GNU_SOURCE', '-O2', '-w', '-fno-stack-protector', '-mtls-dialect=gnu2', source, '-o', made + '.new',
            '-Wl,-soname,libstdc++.so.6', '-Wl,--no-as-needed', empty)
        os.unlink(empty)
        os.replace(made + '.new', made)
    return folder


def _of_this_machine(name):
    """The path of a library; its name if it is missing."""
    path = run(['cc', '-print-file-name=' + name]).text.strip()
    return os.path.join(os.path.dirname(path), name) if os.path.isabs(path) else name


def _cc(*arguments):
    result = run(['cc', '-shared', '-fPIC', '-nostdlib', *arguments])
    if result.status:
        raise AssertionError('cannot compile for musl\n%s' % result)
