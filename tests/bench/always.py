#!/usr/bin/env python3
"""What sampling for production costs, and how well its estimates hold.

usage: tests/bench/always.py BUILD WHAT [N]

  instructions [RUNS]  a request of Kestrel under callgrind, RUNS (3) runs a mode: without functions that spin or collect,
                       which do as they like; --always-on at most 1.02 times unprofiled, the sampler alone 1.01; beside them
                       the runtime's own sampling without any profiler, written to a file
  frames [RUNS]        the same of hooks on own code, of snapshots and of walks, on servers with 14 and with 500 own calls a request
  cpu [ROUNDS]         CPU of a request with --always-on and without a profiler: a server each, both under load at once, in
                       ROUNDS (30) pairs: the upper end of the interval at most 1.03
  start [ROUNDS]       a short program by the wall clock, ROUNDS (40): at most 1.05 times
  memory [ROUNDS]      resident memory of Kestrel under load, ROUNDS (5): at most 12 MB more
  flat [SECONDS]       resident memory of a program that loads and unloads code, SECONDS (1800): its last third as its second
  seeds                50 recordings of known amounts, and of what is alive (the lane sampler of make check-all): ranges that
                       hold, and the bias of each site
  attach [ROUNDS]      requests for a second of CPU of two servers under load at once, one of them attached to, then the other, in
                       ROUNDS (30): at most 2 % apart

Each prints what it found and what it must show. The machine has to have nothing else to do.
"""
import glob
import math
import os
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import instructions
from families import build as build_program
from runs import MODE, ROOT, Bench, Child, Missing, Mode, alone, median, process_cpu
from show import difference, interval, values


def session_of(what):
    """Variables by which the runtime itself starts a session, as dotnet-trace does, whose file nobody reads."""
    return {'DOTNET_EnableEventPipe': '1', 'DOTNET_EventPipeConfig': 'Microsoft-Windows-DotNETRuntime:' + what,
            'DOTNET_EventPipeOutputPath': os.devnull}


MODE.update({mode.key: mode for mode in [
    Mode('always', '--always-on', 'ours', '--always-on'),
    Mode('bare', '--always-on --framework-frames none', 'ours', '--always-on', '--framework-frames', 'none'),
    Mode('sampler', 'the sampler alone, with snapshots', 'ours', '--always-on', '--capture', 'snapshot'),
    Mode('walked', 'the sampler alone, with walks', 'ours', '--always-on', '--capture', 'walk'),
    Mode('frames', '--always-on --framework-frames snapshot', 'ours', '--always-on', '--framework-frames', 'snapshot'),
    Mode('alive', '--always-on --live', 'ours', '--always-on', '--live'),
    Mode('runtime', "the runtime's sampling without a profiler", 'plain', env=session_of('0x80000000000:4')),
    Mode('verbose', 'GC events, verbose, to a file', 'plain', env=session_of('0x1:5')),
    Mode('own', '--own', 'ours', '--own', '--log', 'sites', '--check', '0'),
]})
SPINS = re.compile(r'[Ss]pin|YieldProcessor|gc_heap|WKS::|SVR::|mark_object|GCHeap')
SERVER = ['plain', 'runtime', 'always', 'bare', 'sampler', 'walked', 'frames', 'alive', 'own', 'alloc', 'verbose']
WARM, REQUESTS = 8000, 8000  # some 90 samples of each
WARM_S, LOAD_S = 16, 20 # of servers under load at once: after some 300,000 requests the code is the final one
ATTACHED_S = float(os.environ.get('BENCH_SLICE', 10))


def kestrel():
    from bench import programs # which measures more than this
    table = {program.key: program for program in programs(True)}
    return table['kestrel']


def short():
    from bench import programs
    return {program.key: program for program in programs(True)}['short']


def verdict(what, value, limit, more=''):
    print('%s: %.4g, at most %.4g: %s%s' % (what, value, limit, 'ok' if value <= limit else 'NOT REACHED', more))
    return value <= limit


