"""Starting programs under each way of capturing, and what a run cost."""
import glob
import hashlib
import itertools
import json
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NOOP_CLSID = '{C5A4B0E2-6A0B-4E0A-9C0F-3B6D6E1F0001}'


class Mode:
    """kind: plain, noop (tests/bench/noop.c), ours (options of `shadowtrace env`), record, trace."""

    def __init__(self, key, label, kind, *detail, env=None):
        self.key, self.label, self.kind, self.detail, self.env = key, label, kind, list(detail), env or {}
        self.packs = '--compress' in detail or '--always-on' in detail


HOOKED = '--framework-frames', 'none'  # of `--own` and `--only`: the frames with hooks
MODES = [
    Mode('plain', 'no profiler', 'plain'),
    Mode('jit', 'precompiled code off', 'plain', env={'DOTNET_ReadyToRun': '0'}),
    Mode('alloc', 'ObjectAllocated only', 'noop', 'alloc'),
    Mode('elt2', 'empty ELT2', 'noop', 'elt2'),
    Mode('elt2a', 'empty ELT2, ObjectAllocated', 'noop', 'elt2,alloc'),
    Mode('elt3', 'empty ELT3', 'noop', 'elt3'),
    Mode('elt3a', 'empty ELT3, ObjectAllocated', 'noop', 'elt3,alloc'),
    Mode('sites3', 'ours, sites', 'ours', '--log', 'sites'),
    Mode('events3', 'ours, events', 'ours', '--log', 'events'),
    Mode('sites3-0', 'ours, sites, --check 0', 'ours', '--log', 'sites', '--check', '0'),
    Mode('events3-0', 'ours, events, --check 0', 'ours', '--log', 'events', '--check', '0'),
    Mode('zstd3', 'ours, events, --compress', 'ours', '--log', 'events', '--compress'),
    Mode('optimized3', 'ours, events, --optimized', 'ours', '--log', 'events', '--optimized'),
    Mode('nolines3', 'ours, events, --no-lines', 'ours', '--log', 'events', '--no-lines'),
    Mode('nolines-sites3', 'ours, sites, --no-lines', 'ours', '--log', 'sites', '--no-lines'),
    Mode('sites2', 'ours, ELT2, sites', 'ours', '--hooks', 'elt2', '--log', 'sites'),
    Mode('events2', 'ours, ELT2, events', 'ours', '--hooks', 'elt2', '--log', 'events'),
    Mode('sites2-0', 'ours, ELT2, sites, --check 0', 'ours', '--hooks', 'elt2', '--log', 'sites', '--check', '0'),
    Mode('events2-0', 'ours, ELT2, events, --check 0', 'ours', '--hooks', 'elt2', '--log', 'events', '--check', '0'),
    Mode('only', 'ours, --only own assembly', 'ours', '--only', 'OWN', *HOOKED),
    Mode('only-sites', 'ours, --only own assembly, sites', 'ours', '--only', 'OWN', *HOOKED, '--log', 'sites'),
    Mode('only-walk', 'the same with the frames between', 'ours', '--only', 'OWN', '--log', 'sites'),
    Mode('only-record', 'as only, by `record`', 'record', '--only', 'OWN', *HOOKED),
    Mode('rich', '`record --own`', 'record', '--own'),
    Mode('own-hooked', '`record --own --framework-frames none`', 'record', '--own', *HOOKED),
    Mode('richless', '`record --own --no-rich`', 'record', '--own', '--no-rich'),
    Mode('rich-all', '`record`', 'record'),
    Mode('richless-all', '`record --no-rich`', 'record', '--no-rich'),
    Mode('walk', 'walk at each allocation, sites, --check 0', 'ours', '--capture', 'walk', '--log', 'sites', '--check', '0'),
    Mode('walk-events', 'the same, events', 'ours', '--capture', 'walk', '--log', 'events', '--check', '0'),
    Mode('snapshot', 'snapshot at each allocation', 'ours', '--capture', 'snapshot'),
    Mode('trace', 'dotnet-trace gc-verbose (samples)', 'trace'),
]
MODE = {mode.key: mode for mode in MODES}


