#!/usr/bin/env python3
"""Where frames and what the hooks touch had best lie: one cause at a time, by process.

usage: tests/bench/placement.py BUILD [--processes N] [--only VARIANT]... [--loop | --runtime] [--product]

Hooks that keep frames as those of ELT3 do, in variants (placement.S), on fib: in a runtime, on one thread and on two, and
without one (the same compiled code, called from C). Each variant in N (30) processes, in turn, in random order. The
product too: ELT3, ELT2, an allocation, every call traced. What differs from process to process may be the machine, so
there is a row without memory: additions in registers. Nanoseconds of CPU time for a call (an allocation, eight additions).
"""
import argparse
import ctypes
import json
import os
import random
import subprocess
import sys
import threading

from runs import HERE, MODE, NOOP_CLSID, ROOT, Bench, Missing, Mode, median
from show import table_of

PLAIN = {'SELF': 0, 'STATE': 2, 'LINK': 0, 'DOWN': 0, 'KEEP': 0, 'AHEAD': 0, 'LIMIT': 8, 'SKEW': 0}
FIB_LOOP, LOOPS, ADDS = 25, 25, 4_000_000


class Variant:
    """What differs from the hooks before they had the distance as a constant, or from what `beside` names."""

    def __init__(self, key, label, where='', **defines):
        self.key, self.label, self.where = key, label, where
        self.defines = {**PLAIN, **defines}


VARIANTS = [
    Variant('empty', 'empty hooks', SELF=4),
    Variant('loads', 'two loads lead to the words of a thread'),
    Variant('constant', 'one, from a constant distance', SELF=1),
    Variant('own', "the words in the thread's memory, found by a load", SELF=2),
    Variant('own-constant', 'the same at a constant distance', SELF=3),
    Variant('own-keep', 'the same, node and flags not cleared (the product)', SELF=3, KEEP=1),
    Variant('frames-1024', 'frames 1,024 bytes on in their page', '1024,0,0', SELF=1),
    Variant('frames-2048', 'frames 2,048 bytes on', '2048,0,0', SELF=1),
    Variant('frames-3072', 'frames 3,072 bytes on', '3072,0,0', SELF=1),
    Variant('words-2048', 'the words 2,048 bytes on in theirs', '0,2048,0', SELF=1),
    Variant('one-page', "the words in the frames' first page", '0,-1,0', SELF=1),
    Variant('down', 'frames that grow down', SELF=1, DOWN=1),
    Variant('huge', 'frames in a huge page', '0,0,1', SELF=1),
    Variant('limit', 'what is only read in a separate cache line', SELF=1, LIMIT=128),
    Variant('skew-16', 'hooks 16 bytes behind a line', SELF=1, SKEW=16),
    Variant('skew-48', 'hooks 48 bytes behind a line', SELF=1, SKEW=48),
    Variant('keep', 'node and flags not cleared', SELF=1, KEEP=1),
    Variant('ahead', 'the next frame is fetched ahead', SELF=1, AHEAD=1),
    Variant('enters', 'changes counted by Enter alone', SELF=1, STATE=1),
    Variant('uncounted', 'changes not counted', SELF=1, STATE=0),
    Variant('link', 'a frame where the stack pointer says', SELF=1, LINK=1),
    Variant('link-own', 'the same, words in the thread at a constant distance', SELF=3, LINK=1),
    Variant('link-enters', 'the same, changes counted by Enter alone', SELF=3, LINK=1, STATE=1),
]
PRODUCT = [ # program, mode, and whether our threads are kept off its processor
    ('fib1', 'plain', False), ('fib1', 'elt3', False), ('fib1', 'events3-0', False), ('fib1', 'events3-0', True),
    ('fib1', 'elt2', False), ('fib1', 'events2-0', False), ('fib1', 'calls', False),
    ('fib2', 'plain', False), ('fib2', 'elt3', False), ('fib2', 'events3-0', False), ('fib2', 'elt2', False),
    ('fib2', 'events2-0', False),
    ('tree20', 'alloc', False), ('tree20', 'events3-0', False), ('tree20', 'sites3-0', False),
    ('tree20x2', 'alloc', False), ('tree20x2', 'events3-0', False), ('tree20x2', 'sites3-0', False),
]
MODE['calls'] = Mode('calls', 'every call traced', 'ours', '--events', 'calls', '--check', '0')


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


