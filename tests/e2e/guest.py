"""
A machine for arm64 that qemu-system emulates: a kernel of Debian with pages of 4 or 16 KB, or one made from Debian's sources with
pages of 64 KB, and a file system in memory that holds nothing but what it runs. Signals, /proc and page protection are a kernel's here, and programs start without an emulator's name.
"""
import base64
import glob
import gzip
import os
import re
import shutil
import stat

import arm64
import debian
from harness import ROOT, PROGRAM, Record, Result, Skip, fetches, run

KERNELS = {'4': 'linux-image-arm64', '16': 'linux-image-arm64-16k', '64': 'linux-source'}  # packages, by KB
BUILDERS = 'make', 'flex', 'bison', 'bc', 'xz', 'aarch64-linux-gnu-gcc'
# What a program of .NET and the recording ask a kernel for; all else is left out.
CONFIGURATION = '''
ADVISE_SYSCALLS ARM64_64K_PAGES ARM64_VA_BITS_48 BINFMT_ELF BINFMT_SCRIPT BLK_DEV_INITRD CC_OPTIMIZE_FOR_SIZE CROSS_MEMORY_ATTACH
DEVTMPFS EPOLL EVENTFD EXPERT FHANDLE FILE_LOCKING FUTEX HIGH_RES_TIMERS INET INOTIFY_USER MEMBARRIER MEMFD_CREATE MULTIUSER NET
POSIX_MQUEUE POSIX_TIMERS PRINTK PROC_FS PROC_PAGE_MONITOR RD_GZIP RSEQ SERIAL_AMBA_PL011 SERIAL_AMBA_PL011_CONSOLE SHMEM SIGNALFD
SMP SYSFS SYSVIPC TIMERFD TMPFS TTY UNIX
'''.split()
COMMAND = os.path.join(arm64.ARM64, 'shadowtrace')
LIBRARIES = 'usr/lib/aarch64-linux-gnu', 'lib/aarch64-linux-gnu', 'lib'
INIT = '''#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
export PATH=/app:/bin HOME=/tmp DOTNET_ROOT=/dotnet DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
export LD_LIBRARY_PATH=/usr/lib/aarch64-linux-gnu
cd /tmp
%s
echo '@machine' "$(uname -m)"
poweroff -f
'''
# A step's outputs and its files, each as text that no message of the kernel can be taken for.
STEP = '''{ %(words)s; } >/tmp/out 2>/tmp/err </dev/null; status=$?
echo '@step %(name)s' $status
for file in out err %(files)s; do echo "@file $file"; [ -e /tmp/$file ] && gzip -c /tmp/$file | base64 | sed 's/^/=/'; done
'''


def _fetched(name, package):
    """The folder with the files of a package for arm64, of the release or its backports; skips if it does not exist."""
    folder = os.path.join(arm64.ARM64, name)
    if os.path.exists(os.path.join(folder, 'done')):
        return folder
    fetches('packages of Debian for arm64')
    with PROGRAM.alone():
        shutil.rmtree(folder, ignore_errors=True)
        source = ' '.join(['deb', *debian.mirror(), debian.suite() + '-backports', 'main']) if debian.mirror() else ''
        got = run(['sh', os.path.join(ROOT, 'src/package/cross/sysroot.sh'), 'arm64', folder, package], timeout=600,
                  env=dict(os.environ, SOURCE=source))
        if got.status:
            raise Skip('%s for arm64 cannot be fetched: %s' % (package, got.errors.strip().splitlines()[-1:]))
        shutil.rmtree(os.path.join(folder, 'lib/modules'), ignore_errors=True)  # all that is needed is in the kernel itself
        open(os.path.join(folder, 'done'), 'w', encoding='utf-8').close()
    return folder


def _kernel(pages):
    folder = _fetched('kernel-' + pages, KERNELS[pages])
    return max(glob.glob(os.path.join(folder, 'boot/vmlinu*'))) if pages != '64' else _made(folder)


def _made(folder):
    """The kernel of the sources in that folder: some minutes of a processor, once."""
    image = os.path.join(folder, 'Image')
    if os.path.exists(image):
        return image
    missing = [name for name in BUILDERS if not shutil.which(name)]
    if missing:
        raise Skip('a kernel with pages of 64 KB is not built: %s is not installed' % ', '.join(missing))
    with PROGRAM.alone():
        sources = os.path.join(folder, 'sources')
        shutil.rmtree(sources, ignore_errors=True)
        os.makedirs(sources)
        settings = os.path.join(sources, 'settings')
        with open(settings, 'w', encoding='utf-8') as out:
            out.write(''.join('CONFIG_%s=y\n' % name for name in CONFIGURATION))
        make = ['nice', 'make', '-s', '-C', sources, 'ARCH=arm64', 'CROSS_COMPILE=aarch64-linux-gnu-', '-j', str(os.cpu_count())]
        for words in (['tar', '-xf', max(glob.glob(os.path.join(folder, 'usr/src/linux-source-*.tar.xz'))), '-C', sources,
                       '--strip-components=1'], make + ['KCONFIG_ALLCONFIG=' + settings, 'allnoconfig'], make + ['Image']):
            result = run(words, timeout=3600)
            if result.status:
                raise AssertionError('the kernel cannot be built\n%s' % result)
        os.replace(os.path.join(sources, 'arch/arm64/boot/Image'), image)
        shutil.rmtree(sources)
    return image


