#!/usr/bin/env python3
"""Instructions instead of seconds: the same figures whatever else the machine does. Counted by valgrind's callgrind.

usage: tests/bench/instructions.py BUILD [PROGRAM...]     (default fib tree20 tree1000 short; also kestrel, csc, fsc: minutes each)

Of fib and tree: an operation more, that is the difference between two runs of different length. Of kestrel: a request,
of 1,000 after 8,000, without the thread that compiles. Of the others: the whole run, in millions. A row tells where they
were spent: in compiled code (the hooks' stubs that the runtime makes too), in the
runtime, in our callbacks and hooks (with what libraries they call), and in our own threads, which other processors run.
Kernel time is not counted, nor what a cache miss costs. Everything runs on one processor at a time.
"""
import collections
import glob
import http.client
import os
import re
import shutil
import subprocess
import sys
import threading

from runs import MODE, Bench, Child, Missing, Program, alone

COUNTED = ['valgrind', '--tool=callgrind', '--separate-threads=yes', '--smc-check=all-non-file']
# valgrind cannot reserve the hundreds of gigabytes that a collector without a limit asks for. It is 50 times slower, and so
# are to be the milliseconds after which the runtime compiles better code: those numbers are hexadecimal.
SETTINGS = {'DOTNET_GCHeapHardLimit': '0x40000000', 'DOTNET_GCgen0size': '0x4000000', 'DOTNET_TC_CallCountingDelayMs': '0x1388'}
OURS = re.compile(r'libshadowtrace|liburcu|libjansson|libzstd|libnoop')
RUNTIME = re.compile(r'libcoreclr|libclrjit|libclrgc')
OWN_THREADS = re.compile(r'\b(?:log_writer|resolver_run|threads_main|control_main|sampler_main)\b')
SHORT = ['plain', 'alloc', 'only', 'only-sites']
COMPILER = ['elt3a', 'events3-0', 'sites3-0']
CALLS = ['plain', 'elt3', 'events3-0', 'elt2', 'events2-0']
TREE = ['alloc', 'elt3a', 'events3-0', 'sites3-0', 'elt2a', 'events2-0']
USUAL = ['fib', 'tree20', 'tree1000', 'short']
LONG_RUNS = ['kestrel', 'csc', 'fsc']
WARM, REQUESTS = 8000, 1000
PARTS = ['compiled code', 'runtime', 'ours', 'libraries', 'our threads']


def parts_of(paths, compiling=True, leave=None):
    """
    Instructions by PARTS: callgrind wrote a file for each thread. compiling: threads that mostly compile count too. leave: a
    pattern of functions that are left out.
    """
    found = collections.Counter()
    for path in paths:
        by_image, own = one_thread(path, leave)
        compiled = sum(count for image, count in by_image.items() if 'libclrjit' in image)
        if not compiling and compiled > 0.3 * sum(by_image.values()):
            continue
        for image, count in by_image.items():
            found['our threads' if own else 'ours' if OURS.search(image) else 'runtime' if RUNTIME.search(image) else
                  'compiled code' if image == '???' else 'libraries'] += count
    return found


def one_thread(path, leave=None):
    """({image: instructions}, whether it is a thread of the tracer). A line is a name, a call (its cost follows), or a cost."""
    names, images, image, inclusive, own = {}, collections.Counter(), '???', False, False
    functions, left = {}, False
    with open(path, encoding='utf-8', errors='replace') as file:
        for line in file:
            if line[0].isdigit() or line[0] in '+-*':
                if not inclusive and not left:
                    images[image] += int(line.split()[1])
                inclusive = False
            elif line.startswith('calls='):
                inclusive = True
            elif line.startswith(('ob=', 'cob=')):
                key, _, name = line.partition('=')[2].rstrip('\n').partition(' ')
                names.setdefault(key, name)
                if line[0] == 'o':
                    image = names[key]
            elif line.startswith(('fn=', 'cfn=')):
                own = own or bool(OWN_THREADS.search(line))
                key, _, name = line.partition('=')[2].rstrip('\n').partition(' ')
                functions.setdefault(key, name)
                if line[0] == 'f':
                    left = bool(leave and leave.search(functions[key]))
    return images, own


def start(bench, program, mode, more=()):
    """The program under callgrind, which writes its files into the folder returned."""
    folder = os.path.join(bench.out, 'callgrind')
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    log = os.path.join(bench.logs, 'instructions.ndjson')
    if os.path.exists(log):
        os.unlink(log)
    argv, env = bench.start_of(program, MODE[mode], log)
    env.update({**SETTINGS, **program.env})
    return Child(COUNTED + ['--callgrind-out-file=%s/callgrind.%%p' % folder] + argv + list(more), env,
                 os.path.join(bench.out, 'output'), 900), folder


