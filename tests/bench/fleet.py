#!/usr/bin/env python3
"""What a fleet costs in ClickHouse: always-on logs of 1,000 hosts for some hours, made of real recordings, in Debian's server.

usage: tests/bench/fleet.py BUILD [--rows N] [--hosts N] [--folder FOLDER]

  --rows N         rows of amounts to load, at least (50,000,000)
  --hosts N        hosts (1000); four processes each
  --folder FOLDER  where the four recordings lie and stay

Recorded are, with --always-on --log events for 75 s or so each: Kestrel under load, with its own frames and with the framework's, and
Roslyn as two versions of a program with the framework's. A host runs one of each. Of each minute it has as many rows as the
recording has in its fullest one, drawn from all of its rows, with different amounts. Hosts have one of 20 builds: nine of ten
stacks are the same in all of them, the others have moved by some instructions and have ids of their own.

Printed is what it takes in rows, bytes and seconds, each question's time, what a day of it would be (extrapolated, and said so),
how many small insertions a second the server takes without something that gathers them, and where it would break. Checked are
the sums of each host and version, to the byte, and that each question takes less than 5 s. Needs 15 GB of disk, and half an hour.
"""
import argparse
import json
import multiprocessing
import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
import uuid

from runs import ROOT, Missing

sys.path.insert(0, os.path.join(ROOT, 'tests/e2e'))
sys.dont_write_bytecode = True

SECONDS, COMPILATIONS = 75, '60' # which take as long
RECORDINGS = (('web', 'WebServer', ()), ('web-frames', 'WebServer', ('--framework-frames', 'snapshot')),
              ('worker-1.4.0', '1.4.0', ('--framework-frames', 'snapshot')),
              ('worker-1.5.0', '1.5.0', ('--framework-frames', 'snapshot')))
BUILDS, MOVED = 20, 0.1  # builds of a program, and the part of stacks that each has for itself
SENDERS = 2
BATCH = 35_000           # rows in a request: 10 MB, as ship/vector.yaml gathers them
QUESTION_S = 5.0
BEGAN = 1_795_600_800    # of all recordings: 2026-11-25 10:00:00
VALUES = {'who': ['type=System.String'], 'deployment': ['before=1.4.0', 'after=1.5.0']}
MEMBERS = 'bytes', 'allocs', 'bytes_variance', 'allocs_variance', 'seen_bytes', 'seen_allocs'
KEY = '{"kind":"allocated","recording":"%s","stack":"%s","type":"%s","minute":'
AMOUNTS = '%s%d,"bytes":%d,"allocs":%d,"bytes_variance":%.1f,"allocs_variance":%.1f,"seen_bytes":%d,"seen_allocs":%d}\n'


def record(build, folder):
    """{name: rows of its export}"""
    import fleet_volume
    import harness
    harness.PROGRAM.build([('WebServer', harness.DEFAULT_FRAMEWORK)])
    tool = os.path.join(build, 'shadowtrace')
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, 'sample.cs'), 'w', encoding='utf-8') as file:
        file.write(fleet_volume.test_compiler.SOURCE)
    commands = fleet_volume.commands()
    found = {}
    for name, program, options in RECORDINGS:
        log, rows = (os.path.join(folder, name + end) for end in ('.ndjson.zst', '.rows.ndjson'))
        if not os.path.exists(rows):
            command = harness.PROGRAM.command('WebServer') + ['--seconds', str(SECONDS)] if program == 'WebServer' else \
                [commands[program], 'cs', os.path.join(folder, 'sample.cs'), COMPILATIONS]
            subprocess.run([tool, 'record', '--always-on', '--log', 'events', '--quiet', *options, '-o', log, '--', *command],
                           check=False, stdout=subprocess.DEVNULL)
            subprocess.run([tool, 'export', '--format', 'rows', '--quiet', '--no-lines', '--physical', '-o', rows, log], check=True)
        with open(rows, encoding='utf-8') as file:
            found[name] = [json.loads(line) for line in file]
    return found


def own_id(*parts):
    return str(uuid.uuid5(uuid.NAMESPACE_OID, ' '.join(map(str, parts))))


