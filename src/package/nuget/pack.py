#!/usr/bin/env python3
"""
Puts the .nupkg of the .NET tool together: the same bytes from the same files.

usage: pack.py VERSION FLOOR SHIM OUT RID=NATIVE...

NATIVE: the folder of the command, the library and what they link, for the machine RID; FLOOR: the newest version of glibc that they may need
(stubs.py). SHIM: the folder of the managed program that stands in where the command does not run. OUT: the package.

    tools/net10.0/linux-x64/        the command, which SDK 10 starts itself; the same for linux-arm64
    tools/net10.0/linux-musl-x64/   the shim; without this NuGet would take linux-x64 on musl, too
    tools/net8.0/any/               the shim, for SDK 8 and 9, and for other systems

`dotnet pack` writes times and random names into a package, and knows no file that is made by make.
"""
import os
import re
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
# Packages whose code is linked or included; their licences are Debian's.
OTHERS = 'liburcu-dev', 'libjansson-dev', 'libelf-dev', 'libzstd-dev', 'zlib1g-dev'

SETTINGS = ('<?xml version="1.0" encoding="utf-8"?>\n<DotNetCliTool Version="%d">\n  <Commands>\n'
            '    <Command Name="shadowtrace" EntryPoint="%s" Runner="%s" />\n  </Commands>\n</DotNetCliTool>\n')
NATIVE_SETTINGS = SETTINGS % (2, 'shadowtrace', 'executable')
SHIM_SETTINGS = SETTINGS % (1, 'shadowtrace.dll', 'dotnet')

RELATIONS = ('<?xml version="1.0" encoding="utf-8"?>\n'
             '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">\n'
             '  <Relationship Type="http://schemas.microsoft.com/packaging/2010/07/manifest"'
             ' Target="/shadowtrace.nuspec" Id="R0" />\n</Relationships>\n')
TYPES = ('<?xml version="1.0" encoding="utf-8"?>\n'
         '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\n'
         '  <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml" />\n%s</Types>\n')


def read(path):
    with open(path, 'rb') as file:
        return file.read()


def text(path):
    return read(path).decode()


def number(version):
    return tuple(int(part) for part in version.split('.'))


def check_needs(path, floor):
    """No program that asks for a newer glibc goes into the package."""
    said = subprocess.run(['readelf', '-VW', path], check=True, stdout=subprocess.PIPE, text=True).stdout
    needed = said[said.find('Version needs section'):]
    newer = sorted({v for v in re.findall(r'Name: GLIBC_([\d.]+)', needed) if number(v) > number(floor)}, key=number)
    if newer or 'Version needs section' not in said:
        sys.exit('pack.py: %s needs glibc %s; the package is for %s and later' % (path, ', '.join(newer) or '?', floor))


def notices():
    """The licences of others, as Debian's packages have them."""
    yield 'This package holds code of others: jansson and liburcu as libraries of their own; parts of libelf, zstd and zlib\n'
    yield 'in the command. Their licences, from the Debian packages they were built from:\n'
    for package in OTHERS:
        folder = os.path.join('/usr/share/doc', package)
        yield '\n%s\n%s\n\n%s\n' % (package, '=' * len(package), text(os.path.join(folder, 'copyright')).strip())


def content_types(names):
    """What an OPC package says of each kind of file; one whose name has no ending is named itself."""
    endings = sorted({name.rsplit('.', 1)[1] for name in names if '.' in os.path.basename(name)} - {'rels'})
    lines = ['  <Default Extension="%s" ContentType="application/octet" />\n' % ending for ending in endings]
    lines += ['  <Override PartName="/%s" ContentType="application/octet" />\n' % name
              for name in sorted(names) if '.' not in os.path.basename(name)]
    return TYPES % ''.join(lines)


def contents(version, floor, shim, natives):
    """{name in the package: bytes}"""
    made = {'shadowtrace.nuspec': text(os.path.join(HERE, 'shadowtrace.nuspec')).replace('@VERSION@', version),
            'README.md': text(os.path.join(HERE, 'README.md')).replace('@FLOOR@', floor),
            'LICENSE': read(os.path.join(ROOT, 'LICENSE')), 'THIRD-PARTY-NOTICES.txt': ''.join(notices()),
            '_rels/.rels': RELATIONS}
    for rid, native in natives:
        made['tools/net10.0/%s/DotnetToolSettings.xml' % rid] = NATIVE_SETTINGS
        for name in sorted(os.listdir(native)):
            check_needs(os.path.join(native, name), floor)
            made['tools/net10.0/%s/%s' % (rid, name)] = read(os.path.join(native, name))
    for folder in 'tools/net10.0/linux-musl-x64/', 'tools/net8.0/any/':
        made[folder + 'DotnetToolSettings.xml'] = SHIM_SETTINGS
        for name in 'shadowtrace.dll', 'shadowtrace.runtimeconfig.json':
            made[folder + name] = read(os.path.join(shim, name))
    made['[Content_Types].xml'] = content_types(made)
    return {name: what.encode() if isinstance(what, str) else what for name, what in made.items()}


def write(out, files):
    """Sorted, and of one time, the first that a zip can say; the few programs may be run."""
    with zipfile.ZipFile(out + '.new', 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as package:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if files[name].startswith(b'\x7fELF') else 0o100644) << 16
            package.writestr(entry, files[name])
    os.replace(out + '.new', out)


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__.strip().splitlines()[2])
    version, floor, shim, out = sys.argv[1:5]
    write(out, contents(version, floor, shim, [native.split('=', 1) for native in sys.argv[5:]]))


if __name__ == '__main__':
    main()