class Program:
    """
    What is measured. core: the modes of every round; the others run in a third of the rounds. project: its folder if it needs
    packages from NuGet. Of a server `requests`: how many are answered at the least, whatever time that takes, so that logs of
    one size of work can be compared.
    """

    def __init__(self, key, label, unit, argv, rounds, core, rest=(), own='Bench.*', primary='cpu', env=None, project=None):
        self.key, self.label, self.unit, self.argv, self.rounds = key, label, unit, argv, rounds
        self.core, self.rest, self.own, self.primary = list(core), list(rest), own, primary
        self.env, self.project = env or {}, project
        self.requests = 0


class Missing(Exception):
    """Something this machine lacks, in one line."""


def output_of(*argv):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False).stdout.decode(errors='replace')


def sdk():
    """Folders of the newest SDK and of its framework."""
    found = re.findall(r'^(\S+) \[(.*)\]$', output_of('dotnet', '--list-sdks'), re.M)
    frameworks = re.findall(r'^Microsoft\.NETCore\.App (\S+) \[(.*)\]$', output_of('dotnet', '--list-runtimes'), re.M)
    if not found or not frameworks:
        raise Missing("no .NET SDK: `dotnet --list-sdks` names none")
    return os.path.join(found[-1][1], found[-1][0]), os.path.join(frameworks[-1][1], frameworks[-1][0])