def a_request(bench, program, mode):
    """Instructions of one, but of our own threads. Code is compiled once: when a timer has it compiled again differs."""
    program.env['DOTNET_TieredCompilation'] = '0'
    parts = instructions.run_server(bench, program, mode, SPINS, 16, WARM, REQUESTS)
    return sum(count for part, count in parts.items() if part != 'our threads') / REQUESTS


def runs_of(bench, program, modes, runs):
    """{mode: instructions of a request, of each run}; prints what it finds."""
    found = {}
    for number in range(runs):
        for mode in modes:
            found.setdefault(mode, []).append(a_request(bench, program, mode))
            print('%d  %-45s %8.0f instructions a request' % (number + 1, MODE[mode].label, found[mode][-1]), flush=True)
    base = median(found['plain'])
    for mode, totals in found.items():
        print('%-45s %8.0f  %.4f times, %.4f to %.4f' % (
            MODE[mode].label, median(totals), median(totals) / base, min(totals) / base, max(totals) / base), flush=True)
    return found


def count_instructions(bench, runs):
    missing = bench.want_package('valgrind', print)
    if missing:
        raise Missing(missing)
    found = runs_of(bench, kestrel(), SERVER, runs)
    base = median(found['plain'])
    for mode in 'always', 'sampler':
        print('%s: %.4g times the runtime\'s sampling' % (MODE[mode].label, median(found[mode]) / median(found['runtime'])))
    holds = verdict('--always-on', median(found['always']) / base, 1.02)
    return verdict('the sampler alone', median(found['sampler']) / base, 1.01) and holds


def compare_frames(bench, runs):
    """Hooks, which each own call pays for, beside snapshots and walks, which each sample pays for."""
    missing = bench.want_package('valgrind', print)
    if missing:
        raise Missing(missing)
    for calls in 14, 500:
        program = kestrel()
        program.argv = program.argv + ['--calls', str(calls - 14)]
        print('%d own calls a request' % calls)
        found = runs_of(bench, program, ['plain', 'always', 'bare', 'sampler', 'walked'], runs)
        cheaper = min(('always', 'walked'), key=lambda mode: median(found[mode]))
        print('cheaper: %s' % MODE[cheaper].label, flush=True)
    return True


def rounds_of(bench, program, modes, rounds):
    """{'samples': [...]} as bench.py has it: the modes in random order in each round."""
    chance, samples = random.Random(1), []
    for number in range(rounds):
        for mode in chance.sample(modes, len(modes)):
            sample = bench.run(program, MODE[mode], number)
            if 'error' in sample:
                raise Missing('%s: %s' % (MODE[mode].label, sample['error']))
            samples.append(sample)
    return {'samples': samples}


def load(port, seconds):
    """Requests that wrk had answered."""
    text = subprocess.run(['wrk', '-t1', '-c16', '-d%gs' % seconds, 'http://127.0.0.1:%s/json' % port],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout.decode()
    return int(re.search(r'(\d+) requests in', text).group(1))


def load_all(ports, seconds):
    """The same of several servers at once: what the machine does meanwhile, it does to all."""
    with ThreadPoolExecutor(len(ports)) as pool:
        return dict(zip(ports, pool.map(lambda port: load(port, seconds), ports.values())))


def a_round(bench, modes):
    """{mode: CPU of a request}, of a process each, all under load at once."""
    servers, ports = {}, {}
    for old in glob.glob(bench.logs + '/*'):
        os.unlink(old)
    try:
        for mode in modes:
            argv, env = bench.start_of(kestrel(), MODE[mode], os.path.join(bench.logs, mode + '.ndjson.zst'))
            servers[mode] = Child(argv, env, os.path.join(bench.logs, mode + '.output'), 600, bench.folder)
        for mode in modes:
            ports[mode] = servers[mode].wait_for(r'listening http://127\.0\.0\.1:(\d+)', 30)
            if not ports[mode]:
                raise Missing('%s: the server did not start: %s' % (MODE[mode].label, servers[mode].output()[-300:]))
        load_all(ports, WARM_S)
        before = {mode: process_cpu(servers[mode].pid) for mode in modes}
        answered = load_all(ports, LOAD_S)
        return {mode: (process_cpu(servers[mode].pid) - before[mode]) / answered[mode] for mode in modes}
    finally:
        for server in servers.values():
            server.kill()
            server.wait()


def mean_ratio(ratios):
    """Of ratios' logarithms: the mean as a ratio, and its 95 % interval."""
    logs = [math.log(ratio) for ratio in ratios]
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((value - mean) ** 2 for value in logs) / max(1, len(logs) - 1) / len(logs))
    return math.exp(mean), math.exp(mean - 2 * spread), math.exp(mean + 2 * spread)


