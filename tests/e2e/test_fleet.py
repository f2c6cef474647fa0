"""
examples/fleet/clickhouse: rows of many recordings in ClickHouse. Totals are those of the logs, to the byte; a file that is
loaded twice changes nothing; a page of any selection has the sum of the logs' own reports.

The lane clickhouse installs Debian's clickhouse-server, and runs it in a folder of the test.
"""
import contextlib
import gzip
import json
import os
import time

import consumers
import harness
from harness import ENVIRONMENT, PROGRAM, ROOT, TOOL, each, lane, needs, one_line, run, tool, tool_json, until
from readback import export
from test_rows import same_ranges
from test_sql import rows, same_sums

FLEET = os.path.join(harness.ROOT, 'examples/fleet/clickhouse')
FIXTURES = os.path.join(harness.ROOT, 'tests/fixtures/logs')
OLD_SCHEMA = os.path.join(harness.ROOT, 'tests/fixtures/fleet/schema-%d.sql')


class Server:
    """Debian's clickhouse-server, by the script of the example."""

    def __init__(self, t):
        for needed in 'clickhouse-server', 'curl':
            consumers.program(needed)
        self.t = t
        self.process = t.start([os.path.join(FLEET, 'serve'), t.path('server')])
        until(lambda: harness.readable(self.process.stdout, 1), 'the address')
        self.url = self.process.stdout.readline().decode().strip()
        self.env = dict(ENVIRONMENT, FLEET_URL=self.url, FLEET_DATABASE='shadowtrace')
        until(self.answers, lambda: 'an answer of the server: %s' % self.process.poll())

    def answers(self):
        with contextlib.suppress(AssertionError):
            return run(['curl', '-s', '-f', self.url]).status == 0
        return False

    def load(self, *words):
        return run([os.path.join(FLEET, 'load'), *words], env=self.env, timeout=600)

    def loaded(self, *words):
        result = self.load(*words)
        self.t.equal((result.status, result.text, result.errors), (0, '', ''), result)

    def ask(self, *words):
        result = run([os.path.join(FLEET, 'ask'), '--format', 'JSONCompact', *words], env=self.env)
        self.t.equal((result.status, result.errors), (0, ''), result)
        answer = json.loads(result.text)
        names = [column['name'] for column in answer['meta']]
        return [dict(zip(names, row, strict=True)) for row in answer['data']]

    def every_answer(self):
        return {name: self.ask(name) for name in ('programs', 'hosts', 'top', 'types', 'methods', 'lines', 'versions', 'complete')}

    def rows(self, where, path):
        result = run([os.path.join(FLEET, 'ask'), '--rows', where], env=self.env)
        self.t.equal((result.status, result.errors), (0, ''), result)
        with open(path, 'wb') as file:
            file.write(result.out)
        return path


def total(*logs):
    found = tool_json('report', '--by', 'type', '--format', 'json', *logs)['total']
    return {key: found[key] for key in ('bytes', 'allocs')}


def whole(found):
    return {key: sum(row[key] for row in found) for key in ('bytes', 'allocs')}


def report_rows(*words):
    return tool_json('report', '--top', '0', '--format', 'json', *words)['rows']


