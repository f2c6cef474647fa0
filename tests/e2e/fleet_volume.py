#!/usr/bin/env python3
"""
A fleet at size: 100 real processes of two versions of a program, on 10 hosts, some 25 million allocations, in Debian's
clickhouse-server as examples/fleet/clickhouse has it. A line for each thing that has to hold:

  - totals are those of the logs' own reports, to the byte: in all, by version and host, by recording
  - all files loaded once more change no answer
  - `load` inserts at least 0.7 times as many rows a second as the same server reading the same rows from a plain file into the
    same tables (in turn, file by file, so that a busy machine is busy for both)
  - each question takes less than a second: the quickest of three times, of up to 20 where others keep the machine busy
  - a page of a selection has, to the byte, what the logs' own reports sum up to

usage: tests/e2e/fleet_volume.py [--processes N] [--folder FOLDER]

--folder FOLDER  where the recordings lie and stay: what is there is not recorded again. Takes 0.3 GB

The program is Roslyn in a separate process (programs/Compilers): version 1.4.0 has Roslyn 4.11.0, 1.5.0 has 4.14.0. Each process
is recorded, none is copied. Takes 20 minutes and 8 GB of disk, under build/e2e, while it runs. Exit status: 0 all of it holds,
1 something does not, 2 it cannot run here.
"""
import argparse
import collections
import json
import os
import re
import shutil
import statistics
import sys
import time

sys.dont_write_bytecode = True  # output lies under build/ only
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
import readback  # noqa: E402
import test_compiler  # noqa: E402
import test_fleet  # noqa: E402
from harness import PROGRAM, TOOL, run, tool_json  # noqa: E402

VERSIONS = (('1.4.0', '4.11.0'), ('1.5.0', '4.14.0'))  # of the program, and of Roslyn in it
HOSTS = 10
EVENTS = 20_000_000  # at least, of 100 processes
RATE = 0.7
QUESTION_S = 1.0
ROOM = 10 << 30  # of the disk
VALUES = {'who': ['type=System.String'], 'deployment': ['before=1.4.0', 'after=1.5.0']}


class Verdicts:
    def __init__(self):
        self.failed = 0

    def say(self, holds, what):
        self.failed += not holds
        print('%s %s' % ('ok  ' if holds else 'FAIL', what), flush=True)

    def same(self, found, expected, what):
        self.say(found == expected, what if found == expected else '%s: found %r, expected %r' % (what, found, expected))