class Root:
    """The file system, as an archive for the kernel (cpio, newc)."""

    def __init__(self, path):
        self.file = gzip.open(path, 'wb', 1)
        self.known = set()
        self.libraries = set()

    def put(self, path, mode, data=b''):
        """A file, with the folders above it; other kinds by their mode."""
        if path in self.known:
            return
        self.known.add(path)
        if os.path.dirname(path):
            self.put(os.path.dirname(path), stat.S_IFDIR | 0o755)
        device = (5, 1) if stat.S_ISCHR(mode) else (0, 0)  # the console
        fields = (len(self.known), mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path) + 1, 0)
        head = b'070701' + b''.join(b'%08X' % field for field in fields) + path.encode() + b'\0'
        self.file.write(head + b'\0' * (-len(head) % 4) + data + b'\0' * (-len(data) % 4))

    def copy(self, source, path):
        """A file, and the libraries that it needs."""
        with open(source, 'rb') as file:
            data = file.read()
        self.put(path, stat.S_IFREG | 0o755, data)
        if data[:4] != b'\x7fELF':
            return
        needed = run(['aarch64-linux-gnu-readelf', '-d', source]).text
        for name in re.findall(r'\(NEEDED\).*\[(.*)\]', needed):
            found = [p for p in (os.path.join(arm64.SYSROOT, folder, name) for folder in LIBRARIES) if os.path.exists(p)]
            if found and name not in self.libraries:  # else one beside it, or one that it can do without
                self.libraries.add(name)
                self.copy(found[0], 'usr/lib/aarch64-linux-gnu/' + name)

    def copy_all(self, source, path):
        for folder, _, files in os.walk(source):
            for name in files:
                self.copy(os.path.join(folder, name), os.path.normpath(os.path.join(path, os.path.relpath(folder, source), name)))

    def close(self):
        self.put('dev/console', stat.S_IFCHR | 0o600)
        self.known.clear()
        self.put('TRAILER!!!', 0)
        self.file.close()


def _emulator():
    found = shutil.which('qemu-system-aarch64')
    if not found:
        raise Skip('qemu-system-arm is not installed')
    return found


def boot(t, pages, framework, programs, steps):
    """
    Starts the machine with the command, the library, a runtime and programs of tests/e2e/programs, lets it run steps in a shell, and
    ends it. steps: {name: (words, files in /tmp that it leaves)}. Programs are /app/NAME.
    Returns: {name: Record}, its folder with those files; its path is the first of them.
    """
    emulator, kernel = _emulator(), _kernel(pages)
    arm64.emulator(*(os.path.relpath(path, ROOT) for path in (COMMAND, arm64.LIBRARY)))
    root = Root(t.path('root'))
    for folder in 'proc', 'sys', 'tmp':
        root.put(folder, stat.S_IFDIR | 0o755)
    root.copy(os.path.join(_fetched('busybox', 'busybox-static'), 'bin/busybox'), 'bin/busybox')
    root.copy(os.path.join(arm64.SYSROOT, 'lib/ld-linux-aarch64.so.1'), 'lib/ld-linux-aarch64.so.1')
    for library in glob.glob(os.path.join(arm64.SYSROOT, LIBRARIES[0], 'libunwind*.so.8')):  # which is loaded when it is needed
        root.copy(library, 'usr/lib/aarch64-linux-gnu/' + os.path.basename(library))
    for path in COMMAND, arm64.LIBRARY:
        stripped = t.path(os.path.basename(path))
        t.equal(run(['aarch64-linux-gnu-strip', '-o', stripped, path]).status, 0, 'strip')
        root.copy(stripped, 'app/' + os.path.basename(path))
    for program in programs:
        root.copy_all(os.path.dirname(arm64.command(framework, program)[0]), 'app')
    root.copy_all(arm64.RUNTIMES.root(framework), 'dotnet')
    script = ''.join(STEP % {'name': name, 'words': words, 'files': ' '.join(files)} for name, (words, files) in steps.items())
    root.put('init', stat.S_IFREG | 0o755, (INIT % script).encode())
    root.close()
    result = run([emulator, '-M', 'virt', '-cpu', 'max,pauth-impdef=on', '-smp', '2', '-m', '2048', '-nic', 'none', '-nographic',
                  '-no-reboot', '-kernel', kernel, '-initrd', t.path('root'), '-append', 'console=ttyAMA0 panic=-1 loglevel=0'],
                 timeout=1800)
    os.remove(t.path('root'))
    t.equal(re.findall(r'^@machine (.*?)\r?$', result.text, re.MULTILINE), ['aarch64'], result)
    return {name: _record(t, result, name, steps[name][1]) for name in steps}


def _record(t, result, name, files):
    """What a step said on the console."""
    said = re.search(r'^@step %s (\d+)\r?\n(.*?)(?=^@step|^@machine)' % re.escape(name), result.text, re.MULTILINE | re.DOTALL)
    t.true(said, 'the machine has not run %s\n%s' % (name, result))
    folder = t.path(name)
    os.makedirs(folder)
    got = {}
    for part in re.split(r'^@file ', said[2], flags=re.MULTILINE)[1:]:
        lines = part.split('\n')
        packed = base64.b64decode(''.join(line[1:].strip() for line in lines[1:] if line.startswith('=')))
        got[lines[0].strip()] = gzip.decompress(packed) if packed else b''
    for file in files:
        with open(os.path.join(folder, file), 'wb') as out:
            out.write(got[file])
    return Record(Result([name], int(said[1]), got['out'], got['err'], result.seconds), folder, os.path.join(folder, (files or [''])[0]))