@lane('clickhouse')
@needs('KnownAllocs')
def test_totals_are_those_of_the_logs_however_often_they_are_loaded(t):
    server = Server(t)
    logs = [t.record(PROGRAM.command('KnownAllocs'), '--check', '0', log='run-%d.ndjson' % i).path for i in (1, 2)]
    logs += [os.path.join(FIXTURES, name + '.ndjson') for name in ('sites', 'shop-events')]
    files = []
    for i, log in enumerate(logs):
        files.append(t.path('%d.rows.ndjson%s' % (i, ('', '.gz', '.zst')[i % 3])))
        t.equal(tool('export', '--format', 'rows', '--host', 'host-%d' % i, '-o', files[-1], log).status, 0, log)
    server.loaded(*files)
    found = server.every_answer()
    t.equal({row['host']: whole([row]) for row in found['hosts']}, {'host-%d' % i: total(log) for i, log in enumerate(logs)}, 'hosts')
    t.equal(whole(found['programs']), {key: sum(total(log)[key] for log in logs) for key in ('bytes', 'allocs')}, 'in all')
    t.equal([row for row in found['complete'] if row['said'] != row['loaded']], [], 'what was loaded')
    timed = [log for log in logs if not log.endswith('/sites.ndjson')]
    t.equal(whole(server.ask('minutes')), {key: sum(total(log)[key] for log in timed) for key in ('bytes', 'allocs')}, 'by minute')
    for key, question in ('type', 'types'), ('method', 'methods'):
        expected = [dict(row, **{key: row[key] or '(no managed frame)'}) for row in report_rows('--by', key, *logs)]
        asked = server.ask(PLAIN[question])
        same_sums(t, rows(asked, (key,)), rows(expected, (key,)), question)
    view = report_rows('--view', 'methods', *logs)
    asked = server.ask(PLAIN['top'])
    same_sums(t, rows([row for row in asked if row['method'][0] != '('], ('method',)),
              rows([dict(row, bytes=row['total_bytes'], allocs=row['total_allocs']) for row in view
                    if row.get('method') and row['method'][0] != '('], ('method',)), 'with calls')
    most = max(found['types'], key=lambda row: row['bytes'])
    t.equal(whole(server.ask('who', 'type=' + most['type'])), whole([most]), 'who')

    server.loaded(*files, *reversed(files))
    t.equal(server.every_answer(), found, 'loaded again')
    server.loaded('--roll')
    t.equal(server.every_answer(), found, 'summed up again')

    # A selection, as the report and the page of its logs have it.
    chosen = server.rows("host in ('host-0', 'host-1')", t.path('chosen.rows'))
    for key in 'type', 'method', 'line', 'own':
        mine = report_rows('--from-rows', '--by', key, chosen)
        same_sums(t, rows(mine, (key,)), rows(report_rows('--by', key, *logs[:2]), (key,)), 'selected, by ' + key)
    t.equal(total(*logs[:2]), {key: tool_json('report', '--from-rows', '--by', 'type', '--format', 'json', chosen)['total'][key]
                               for key in ('bytes', 'allocs')}, 'selected')
    page = run([TOOL, 'html', '--from-rows', '--quiet', '-o', t.path('chosen.html'), chosen])
    t.equal((page.status, os.path.getsize(t.path('chosen.html')) > 50000), (0, True), page)


# The questions without their limits.
def plain(table, key):
    return ('select bytes, allocs, name as %s from (select sum(bytes) as bytes, sum(allocs) as allocs, name from %s any left join '
            '(select id as %s, any(name) as name from %ss group by id) as r using (%s) group by name)' % (key, table, key, key, key))


PLAIN = {'types': plain('made_now', 'type'), 'methods': plain('made_now', 'method'), 'top': plain('inclusive_now', 'method')}


