"""
.NET for arm64 on an x86-64 machine: qemu-user, Debian's arm64 libraries (`make arm64` unpacks them), and the runtime from NuGet.
The library under test is build/aarch64's.
"""
import os
import shutil
import struct

from harness import ENVIRONMENT, PROGRAM, PROGRAMS, ROOT, Record, Skip, fetches, run, tool
from packaged import Packaged

ARM64 = os.path.join(ROOT, 'build', 'aarch64')
SYSROOT = os.path.join(ARM64, 'sysroot')
LIBRARY = os.path.join(ARM64, 'libshadowtrace.so')
RUNTIMES = Packaged('linux-arm64', 'arm64')
MADE = set()  # goals of `make arm64`, of this run


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


def record(t, framework, words, *options, status=0, timeout=1800, env=None, library=LIBRARY, made=()):
    """
    A recording by the environment that `shadowtrace env` prints: without binfmt_misc no command can start such a program.
    made: what `make arm64` makes for it; the library if it is left out.
    """
    launcher = emulator(*made) + words
    t.records += 1
    folder = t.path(str(t.records))
    os.makedirs(folder)
    path = os.path.join(folder, 'log.ndjson')
    said = tool('env', '-o', path, *options, env=dict(ENVIRONMENT, SHADOWTRACE_LIBRARY=library))
    t.equal(said.status, 0, said)
    result = run(['sh', '-c', said.text + '\nexec "$@"', 'sh', *launcher], timeout=timeout, cwd=folder,
                 env=dict(environment(framework), **env or {}))
    t.equal(result.status, status, 'exit status\n%s' % result)
    return Record(result, folder, path)


def environment(framework):
    """
    The runtime writes code through a second mapping of its pages, of which qemu-user knows nothing: it runs what it translated
    of the code that was there before, and dynamic methods crash, without a profiler, too. So code is written in place.
    """
    return dict(ENVIRONMENT, DOTNET_ROOT=RUNTIMES.root(framework), DOTNET_SYSTEM_GLOBALIZATION_INVARIANT='1',
                DOTNET_EnableWriteXorExecute='0')


def command(framework, program):
    """The command line that starts a program of tests/e2e/programs."""
    emulator()  # the sysroot, which the C library of programs is compiled with
    return RUNTIMES.command(framework, program, _for_arm64, _native)


def compiler(framework):
    """The same for the C# compiler."""
    return RUNTIMES.compiler(framework)


def _for_arm64(assembly):
    """A program that brings its runtime says that it is for x86-64; its code is IL anyway."""
    at = struct.unpack_from('<I', assembly, 60)[0] + 4
    return assembly[:at] + b'\x64\xaa' + assembly[at + 2:] if assembly[at:at + 2] == b'\x64\x86' else assembly


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
