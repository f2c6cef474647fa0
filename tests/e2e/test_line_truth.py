"""Every object of a program whose types say on which line they are made: on that line, in optimised code too."""
import collections
import os
import re
import sys

from harness import DEFAULT_FRAMEWORK, ENVIRONMENT, FRAMEWORKS, PROGRAM, PROGRAMS, SDK_FRAMEWORK, each, lane, needs, publishes, run

SEEDS = 20
LEAST_TYPES = 20  # that a random program has made, or nothing of it was tested

LEAST_RIGHT = 0.99
LEAST_GUIDED = 0.98  # what profiles have inlined into own code differs from run to run, and some of it is not certain
# Of objects with the methods of unoptimised code; tail calls kept. A tail call leaves no frame, and LineTruth makes many.
LEAST_EQUAL = {'LineTruth': (0.85, 0.99), 'Seeds': (0.95, 0.95)}
TYPE = r'T(\d{4,5})(\[\])?'
SETTINGS = {'tiers': {'TC_CallCountingDelayMs': '0'}, 'optimised': {'TieredCompilation': '0'}, 'unguided': {'TieredPGO': '0'}}


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
        made = re.fullmatch(TYPE, row['type'])
        if not made:
            continue
        line, made = row.get('line'), int(made[1])
        if not line:
            found['none'] += row['allocs']
        elif line < made <= row.get('line_last', line):
            found['range'] += row['allocs']
        elif source.same_statement(line, made):
            found['right'] += row['allocs']
        else:
            found['wrong'] += row['allocs']
            wrong.append('%s: line %d of %s' % (row['type'], line, row['method']))
    return found, wrong


def inlined_frames(log):
    with open(log.path, encoding='utf-8') as file:
        return sum(line.startswith('{"kind":"inlined"') for line in file)


def record_with(t, program, framework, env, *options, arguments):
    env = dict(ENVIRONMENT, **{'DOTNET_' + name: value for name, value in env.items()})
    return t.record(PROGRAM.command(program, framework) + list(arguments), '--log', 'sites', *options, env=env)


def record(t, program, framework, setting, *options, arguments=('60', '4')):
    return record_with(t, program, framework, SETTINGS[setting], *options, arguments=arguments)


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
@needs('Guests', framework='net8.0')
@needs('Guests', framework='net9.0')
@each('framework', *FRAMEWORKS)
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


@lane('combinations', sample=lambda framework, setting: (framework, setting) in ((SDK_FRAMEWORK, 'optimised'), ('net9.0', 'optimised')))
@needs('Hosts')
@needs('Hosts', framework='net8.0')
@needs('Hosts', framework='net9.0')
@each('framework', *FRAMEWORKS)
@each('setting', *SETTINGS)
def test_each_object_that_inlined_methods_of_the_framework_make_is_on_its_line(t, framework, setting):
    """Where a list grows, and where numbers are written out. With hooks in what they call, and without."""
    text = text_of('Hosts')
    texts = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith('// text')]
    for options in [], ['--own']:
        r = record(t, 'Hosts', framework, setting, *options, arguments=['300', 'deep'])
        t.equal(r.status, 0, str(r))
        rows = [row for row in r.report('--view', 'line-types')['rows'] if row['method'] and '.Main(' not in row['method']]
        found, wrong = judge(rows, text)
        t.equal(wrong, [], 'wrong lines: %s' % options)
        strings = [row for row in rows if row['type'] == 'System.String']
        t.equal([row for row in strings if row.get('line') and row['line'] not in texts], [], 'wrong lines of strings')
        found['right'] += sum(row['allocs'] for row in strings if row.get('line'))
        without = [row for row in strings if not row.get('line') and '.TwoTexts(' not in row['method']]  # of two nobody may know
        t.true(found['right'] > 300 * 300, 'objects: %s' % found)
        t.equal((found['none'], without), (0, []), 'without a line: %s' % options)


PRECOMPILED = ('Hosts', 'hosts-precompiled', 'TargetFramework=' + SDK_FRAMEWORK, 'PublishReadyToRun=true', 'SelfContained=false',
               'RuntimeIdentifier=linux-x64')


@publishes(lambda capture: [PRECOMPILED])
@each('capture', 'walk', 'shadow')
def test_code_that_was_compiled_ahead_of_time_has_the_right_line_or_says_what_it_is(t, capture):
    """With hooks the runtime compiles it anew."""
    r = t.record([PROGRAM.publish(*PRECOMPILED), '20'], '--capture', capture)
    rows = [row for row in r.report('--view', 'line-types')['rows'] if row['method'] and row['module'] == 'Hosts' and '.Main(' not in row['method']]
    found, wrong = judge(rows, text_of('Hosts'))
    t.equal(wrong, [], 'wrong lines')
    t.true(found['right'] > 20 * 300, 'objects: %s' % found)
    lacks = {row.get('no_line') for row in rows if not row.get('line') and row['allocs'] >= 20}
    t.equal(lacks, set() if capture == 'shadow' else {'precompiled'}, 'why there is no line')


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


def some_of_seeds(framework, setting, options):
    """Outside the lane; .NET 8 does not say of all inlined methods what they were inlined into."""
    return options == '--own' and (framework, setting) in ((DEFAULT_FRAMEWORK, 'tiers'), ('net8.0', 'optimised'))


