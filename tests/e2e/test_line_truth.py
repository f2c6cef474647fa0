"""Every object of a program whose types say on which line they are made: on that line, in optimised code too."""
import collections
import os
import re

from harness import ENVIRONMENT, FRAMEWORKS, PROGRAM, PROGRAMS, each, lane, needs

LEAST_RIGHT = 0.99
LEAST_GUIDED = 0.98  # what profiles have inlined into own code differs from run to run, and some of it is not certain
SETTINGS = {'tiers': {'TC_CallCountingDelayMs': '0'}, 'optimised': {'TieredCompilation': '0'}, 'unguided': {'TieredPGO': '0'}}


def is_rich(framework):
    """.NET 8 says of methods that it inlined too little to be certain."""
    return framework != 'net8.0'


class Source:
    def __init__(self, program):
        with open(os.path.join(PROGRAMS, program, 'Program.cs'), encoding='utf-8') as file:
            self.lines = file.read().splitlines()

    def same_statement(self, first, line):
        """A sequence point has the line on which its statement begins."""
        return first <= line and not any(';' in text for text in self.lines[first - 1:line - 1])


def judge(rows, program):
    """rows: of sites, or of lines by type."""
    source, found, wrong = Source(program), collections.Counter(), []
    for row in rows:
        if not re.fullmatch(r'T\d{4}(\[\])?', row['type']):
            continue
        line, made = row.get('line'), int(row['type'][1:5])
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


def record(t, program, framework, setting, *options):
    env = dict(ENVIRONMENT, **{'DOTNET_' + name: value for name, value in SETTINGS[setting].items()})
    return t.record(PROGRAM.command(program, framework) + ['60', '4'], '--log', 'sites', *options, env=env)


@needs('LineTruth')
@needs('LineTruth', framework='net8.0')
@needs('LineTruth', framework='net9.0')
@each('framework', *FRAMEWORKS)
@each('setting', *SETTINGS)
def test_each_object_is_on_its_line(t, framework, setting):
    r = record(t, 'LineTruth', framework, setting, '--own')
    t.equal(r.status, 0, str(r))
    found, wrong = judge(r.report()['rows'], 'LineTruth')
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
        found, wrong = judge(r.report('--view', 'line-types')['rows'], 'Guests')
        t.equal(wrong, [], 'wrong lines: %s' % options)
        share = found['right'] / max(1, sum(found.values()))
        least = LEAST_GUIDED if setting == 'tiers' else LEAST_RIGHT
        t.true(share >= least, '%s: %.2f %% of %d objects have their line' % (options, 100 * share, sum(found.values())))