@lane('clickhouse')
@needs('KnownAllocs')
def test_two_versions_and_what_ship_sends(t):
    """As a deployment: the same log under two versions, one of them larger; the second comes by ship."""
    server = Server(t)
    made = t.record(PROGRAM.command('KnownAllocs'), '--check', '0', log='a.ndjson').path
    old = export(t, 'rows', [made])
    with open(old, encoding='utf-8') as file:
        text = file.read()
    version = json.loads(text.split('\n', 1)[0])['version']
    newer = t.path('newer.rows.ndjson')
    recording = json.loads(text.split('\n', 1)[0])['id']
    with open(newer, 'w', encoding='utf-8') as file:
        for line in text.splitlines():
            row = json.loads(line.replace(recording, '0' * 8 + recording[8:]))
            if row['kind'] == 'recording':
                row.update(version='2.0.0', bytes=2 * row['bytes'])
            elif row['kind'] == 'allocated':
                row['bytes'] *= 2
            file.write(json.dumps(row) + '\n')
    server.loaded(old, newer)
    found = server.ask('deployment', 'before=' + version, 'after=2.0.0')
    by_method = {row['method'] or '(no managed frame)': row['bytes'] for row in report_rows('--by', 'method', made)}
    t.true(found and all(row['grew'] == row['old_bytes'] == by_method[row['method']] for row in found[:20]), found[:3])
    t.equal([(row['version'], row['bytes_each']) for row in server.ask('versions')],
            [(version, total(made)['bytes']), ('2.0.0', 2 * total(made)['bytes'])], 'versions')

    sampled = t.record(PROGRAM.command('KnownAllocs'), '--check', '0', '--sample', '4K', log='sampled.ndjson').path
    server.loaded(export(t, 'rows', [sampled]))
    same_ranges(t, server.ask('estimates'), sampled)

    if not os.path.exists(os.path.join(harness.BUILD, 'shadowtrace-ship')):
        t.skip('shadowtrace-ship was not built')
    shop = os.path.join(FIXTURES, 'shop-events.ndjson')
    for _ in 1, 2:
        shipped = run([TOOL, 'ship', '--to', server.url, '--host', 'shipped', '--once', shop])
        t.equal((shipped.status, shipped.errors), (0, ''), shipped)
    server.loaded('--roll')
    t.equal([whole([row]) for row in server.ask('hosts') if row['host'] == 'shipped'], [total(shop)], 'shipped')
    t.equal([row for row in server.ask('complete') if row['host'] == 'shipped'], [], 'what came and what it says')


@lane('clickhouse')
@each('version', 1, 2)
def test_a_schema_of_another_version(t, version):
    """One that is older is brought here, with all that it has; one that is newer is left alone, in one line."""
    server = Server(t)
    small, shop = (os.path.join(FIXTURES, name + '.ndjson') for name in ('sites', 'shop-events'))
    run(['curl', '-s', server.url, '--data-binary', 'create database shadowtrace'])
    with open(OLD_SCHEMA % version, encoding='utf-8') as file:
        for statement in file.read().split(';\n'):
            if statement.strip():
                made = run(['curl', '-s', server.url + '/?database=shadowtrace', '--data-binary', statement])
                t.equal(made.text, '', made)
    old = export(t, 'rows', [small], '--host', 'old')
    with open(old, 'rb') as file:
        put = run(['curl', '-s', server.url + '/?database=shadowtrace&input_format_skip_unknown_fields=1&query=insert%20into%20row%20'
                   'format%20JSONEachRow', '--data-binary', '@-'], stdin=file.read())
    t.equal(put.text, '', put)
    new = export(t, 'rows', [shop], '--host', 'new')
    run(['curl', '-s', server.url + '/?database=shadowtrace', '--data-binary', 'insert into version (version) values (%d)' % version])
    one_line(server.load(new), 3, 'of version %d' % version, 'load --migrate')
    server.loaded('--migrate')
    server.loaded(new)
    t.equal({row['host']: whole([row]) for row in server.ask('hosts')}, {'old': total(small), 'new': total(shop)}, 'migrated')
    run(['curl', '-s', server.url + '/?database=shadowtrace', '--data-binary', 'insert into version (version) values (4)'])
    one_line(server.load(new), 3, 'of version 4')
    one_line(run([os.path.join(FLEET, 'ask'), 'types'], env=server.env), 3, 'of version 4')


