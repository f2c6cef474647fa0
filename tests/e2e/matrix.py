#!/usr/bin/env python3
"""
The torture programs under every runtime, hook set and setting: one line per cell.

usage: tests/e2e/matrix.py [--all] [-k TEXT]... [-j N] [--keep] [--list]

Without --all: a short form, each program once, every pair of settings (but program) at least once; `make check` runs it
as tests of test_matrix.py. With --all: each program on each framework with each hook set, and for each of these every
pair of the other settings; random nestings; the compilers, a build and a server under load; all threads of a compiler and
of a server stopped and walked; the negative controls. A cell has at least 20,000 comparisons, all equal, nothing lost; a
cell that cannot run is a failure. The last line counts all.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import re
import shutil
import sys
import threading
import time

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from harness import HOOKS, PROGRAM, TOOL  # noqa: E402
from selection import chosen, covering  # noqa: E402

ENOUGH = 20_000

# How often each program repeats its cases to make that many allocations.
SCALES = {'Exceptions': 12, 'Boundaries': 1, 'Native': 9, 'Faults': 22, 'Async': 20, 'TailCalls': 7, 'Tiers': 28,
          'Generics': 45, 'Dynamic': 2, 'Unload': 10, 'Threads': 5, 'KnownAllocs': 3}

SETTINGS = collections.OrderedDict([
    ('framework', harness.FRAMEWORKS),
    ('hooks', HOOKS),
    ('tiering', ('default', 'TieredCompilation=0', 'TieredPGO=0', 'ReadyToRun=0')),
    ('gc', ('workstation', 'server')),
    ('concurrent', ('concurrent', 'not-concurrent')),
    ('exceptions', ('default', 'legacy'))])  # legacy: on 9 only

Cell = collections.namedtuple('Cell', ['program'] + list(SETTINGS))


def possible(row):
    return not (row.get('exceptions') == 'legacy' and row.get('framework', 'net9.0') != 'net9.0')


def short_cells():
    rows = covering(SETTINGS, possible=possible)
    programs = list(SCALES)
    # Each program once at least; the rows go round.
    return [Cell(program=programs[i % len(programs)], **rows[i % len(rows)]) for i in range(max(len(rows), len(programs)))]


def all_cells():
    for framework in SETTINGS['framework']:
        for hooks in SETTINGS['hooks']:
            axes = collections.OrderedDict(SETTINGS, framework=(framework,), hooks=(hooks,))
            rows = covering(axes, possible=possible)
            for program in SCALES:
                for row in rows:
                    yield Cell(program=program, **row)


def name_of(cell):
    return ' '.join([cell.program, cell.framework, cell.hooks, cell.tiering, cell.gc, cell.concurrent] +
                    (['legacy-exceptions'] if cell.exceptions == 'legacy' else []))


def environment_of(cell):
    environment = dict(harness.ENVIRONMENT, DOTNET_gcServer='1' if cell.gc == 'server' else '0',
                       DOTNET_gcConcurrent='1' if cell.concurrent == 'concurrent' else '0')
    if cell.tiering != 'default':
        key, value = cell.tiering.split('=')
        environment['DOTNET_' + key] = value
    if cell.exceptions == 'legacy':
        environment['DOTNET_LegacyExceptionHandling'] = '1'
    return environment


NO_FRAME = '0x80004005'  # there is no managed frame, and the shadow stack is empty, too: nothing differs
STARTING = 100  # snapshots, while the runtime may start


def refusals(path):
    """Those of threads without a managed frame, and {HRESULT: count} of others after the runtime's start."""
    checks = [json.loads(line) for line in harness.run(['grep', '-a', '^{"kind":"check"', path]).out.splitlines()]
    if not checks:
        return 0, {}
    first, last = (next((c for c in checks if c['taken'] >= STARTING), checks[-1])['refused_by'], checks[-1]['refused_by'])
    return last.get(NO_FRAME, 0), {code: last[code] for code in last if code != NO_FRAME and last[code] > first.get(code, 0)}


