"""Every object of a program whose types say on which line they are made: on that line, in optimised code too."""
import collections
import os
import re
import sys

from harness import DEFAULT_FRAMEWORK, ENVIRONMENT, FRAMEWORKS, PROGRAM, PROGRAMS, SDK_FRAMEWORK, each, lane, needs, run

SEEDS = 20
LEAST_TYPES = 20  # that a random program has made, or nothing of it was tested

LEAST_RIGHT = 0.99
LEAST_GUIDED = 0.98  # what profiles have inlined into own code differs from run to run, and some of it is not certain
SETTINGS = {'tiers': {'TC_CallCountingDelayMs': '0'}, 'optimised': {'TieredCompilation': '0'}, 'unguided': {'TieredPGO': '0'}}


def is_rich(framework):
    """.NET 8 says of methods that it inlined too little to be certain."""
    return framework != 'net8.0'


class Source:
    def __init__(self, text):
        self.lines = text.splitlines()

    def same_statement(self, first, line):
        """A sequence point has the line on which its statement begins."""
        return first <= line and not any(';' in text for text in self.lines[first - 1:line - 1])


def text_of(program):
    with open(os.path.join(PROGRAMS, program, 'Program.cs'), encoding='utf-8') as file:
        return file.read()


def judge(rows, text):
    """rows: of sites, or of lines by type; text: the program's."""
    source, found, wrong = Source(text), collections.Counter(), []
    for row in rows:
        made = re.fullmatch(r'T(\d{4,5})(\[\])?', row['type'])
        if not made:
            continue
        line, made = row.get('line'), int(made[1])
        if not line:
            found['none'] += row['allocs']
        elif source.same_statement(line, made):
            found['right'] += row['allocs']
        else:
            found['wrong'] += row['allocs']
            wrong.append('%s: line %d of %s' % (row['type'], line, row['method']))
    return found, wrong


def inlined_frames(log):
    with open(log.path, encoding='utf-8') as file:
        return sum(line.startswith('{"kind":"inlined"') for line in file)


def record(t, program, framework, setting, *options, arguments=('60', '4')):
    env = dict(ENVIRONMENT, **{'DOTNET_' + name: value for name, value in SETTINGS[setting].items()})
    return t.record(PROGRAM.command(program, framework) + list(arguments), '--log', 'sites', *options, env=env)


@needs('LineTruth')
@needs('LineTruth', framework='net8.0')
@needs('LineTruth', framework='net9.0')
@each('framework', *FRAMEWORKS)
@each('setting', *SETTINGS)
def test_each_object_is_on_its_line(t, framework, setting):
    r = record(t, 'LineTruth', framework, setting, '--own')
    t.equal(r.status, 0, str(r))
    found, wrong = judge(r.report()['rows'], text_of('LineTruth'))
    inlined = inlined_frames(r.log)
    if not is_rich(framework):
        t.equal(inlined, 0, 'frames of inlined methods')
        return
    t.equal(wrong, [], 'wrong lines')
    if setting == 'optimised':  # else by how often a method was called by then
        t.true(inlined > 0, 'no inlined method')
    share = found['right'] / max(1, sum(found.values()))
    t.true(share >= LEAST_RIGHT, '%.2f %% of %d objects have their line' % (100 * share, sum(found.values())))


@needs('LineTruth')
def test_without_rich_debug_info_there_are_no_inlined_frames(t):
    r = record(t, 'LineTruth', None, 'optimised', '--own', '--no-rich')
    t.equal(inlined_frames(r.log), 0, 'frames of inlined methods')
    physical = record(t, 'LineTruth', None, 'optimised', '--own')
    for options, inlined in ((['--physical'], False), ([], True)):
        methods = {row.get('method') or '' for row in physical.report('--by', 'method', *options)['rows']}
        t.equal(any('.Pass(' in name or '.Make(' in name for name in methods), inlined, 'methods that are inlined: %s' % options)


@lane('combinations', sample=lambda setting, **_: setting != 'tiers')  # what profiles inline depends on chance
@needs('Guests')
@needs('Guests', framework='net9.0')
@each('framework', *filter(is_rich, FRAMEWORKS))
@each('setting', *SETTINGS)
def test_each_object_of_a_method_inlined_into_the_framework_is_on_its_line(t, framework, setting):
    """With hooks in the framework's method, and without."""
    for options in [], ['--own']:
        r = record(t, 'Guests', framework, setting, *options)
        t.equal(r.status, 0, str(r))
        found, wrong = judge(r.report('--view', 'line-types')['rows'], text_of('Guests'))
        t.equal(wrong, [], 'wrong lines: %s' % options)
        share = found['right'] / max(1, sum(found.values()))
        least = LEAST_GUIDED if setting == 'tiers' else LEAST_RIGHT
        t.true(share >= least, '%s: %.2f %% of %d objects have their line' % (options, 100 * share, sum(found.values())))


@needs('Endpoints', framework=SDK_FRAMEWORK)
@each('options', '', '--own', '--capture walk')
def test_each_object_of_a_short_endpoint_is_on_its_line(t, options):
    """The framework compiles a dynamic method for each endpoint, and nobody knows what was inlined into that."""
    requests = 20
    r = record(t, 'Endpoints', SDK_FRAMEWORK, 'unguided', *options.split(), arguments=[str(requests)])
    t.equal(r.status, 0, str(r))
    text = text_of('Endpoints')
    found, wrong = judge(r.report('--view', 'line-types')['rows'], text)
    t.equal(wrong, [], 'wrong lines')
    t.equal(found, {'right': requests * len(re.findall(r'new T\d', text))})


def types_of_seed(text, seed):
    """What the program of one seed makes objects of."""
    begin = text.index('static class Seed%d\n' % seed)
    return set(re.findall(r'new (T\d{5})\(', text[begin:text.find('\nstatic class ', begin)]))


@lane('combinations', sample=lambda framework, setting, options: (framework, setting, options) == (DEFAULT_FRAMEWORK, 'tiers', '--own'))
@needs('Seeds')
@each('framework', *filter(is_rich, FRAMEWORKS))
@each('setting', *SETTINGS)
@each('options', '--own', 'default')
def test_each_object_of_random_programs_is_on_its_line(t, framework, setting, options):
    r = record(t, 'Seeds', framework, setting, *([options] if options != 'default' else []), arguments=['300'])
    t.equal(r.status, 0, str(r))
    made_by = os.path.join(PROGRAMS, 'Seeds', 'generate.py')
    t.equal(run([sys.executable, made_by, str(SEEDS), t.path('Program.cs')]).status, 0, 'generate.py')
    with open(t.path('Program.cs'), encoding='utf-8') as file:
        text = file.read()
    rows = r.report()['rows']
    found, wrong = judge(rows, text)
    t.equal(wrong[:20], [], 'wrong lines')
    if options == '--own':
        t.true(inlined_frames(r.log) > 0, 'no inlined method')
    made = {row['type'] for row in rows}
    silent = [seed for seed in range(1, SEEDS + 1) if len(made & types_of_seed(text, seed)) < LEAST_TYPES]
    t.equal(silent, [], 'programs with fewer than %d kinds of objects' % LEAST_TYPES)
    share = found['right'] / max(1, sum(found.values()))
    t.true(share >= LEAST_RIGHT, '%.2f %% of %d objects have their line' % (100 * share, sum(found.values())))
    t.note('%.3f %% of %d' % (100 * share, sum(found.values())))