@lane('clickhouse')
def test_bad_input(t):
    """A clock that is a day fast is listed; an invalid row and an unknown question give one line."""
    server = Server(t)
    file = export(t, 'rows', [os.path.join(FIXTURES, 'shop-events.ndjson')], '--host', 'fast')
    with open(file, encoding='utf-8') as rows_file:
        text = rows_file.read()
    now = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + 86400))
    with open(t.path('fast.rows'), 'w', encoding='utf-8') as made:
        first, rest = text.split('\n', 1)
        made.write(json.dumps(dict(json.loads(first), started=now)) + '\n' + rest)
    server.loaded(t.path('fast.rows'))
    t.true(80000 < server.ask('clocks')[0]['seconds_ahead'] < 90000, server.ask('clocks'))
    t.equal(total(*[os.path.join(FIXTURES, 'shop-events.ndjson')]), whole(server.ask('hosts')), 'whatever the clock says')
    with open(t.path('bad.rows'), 'w', encoding='utf-8') as made:
        made.write('nonsense\n')
    one_line(server.load(t.path('bad.rows')), 3, server.url, 'status')
    one_line(server.load(t.path('none')), 3, 'cannot read')
    with open(t.path('half.rows.gz'), 'wb') as made:
        made.write(gzip.compress(text.encode()) + gzip.compress(b'more')[:10])
    one_line(server.load(t.path('half.rows.gz')), 3, 'half.rows.gz is not whole')
    one_line(run([os.path.join(FLEET, 'ask'), 'nonsense'], env=server.env), 2, 'ask --list')
    one_line(run([os.path.join(FLEET, 'ask'), 'who'], env=server.env), 2, 'type=TEXT')
    t.equal(server.ask('who', "type=it's \\ {type}"), [], 'a name with quotes')
    one_line(run([os.path.join(FLEET, 'load'), file], env=dict(server.env, FLEET_URL='http://127.0.0.1:1')), 3, '127.0.0.1:1')


def identity(n):
    return '00000000-0000-0000-%04x-%012x' % (n >> 48, n & (1 << 48) - 1)


def hostile(path, frames):
    """Two processes of hosts with one name, of a stack that is so deep, and with names of 100 KB that quote and escape."""
    method, kind, frame = identity(1), identity(2), identity(3)
    rows_of = [{'kind': 'method', 'id': method, 'name': 'a\'"\\\t{type}' + 'x' * 100000, 'owner': 'own'},
               {'kind': 'type', 'id': kind, 'name': "it's \\ {type}"}, {'kind': 'frame', 'id': frame, 'method': method, 'il': 1}]
    rows_of += [dict({'kind': 'stack', 'id': identity(1000 + i), 'frame': frame, 'depth': i + 1},
                     **({'parent': identity(999 + i)} if i else {})) for i in range(frames)]
    last = identity(999 + frames)
    rows_of.append({'kind': 'ancestors', 'stack': last, 'own': frame, 'methods': [method]})
    for pid in 1, 2:
        recording = identity(10 + pid)
        rows_of.insert(0, {'kind': 'recording', 'id': recording, 'host': 'same', 'program': 'a.dll', 'started': '2026-11-24T08:00:00Z',
                           'duration_ns': 5, 'pid': pid, 'timed': True, 'estimated': False, 'complete': True, 'lost': 0,
                           'bytes': 100 * pid, 'allocs': pid})
        rows_of.append({'kind': 'allocated', 'recording': recording, 'stack': last, 'type': kind, 'minute': 1795507200,
                        'bytes': 100 * pid, 'allocs': pid})
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(row) + '\n' for row in rows_of)
    return path


@lane('clickhouse')
def test_deep_stacks_and_long_names_of_hosts_with_one_name(t):
    server = Server(t)
    server.loaded(hostile(t.path('hostile.rows'), 100000))
    t.equal([(row['host'], row['bytes'], row['allocs']) for row in server.ask('hosts')], [('same', 300, 3)], 'hosts')
    t.equal([row['recordings'] for row in server.ask('programs')], [2], 'recordings')
    t.equal(server.ask('complete'), [], 'complete')
    for question in ('top', 'methods', 'lines'):
        t.equal([(row['bytes'], len(row['method'])) for row in server.ask(question)], [(300, 100011)], question)
    t.equal([(row['bytes'], row['recordings']) for row in server.ask('who', "type=it's \\ {type}")], [(300, 2)], 'who')
    chosen = server.rows("pid = 2 and host = 'same'", t.path('chosen.rows'))
    t.equal(tool_json('report', '--from-rows', '--by', 'type', '--format', 'json', chosen)['total']['bytes'], 200, 'selected')