def measure_cpu(bench, rounds):
    missing = bench.want_package('wrk', print)
    if missing:
        raise Missing(missing)
    chance, ratios = random.Random(1), []
    for number in range(rounds):
        costs = a_round(bench, chance.sample(['plain', 'always'], 2))
        ratios.append(costs['always'] / costs['plain'])
        print('%2d  %5.1f us, %.3f times that' % (number + 1, costs['plain'] * 1e6, ratios[-1]), flush=True)
    value, low, high = mean_ratio(ratios)
    print('--always-on: %.3f times the CPU of a request [%.3f, %.3f], %d rounds' % (value, low, high, rounds))
    return verdict('upper end', high, 1.03)


def measure_start(bench, rounds):
    """The ratio of each round, for the machine is faster in one minute than in the next: their median, its 95 % interval."""
    result = rounds_of(bench, short(), ['plain', 'always'], rounds)
    walls = [values(result, 'short', mode, 'wall') for mode in ('always', 'plain')]
    ratios = [one / other for one, other in zip(*walls)]
    low, high = interval(lambda chance: median(chance.choices(ratios, k=len(ratios))))
    return verdict('start of a short program', median(ratios), 1.05, ' [%.3f, %.3f], %d rounds' % (low, high, rounds))


def measure_memory(bench, rounds):
    missing = bench.want_package('wrk', print)
    if missing:
        raise Missing(missing)
    result = rounds_of(bench, kestrel(), ['plain', 'always'], rounds)
    value, low, high, _ = difference(result, 'kestrel', 'rss', 'always', 'plain')
    return verdict('memory of Kestrel, MB more', value / 2 ** 20, 12, ' [%.1f, %.1f]' % (low / 2 ** 20, high / 2 ** 20))


def resident(pid):
    with open('/proc/%d/status' % pid, encoding='ascii') as file:
        return int(re.search(r'VmRSS:\s+(\d+)', file.read()).group(1)) / 1024


def measure_flat(bench, seconds):
    """Unload makes load contexts, runs code in them and drops them, again and again."""
    made = os.path.join(bench.out, 'server', 'net10.0', 'Unload.dll')
    build_program(bench, 'Unload')
    for old in glob.glob(bench.logs + '/*'):
        os.unlink(old)
    argv = [bench.command, 'record', '--quiet', '--always-on', '-o', bench.logs + '/flat.ndjson.zst', '--', 'dotnet', made,
            '--scale', '1000000']
    child = Child(argv, os.environ, os.path.join(bench.out, 'output'), seconds + 60)
    seen, end = [], time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            time.sleep(min(10, seconds / 30))
            pids = [int(pid) for pid in subprocess.run(['pgrep', '-P', str(child.pid)], stdout=subprocess.PIPE,
                                                       check=False).stdout.split()]
            if pids:
                seen.append(resident(pids[0]))
    finally:
        child.kill()
        child.wait()
    if len(seen) < 9:
        raise Missing('the program has ended: ' + child.output()[-300:])
    third = len(seen) // 3
    second, last = median(seen[third:2 * third]), median(seen[2 * third:])
    print('resident: %.0f MB in the second third, %.0f MB in the last' % (second, last))
    return verdict('memory of the last third, times the second', last / second, 1.02)