class Kind:
    """What one of the recordings is: rows that define, rows of amounts, how many of these a minute has."""

    def __init__(self, name, rows):
        self.name = name
        self.recording = next(row for row in rows if row['kind'] == 'recording')
        self.named = [row for row in rows if row['kind'] not in ('recording', 'allocated')]
        self.amounts = [row for row in rows if row['kind'] == 'allocated']
        minutes = [row['minute'] for row in self.amounts]
        self.amounts = list({(row['stack'], row['type']): row for row in self.amounts}.values())  # a minute has each once
        self.a_minute = min(len(self.amounts), max(minutes.count(minute) for minute in set(minutes)))
        self.stacks = sorted({row['stack'] for row in self.amounts})

    def moved(self, build):
        """{stack of the recording: that of a build}"""
        chance = random.Random('%s %d' % (self.name, build))
        return {stack: own_id(stack, build) for stack in self.stacks if chance.random() < MOVED}

    def definitions(self, build):
        """Of a build what is not the same in all."""
        moved, made = self.moved(build), []
        frames = {row['id']: row for row in self.named if row['kind'] == 'frame'}
        for row in self.named:
            if row['kind'] == 'stack' and row['id'] in moved:
                frame = dict(frames[row['frame']], id=own_id('frame', row['id'], build))
                frame['il'] = frame.get('il', 0) + build
                made += [frame, dict(row, id=moved[row['id']], frame=frame['id'])]
            elif row['kind'] == 'ancestors' and row['stack'] in moved:
                made.append(dict(row, stack=moved[row['stack']]))
        return made

    def process(self, host, version, minutes):
        """Text of the rows of one process, and its sums. No two minutes have the same sites and amounts."""
        chance = random.Random('%s %d' % (self.name, host))
        recording, moved, load = own_id(self.name, host), self.moved(host % BUILDS), chance.uniform(0.2, 2)
        known = [(KEY % (recording, moved.get(row['stack'], row['stack']), row['type']),
                  *(row.get(member, 0) for member in MEMBERS)) for row in self.amounts]
        text, size, allocs, draw = [], 0, 0, chance.random
        for minute in range(BEGAN, BEGAN + 60 * minutes, 60):
            for key, one, objects, variance, variance_objects, seen, seen_objects in chance.sample(known, self.a_minute):
                scale = load * (0.5 + draw())
                one, objects = 1 + int(one * scale), 1 + int(objects * scale)
                text.append(AMOUNTS % (key, minute, one, objects, variance * scale * scale, variance_objects * scale * scale, seen,
                                       seen_objects))
                size += one
                allocs += objects
        first = dict(self.recording, id=recording, host='host-%04d' % host, version=version, pid=1000 + host,
                     started=time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(BEGAN)), duration_ns=60_000_000_000 * minutes,
                     bytes=size, allocs=allocs)
        return json.dumps(first) + '\n' + ''.join(text), size, allocs


class Target:
    """A server, for processes that send to it."""

    def __init__(self, url):
        self.url = url

    def query(self, text, database='shadowtrace', body=b'', **more):
        words = dict(more, database=database, max_memory_usage=0, **({'query': text} if body else {}))
        request = urllib.request.Request(self.url + '/?' + urllib.parse.urlencode(words), data=body or text.encode())
        with urllib.request.urlopen(request, timeout=1200) as answer:
            return answer.read().decode()

    def insert(self, text, database='shadowtrace'):
        self.query('insert into row format JSONEachRow', database, text.encode(), input_format_skip_unknown_fields=1)


def version_of(kind, host):
    return kind.name[-5:] if kind.name.startswith('worker') else '2.%d.0' % (host % BUILDS)


def send(url, kinds, hosts, minutes):
    """Returns: sums, rows, bytes sent, and seconds that making the rows took."""
    target, sums, sent, making, waiting = Target(url), {}, 0, 0.0, []
    for host in hosts:
        start = time.monotonic()
        for kind in kinds:
            version = version_of(kind, host)
            text, size, allocs = kind.process(host, version, minutes)
            old = sums.get(('host-%04d' % host, version), (0, 0))
            sums['host-%04d' % host, version] = old[0] + size, old[1] + allocs
            waiting.append(text)
        making += time.monotonic() - start
        if sum(map(len, waiting)) > BATCH * 290 or host == hosts[-1]:
            text = ''.join(waiting)
            target.insert(text)
            sent += len(text)
            waiting = []
    return sums, sent, making