def judge(command, folder, hooks, environment, enough, check=1, timeout=600, cwd=None, options=(), early=False):
    """Records a command, every check-th stack compared, in all its processes. (numbers, what is wrong)."""
    logs = os.path.join(folder, 'logs')

    def record(more):
        shutil.rmtree(logs, ignore_errors=True)
        os.makedirs(logs)
        return harness.run([TOOL, 'record', '--check', str(check), '--hooks', hooks, '-o', os.path.join(logs, 'log.ndjson')] +
                           list(options) + ['--'] + command, timeout=timeout, env=dict(environment, **more), cwd=cwd or folder)

    result = harness.outliving_aborts(command, folder, record, repeated=lambda crashed: None)
    paths = sorted(os.path.join(logs, file) for file in os.listdir(logs))
    if result.status or not paths:
        return None, str(result)
    numbers = {'compared': 0, 'equal': 0, 'refused': 0, 'frameless': 0, 'repairs': collections.Counter()}
    wrong = []
    for path in paths:
        end = harness.last_record(path)
        if end.get('kind') != 'end':
            wrong.append('%s has no end' % path)
            continue
        c = harness.tool_json('compare', '--format=json', path)
        refused = c['snapshots']['refused'] + c['snapshots'].get('ended_early', 0)
        numbers['compared'] += c['compared']
        numbers['equal'] += c['equal']
        numbers['refused'] += refused
        numbers['repairs'].update(end['repairs'])
        frameless, late = refusals(path)
        numbers['frameless'] += frameless
        if late:
            wrong.append('refused after the start: %s' % late)
        if c['equal'] != c['compared'] or c['mismatched']:
            wrong.append('%d differ: %s\n%s' % (c['mismatched'], c['mismatched_by'], harness.show_mismatch(harness.Log(path))))
        for register, classes in c.get('registers', {}).items():
            if classes.get('other'):
                wrong.append('%s that nothing explains: %s' % (register, classes))
        if end['lost'] or end['seen'] != end['written']:
            wrong.append('%d lost: %s' % (end['lost'], end['lost_by']))
        if bool(c['snapshots'].get('ended_early')) != early:
            wrong.append('%d walks ended early' % c['snapshots'].get('ended_early', 0))
        if check == 1 and c['compared'] + refused != end['seen']:
            wrong.append('%d compared + %d refused, %d allocations' % (c['compared'], refused, end['seen']))
    numbers['text'] = describe(numbers) + said(result)
    if numbers['compared'] < enough:
        wrong.append('%d comparisons are too few' % numbers['compared'])
    return numbers, '\n'.join(wrong)


# Stopped between two steps of the hooks, each proven where it is counted; and walks that the runtime refuses.
PASSING = ('leaving', 'entering', 'dispatching', 'unwinding', 'unready', 'unsafe')


def judge_threads(c, checks, share=0.02):
    """
    What `compare` and the check records say of --check-threads. (numbers, what is wrong). share: of the threads that may be
    stopped between two steps of the hooks. It depends on how the machine shares its processors, so only the lane of programs
    asks.
    """
    numbers = dict(checks[-1].get('threads', {}) if checks else {}, seeds=dict(c.get('seeds', {})))
    if not numbers.get('walked'):
        return numbers, 'no thread was walked'
    wrong = []
    framed = numbers['walked'] - numbers['refused'] - numbers.get('ended_early', 0)
    passing = sum(numbers.get(name, 0) for name in PASSING)
    if numbers['mismatched']:
        wrong.append('%d of %d stopped threads differ' % (numbers['mismatched'], framed))
    if numbers['equal'] + passing + numbers['mismatched'] != framed:
        wrong.append('counts do not add up: %s' % numbers)
    if passing > share * framed and chosen('programs'):
        wrong.append('%d of %d stopped threads were between two steps: %s' % (passing, framed, numbers))
    seeds = numbers['seeds']
    if seeds.get('different') or 'missing' in seeds:
        wrong.append('walks with a seed: %s' % seeds)
    for register, classes in c.get('registers', {}).items():
        if classes.get('other'):
            wrong.append('%s that nothing explains: %s' % (register, classes))
    return numbers, '\n'.join(wrong)


def describe_threads(numbers):
    seeds = numbers['seeds']
    return '%d stops, %d threads with frames, %d equal, %s; seeds %d, same %d, refused %s' % (
        numbers['stops'], numbers['walked'] - numbers['refused'], numbers['equal'],
        ', '.join('%s %d' % (name, numbers[name]) for name in PASSING if numbers.get(name)) or 'none between two steps',
        seeds.get('taken', 0), seeds.get('same', 0), seeds.get('refused_by') or 0)


