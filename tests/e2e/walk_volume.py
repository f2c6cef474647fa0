#!/usr/bin/env python3
"""
Walked stacks beside the runtime's own snapshots, at every allocation of large programs: the C# and the F# compiler,
`dotnet build`, Kestrel under parallel load, Lucene.NET, programs that throw and that wait. A line per recording, and one with
the sum: fewer than 100 million stacks, or one that differs, is a failure.

usage: tests/e2e/walk_volume.py [-k TEXT]... [-j N] [--list]

-k TEXT  only recordings whose line contains TEXT (several: any of them); the sum is not judged then
-j N     N at once (default: the processors, at most 4)

Each program runs with every pair of: .NET 8, 9, 10 or 11; nothing hooked (walk) or its own methods by either hook set
(own-elt2, own-elt3) with walks between them; and the settings of the matrix. A walk that is not certain falls back to a
snapshot, which leaves nothing to compare: for fewer than one stack in 1,000, and in a compiler or Kestrel only where the
runtime has replaced a return address to stop the thread, which nobody can look behind.
"""
import collections
import os
import sys

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import matrix  # noqa: E402
import test_walk  # noqa: E402
import totals  # noqa: E402
from harness import PROGRAM, SDK_FRAMEWORK  # noqa: E402
from selection import covering  # noqa: E402

ENOUGH = 100_000_000
PATIENCE = 1800  # seconds a program may take
FALLBACKS = 0.001  # of all stacks, where there may be some
REFUSED = {'0x80131360', matrix.NO_FRAME}  # by DoStackSnapshot: the runtime starts, or there is no managed frame

# What to run, given a Test and a framework; which methods are its own; the least number of stacks; what may fall back.
Program = collections.namedtuple('Program', 'command own least fallbacks', defaults=(FALLBACKS,))


def compiler(number):
    def command(t, framework):
        return matrix.made_in(t.folder, matrix.compilers(t.folder, framework)[number][1])
    return command


def program(name, *arguments):
    return lambda t, framework: PROGRAM.command(name, framework) + list(arguments)


OWN = ('--own',)
# The longest first.
PROGRAMS = {
    'fsc': Program(compiler(1), ('--only', 'FSharp.Compiler.*'), 4_000_000, 0),
    'Kestrel': Program(program('WebServer', '--scale', '80'), OWN, 700_000, 0),
    'csc': Program(compiler(0), ('--only', 'Microsoft.CodeAnalysis.*'), 150_000, 0),
    'build': Program(lambda t, _: matrix.build_command(t.folder), ('--only', 'Microsoft.Build.*'), 700_000),
    'Searching': Program(program('Searching'), OWN, 300_000),
    'Exceptions': Program(program('Exceptions', '--scale', '120'), OWN, 200_000),
    'Async': Program(program('Async', '--scale', '200'), OWN, 200_000)}
BUILT = ('WebServer', 'Searching', 'Exceptions', 'Async')
SETTINGS = collections.OrderedDict(matrix.SETTINGS, hooks=('walk', 'own-elt2', 'own-elt3'))


def record(t, one, cell):
    command = one.command(t, cell.framework)
    hooks = cell.hooks.removeprefix('own-') if cell.hooks != 'walk' else None
    options = one.own if hooks else ('--capture', 'walk')
    return t.record(command, *options, '--log', 'sites', hooks=hooks, check=1, rich=True, env=matrix.environment_of(cell), timeout=PATIENCE)


def judged(t, one, cell):
    """How many stacks were compared, in all processes."""
    r = record(t, one, cell)
    t.equal(r.status, 0, str(r))
    sums, reasons = collections.Counter(), collections.Counter()
    for path in r.paths:
        end = harness.last_record(path)
        t.equal(end['kind'], 'end', '%s has no end' % path)
        if end['snapshots']['mismatched']:
            raise AssertionError('%s: %s\n%s' % (path, end['snapshots'], harness.show_mismatch(harness.Log(path))))
        test_walk.agreed(t, end)
        t.equal(set(end['snapshots']['refused_by']) - REFUSED, set(), 'refused by')
        sums.update(equal=end['snapshots']['equal'], refused=end['snapshots']['refused'], seen=end['seen'], calls=end['hooks']['calls'])
        reasons.update(end['walks']['fallbacks_by'])
    fallbacks = sum(reasons.values())
    t.note('%d equal, %d refused, %d fallbacks%s%s' % (
        sums['equal'], sums['refused'], fallbacks, ' %s' % dict(reasons) if reasons else '', matrix.said(r)))
    t.true(fallbacks <= FALLBACKS * sums['seen'] and fallbacks - reasons['hijacked'] <= one.fallbacks * sums['seen'],
           'fallbacks: %s of %d' % (dict(reasons), sums['seen']))
    t.true(sums['equal'] >= one.least, 'fewer than %d' % one.least)
    t.equal(sums['calls'] > 0, cell.hooks != 'walk', 'calls of hooked methods: %d' % sums['calls'])
    return sums['equal']


def rows():
    for seed, (name, one) in enumerate(PROGRAMS.items(), 1):
        settings = collections.OrderedDict(SETTINGS, framework=(SDK_FRAMEWORK,)) if name == 'build' else SETTINGS
        for row in covering(settings, seed, matrix.possible):
            cell = matrix.Cell(program=name, **row)
            yield totals.Row('%-76s' % matrix.name_of(cell), lambda t, one=one, cell=cell: judged(t, one, cell))


def main():
    programs = [(name, framework) for name in BUILT for framework in SETTINGS['framework']]
    return totals.run('walk-volume', 'Walked stacks of large programs beside the snapshots.', rows(), programs, ENOUGH, 'stacks')


if __name__ == '__main__':
    sys.exit(main())