def run(bench, program, mode, more=()):
    """Instructions by part of one run, and how many operations it did."""
    child, folder = start(bench, program, mode, more)
    status, _, _ = child.wait()
    text = child.output()
    if status:
        raise Missing('%s, %s under callgrind: exit status %d: %s' % (program.label, mode, status, text[-300:]))
    sample = {}
    bench.rows_of(sample, text)
    return parts_of(glob.glob(folder + '/callgrind.*')), sample.get('ops', 1)


def ask(connections, requests):
    """Each connection its share, all at the same time."""
    failed = []

    def one(connection):
        try:
            for _ in range(requests // len(connections)):
                connection.request('GET', '/json')
                if connection.getresponse().read()[:1] != b'{':
                    failed.append('the server did not answer with JSON')
                    return
        except (OSError, http.client.HTTPException) as problem:
            failed.append('the server did not answer: %s' % problem)
    clients = [threading.Thread(target=one, args=(connection,)) for connection in connections]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if failed:
        raise Missing(failed[0])


def run_server(bench, program, mode, leave=None, connections=1, warm=WARM, requests=REQUESTS):
    """
    Instructions by part of a number of requests. With one connection the server sleeps between requests, and how often it
    spins and looks again differs from run to run, by a fifth; with many it does not.
    """
    child, folder = start(bench, program, mode)
    try:
        port = child.wait_for(r'listening http://127\.0\.0\.1:(\d+)', 300)
        if not port:
            raise Missing('%s, %s under callgrind: the server did not start' % (program.label, mode))
        clients = [http.client.HTTPConnection('127.0.0.1', int(port)) for _ in range(connections)]
        ask(clients, warm)
        tell('--zero', child.pid)
        ask(clients, requests)
        tell('--dump', child.pid)
    finally:
        child.kill()
        child.wait()
    return parts_of(glob.glob(folder + '/callgrind.*.1-*'), compiling=False, leave=leave)


def tell(what, pid):
    subprocess.run(['callgrind_control', what, str(pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)


def program_of(name):
    from bench import programs # which measures this part too
    table = {program.key: program for program in programs(True)}
    if name in ('short', 'kestrel'):
        table['kestrel'].env['DOTNET_TieredPGO'] = '0' # else counting the calls of each branch goes on for long
        return table[name], SHORT, None
    if name in LONG_RUNS:
        return table[name], COMPILER, None
    if name == 'fib':
        argv = table['fib1'].argv[:2] + ['--seconds', '1000', '--repetitions', '2']
        return Program('fib', 'fib', 'call', argv, 1, []), CALLS, [['--n', '18'], ['--n', '25']]
    depth = re.fullmatch(r'tree(\d+)', name)
    if not depth:
        raise Missing('instructions: no program %s; programs are fib, treeDEPTH, short, kestrel, csc, fsc' % name)
    argv = table['tree20'].argv[:2] + ['--depth', depth.group(1), '--seconds', '1000', '--repetitions', '1']
    return Program(name, 'trees, %s frames deep' % depth.group(1), 'allocation', argv, 1, []), TREE, \
        [['--operations', '100000'], ['--operations', '500000']]


def measure(bench, names, say):
    """{program: {mode: {part: instructions an operation}}}; of whole runs in millions."""
    missing = bench.want_package('valgrind', say)
    if missing:
        raise Missing(missing)
    found = {}
    for name in names:
        program, modes, lengths = program_of(name)
        rows = found.setdefault(name, {'label': program.label, 'unit': program.unit, 'modes': {}})['modes']
        for mode in modes:
            if lengths:
                (few, ops), (many, more) = (run(bench, program, mode, length) for length in lengths)
                rows[mode] = {part: (many[part] - few[part]) / (more - ops) for part in PARTS}
            elif name == 'kestrel':
                rows[mode] = {part: count / REQUESTS for part, count in run_server(bench, program, mode).items()}
            else:
                whole, _ = run(bench, program, mode)
                rows[mode] = {part: whole[part] / 1e6 for part in PARTS}
        say('instructions: %s' % program.label)
    return found


def tables(found):
    """Cells for a table of each program: (title, heads, lines)."""
    for rows in found.values():
        heads = [''] + PARTS + ['all but our threads']
        lines = []
        for mode, parts in rows['modes'].items():
            cells = [parts.get(part, 0.0) for part in PARTS]
            lines.append([MODE[mode].label] + ['%.1f' % cell for cell in cells + [sum(cells[:-1])]])
        yield '%s: %s' % (rows['label'], 'millions of instructions' if rows['unit'] == 'run'
                          else 'instructions of one more ' + rows['unit']), heads, lines


def main(build, arguments):
    from show import table_of # which shows these tables too
    bench = Bench(build, True)
    bench.prepare(print)
    for title, heads, lines in tables(measure(bench, arguments or USUAL, print)):
        print('\n%s\n%s' % (title, table_of(heads, lines)))
    return 0


if __name__ == '__main__':
    sys.exit(alone('instructions', '[PROGRAM...]', main))