def run_cell(cell, folder):
    command = PROGRAM.command(cell.program, cell.framework) + ['--scale', str(SCALES[cell.program])]
    return judge(command, folder, cell.hooks, environment_of(cell), ENOUGH)


def describe(numbers):
    repairs = ', '.join('%s %d' % item for item in sorted(numbers['repairs'].items()) if item[1]) or 'none'
    return 'compared %d, equal %d, refused %d (without a managed frame %d), repairs: %s' % (
        numbers['compared'], numbers['equal'], numbers['refused'], numbers['frameless'], repairs)


def build_command(folder):
    """`dotnet build` of a small, separate project, from nothing."""
    project = os.path.join(folder, 'project')
    shutil.rmtree(project, ignore_errors=True)
    os.makedirs(project)
    shutil.copy(os.path.join(harness.PROGRAMS, 'Hello/Program.cs'), project)
    with open(os.path.join(project, 'hello.csproj'), 'w', encoding='utf-8') as file:
        file.write('<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>%s'
                   '</TargetFramework><NuGetAudit>false</NuGetAudit></PropertyGroup></Project>\n' % harness.SDK_FRAMEWORK)
    return ['dotnet', 'build', project, '-nologo', '-nodeReuse:false', '-p:UseSharedCompilation=false', '--disable-build-servers']


def judge_stops(command, folder, hooks, ms=5, timeout=1800):
    """Records a command whose threads are all stopped and compared every ms milliseconds. (numbers, what is wrong)."""
    path = os.path.join(folder, 'log.ndjson')
    result = harness.run([TOOL, 'record', '--check', '0', '--check-threads', str(ms), '--hooks', hooks, '--log', 'sites', '-o', path,
                          '--'] + command, timeout=timeout, env=harness.ENVIRONMENT, cwd=folder)
    if result.status:
        return None, str(result)
    with open(path, 'rb') as file:
        checks = [json.loads(line) for line in file if line.startswith(b'{"kind":"check"')]
    numbers, wrong = judge_threads(harness.tool_json('compare', '--format=json', path), checks)
    return dict(numbers, compared=numbers['walked'] - numbers['refused'], text=describe_threads(numbers) + said(result)), wrong


def said(result):
    """What a server says of its load."""
    return ''.join(', ' + line for line in result.text.splitlines() if line.startswith('requests '))


def compilers(folder, framework=harness.SDK_FRAMEWORK):
    """
    (name, command, least number of comparisons) of the compilers: those of the SDK, or for another runtime the same ones from
    packages (programs/Compilers). {made} in a command is where to write.
    """
    import test_compiler
    with open(os.path.join(folder, 'sample.cs'), 'w', encoding='utf-8') as file:
        file.write(test_compiler.SOURCE)
    shutil.copy(os.path.join(harness.PROGRAMS, 'TailCalls/Program.fs'), folder)
    if framework != harness.SDK_FRAMEWORK:
        program = PROGRAM.publish('Compilers', 'compilers-' + framework, 'E2EFor=' + framework.removesuffix('-newest'),
                                  *PROGRAM.runtime(framework))
        return (('csc', [program, 'cs', os.path.join(folder, 'sample.cs'), '5'], 150_000),
                ('fsc', [program, 'fs', os.path.join(folder, 'Program.fs')], 1_000_000))
    csc, references = test_compiler.compiler()
    fsharp = os.path.join(harness.SDK, 'FSharp')
    response = os.path.join(folder, 'references.rsp')
    with open(response, 'w', encoding='utf-8') as file:
        file.write(''.join('-r:%s\n' % r for r in references))
    return (('csc', ['dotnet', csc, '-nologo', '-noconfig', '-out:{made}.dll', '@' + response,
                     os.path.join(folder, 'sample.cs')], 150_000),
            ('fsc', ['dotnet', os.path.join(fsharp, 'fsc.dll'), '--nologo', '--noframework', '--targetprofile:netcore',
                     '-r:' + os.path.join(fsharp, 'FSharp.Core.dll'), '@' + response,
                     '-o:{made}.dll', os.path.join(folder, 'Program.fs')], 1_000_000))


def made_in(folder, command):
    return [part.replace('{made}', os.path.join(folder, 'made')) for part in command]