@lane('combinations', sample=some_of_seeds)
@needs('Seeds')
@needs('Seeds', framework='net8.0')
@each('framework', *FRAMEWORKS)
@each('setting', *SETTINGS)
@each('options', '--own', 'default')
def test_each_object_of_random_programs_is_on_its_line(t, framework, setting, options):
    r = record(t, 'Seeds', framework, setting, *([options] if options != 'default' else []), arguments=['300'])
    t.equal(r.status, 0, str(r))
    made_by = os.path.join(PROGRAMS, 'Seeds', 'generate.py')
    t.equal(run([sys.executable, made_by, str(SEEDS), t.path('Program.cs')]).status, 0, 'generate.py')
    with open(t.path('Program.cs'), encoding='utf-8') as file:
        text = file.read()
    rows = r.report('--view', 'line-types')['rows']
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


class Paths:
    """
    Own frames of what makes objects whose types say their line: as often as each path is there, by type. Not those that go on from
    where they were begun.
    """

    def __init__(self, log, program):
        self.log, self.made = log, collections.Counter()
        self.own = {number for number, method in log.methods.items() if log.modules.get(method.get('module'), {}).get('name') == program}
        for site in log.sites:
            name = log.classes[site['class']]['name']
            path = self.path(site) if re.fullmatch(TYPE, name) else None
            if path:
                self.made[name, path] += site['allocs']
        self.offsets = collections.defaultdict(list)
        for name, path in self.made:
            self.offsets[name, methods_of(path)].append(path)

    def path(self, site):
        """((method, its call's first and last IL offset or None), ...), from the outermost."""
        record, frames = site, ()
        node = self.log.nodes.get(site['node'])
        while node:
            if 'begun' in node:
                return None
            frames = self.frames(node['method'], record) + frames
            record, node = node, self.log.nodes.get(node['parent'])
        return tuple(frame for frame, inner in zip(frames, frames[1:] + (None,)) if not (inner and begins(frame[0], inner[0])))

    def frames(self, method, record):
        frames, at = [], record.get('inlined')
        while at:
            inlined = self.log.inlined[at]
            frames.append((inlined['method'], offsets_of(inlined)))
            at = inlined.get('parent')
        frames.append((method, offsets_of(record)))
        return tuple((self.log.methods[number]['name'], offsets) for number, offsets in reversed(frames) if number in self.own)


def begins(method, inner):
    """Is it the async method or the iterator that the compiler made the other of? Logical paths have one frame for both."""
    made = re.match(r'(.*)\.<(\w+)>d__\d+(<.*>)?\.MoveNext\(\)', inner)
    return made and method.startswith((made[1] + '.' + made[2] + '(', made[1] + '.' + made[2] + '<'))


def offsets_of(record):
    return (record['il'], record.get('il_last', record['il'])) if 'il' in record else None


def methods_of(path):
    return tuple(method for method, _ in path)


def agrees(path, other):
    """Every call that is known is the other's, or among those that it may be."""
    return all(not one or not two or (one[0] <= two[1] and two[0] <= one[1]) for (_, one), (_, two) in zip(path, other))


@lane('combinations', sample=lambda framework, setting, program, options: framework == DEFAULT_FRAMEWORK and setting == 'optimised' and options)
@needs('LineTruth')
@needs('Seeds')
@each('framework', *FRAMEWORKS)
@each('setting', *SETTINGS)
@each('program', *LEAST_EQUAL)
@each('options', '', '--keep-tail-calls')
def test_paths_with_inlined_methods_are_those_of_unoptimised_code(t, framework, setting, program, options):
    """A path whose calls are all known is one of the unoptimised program's; and most objects have the methods of one."""
    arguments = {'LineTruth': ['60', '4'], 'Seeds': ['60']}[program]
    paths = []
    for env in SETTINGS[setting], {'JITMinOpts': '1'}:
        r = record_with(t, program, framework, env, '--own', *options.split(), arguments=arguments)
        t.equal(r.status, 0, str(r))
        paths.append(Paths(r.log, program))
    found, truth = paths
    wrong = [(name, path) for name, path in found.made if options and all(offsets for _, offsets in path) and
             not any(agrees(path, other) for other in truth.offsets[name, methods_of(path)])]
    t.equal(wrong[:5], [], '%d known paths are not those of unoptimised code' % len(wrong))
    equal = collections.Counter()
    for (name, path), count in truth.made.items():
        equal[name, methods_of(path)] += count
    alike, all_of = 0, sum(found.made.values())
    for (name, path), count in found.made.items():
        same = min(count, equal[name, methods_of(path)])
        equal[name, methods_of(path)] -= same
        alike += same
    known = sum(count for (_, path), count in found.made.items() if all(offsets for _, offsets in path))
    t.note('%.2f %% of %d objects have their methods, %.2f %% all calls' % (100 * alike / all_of, all_of, 100 * known / all_of))
    least = LEAST_EQUAL[program][bool(options)]
    t.true(alike >= least * all_of, '%d of %d objects have the methods of unoptimised code' % (alike, all_of))