def process_of(pid):
    """CPU seconds of a process, GB it took at most."""
    with open('/proc/%d/stat' % pid, encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    with open('/proc/%d/status' % pid, encoding='ascii') as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith('VmHWM'))
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK'), peak / 1e6


def small_insertions(target, kinds, seconds=60):
    """As of ships that send to the server themselves: a recording and the rows of some seconds. Insertions a second."""
    target.query('create database small', 'default')
    for table in 'recordings', 'touched', 'allocated', 'methods', 'types', 'frames', 'stacks', 'ancestors', 'alive':
        target.query('create table small.%s as shadowtrace.%s' % (table, table))
    target.query('create table small.row as shadowtrace.row')
    with open(os.path.join(ROOT, 'examples/fleet/clickhouse/schema.sql'), encoding='utf-8') as file:
        for statement in file.read().split(';\n'):
            text = '\n'.join(line for line in statement.splitlines() if not line.startswith('--')).strip()
            if text.startswith('create materialized view'):
                target.query(text, 'small')
    texts = [kind.process(host, '1', 1)[0] for host in range(100) for kind in kinds]
    counts, failed, end = [0] * 4, [], time.monotonic() + seconds

    def one(number):
        while time.monotonic() < end and not failed:
            try:
                target.insert(texts[(number + 4 * counts[number]) % len(texts)], 'small')
            except OSError as error:
                failed.append(error.read().decode()[:200] if hasattr(error, 'read') else str(error))
            counts[number] += 1

    start = time.monotonic()
    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rate = sum(counts) / (time.monotonic() - start)
    return rate, failed


