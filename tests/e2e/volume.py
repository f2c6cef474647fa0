#!/usr/bin/env python3
"""
The table of live objects beside the runtime's walk of the heap, after every collection of large programs: the C# and the
F# compiler, Kestrel under load, `dotnet build`, random replacement with pinned and large objects; each hook set, .NET 8, 9
and 10. A line per program, and one with the sum: fewer than 50 million objects, or one that differs, is a failure.

usage: tests/e2e/volume.py [-k TEXT]... [-j N] [--list]

-k TEXT  only programs whose line contains TEXT (several: any of them); the sum is not judged then
-j N     N at once (default: the processors, at most 4)

The SDK's compilers and build run on its own runtime; on the others the same compilers do, from packages (programs/Compilers).
"""
import itertools
import os
import sys

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import matrix  # noqa: E402
import test_live  # noqa: E402
import totals  # noqa: E402
from harness import ENVIRONMENT, HOOKS, PROGRAM, SDK_FRAMEWORK  # noqa: E402

ENOUGH = 50_000_000
PATIENCE = 1800  # seconds a program may take


def checked(t, r, least):
    return test_live.checked(t, r, least, lines=False)  # minutes, of the largest


def with_gen0(size, **more):
    return dict(ENVIRONMENT, DOTNET_GCgen0size=hex(size), **{'DOTNET_' + name: value for name, value in more.items()})


def compilers(t, framework):
    """(command of the C# compiler, of the F# compiler)"""
    return [matrix.made_in(t.folder, command) for _, command, _ in matrix.compilers(t.folder, framework)]


def csc(t, framework):
    return compilers(t, framework)[0], with_gen0(0x80000, gcServer='0'), 150_000, checked


def fsc(t, framework):
    return compilers(t, framework)[1], with_gen0(0x400000), 1_000_000, checked


def kestrel(t, framework):
    return PROGRAM.command('WebServer', framework) + ['--scale', '20'], with_gen0(0x20000), 100_000, checked


def build(t, framework):
    return matrix.build_command(t.folder), with_gen0(0x400000), 100_000, test_live.checked_all


def replacement(t, framework):
    return PROGRAM.command('Replacer', framework) + ['--scale', '8', '--collect', '5'], ENVIRONMENT, 1_000_000, checked


def replacement_server(t, framework):
    return replacement(t, framework)[0], with_gen0(0x40000, gcServer='1', GCHeapCount='2'), 1_000_000, checked


# Name, what it runs, and whether that is of the SDK only.
WAYS = (('random replacement', replacement, False), ('random replacement, server collection', replacement_server, False),
        ('C# compiler', csc, False), ('Kestrel', kestrel, False), ('F# compiler', fsc, False), ('dotnet build', build, True))


def rows():
    for name, way, own in WAYS:
        for framework, hooks in itertools.product(matrix.SETTINGS['framework'], HOOKS):
            def judged(t, way=way, framework=framework, hooks=hooks):
                command, environment, least, checked = way(t, framework)
                recorded = t.record(command, '--live', '--check-live', '1', '--log', 'sites', hooks=hooks, env=environment, timeout=PATIENCE)
                compared = checked(t, recorded, least)['compared']
                t.finish()
                return compared
            if not own or framework == SDK_FRAMEWORK:
                yield totals.Row('%-38s %-7s %s' % (name, framework, hooks), judged)


def main():
    programs = [(program, framework) for program in ('Replacer', 'WebServer') for framework in matrix.SETTINGS['framework']]
    return totals.run('volume', 'The table of live objects beside large heaps.', rows(), programs, ENOUGH, 'objects')


if __name__ == '__main__':
    sys.exit(main())