def measure_seeds(bench, _):
    return subprocess.run([sys.executable, os.path.join(ROOT, 'tests/e2e/run.py'), '-j', '1', '--lane', 'sampler'],
                          check=False).returncode == 0


def attach_to(bench, server):
    """The tool that is attached to it, once it records."""
    log = os.path.join(bench.logs, 'attached.ndjson')
    if os.path.exists(log):
        os.unlink(log)
    tool = subprocess.Popen([bench.command, 'attach', '-q', '-o', log, str(server)])
    while not os.path.exists(log):
        if tool.poll() is not None:
            raise Missing('attach failed')
        time.sleep(0.01)
    return tool


def slice_of(bench, ports, attached):
    """Requests for a second of CPU of that server, times those of the other; attached for nearly all of the slice."""
    tool = attach_to(bench, attached)
    before = {server: process_cpu(server) for server in ports}
    answered = load_all(ports, ATTACHED_S)
    work = {server: answered[server] / (process_cpu(server) - before[server]) for server in ports}
    subprocess.run([bench.command, 'detach', str(attached)], stdout=subprocess.DEVNULL, check=True)
    tool.wait()
    return work[attached] / next(work[server] for server in ports if server != attached)


def maps_of(pid):
    with open('/proc/%d/maps' % pid, encoding='utf-8', errors='replace') as file:
        return file.read()


def measure_attach(bench, rounds):
    """Two servers under load at once; each round attaches to either: what one has ahead of the other is nothing then."""
    missing = bench.want_package('wrk', print)
    if missing:
        raise Missing(missing)
    argv, env = bench.start_of(kestrel(), MODE['plain'], None)
    servers, ratios = [], []
    try:
        for number in range(2):
            servers.append(Child(argv, env, os.path.join(bench.out, 'output%d' % number),
                                 60 + WARM_S + rounds * 2 * (ATTACHED_S + 5), bench.folder))
        ports = {server.pid: server.wait_for(r'listening http://127\.0\.0\.1:(\d+)', 30) for server in servers}
        if not all(ports.values()):
            raise Missing('a server did not start')
        load_all(ports, WARM_S)
        for number in range(rounds):
            ratios.append(math.sqrt(math.prod(slice_of(bench, ports, server) for server in ports)))
            print('%2d  %.3f times' % (number + 1, ratios[-1]), flush=True)
        left = any('libshadowtrace' in maps_of(server) for server in ports)
    finally:
        for server in servers:
            server.kill()
            server.wait()
    value, low, high = mean_ratio(ratios)
    print('left in the process: %s' % ('the library' if left else 'nothing'))
    return verdict('work for a second of CPU while attached, per cent less', 100 * (1 - value), 2,
                   ' [%.2f, %.2f], %d rounds' % (100 * (1 - high), 100 * (1 - low), rounds)) and not left


WHAT = {'instructions': (count_instructions, 3), 'frames': (compare_frames, 3), 'cpu': (measure_cpu, 30), 'start': (measure_start, 40),
        'memory': (measure_memory, 5), 'flat': (measure_flat, 1800), 'seeds': (measure_seeds, 0), 'attach': (measure_attach, 30)}


def main(build, arguments):
    if not arguments or arguments[0] not in WHAT:
        print('tests/bench/always.py BUILD WHAT [N]; WHAT is one of %s' % ', '.join(WHAT), file=sys.stderr)
        return 2
    work, usual = WHAT[arguments[0]]
    bench = Bench(build, False)
    bench.prepare(print)
    return 0 if work(bench, int(arguments[1]) if len(arguments) > 1 else usual) else 1


if __name__ == '__main__':
    sys.exit(alone('always', 'WHAT [N]', main))