class Simulation:
    def __init__(self, server, kinds, hosts, rows):
        self.server, self.kinds, self.hosts = server, kinds, hosts
        self.target = Target(server.url)
        self.a_minute = hosts * sum(kind.a_minute for kind in kinds)
        self.minutes = -(-rows // self.a_minute)
        self.holds = True

    def verdict(self, holds, what):
        self.holds &= bool(holds)
        print('%s: %s' % (what, 'ok' if holds else 'NOT REACHED'), flush=True)

    def load(self):
        self.server.loaded('--roll')  # makes the tables
        cpu = process_of(self.server.pid)[0]
        start = time.monotonic()
        named = [row for kind in self.kinds for row in kind.named + [row for build in range(BUILDS) for row in kind.definitions(build)]]
        self.target.insert(''.join(json.dumps(row) + '\n' for row in named))
        hosts = list(range(self.hosts))
        with multiprocessing.Pool(SENDERS) as pool:
            found = pool.starmap(send, [(self.server.url, self.kinds, hosts[i::SENDERS], self.minutes) for i in range(SENDERS)])
        self.seconds = time.monotonic() - start
        self.cpu = process_of(self.server.pid)[0] - cpu
        self.sums = {key: value for sums, _, _ in found for key, value in sums.items()}
        self.rows = self.a_minute * self.minutes
        sent = sum(size for _, size, _ in found)
        print('%d hosts, %d recordings, %d minutes: %d rows of amounts, %d that define, %.1f GB of NDJSON' % (
            self.hosts, self.hosts * len(self.kinds), self.minutes, self.rows, len(named), sent / 1e9))
        print('rows of a process and minute: %s' % ', '.join('%s %d' % (kind.name, kind.a_minute) for kind in self.kinds))
        print('loaded in %.0f s (%.0f s of it making them), %.0f rows a second, %.0f s of the server\'s CPU: %.1f us a row' % (
            self.seconds, max(making for _, _, making in found), self.rows / self.seconds, self.cpu, 1e6 * self.cpu / self.rows), flush=True)

    def sum_up(self):
        cpu, start = process_of(self.server.pid)[0], time.monotonic()
        self.server.loaded('--roll')
        self.rolled = time.monotonic() - start
        now, peak = process_of(self.server.pid)
        self.rolled_cpu = now - cpu
        print('summed up in %.0f s (%.0f s of CPU); the server took %.1f GB of memory at most' % (
            self.rolled, self.rolled_cpu, peak), flush=True)
        found = self.server.ask(
            'select host, version, sum(bytes) as bytes, sum(allocs) as allocs from made_now all inner join (select id as recording, host, '
            'version from recording) as r using (recording) group by host, version')
        same = {(row['host'], row['version']): (row['bytes'], row['allocs']) for row in found} == self.sums
        self.verdict(same, 'sums of %d hosts and versions, to the byte' % len(self.sums))
        (there,) = self.server.ask('select count() as n from allocated')
        self.verdict(there['n'] == self.rows, 'rows there: %d' % there['n'])

    def questions(self):
        from test_fleet import FLEET
        names = subprocess.run([os.path.join(FLEET, 'ask'), '--list'], env=self.server.env, check=True, capture_output=True, text=True)
        for line in names.stdout.splitlines():
            name, spent = line.split()[0], []
            for _ in range(3):
                start = time.monotonic()
                rows = len(self.server.ask(name, *VALUES.get(name, [])))
                spent.append(time.monotonic() - start)
            self.verdict(statistics.median(spent) < QUESTION_S, '%-11s %s s, %d rows' % (
                name, ' '.join('%.2f' % s for s in sorted(spent)), rows))

    def sizes(self):
        for table in 'allocated', 'made', 'inclusive', 'by_minute':
            self.target.query('optimize table %s final' % table)
        found = {row['table']: row for row in self.server.ask('sizes')}
        for name, row in found.items():
            print('%-12s %9d rows %10.2f MB %7.1f bytes a row' % (name, row['rows_there'], row['bytes'] / 1e6, row['of_a_row']))
        return found

    def day(self, found, rate, failed):
        """Extrapolated, by the minute."""
        times = 1440 / self.minutes
        print('a day of it, EXTRAPOLATED from %d minutes, %.1f times as much: %.2g rows of amounts, %.0f GB of them on the disk' % (
            self.minutes, times, self.rows * times, found['allocated']['bytes'] * times / 1e9))
        print('  loading takes %.1f hours at this rate beside what else the machine had to do, %.1f hours of CPU (merging included, as '
              'far as it was done by then)' % (self.seconds * times / 3600, self.cpu * times / 3600))
        print('  summing up all of the day at its end takes %.1f hours, %.1f of CPU' % (
            self.rolled * times / 3600, self.rolled_cpu * times / 3600))
        print('  it breaks where both together take the day: %.0f hosts by the clock, %.0f by the CPU of one processor' % tuple(
            self.hosts * 86400 / (spent * times) for spent in (self.seconds + self.rolled, self.cpu + self.rolled_cpu)))
        print('  small insertions: %.0f a second%s: %.0f processes that send every 10 s without something that gathers, %.0f every minute' % (
            rate, ', then ' + failed[0] if failed else '', rate * 10, rate * 60), flush=True)


def main():
    parser = argparse.ArgumentParser(description='What a fleet costs in ClickHouse.')
    parser.add_argument('build')
    parser.add_argument('--rows', type=int, default=50_000_000)
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--folder')
    arguments = parser.parse_args()
    os.environ['SHADOWTRACE_BUILD'] = arguments.build
    import harness
    import test_fleet
    t = harness.Test('bench.fleet')
    try:
        kinds = [Kind(name, rows) for name, rows in record(arguments.build, arguments.folder or t.path('recordings')).items()]
        server = test_fleet.Server(t)
        server.pid = server.process.pid
        simulation = Simulation(server, kinds, arguments.hosts, arguments.rows)
        simulation.load()
        simulation.sum_up()
        simulation.questions()
        found = simulation.sizes()
        simulation.day(found, *small_insertions(simulation.target, kinds))
    except (Missing, harness.Skip) as missing:
        print('cannot run: %s' % missing, file=sys.stderr)
        return 2
    finally:
        t.close()
        shutil.rmtree(t.folder, ignore_errors=True)
    return 0 if simulation.holds else 1


if __name__ == '__main__':
    sys.exit(main())