def beside(frameworks=harness.FRAMEWORKS):
    """(name, judged) of large programs that may share the machine: the compilers, every allocation."""
    for framework, number, hooks in itertools.product(frameworks, (0, 1), HOOKS):
        def judged(where, framework=framework, number=number, hooks=hooks):
            _, command, enough = compilers(where, framework)[number]
            return judge(made_in(where, command), where, hooks, harness.ENVIRONMENT, enough, timeout=1800)
        yield '%s %s %s check=1' % (('csc', 'fsc')[number], framework, hooks), judged


def alone(frameworks=harness.FRAMEWORKS):
    """(name, judged) of those that have it for themselves: a build, a server under load, all threads stopped and walked."""
    for framework, hooks in itertools.product(frameworks, HOOKS):
        def built(where, hooks=hooks):
            return judge(build_command(where), where, hooks, harness.ENVIRONMENT, 500_000, timeout=1800)

        def served(where, framework=framework, hooks=hooks):
            return judge(server(framework, 60), where, hooks, harness.ENVIRONMENT, ENOUGH, 100, timeout=1800)

        def served_each(where, framework=framework, hooks=hooks):
            return judge(server(framework, 10), where, hooks, harness.ENVIRONMENT, ENOUGH, timeout=1800)

        def compiled_stopped(where, framework=framework, hooks=hooks):
            return judge_stops(made_in(where, compilers(where, framework)[1][1]), where, hooks)

        def served_stopped(where, framework=framework, hooks=hooks):
            return judge_stops(server(framework, 60), where, hooks)
        for name, judged in (('dotnet build %s check=1', built if framework == harness.SDK_FRAMEWORK else None),
                             ('WebServer %s check=100', served), ('WebServer %s check=1', served_each),
                             ('fsc %s check-threads=5', compiled_stopped), ('WebServer %s check-threads=5', served_stopped)):
            if judged:
                yield name % (framework + ' ' + hooks), judged


def server(framework, seconds):
    return PROGRAM.command('WebServer', framework) + ['--seconds', str(seconds)]


def negative_controls():
    """The table of negative controls, as the tests print it. What is wrong, or None."""
    result = harness.run([sys.executable, os.path.join(harness.HERE, 'run.py'), '-k', 'negative.without'], timeout=1200)
    rows = re.findall(r'^(ok|FAIL) +e2e negative\.without\[(\w+)\] +[0-9.]+ s +[0-9.]+ s of CPU +(.*)$', result.text, re.M)
    print('Negative controls: a rule of the shadow stack switched off, and what the comparison finds')
    for state, rule, found in rows:
        print('%-5s%-18s %s' % (state, rule, found))
    return str(result) if result.status or not rows else None


def mixers():
    """(name, judged): random nestings of all that makes or unmakes frames, a hundred seeds each."""
    for framework in SETTINGS['framework']:
        for hooks in HOOKS:
            for case, enough in ('mixer', 500_000), ('mixer-first-chance', 900_000):
                def judged(where, framework=framework, hooks=hooks, case=case, enough=enough):
                    return judge(PROGRAM.command('Rules', framework) + ['--case', case, '--scale', '100'], where, hooks,
                                 harness.ENVIRONMENT, enough, timeout=1800)
                yield 'Rules %s %s %s seeds=1-100' % (case, framework, hooks), judged


def nested():
    """
    (name, judged): exceptions inside of another's first pass, in code without hooks, and walks that end early; on every
    runtime with each hook set, tiering and choice of methods. Random nestings under handlers that throw, a hundred seeds.
    """
    import test_nested
    only = {'all': (), 'only': ('--only', 'Torture.*', *harness.SHADOWED), 'exclude': ('--exclude', 'Elsewhere.*')}
    for framework, hooks, chosen in itertools.product(SETTINGS['framework'], HOOKS, only):
        for tiering, exceptions in itertools.product(SETTINGS['tiering'], SETTINGS['exceptions']):
            cell = Cell('Rules', framework, hooks, tiering, 'workstation', 'concurrent', exceptions)
            walks = exceptions == 'legacy' or framework == 'net8.0'

            def judged(where, cell=cell, chosen=chosen):
                return judge(PROGRAM.command('Rules', cell.framework) + test_nested.cases(), where, cell.hooks, environment_of(cell), 10_000,
                             options=only[chosen])

            def ended(where, cell=cell, chosen=chosen, walks=walks):
                return judge(PROGRAM.command('Rules', cell.framework) + ['--case', 'ends-early', '--scale', '20'], where,
                             cell.hooks, environment_of(cell), 2_000, options=only[chosen], early=walks)
            if possible(cell._asdict()):
                yield '%s %s' % (name_of(cell), chosen), judged
                yield '%s %s ends-early' % (name_of(cell), chosen), ended

        def mixed(where, framework=framework, hooks=hooks, chosen=chosen):
            return judge(PROGRAM.command('Rules', framework) + ['--case', 'mixer-nested', '--scale', '100'], where, hooks,
                         harness.ENVIRONMENT, 300_000, options=only[chosen], timeout=1800)
        yield 'Rules mixer-nested %s %s %s seeds=1-100' % (framework, hooks, chosen), mixed


