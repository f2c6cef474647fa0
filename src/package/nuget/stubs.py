#!/usr/bin/env python3
"""
Stand-ins for glibc's libraries, to link against as if this machine had an older glibc.

usage: stubs.py FLOOR FOLDER        stubs.py 2.17 build/package/glibc

The linker binds a symbol to the default version that the library before it has, and this machine's glibc has newer
defaults: pthread_create@GLIBC_2.34. A stand-in has the names of the real library and no code; the default version of each
is the newest that FLOOR or an older glibc had, as on such a system. A symbol that came later is not in it, so that the
link fails and says its name: glibc.c and start.c define the few that are needed.

libpthread and libdl are parts of libc since 2.34, and files without a symbol; before they were libraries of their own.
So their stand-ins are empty, and what is linked must name them (-Wl,--no-as-needed), to run on both.
"""
import os
import re
import subprocess
import sys

LIBRARIES = ('libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2')
# The dynamic linker and the format of the linker's output, by the machine that CC compiles for.
MACHINES = {'x86_64': ('ld-linux-x86-64.so.2', 'elf64-x86-64'), 'aarch64': ('ld-linux-aarch64.so.1', 'elf64-littleaarch64')}
CC = os.environ.get('CC', 'cc').split()
# The names that -lNAME looks for. What libc_nonshared.a has is linked in: atexit is one of them.
LINKED = {'libm.so': 'libm.so.6', 'libpthread.so': 'libpthread.so.0', 'libdl.so': 'libdl.so.2'}
LIBC_SCRIPT = 'OUTPUT_FORMAT(%s)\nGROUP(%s/libc.so.6 %s AS_NEEDED(%s/%s))\n'


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def number(version):
    return tuple(int(part) for part in version.split('.'))


def symbols(library, floor):
    """{name: (version, type, size)} of what a program that is linked with that glibc would be bound to."""
    found = {}
    for size, kind, name, version in re.findall(
            r'^ *\d+: [0-9a-f]+ +(\S+) (\w+) +(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +(?!UND)\w+ ([^@\s]+)@@?GLIBC_([\d.]+)$',
            output('readelf', '--dyn-syms', '-W', library), re.M):
        if kind in ('FUNC', 'IFUNC', 'OBJECT', 'TLS', 'NOTYPE') and number(version) <= floor:
            if name not in found or number(version) > number(found[name][0]):
                found[name] = version, kind, int(size, 0)
    return found


def assembly(found):
    """One label for each symbol; what has a size keeps it, because the linker may reserve a copy in the program."""
    for i, (name, (version, kind, size)) in enumerate(sorted(found.items())):
        section, type_of = {'OBJECT': ('.bss', '@object'), 'TLS': ('.section .tbss,"awT",@nobits', '@tls_object')}.get(
            kind, ('.text', '@function'))
        yield '%s\n.globl s%d\n.type s%d,%s\n.size s%d,%d\ns%d: .skip %d\n.symver s%d,%s@@GLIBC_%s\n' % (
            section, i, i, type_of, i, max(size, 1), i, max(size, 1) if section != '.text' else 1, i, name, version)
    yield '.section .note.GNU-stack,"",@progbits\n'


def make(folder, name, floor):
    library = output(*CC, '-print-file-name=' + name).strip()
    found = symbols(library, floor)
    source, script = os.path.join(folder, name + '.S'), os.path.join(folder, name + '.map')
    with open(source, 'w', encoding='utf-8') as file:
        file.writelines(assembly(found))
    with open(script, 'w', encoding='utf-8') as file:
        for version in sorted({version for version, _, _ in found.values()}, key=number):
            file.write('GLIBC_%s { };\n' % version)
        file.write('LOCAL_ { local: *; };\n')
    subprocess.run([*CC, '-shared', '-nostdlib', '-o', os.path.join(folder, name), source,
                    '-Wl,-soname,' + name, '-Wl,--version-script=' + script], check=True)


def main():
    floor, folder = number(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    linker, output_format = MACHINES[output(*CC, '-dumpmachine').split('-')[0]]
    for name in LIBRARIES + (linker,):
        make(folder, name, floor)
    for link, target in LINKED.items():
        with open(os.path.join(folder, link), 'w', encoding='utf-8') as file:
            file.write('GROUP(%s)\n' % os.path.join(folder, target))
    nonshared = output(*CC, '-print-file-name=libc_nonshared.a').strip()
    with open(os.path.join(folder, 'libc.so'), 'w', encoding='utf-8') as file:
        file.write(LIBC_SCRIPT % (output_format, folder, nonshared, folder, linker))


if __name__ == '__main__':
    main()