def processor():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        fields = dict(line.split(':', 1) for line in file.read().split('\n\n')[0].splitlines() if ':' in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return '%s, family %s, model %s; %d processors' % (fields.get('model name', '?'), fields.get('cpu family', '?'),
                                                      fields.get('model', '?'), os.cpu_count())


class Placement:
    """The libraries of the variants, and one process of each."""

    def __init__(self, bench, table):
        self.bench = bench
        self.folder = os.path.join(bench.out, 'placement')
        self.table = table
        os.makedirs(self.folder, exist_ok=True)

    def build(self, variants):
        for variant in variants:
            self.bench.compile([os.environ.get('CC', 'cc'), '-std=gnu11', '-O2', '-Wall', '-Wextra', '-fPIC', '-shared',
                                '-fvisibility=hidden', '-ftls-model=initial-exec', '-I' + os.path.join(ROOT, 'include'),
                                *('-D%s=%d' % pair for pair in variant.defines.items()), '-o', self.library(variant),
                                os.path.join(HERE, 'placement.c'), os.path.join(HERE, 'placement.S')])

    def library(self, variant):
        return os.path.join(self.folder, variant.key + '.so')

    def loop(self, variant, threads):
        """fib without a runtime, in a separate process."""
        done = subprocess.run([sys.executable, __file__, '--loop-of', self.library(variant), str(threads)],
                              env={**os.environ, 'PLACEMENT': variant.where}, stdout=subprocess.PIPE, check=True)
        return float(done.stdout)

    def runtime(self, variant, threads):
        program = self.table['fib%d' % threads]
        argv, env = self.bench.start_of(program, MODE['plain'], '')
        env.update({'CORECLR_ENABLE_PROFILING': '1', 'CORECLR_PROFILER': NOOP_CLSID, 'NOOP': 'elt3',
                    'CORECLR_PROFILER_PATH': self.library(variant), 'PLACEMENT': variant.where})
        return self.rows(subprocess.run(argv, env=env, stdout=subprocess.PIPE, check=True, cwd=self.bench.folder).stdout)

    @staticmethod
    def rows(text):
        rows = json.loads(text.decode().split('\n{"rows"')[-1] if b'\n{"rows"' in text else text)['rows']
        return median(row['cpu_ns'] / row['ops'] for row in rows)

    def product(self, key, mode, apart):
        log = os.path.join(self.bench.logs, 'placement.ndjson')
        if os.path.exists(log):
            os.unlink(log)
        argv, env = self.bench.start_of(self.table[key], MODE[mode], log)
        env.update(self.table[key].env)
        process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, cwd=self.bench.folder)
        if apart:
            keep_apart(process.pid)
        text, _ = process.communicate()
        if os.path.exists(log):
            os.unlink(log)
        if process.returncode:
            raise Missing('%s, %s: exit status %d' % (key, mode, process.returncode))
        return self.rows(text)


def keep_apart(pid):
    """Our threads to the last processor, the program's to the first."""
    seen = set()
    while len(seen) < 3:
        try:
            tasks = os.listdir('/proc/%d/task' % pid)
        except FileNotFoundError:
            return
        for task in tasks:
            try:
                with open('/proc/%d/task/%s/comm' % (pid, task), encoding='utf-8') as file:
                    ours = file.read().startswith('shadowtrace')
                os.sched_setaffinity(int(task), {os.cpu_count() - 1 if ours else 0})
            except OSError:
                continue
            if ours:
                seen.add(task)


def loop_of(library, threads):
    """In a separate process: prints nanoseconds of a call; 0 threads: of eight additions."""
    code = ctypes.CDLL(library)
    code.placement_loop.restype = code.placement_adds.restype = ctypes.c_double
    if not threads:
        print(code.placement_adds(ADDS))
        return
    found, together = [], threading.Barrier(threads)

    def run():
        together.wait()
        found.append(code.placement_loop(FIB_LOOP, LOOPS))

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print(median(found))


def measure(jobs, processes, say):
    """{job: [nanoseconds by process]}; each turn runs all, in random order."""
    found = {key: [] for key in jobs}
    for turn in range(processes):
        for key in random.sample(list(jobs), len(jobs)):
            found[key].append(jobs[key]())
        say('%d of %d' % (turn + 1, processes))
    return found