class Process:
    def __init__(self, number, folder):
        self.version = VERSIONS[number % 2][0]
        self.host = 'host-%d' % (number // 2 % HOSTS)
        self.path = os.path.join(folder, '%03d.ndjson.zst' % number)


def commands():
    """{version: the program}"""
    return {version: PROGRAM.publish('Compilers', 'compilers-' + version, 'E2EFor=' + harness.SDK_FRAMEWORK, 'Version=' + version,
                                     'E2ERoslyn=' + roslyn) for version, roslyn in VERSIONS}


def record(processes):
    """Those that are not there yet."""
    made_of = commands()
    folder = os.path.dirname(processes[0].path)
    with open(os.path.join(folder, 'sample.cs'), 'w', encoding='utf-8') as file:
        file.write(test_compiler.SOURCE)
    for process in processes:
        if os.path.exists(process.path):
            continue
        made = os.path.join(folder, 'part.ndjson.zst')
        result = run([TOOL, 'record', '--check', '0', '--compress', '--quiet', '-o', made, '--', made_of[process.version], 'cs',
                      os.path.join(folder, 'sample.cs')])
        if result.status:
            raise AssertionError(str(result))
        os.replace(made, process.path)


def add(sums, key, total):
    sums[key][0] += total['bytes']
    sums[key][1] += total['allocs']


class Fleet:
    def __init__(self, t, verdicts, processes):
        self.t, self.verdicts, self.processes = t, verdicts, processes
        self.server = test_fleet.Server(t)
        self.sums = collections.defaultdict(lambda: [0, 0])  # by (host, version)
        self.files = {}
        for process in processes:
            process.total = test_fleet.total(process.path)
            add(self.sums, (process.host, process.version), process.total)
        for host in sorted({process.host for process in processes}):
            self.files[host] = os.path.join(t.path('server'), 'files', host + '.rows.ndjson')
            made = run([TOOL, 'export', '--format', 'rows', '--quiet', '--host', host, '-o', self.files[host],
                        *[process.path for process in processes if process.host == host]], timeout=600)
            t.equal(made.status, 0, made)

    # ---- loading

    def query(self, text, database='plain', **more):
        words = '&'.join('%s=%s' % pair for pair in dict(more, database=database, max_memory_usage=0).items())
        result = run(['curl', '-s', '-f', self.server.url + '/?' + words, '--data-binary', '@-'], stdin=text.encode(), timeout=900)
        self.t.equal(result.status, 0, result)
        return result.text

    def plain_tables(self):
        """The same tables beside, for the server to fill from files; the columns of a row."""
        self.query('create database plain', 'default')
        with open(os.path.join(test_fleet.FLEET, 'schema.sql'), encoding='utf-8') as file:
            text = re.sub(r'^--.*', '', file.read(), flags=re.M)
        for statement in text.split(';\n'):
            if statement.strip():
                self.query(statement)
        return [line.split('\t')[:2] for line in self.query('describe table row').splitlines()]

    def from_file(self, host, columns):
        start = time.monotonic()
        self.query("insert into row select * from file('%s', 'JSONEachRow', '%s')" % (
            os.path.basename(self.files[host]), ', '.join(' '.join(column) for column in columns)),
            input_format_skip_unknown_fields=1)
        return time.monotonic() - start

    def by_load(self, host):
        start = time.monotonic()
        self.server.loaded('--later', self.files[host])
        return time.monotonic() - start

    def load(self, columns, number):
        """Each file in both ways, in turn. Returns: seconds of each."""
        spent = [0.0, 0.0]
        for i, host in enumerate(self.files):
            for way in ((0, 1), (1, 0))[(i + number) % 2]:
                spent[way] += self.by_load(host) if way else self.from_file(host, columns)
        start = time.monotonic()
        self.server.loaded('--roll')
        return *spent, time.monotonic() - start

    def load_twice(self):
        rows = size = 0
        for path in self.files.values():
            size += os.path.getsize(path)
            with open(path, 'rb') as file:
                rows += sum(1 for _ in file)
        columns = self.plain_tables()
        self.server.loaded('--roll')  # makes the tables
        answers = []
        for number in range(2):
            plain, loaded, summed = self.load(columns, number)
            self.verdicts.say(plain / loaded >= RATE, '%s: load inserts %.0f rows a second (%.1f s), the server from a file %.0f (%.1f s): '
                              '%.2f times, at least %.1f; %d rows, %.1f MB; sums %.1f s' % (
                                  ('loaded', 'once more')[number], rows / loaded, loaded, rows / plain, plain, plain / loaded, RATE,
                                  rows, size / 1e6, summed))
            answers.append(self.server.every_answer())
        self.verdicts.same(answers[1] == answers[0], True, 'files that are loaded twice change nothing')

    # ---- what has to hold

    def totals(self):
        for table in 'made_now', 'amounts':
            found = self.server.ask(
                'select host, version, sum(bytes) as bytes, sum(allocs) as allocs from %s all inner join (select id as recording, host, '
                'version from recording) as r using (recording) group by host, version' % table)
            self.verdicts.same({(row['host'], row['version']): [row['bytes'], row['allocs']] for row in found}, dict(self.sums),
                               'by version and host, of %s' % ('the sums' if table == 'made_now' else 'all rows'))
        found = self.server.ask('select sum(bytes) as bytes, sum(allocs) as allocs from made_now group by recording')
        self.verdicts.same(sorted((row['bytes'], row['allocs']) for row in found),
                           sorted((process.total['bytes'], process.total['allocs']) for process in self.processes), 'by recording')
        allocs = sum(process.total['allocs'] for process in self.processes)
        enough = allocs >= EVENTS or len(self.processes) < 100
        self.verdicts.say(enough, '%d processes, %d allocations, %d bytes' % (
            len(self.processes), allocs, sum(process.total['bytes'] for process in self.processes)))

    def questions(self):
        for line in run([os.path.join(test_fleet.FLEET, 'ask'), '--list'], env=self.server.env).text.splitlines():
            name, spent = line.split()[0], []
            while len(spent) < 3 or (len(spent) < 20 and min(spent) >= QUESTION_S):
                start = time.monotonic()
                rows = len(self.server.ask(name, *VALUES.get(name, [])))
                spent.append(time.monotonic() - start)
            self.verdicts.say(min(spent) < QUESTION_S, '%-11s %.2f s, of %d times %.2f s in the middle, %d rows' % (
                name, min(spent), len(spent), statistics.median(spent), rows))

    def selections(self):
        for where, chosen in ("version = '1.5.0'", lambda p: p.version == '1.5.0'), ("host = 'host-3'", lambda p: p.host == 'host-3'):
            start = time.monotonic()
            rows = self.server.rows(where, self.t.path('chosen.rows'))
            asked = time.monotonic() - start
            page = self.t.path(re.sub(r'\W+', '-', where) + '.html')
            made = run([TOOL, 'html', '--from-rows', '--quiet', '-o', page, rows], timeout=600)
            self.t.equal(made.status, 0, made)
            (state,), = readback.read_pages([{'path': page, 'states': [{}]}])
            expected = [sum(p.total[key] for p in self.processes if chosen(p)) for key in ('bytes', 'allocs')]
            self.verdicts.same([state['total'][key] for key in ('bytes', 'allocs')], expected,
                               'a page of %s, %d recordings: rows %.1f s, page %.1f s, %.1f MB' % (
                                   where, sum(map(chosen, self.processes)), asked, time.monotonic() - start - asked,
                                   os.path.getsize(page) / 1e6))

    def sizes(self):
        for table in 'allocated', 'stacks', 'ancestors', 'frames', 'methods', 'types', 'made', 'inclusive', 'by_minute':
            self.query('optimize table %s final' % table, 'shadowtrace')
        for row in self.server.ask('sizes'):
            print('     %-12s %9d rows %10.2f MB' % (row['table'], row['rows_there'], row['bytes'] / 1e6))
        with open('/proc/%d/status' % self.server.process.pid, encoding='ascii') as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith('VmHWM'))
        print('     the server took at most %.1f GB of memory' % (peak / 1e6))


