"""What grows: said by the summary, top, and a report, with file and line; and what does not."""
import json
import os
import re
import subprocess
import time

import test_compiler
from control import Living
from harness import ENVIRONMENT, HOOKS, PROGRAM, each, early, full, lane, longer, needs, tool, until, waits

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs', 'Grower', 'Program.cs')
APART = 1.05 # seconds: looks are a second apart


class Grower(Living):
    def __init__(self, t, *options):
        super().__init__(t, PROGRAM.command('Grower'), '--live', '--check', '0', *options, stdin=subprocess.PIPE)
        self.wait()
        self.asked = 0

    def rounds(self, count, apart=APART):
        """Two full collections each. The log's writer keeps the last look only, so each is written before the next one."""
        for _ in range(count):
            self.process.stdin.write(b'\n')
            self.process.stdin.flush()
            self.t.equal(self.process.stdout.readline(), b'ok\n', 'what it says')
            self.asked += 2
            if apart:
                until(lambda: self.full() >= self.asked, lambda: '%d full collections in the log' % self.asked)
            time.sleep(apart)

    def full(self):
        with open(self.path, encoding='utf-8') as log:
            return max([int(number) for number in re.findall(r'^{"kind":"live_total".*?"full":(\d+)', log.read(), re.M)], default=0)


def line_of(text):
    with open(SOURCE, encoding='utf-8') as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def grows_in(text):
    return re.findall(r'grows at each(?: of)?:? (.*)', text)


@waits
@needs('Grower')
@each('hooks', *HOOKS)
def test_a_list_that_is_never_emptied_is_the_only_thing_that_grows(t, hooks):
    program = Grower(t, '--hooks', hooks)
    place = 'Program.cs:%d' % line_of('// grows')
    program.rounds(5)
    shown = tool('top', '--plain', '--count', '1', '--interval', '50ms', str(program.pid))
    t.equal(grows_in(shown.text), [], 'what top warns of after five rounds: only four times there was more than before')
    program.rounds(2)
    shown = tool('top', '--plain', '--count', '1', '--interval', '50ms', str(program.pid))
    said = '6 full collections: %s, +60 objects, Leaked' % place
    t.equal(grows_in(shown.text), [said], 'what top warns of\n%s' % shown)
    t.equal(program.close(), 0, 'exit status')
    t.equal(grows_in(program.err), [said], 'what the summary warns of\n' + program.err)
    t.true('shadowtrace report --view grown ' in program.err, program.err)
    report = tool('report', '--view', 'grown', program.path)
    t.equal(grows_in(report.text), ['6 full collections: %s, +60 objects, Program.Round' % place],
            'what the report warns of\n%s' % report)
    rows = json.loads(tool('report', '--view', 'grown', '--by', 'type', '--format', 'json', program.path).text)['rows']
    t.equal([(r['type'], r['rises'], r['risen_allocs']) for r in rows if 'rises' in r], [('Grower.Leaked', 6, 60)], 'rows')
    t.equal(tool('validate', program.path).status, 0, 'validate')


@waits
@needs('Grower')
def test_fewer_collections_are_enough_if_one_says_so(t):
    program = Grower(t, '--live-grows', '2')
    program.rounds(3)
    t.equal(program.close(), 0, 'exit status')
    t.true(any(re.fullmatch(r'2 full collections: .*, \+20 objects, Leaked', line) for line in grows_in(program.err)), program.err)


@waits
@needs('Grower')
def test_collections_of_one_second_are_one_look(t):
    for _ in range(5):
        program = Grower(t, '--live-grows', '2')
        began = time.monotonic()
        program.rounds(4, apart=0)
        took = time.monotonic() - began
        t.equal(program.close(), 0, 'exit status')
        if took < 2:  # else there were three looks, and two rises
            t.equal(grows_in(program.err), [], program.err)
            return
    t.skip('four collections take %.1f s on this machine' % took)


@waits
@needs('Grower')
def test_nothing_is_said_of_growth_if_nobody_wants_to_know(t):
    program = Grower(t, '--live-grows', '0')
    program.rounds(4)
    t.equal(program.close(), 0, 'exit status')
    t.equal(grows_in(program.err), [], program.err)


def collects(program, most=None):
    """Full collections, a look apart, until the program ends, or `most`. Returns: how many."""
    count = 0
    while count != most:
        asked = tool('ctl', str(program.pid), 'gc')
        if asked.status and b'still starting; ask again' not in asked.err:
            return count
        count += not asked.status
        time.sleep(0.1 if asked.status else APART)
    return count


def says_nothing(t, program, least, most=None):
    count = collects(program, most)
    t.equal(program.close(), 0, 'exit status')
    t.true(count >= least, 'only %d looks' % count)
    t.equal(grows_in(program.err), [], program.err)
    with open(program.path, encoding='utf-8') as log:
        records = [json.loads(line) for line in log if line.startswith('{"kind":"live_total')]
    t.equal([record for record in records if record.get('grows')], [], 'totals that warn')


@early
@longer('live')
@needs('WebServer')
def test_a_server_under_load_does_not_grow(t):
    clients = full('live', ['--clients', '1'], [])
    # Where the pool's threads wait long for a processor it adds one after another, and what each has for itself grows.
    env = dict(ENVIRONMENT, DOTNET_ThreadPool_ForceMinWorkerThreads='2', DOTNET_ThreadPool_ForceMaxWorkerThreads='2')
    program = Living(t, PROGRAM.command('WebServer') + ['--scale', '1000000', '--until', 'eof'] + clients, '--live', '--check', '0', '--log',
                     'sites', stdin=subprocess.PIPE, env=env)
    program.wait()
    says_nothing(t, program, 9, most=9)


@lane('live')
def test_a_compiler_builds_up_what_it_needs_and_is_not_said_to_grow(t):
    """Nearly all that it makes stays until its end; a collection each second shows that, and nobody is warned."""
    source = t.path('large.cs')
    with open(source, 'w', encoding='utf-8') as file:
        file.write('using System; using System.Linq; using System.Collections.Generic;\nstatic class P { static void Main(){} }\n')
        for i in range(1500):
            file.write('class C%d { public int A = %d; Dictionary<string, List<int>> d = new(); public int M(int x) { '
                       'var q = Enumerable.Range(0, x).Select(y => y * %d).Where(z => z %% 3 == 0).ToList(); d["k" + x] = q; '
                       'return q.Sum() + A; } }\n' % (i, i, i))
    csc, references = test_compiler.compiler()
    command = ['dotnet', csc, '-nologo', '-noconfig', '-nostdlib', '-nowarn:1591', '-out:' + t.path('large.dll'), source]
    program = Living(t, command + ['-r:' + r for r in references], '--live', '--check', '0', '--log', 'sites')
    program.wait()
    says_nothing(t, program, 7)