class Bench:
    """The folder of a build, what is compiled into it for measuring, and how a program is run there."""

    def __init__(self, build, quick):
        self.build, self.quick = os.path.abspath(build), quick
        self.out = os.path.join(self.build, 'bench')
        self.command = os.path.join(self.build, 'shadowtrace')
        self.library = os.path.join(self.build, 'libshadowtrace.so')
        self.noop = os.path.join(self.out, 'libnoop.so')
        self.logs = os.path.join(self.out, 'logs')
        self.folder = os.path.join(self.out, 'empty') # a server watches its own for changes: no log lies in it
        os.makedirs(self.folder, exist_ok=True)
        self.trace_tool, self.trace_why = None, 'not looked for'
        for path in (self.command, self.library):
            if not os.path.exists(path):
                raise Missing('%s is missing: run make first' % path)
        os.makedirs(self.logs, exist_ok=True)
        with open(self.library, 'rb') as file:
            self.fingerprint = hashlib.sha256(file.read()).hexdigest()[:16]

    # ---- what has to be built

    def prepare(self, say):
        say('building the no-op profiler and the programs')
        self.compile([os.environ.get('CC', 'cc'), '-std=c11', '-O2', '-Wall', '-Wextra', '-fPIC', '-shared',
                      '-fvisibility=hidden', '-I' + os.path.join(ROOT, 'include'), '-o', self.noop,
                      os.path.join(HERE, 'noop.c')])
        for name in ('Fib', 'Tree', 'Depth', 'Short', 'Sites', 'Kestrel', 'Live'):
            self.build_program(os.path.join(HERE, 'programs', name))
        sdk_folder, framework = sdk()
        references = sorted(path for pattern in ('System*.dll', 'Microsoft*.dll', 'netstandard.dll', 'mscorlib.dll')
                            for path in glob.glob(os.path.join(framework, pattern)) if 'Native' not in path)
        for name, line in (('csc.rsp', '-r:"%s"\n'), ('fsc.rsp', '-r:%s\n')): # fsc takes quotes for part of the name
            with open(os.path.join(self.out, name), 'w', encoding='utf-8') as file:
                file.writelines(line % path for path in references)
        self.sdk = sdk_folder

    def build_program(self, folder):
        """A program of tests/bench or tests/e2e, in the same folder as the others."""
        made = os.path.join(self.out, 'programs', os.path.basename(folder) + '.dll')
        sources = [path for pattern in (folder + '/*', folder + '/../Common/*', folder + '/../Directory.Build.*') for path in glob.glob(pattern)]
        if not os.path.exists(made) or any(os.path.getmtime(s) > os.path.getmtime(made) for s in sources):
            self.compile(['dotnet', 'build', '-v', 'q', '--nologo', *('-p:%s=%s' % (name, self.out) for name in ('BenchOut', 'E2EOut')),
                          '-p:OutDir=%s/programs/' % self.out, folder])

    @staticmethod
    def compile(argv):
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            raise Missing('%s failed:\n%s' % (' '.join(argv), done.stdout.decode(errors='replace')))

    def want_trace(self, say):
        tools = os.path.join(self.out, 'tools')
        path = os.path.join(tools, 'dotnet-trace')
        if not os.path.exists(path):
            say('installing dotnet-trace from NuGet')
            text = output_of('timeout', '120', 'dotnet', 'tool', 'install', 'dotnet-trace', '--tool-path', tools)
            if not os.path.exists(path):
                self.trace_why = 'dotnet-trace could not be installed from NuGet: ' + ' '.join(text.split())[:200]
                return
        self.trace_tool = path

    @staticmethod
    def want_package(name, say):
        """Why a Debian package with a command of the same name is not available, or None."""
        if shutil.which(name):
            return None
        say('installing ' + name)
        sudo = [] if os.geteuid() == 0 else ['sudo', '-n']
        text = output_of(*sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-qq', name)
        return None if shutil.which(name) else '%s is missing and could not be installed: %s' % (
            name, ' '.join(text.split())[-200:])

    def want_project(self, program, say):
        """Why a program that needs packages from NuGet is not available, in one line, or None."""
        if not program.project:
            return None
        try:
            self.build_program(program.project)
        except Missing as problem:
            found = re.search(r'error .*', str(problem))
            why = '%s could not be built: %s' % (os.path.relpath(program.project, ROOT), found[0][:200] if found else 'dotnet build failed')
            say(why)
            return why
        return None

    # ---- one run

    def start_of(self, program, mode, log):
        """Command line and environment of a program in a mode."""
        argv = [part.replace('{out}', self.out).replace('{here}', HERE).replace('{sdk}', getattr(self, 'sdk', ''))
                for part in program.argv]
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(('CORECLR_', 'SHADOWTRACE_', 'DOTNET_Ready', 'DOTNET_Tiered', 'DOTNET_GC', 'DOTNET_gc'))}
        env.update({'DOTNET_CLI_TELEMETRY_OPTOUT': '1', 'DOTNET_NOLOGO': '1'})
        env.update(program.env)
        env.update(mode.env)
        options = [program.own if part == 'OWN' else part for part in mode.detail]
        if mode.kind == 'noop':
            env.update({'CORECLR_ENABLE_PROFILING': '1', 'CORECLR_PROFILER': NOOP_CLSID,
                        'CORECLR_PROFILER_PATH': self.noop, 'NOOP': mode.detail[0]})
        elif mode.kind == 'ours':
            text = subprocess.run([self.command, 'env', '--format', 'json', *options, '-o', log],
                                  stdout=subprocess.PIPE, check=True).stdout
            env.update({key: value for key, value in json.loads(text).items() if value is not None})
        elif mode.kind == 'record':
            argv = [self.command, 'record', '--quiet', *options, '-o', log, '--', *argv]
        elif mode.kind == 'trace':
            argv = [self.trace_tool, 'collect', '--profile', 'gc-verbose', '--show-child-io', '-o', log, '--', *argv]
        return argv, env

    def run(self, program, mode, number):
        log = os.path.join(self.logs, '%s-%s%s' % (program.key, mode.key,
                           '.nettrace' if mode.kind == 'trace' else '.ndjson.zst' if mode.packs else '.ndjson'))
        for old in glob.glob(self.logs + '/*'):
            os.unlink(old)
        argv, env = self.start_of(program, mode, log)
        server = program.key.startswith('kestrel')
        sample = {'program': program.key, 'mode': mode.key, 'round': number}
        before = busy_seconds()
        process = Child(argv, env, os.path.join(self.logs, 'output'), 300, self.folder if server else None)
        try:
            load = self.load_server(process, sample, program.requests) if server else 0.0
        finally:
            status, usage, wall = process.wait()
        text = process.output()
        sample.update(wall=wall, cpu=usage.ru_utime + usage.ru_stime, rss=usage.ru_maxrss * 1024)
        others = busy_seconds() - before - sample['cpu'] - load
        sample['others'] = max(0.0, others) / wall
        if status != 0:
            sample['error'] = 'exit status %d: %s' % (status, text.strip()[-300:])
        elif not server:
            self.rows_of(sample, text)
        if mode.kind in ('ours', 'record') and 'error' not in sample:
            self.log_of(sample, log)
            if '--live' in mode.detail and 'error' not in sample:
                sample['live_total'] = last_live(log)
        elif mode.kind == 'trace' and os.path.exists(log):
            sample['log_bytes'] = os.path.getsize(log)
        for old in glob.glob(self.logs + '/*'):
            os.unlink(old)
        return sample

    @staticmethod
    def rows_of(sample, text):
        found = re.search(r'^\{"phases":.*\}$', text, re.M)
        if found:
            sample.update(json.loads(found.group()))
        found = re.search(r'^\{"rows":.*\}$', text, re.M)
        if not found:
            return
        rows = json.loads(found.group())['rows']
        for depth in sorted({row['depth'] for row in rows}):
            same = [row for row in rows if row['depth'] == depth]
            key = '' if len({row['depth'] for row in rows}) == 1 else '@%d' % depth
            sample['op_cpu' + key] = median(row['cpu_ns'] / row['ops'] for row in same)
            sample['op_wall' + key] = median(row['wall_ns'] / row['ops'] for row in same)
        sample['ops'] = sum(row['ops'] for row in rows)
        sample['ops_wall'] = sum(row['wall_ns'] for row in rows) / 1e9

    def log_of(self, sample, log):
        """What the log says of itself in its last record."""
        if not os.path.exists(log):
            sample['error'] = 'nothing was recorded'
            return
        sample['log_bytes'] = os.path.getsize(log)
        if log.endswith('.zst'):
            text = subprocess.run([self.command, 'report', '--by', 'thread', '--format', 'json', log],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
            total = json.loads(text)['total']
            sample.update(events=total['allocs'], lost=total['lost'])
        else:
            with open(log, 'rb') as file:
                file.seek(max(0, sample['log_bytes'] - 65536))
                last = file.read().splitlines()[-1]
            end = json.loads(last)
            if end.get('kind') != 'end':
                sample['error'] = 'the log has no end'
                return
            sample.update(events=end['written'], lost=end['lost'], lost_by=end.get('lost_by', {}), nodes=end['nodes'])
        seconds = sample.get('ops_wall') or sample['wall']
        sample['events_s'] = sample['events'] / seconds
        if sample['events']:
            sample['bytes_event'] = sample['log_bytes'] / sample['events']

    def load_server(self, process, sample, requests):
        """Requests to the server, its CPU time meanwhile. Returns the CPU time of wrk."""
        warm, measure = (2, 1) if self.quick else (3, 3)
        url = process.wait_for(r'listening (http://127\.0\.0\.1:\d+)', 30)
        if not url:
            sample['error'] = 'the server did not start: ' + process.output()[-300:]
            process.kill()
            return 0.0
        server = child_of(process.pid) or process.pid
        load, slices, answered = 0.0, [], 0
        for number in itertools.count(): # a slice is a second; in the first few the code is not yet the final one
            if number >= warm + measure and answered >= requests:
                break
            cpu, start = process_cpu(server), time.perf_counter()
            wrk = subprocess.Popen(['wrk', '-t1', '-c16', '-d1s', url + '/json'], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            text = wrk.stdout.read().decode()
            _, _, usage = os.wait4(wrk.pid, 0)
            wrk.returncode = 0
            cpu, wall = process_cpu(server) - cpu, time.perf_counter() - start
            load += usage.ru_utime + usage.ru_stime
            found = re.search(r'(\d+) requests in', text)
            answered += int(found.group(1)) if found else 0
            if number < warm:
                continue
            if not found or found.group(1) == '0' or re.search(r'Non-2xx|Socket errors', text):
                sample['error'] = 'wrk: ' + ' '.join(text.split())[-200:]
                break
            if number < warm + measure:
                slices.append((cpu / int(found.group(1)), wall / int(found.group(1)), int(found.group(1))))
        if 'error' not in sample:
            sample.update(ops=sum(part[2] for part in slices), op_cpu=median(part[0] for part in slices) * 1e9,
                          op_wall=median(part[1] for part in slices) * 1e9)
            sample['requests_s'] = 1e9 / sample['op_wall']
        os.kill(server, signal.SIGTERM)
        return load


class Child:
    """A started program in a separate process group, killed when it takes too long."""

    def __init__(self, argv, env, path, limit, folder=None):
        self.path = path
        with open(path, 'wb') as out:
            self.start = time.perf_counter()
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env,
                                            cwd=folder, start_new_session=True)
        self.pid = self.process.pid
        self.timer = threading.Timer(limit, self.kill)
        self.timer.daemon = True
        self.timer.start()

    def kill(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def wait(self):
        _, status, usage = os.wait4(self.pid, 0)
        wall = time.perf_counter() - self.start
        self.timer.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode, usage, wall

    def output(self):
        with open(self.path, 'rb') as file:
            return file.read().decode(errors='replace')

    def wait_for(self, pattern, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = re.search(pattern, self.output())
            if found:
                return found.group(1)
            if not os.path.exists('/proc/%d/task' % self.pid) or state_of(self.pid) == 'Z':
                return None
            time.sleep(0.02)
        return None


def last_live(log):
    """The last record of a log that says what is alive; {}: there was no collection."""
    with open(log, 'rb') as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        at = text.rfind(b'{"kind":"live_total"')
        return json.loads(text[at:text.find(b'\n', at)]) if at >= 0 else {}


def state_of(pid):
    try:
        with open('/proc/%d/stat' % pid, encoding='ascii', errors='replace') as file:
            return file.read().rsplit(')', 1)[1].split()[0]
    except OSError:
        return 'Z'


def child_of(pid):
    for path in glob.glob('/proc/%d/task/*/children' % pid):
        with open(path, encoding='ascii') as file:
            children = file.read().split()
        if children:
            return int(children[0])
    return None


def process_cpu(pid):
    """Seconds of CPU of another process, to the nanosecond: its CPU clock (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


def busy_seconds():
    """CPU time of the whole machine that was not idle, stolen time included."""
    with open('/proc/stat', encoding='ascii') as file:
        user, nice, system, _, _, irq, soft, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + soft + steal) / os.sysconf('SC_CLK_TCK')


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def machine():
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        model = re.search(r'model name\s*: (.*)', file.read())
    return {'cpu': model.group(1) if model else '?', 'cores': os.cpu_count(), 'kernel': os.uname().release,
            'runtime': ', '.join(re.findall(r'Microsoft\.NETCore\.App (\S+)', output_of('dotnet', '--list-runtimes'))),
            'python': sys.version.split()[0]}


def alone(name, usage, work):
    """A part of the bench by itself: work(folder of the build, arguments) gives the exit status. 3: something is missing."""
    if len(sys.argv) < 2:
        print('usage: tests/bench/%s.py BUILD %s' % (name, usage), file=sys.stderr)
        return 2
    try:
        return work(sys.argv[1], sys.argv[2:])
    except (Missing, subprocess.SubprocessError) as problem:
        print('%s: %s' % (name, problem), file=sys.stderr)
        return 3