def line(label, values, base):
    """A row of a table: how its processes lie, and beside `base`, process by process and at their ends."""
    cells = ['%.2f' % quantile(values, part) for part in (0, 0.25, 0.5, 0.75, 0.95)]
    beside = ['', '', '']
    if base and base is not values:
        ratios = [ours / theirs for ours, theirs in zip(values, base)]
        beside = ['%.2f' % median(ratios), '%.2f' % (quantile(values, 0.25) / quantile(base, 0.25)),
                  '%.2f' % (quantile(values, 0.95) / quantile(base, 0.95))]
    return [label] + cells + beside


HEADS = ['', 'least', '25 %', 'median', '75 %', '95 %', 'in turn', 'at 25 %', 'at 95 %']


def variants_main(place, variants, arguments):
    place.build(variants)
    runs = {} if arguments.loop else {'runtime': place.runtime}
    if not arguments.runtime:
        runs['loop'] = place.loop
    jobs = {('adds', 0): lambda: place.loop(variants[0], 0)}
    for variant in variants:
        for threads in (1, 2):
            for where, run in runs.items():
                jobs[where, threads, variant.key] = lambda r=run, v=variant, t=threads: r(v, t)
    found = measure(jobs, arguments.processes, say)
    print('\neight additions in registers, no memory\n' + table_of(HEADS, [line('', found['adds', 0], None)]))
    for where in runs:
        for threads in (1, 2):
            base = found.get((where, threads, 'empty'))
            print('\nfib, %d thread%s, %s; the last three beside empty hooks' % (
                threads, 's' * (threads > 1), 'in a runtime' if where == 'runtime' else 'without a runtime'))
            print(table_of(HEADS, [line(variant.label, found[where, threads, variant.key], base) for variant in variants]))


def product_main(place, arguments):
    jobs = {row: lambda r=row: place.product(*r) for row in PRODUCT}
    found = measure(jobs, arguments.processes, say)
    for key in dict.fromkeys(row[0] for row in PRODUCT):
        rows = [row for row in PRODUCT if row[0] == key]
        base = next(found[row] for row in rows if row[1] in ('elt3', 'alloc'))
        print('\n%s; the last three beside %s' % (place.table[key].label, MODE['elt3' if key.startswith('fib') else 'alloc'].label))
        print(table_of(HEADS, [line(MODE[row[1]].label + (', our threads elsewhere' if row[2] else ''), found[row], base)
                               for row in rows]))


def show(bench, table, arguments):
    """Measures and prints."""
    place = Placement(bench, {program.key: program for program in table})
    print(processor())
    if not arguments.product:
        chosen = [v for v in VARIANTS if not arguments.only or v.key in arguments.only or v.key == 'empty']
        variants_main(place, chosen, arguments)
    if not arguments.only and not arguments.loop:
        product_main(place, arguments)


def arguments_of(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build')
    parser.add_argument('--processes', type=int, default=30, help='of each variant')
    parser.add_argument('--only', action='append', choices=[variant.key for variant in VARIANTS], metavar='VARIANT',
                        help='and empty hooks: ' + ', '.join(variant.key for variant in VARIANTS))
    where = parser.add_mutually_exclusive_group()
    where.add_argument('--loop', action='store_true', help='without a runtime only')
    where.add_argument('--runtime', action='store_true', help='in a runtime only')
    parser.add_argument('--product', action='store_true', help='the product only')
    return parser.parse_args(argv)


def say(text):
    if sys.stderr.isatty():
        print('\r\x1b[K' + text, end='', file=sys.stderr, flush=True)


def main():
    if sys.argv[1:2] == ['--loop-of']:
        loop_of(sys.argv[2], int(sys.argv[3]))
        return 0
    arguments = arguments_of(sys.argv[1:])
    from bench import programs # which measures more than this
    try:
        bench = Bench(arguments.build, True)
        bench.prepare(say)
        say('')
        show(bench, programs(True), arguments)
    except (Missing, subprocess.CalledProcessError) as problem:
        print('placement: %s' % problem, file=sys.stderr)
        return 3
    return 0


if __name__ == '__main__':
    sys.exit(main())