class Printer:
    def __init__(self, keep):
        self.lock = threading.Lock()
        self.keep = keep
        self.cells = self.failed = self.compared = self.skipped = 0

    def one(self, name, judged):
        folder = os.path.join(harness.OUT, 'matrix', name.replace(' ', '-'))  # other runs of the matrix may run beside this
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        start = time.monotonic()
        numbers = None
        try:
            numbers, wrong = judged(folder)
        except harness.Skip as skip:
            with self.lock:
                self.skipped += 1
                print('skip %-72s %s' % (name, skip), flush=True)
            return
        except Exception as error:  # the other cells go on
            wrong = '%s: %s' % (type(error).__name__, error)
        if wrong:
            wrong += '\nkept in %s' % os.path.relpath(folder, harness.ROOT)
        elif not self.keep:
            shutil.rmtree(folder, ignore_errors=True)
        line = '%-5s%-72s %s, %.1f s' % ('FAIL' if wrong else 'ok', name, numbers['text'] if numbers else '-',
                                         time.monotonic() - start)
        with self.lock:
            self.cells += 1
            self.failed += bool(wrong)
            self.compared += numbers['compared'] if numbers else 0
            print(line + ('\n     ' + wrong.replace('\n', '\n     ') if wrong else ''), flush=True)


def main():
    parser = argparse.ArgumentParser(description='The torture programs under every setting.')
    parser.add_argument('--all', action='store_true')
    parser.add_argument('-k', action='append', default=[], metavar='TEXT')
    parser.add_argument('-j', type=int, default=min(4, os.cpu_count() or 1), metavar='N')
    parser.add_argument('--keep', action='store_true')
    parser.add_argument('--list', action='store_true')
    arguments = parser.parse_args()

    cells = [c for c in (all_cells() if arguments.all else short_cells())
             if not arguments.k or any(text in name_of(c) for text in arguments.k)]
    if arguments.list:
        for cell in cells:
            print(name_of(cell))
        return 0
    start = time.monotonic()
    controlled = arguments.all and (not arguments.k or 'negative' in arguments.k)
    if controlled:
        wrong = negative_controls()  # first: equal stacks prove nothing where a wrong one is not found
        if wrong:
            print('%s\nFAIL: negative controls; `make negative` builds what they need' % wrong)
            return 1
    printer = Printer(arguments.keep)
    PROGRAM.build(sorted({(c.program, c.framework) for c in cells}), say=lambda text: print('     ' + text, flush=True))
    wanted = lambda rows: [row for row in rows if not arguments.k or any(text in row[0] for text in arguments.k)]
    rows = [(name_of(cell), lambda folder, cell=cell: run_cell(cell, folder)) for cell in cells]
    if arguments.all:
        # The long ones first: what shares the machine ends at about the same time.
        rows = wanted(beside()) + wanted(mixers()) + wanted(nested()) + rows
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.j)) as pool:
        for name, judged in rows:
            pool.submit(printer.one, name, judged)
    if arguments.all:
        for name, judged in wanted(alone()):
            printer.one(name, judged)
    failed = printer.failed or not (printer.cells or printer.skipped or controlled)
    print('%s: %d cells, %d failed, %d skipped, %d comparisons, %.0f minutes' % (
        'FAIL' if failed else 'ok', printer.cells, printer.failed, printer.skipped, printer.compared,
        (time.monotonic() - start) / 60))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
