#!/usr/bin/env python3
"""What each way of capturing costs, side by side: no profiler, empty hooks, ours, a snapshot at each allocation.

usage: tests/bench/bench.py BUILD [--quick | --full] [--rounds N] [--only PROGRAM]... [--modes MODE,...] [--show]

Every round runs every mode of a program once, in random order. Writes BUILD/bench.json (all samples) and BUILD/bench.svg,
prints a table for each program, one of the event families, and then what must be shown with the figure reached. CPU
time is user and system time of the process, our own threads included; `ns/op` is a call (fib), an allocation (tree, depth)
or a request (kestrel), by the CPU time of the program's own thread, or of the server. Without options it ends in less than
28 minutes on two cores; --quick in about 5; --full takes nine rounds of everything, more than an hour. --show prints what
the last run found. tests/bench/README.md shows bench.svg, a copy of one made on a quiet machine.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import time

import families
import instructions
import live
import must
import opening
import picture
import placement
import reading
import retained
import sampling
import show
from runs import HERE, MODE, MODES, ROOT, Bench, Missing, Program, machine

NO_LINES = ['nolines3', 'nolines-sites3']
RICH = ['rich', 'richless', 'own-hooked', 'rich-all', 'richless-all']
ALL = [mode.key for mode in MODES if mode.key not in ['only-record', 'only-sites', *NO_LINES, *RICH]]
FIB = ['plain', 'elt3', 'elt2', 'events3', 'events2']
TREE = ['plain', 'alloc', 'elt3', 'elt3a', 'events3', 'sites3', 'events3-0', 'sites3-0', 'zstd3', 'snapshot']
COMPILER = ['plain', 'elt3', 'elt3a', 'events3', 'sites3', 'zstd3', 'walk', 'walk-events', 'snapshot', *NO_LINES, *RICH]
SERVER = ['plain', 'alloc', 'elt3', 'elt2', 'sites3', 'events3', 'only', 'only-sites', 'walk', 'snapshot', *RICH]
SERVER_REST = ['jit', 'sites2', 'events2', 'trace']
WALKS = ['plain', 'rich', 'own-hooked']
# What a run may fail with: it is said, and the others go on.
FAILURES = (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError)
# A nursery of 64 MB in all modes: collections, which walk deep stacks, would hide what is measured.
NURSERY = {'DOTNET_GCgen0size': '0x4000000'}
# Servers reach their final code in seconds instead of a quarter of a minute, in all modes.
TIERING = {'DOTNET_TC_CallCountingDelayMs': '0'}


def programs(quick):
    """What is measured, in this order."""
    seconds = '0.3' if quick else '1'

    def own(name, *arguments):
        return ['dotnet', '{out}/programs/%s.dll' % name, *arguments]

    def fib(threads, core, rest):
        return Program('fib%d' % threads, 'fib, %d thread%s' % (threads, 's' if threads > 1 else ''), 'call',
                       own('Fib', '--threads', str(threads), '--seconds', seconds), 3, core, rest, primary='op_cpu')

    def tree(depth, *more, key='', label='', rounds=3, core=tuple(TREE), rest=tuple(ALL)):
        return Program('tree%s%s' % (depth, key), 'trees, %s frames deep%s' % (depth, label), 'allocation',
                       own('Tree', '--depth', depth, '--operations', '150000' if quick else '400000', '--seconds',
                           '1.5' if quick else '3', *more), rounds, core, rest, primary='op_cpu', env=NURSERY)

    def compiler(key, label, path, source, own_names, *more):
        return Program(key, label, 'run', ['dotnet', '{sdk}/' + path, '@{out}/%s.rsp' % key, *more,
                                           '{here}/programs/compilers/' + source], 3, COMPILER, ALL, own=own_names)

    def on_package(key, label, project, amount):
        return Program(key, label, 'run', own(os.path.basename(project), str(amount)), 9, WALKS, project=project)

    return [
        fib(1, FIB, ALL),
        fib(2, FIB, []),
        fib(4, FIB, []),
        tree('20'),
        tree('1000'),
        tree('20', '--threads', '2', key='x2', label=', 2 threads', core=['plain', 'alloc', 'events3-0', 'sites3-0'], rest=[]),
        Program('depth', 'trees at 10 to 10,000 frames', 'allocation',
                own('Depth', '--seconds', '0.2' if quick else '0.6'), 2,
                ['plain', 'alloc', 'elt3a', 'sites3', 'sites3-0', 'events3', 'events3-0', 'snapshot'], [],
                primary='op_cpu@1000', env=NURSERY),
        Program('short', 'a short program', 'run', own('Short'), 9, ['plain', 'only', 'only-record'],
                [mode for mode in ALL if mode != 'zstd3'], primary='wall'),
        compiler('csc', 'C# compiler, a small file', 'Roslyn/bincore/csc.dll', 'small.cs', 'Microsoft.CodeAnalysis.*',
                 '-nologo', '-noconfig', '-nostdlib', '-out:{out}/small-cs.dll'),
        compiler('fsc', 'F# compiler, a small file', 'FSharp/fsc.dll', 'small.fs', 'FSharp.Compiler.*', '--nologo',
                 '--noframework', '--targetprofile:netcore', '-o:{out}/small-fs.dll', '--simpleresolution', '-r:{sdk}/FSharp/FSharp.Core.dll'),
        Program('kestrel', 'Kestrel, small JSON', 'request', own('Kestrel'), 9, SERVER, SERVER_REST, primary='op_cpu',
                env=dict(TIERING)),
        Program('kestrel-work', 'Kestrel, 50 objects more and a throw in 10', 'request',
                own('Kestrel', '--allocate', '50', '--throw', '10'), 2, ['plain', 'elt3', 'sites3', 'events3', 'only'], [],
                primary='op_cpu', env=TIERING),
        on_package('lucene', 'Lucene.NET, an index and searches', ROOT + '/tests/e2e/programs/Searching', 40_000),
        on_package('jint', 'Jint, scripts that call back', ROOT + '/tests/e2e/programs/Scripting', 50),
        on_package('markdig', 'Markdig, long texts', HERE + '/programs/Markdown', 40),
    ]


def say(text):
    if sys.stderr.isatty():
        sys.stderr.write('\r\x1b[K')
    print(text, file=sys.stderr, flush=True)


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write('\r\x1b[K' + text)
        sys.stderr.flush()


def measure(bench, program, arguments, samples):
    """All rounds of one program."""
    rounds = arguments.rounds or (9 if arguments.full else 1 if arguments.quick else program.rounds)
    core = [key for key in program.core if key in arguments.modes]
    rest = [key for key in program.rest if key in arguments.modes and key not in core]
    if arguments.quick and not arguments.named_modes:
        rest = []
    often = rounds if arguments.full or arguments.named_modes else (rounds + 2) // 3
    start = time.monotonic()
    for number in range(rounds):
        keys = core + (rest if number < often else [])
        random.shuffle(keys)
        for position, key in enumerate(keys):
            if key == 'trace' and not bench.trace_tool:
                continue
            progress('%s: round %d of %d, %d of %d: %s' % (program.label, number + 1, rounds, position + 1, len(keys),
                                                           MODE[key].label))
            try:
                sample = bench.run(program, MODE[key], number)
            except FAILURES as problem:
                sample = {'program': program.key, 'mode': key, 'round': number,
                          'error': '%s: %s' % (type(problem).__name__, problem)}
            samples.append(sample)
            if 'error' in sample:
                say('%s, %s: %s' % (program.label, MODE[key].label, sample['error']))
    say('%-45s %5.0f s' % (program.label, time.monotonic() - start))


def load(path, fingerprint, dropped):
    """Earlier samples of the same library, but for the programs measured again."""
    try:
        with open(path, encoding='utf-8') as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    if fingerprint and found.get('library') != fingerprint:
        return {}
    found['samples'] = [sample for sample in found['samples'] if sample['program'] not in dropped]
    return found


def save(result, path):
    with open(path + '.new', 'w', encoding='utf-8') as file:
        json.dump(result, file, indent=1)
    os.replace(path + '.new', path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build')
    parser.add_argument('--quick', action='store_true', help='one round, about 5 minutes')
    parser.add_argument('--full', action='store_true', help='nine rounds of everything')
    parser.add_argument('--rounds', type=int, help='rounds of each program')
    parser.add_argument('--only', action='append', metavar='PROGRAM', default=[],
                        help='fib1, tree20, fsc, kestrel, ..., families, instructions, sampling, report, opening, retained, live; '
                             'others keep their earlier samples; placement is measured and printed only where it is named: half an hour')
    parser.add_argument('--modes', metavar='MODE,...', help=', '.join(mode.key for mode in MODES))
    parser.add_argument('--show', action='store_true', help='print what the last run found')
    arguments = parser.parse_args()
    arguments.named_modes = arguments.modes
    arguments.modes = arguments.modes.split(',') if arguments.modes else list(MODE)
    unknown = [key for key in arguments.modes if key not in MODE]
    table = programs(arguments.quick)
    known = [program.key for program in table] + ['families', 'instructions', 'sampling', 'report', 'opening', 'retained', 'live']
    unknown += [key for key in arguments.only if key not in known + ['placement']]
    if unknown:
        parser.error('unknown: %s; programs are %s' % (', '.join(unknown), ', '.join(known)))
    chosen = arguments.only or [key for key in known if not (arguments.quick and key == 'kestrel-work')]
    json_path = os.path.join(arguments.build, 'bench.json')
    try:
        bench = Bench(arguments.build, arguments.quick)
        result = load(json_path, None if arguments.show else bench.fingerprint,
                      [] if arguments.show else chosen if arguments.only else known)
        if 'placement' in chosen:
            bench.prepare(say)
            placement.show(bench, table, placement.arguments_of([arguments.build] + ['--processes', '2'] * arguments.quick))
            if len(chosen) == 1:
                return 0
        if not arguments.show:
            try:
                run(bench, table, chosen, arguments, result, json_path)
            except KeyboardInterrupt:
                say('stopped; what was measured until now:')
    except Missing as problem:
        print('bench: %s' % problem, file=sys.stderr)
        return 3
    if not any(result.get(key) for key in ('samples', 'report', 'opening', 'retained', 'live', 'sampling', 'families', 'instructions')):
        print('bench: nothing was measured yet', file=sys.stderr)
        return 3
    show.tables(table, result)
    result['must'] = must.show(result)
    if not arguments.show:
        save(result, json_path)
    picture.write(os.path.join(arguments.build, 'bench.svg'), table, result)
    print('\nAll samples: %s   picture: %s' % (json_path, os.path.join(arguments.build, 'bench.svg')))
    return 0


def run(bench, table, chosen, arguments, result, json_path):
    bench.prepare(say)
    if 'trace' in arguments.modes and not arguments.quick:
        bench.want_trace(say)
    else:
        bench.trace_why = 'left out'
    no_wrk = bench.want_package('wrk', say) if any(key.startswith(('kestrel', 'live')) for key in chosen) else None
    result.update(machine=machine(), library=bench.fingerprint, quick=arguments.quick,
                  when=time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), missing={})
    if not bench.trace_tool:
        result['missing']['trace'] = bench.trace_why
    if no_wrk:
        say(no_wrk)
    samples = result.setdefault('samples', [])
    for program in [program for program in table if program.key in chosen]:
        why = no_wrk if program.key.startswith('kestrel') else bench.want_project(program, say)
        if why:
            result['missing'][program.key] = why
            continue
        part(program.key, measure, bench, program, arguments, samples)
        save(result, json_path)
    if 'report' in chosen:
        result['report'] = part('report', reading.measure, bench, 2_000_000 if arguments.quick else 20_000_000, say)
        save(result, json_path)
    if 'opening' in chosen:
        fsc = next(program for program in table if program.key == 'fsc')
        result['opening'] = part('opening', opening.measure, bench, fsc, 9 if arguments.full else 3, say)
        save(result, json_path)
    if 'retained' in chosen:
        result['retained'] = part('retained', retained.measure, bench, 9 if arguments.full else 3, say)
        save(result, json_path)
    if 'live' in chosen:
        rounds = arguments.rounds or (9 if arguments.full else 1 if arguments.quick else 3)
        result['live'] = part('live', live.measure, bench, table, rounds, no_wrk, say)
        save(result, json_path)
    if 'families' in chosen:
        result['families'] = part('families', families.measure, bench, 1 if arguments.quick else 3, say)
        save(result, json_path)
    if 'instructions' in chosen:
        names = instructions.USUAL + (instructions.LONG_RUNS if arguments.full else [])
        result['instructions'] = part('instructions', instructions.measure, bench, ['fib'] if arguments.quick else names, say)
        save(result, json_path)
    if 'sampling' in chosen:
        result['sampling'] = part('sampling', sampling.measure, bench, 10 if arguments.quick else 50, say)
        save(result, json_path)


def part(name, function, *arguments):
    """One part fails: the others are still measured."""
    try:
        return function(*arguments)
    except (Missing, *FAILURES) as problem:
        say('%s: %s: %s' % (name, type(problem).__name__, problem))
        return None


if __name__ == '__main__':
    sys.exit(main())