def main():
    parser = argparse.ArgumentParser(description='A fleet of 100 real processes in ClickHouse.')
    parser.add_argument('--processes', type=int, default=100, metavar='N')
    parser.add_argument('--folder', metavar='FOLDER')
    arguments = parser.parse_args()
    t, verdicts = harness.Test('fleet.size'), Verdicts()
    folder = os.path.abspath(arguments.folder or t.path('logs'))
    os.makedirs(folder, exist_ok=True)
    if shutil.disk_usage(t.folder).free < ROOM:
        print('it needs %d GB of disk' % (ROOM >> 30), file=sys.stderr)
        return 77
    try:
        processes = [Process(number, folder) for number in range(arguments.processes)]
        start = time.monotonic()
        record(processes)
        print('     recorded in %.0f s' % (time.monotonic() - start), flush=True)
        fleet = Fleet(t, verdicts, processes)
        fleet.load_twice()
        fleet.totals()
        fleet.questions()
        fleet.selections()
        fleet.sizes()
    except harness.Skip as skip:
        print('cannot run: %s' % skip, file=sys.stderr)
        return 77
    finally:
        t.close()
        shutil.rmtree(t.folder, ignore_errors=True)
    print('%s: %d did not hold' % ('FAIL' if verdicts.failed else 'ok', verdicts.failed))
    return 1 if verdicts.failed else 0


if __name__ == '__main__':
    sys.exit(main())