NEWER = '''
    const {Session} = require('chdb');
    const fs = require('fs');
    const [folder, rows] = process.argv.slice(2);
    const session = new Session();
    const statements = name => fs.readFileSync(folder + '/' + name, 'utf8').replace(/^--.*/gm, '').split(/;\\n/).filter(s => s.trim());
    session.query('create database fleet');
    session.query('use fleet');
    for (const one of [...statements('schema.sql'), ...statements('newer.sql')])
        session.query(one);
    const text = fs.readFileSync(rows, 'utf8');
    for (let i = 0; i < 2; i++)
        session.query(`insert into row settings input_format_skip_unknown_fields = 1 format JSONEachRow ${text}`);
    const ask = query => JSON.parse(session.query(query, 'JSONCompact')).data;
    const ids = "select id from recordings";
    for (const one of statements('roll.sql'))
        session.query(one.replaceAll('{recordings}', ids).replaceAll('{roll}', '1').replaceAll('{at}', 'now()').replaceAll('{day}',
            "'" + ask('select toDate(min(minute)) from allocated')[0][0] + "'"));
    for (const one of statements('questions.sql'))
        ask(one.replaceAll('{type}', "'System.String'").replaceAll('{before}', "'1'").replaceAll('{after}', "'2'"));
    console.log(JSON.stringify([ask('select toUInt64(sum(bytes)), toUInt64(sum(allocs)) from made_now')[0].map(Number),
        ask("select count() from system.tables where database = 'fleet' and engine_full like '%TTL%'")[0].map(Number)]));
    session.cleanup();
'''


@lane('clickhouse')
def test_a_newer_server(t):
    """The same tables in the ClickHouse of 2026 (chdb), with what newer.sql adds."""
    log = os.path.join(FIXTURES, 'shop-events.ndjson')
    file = export(t, 'rows', [log])
    script = t.path('newer.cjs')
    with open(script, 'w', encoding='utf-8') as made:
        made.write(NEWER)
    sums, kept = consumers.node_json(script, FLEET, file, what='clickhouse')
    t.equal(sums, [total(log)['bytes'], total(log)['allocs']], 'sums')
    t.equal(kept, [6], 'tables that forget')


def test_an_answer_lies_in_a_folder_that_nobody_else_can_write(t):
    """What load and ask keep of a server's answer; a program named curl, first in the path, notes where it has to write."""
    folder, programs = t.path('tmp'), t.path('bin')
    os.mkdir(folder)
    os.mkdir(programs)
    with open(os.open(os.path.join(programs, 'curl'), os.O_WRONLY | os.O_CREAT, 0o755), 'w', encoding='ascii') as file:
        file.write('#!/bin/sh\nfind "$TMPDIR" -mindepth 1 -maxdepth 1 -printf "%y %m\\n" >&3\necho why >&2\nexit 7\n')
    script = '. %s/examples/fleet/clickhouse/common.sh; http x 3>%s </dev/null' % (ROOT, t.path('seen'))
    made = run(['env', 'TMPDIR=' + folder, 'PATH=%s:%s' % (programs, os.environ['PATH']), 'sh', '-c', script])
    t.equal(made.status, 3, made)
    with open(t.path('seen'), encoding='ascii') as file:
        t.equal(file.read(), 'd 700\n', 'what lies in the temporary folder')
    t.equal(os.listdir(folder), [], 'afterwards')
