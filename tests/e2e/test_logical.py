"""
The logical stack: a continuation belongs to the async method that awaits, not to what completed its task. Each type of
the program states its path; where a method was begun in several places, the path may end where they part.
"""
import collections
import itertools
import os

from harness import ENVIRONMENT, PROGRAM, PROGRAMS, SHADOWED, each, early, lane, needs, tool, tool_json

SOURCE = os.path.join(PROGRAMS, 'Logical', 'Program.cs')
SEVERAL = '(one of '


def stated(r):
    """Type to the paths that the program says it has, leaf first."""
    paths = collections.defaultdict(set)
    for line in r.text.splitlines():
        kind, path = line.split('\t')
        paths[kind].add(tuple(path.split(' < ')))
    return paths


def own(stack, space='Logical.'):
    """The program's own methods of a stack; an async method and what the compiler began it with are one."""
    out = []
    for name in stack:
        if name.startswith(SEVERAL):
            out.append(SEVERAL)
        elif name.startswith('(callers'):
            out.append('(unknown)')
        elif name.startswith(space) and '+System.' not in name:  # a state machine's MoveNextAsync is the compiler's
            plain = name[len(space):].split('(')[0]
            out.append((plain, name.endswith(')')))
    folded = []
    for at, frame in enumerate(out):
        if isinstance(frame, tuple):  # without parameters: the state machine's, its beginning follows
            plain, written = frame
            if folded and written and at and isinstance(out[at - 1], tuple) and out[at - 1] == (plain, False):
                continue
            folded.append(plain)
        else:
            folded.append(frame)
    return tuple(strip(name) for name in folded)


def strip(name):
    """Without type arguments and the numbers of lambdas."""
    name = name.split('<')[0]
    return name.split('_')[0] if '+lambda' in name else name


def holds(found, paths, filtered):
    """Whether a path is what was stated: one of them; or what is in common of several, then that there are several; or
    all of it, begun in several places of the runtime; or where that may be (filtered), ended with that."""
    if found in paths:
        return True
    ends, rest = found[-1:], found[:-1]
    if ends == ('(unknown)',):  # boxes of a pool serve again: nobody knows all places that begin
        return found[0].startswith('Pooled.') and any(p[:len(rest)] == rest for p in paths)
    return ends == (SEVERAL,) and (rest in paths or (len(paths) > 1 or filtered) and all(p[:len(rest)] == rest for p in paths))


def check(t, r, *options, filtered=False, several=False):
    """Every allocation of a stated type lies below its path. Returns how many rows have all of it, and the types of the others."""
    paths = stated(r)
    t.true(len(paths) > 3, r)
    space = next(iter(paths)).split('.')[0] + '.'
    exact, wrong, met, ended = 0, [], set(), set()
    for row in r.report(*options)['rows']:
        if row['type'] in paths:
            met.add(row['type'])
            found, may_be = own(row['stack'], space), paths[row['type']]
            exact += found in may_be
            if found not in may_be:
                ended.add(row['type'])
            if not holds(found, may_be, filtered or several):
                wrong.append('%s: %s, stated %s' % (row['type'], ' < '.join(found), ' | '.join(' < '.join(p) for p in may_be)))
    t.equal('\n'.join(wrong), '', '%d rows have another path' % len(wrong))
    t.true(filtered or met == set(paths), 'types never met: %s' % (set(paths) - met))
    return exact, ended


def begun_anew(t, r):
    """What goes on by beginning itself over and over has paths up to a depth, and none is wrong."""
    paths = {own(row['stack']) for row in r.report()['rows'] if row['type'] == 'Logical.Again.InStep'}
    ends = lambda path: path[len([frame for frame in path if frame == 'Again.Step']):]
    t.equal({ends(path) for path in paths} - {('Again.Run', 'Program.Main'), (SEVERAL,)}, set())
    t.true(20 < len(paths) <= 70, '%d paths' % len(paths))


@early
@needs('Logical')
def test_logical_paths(t):
    """
    Of 87 types, all paths, wherever their methods were begun, but of boxes from a pool: with ELT3 what waits keeps where it was
    begun. With ELT2 those of methods begun in several places may end where these part. Tiers inline what begins a method.
    """
    for more, command, options in (('', [], []), ('own methods', [], ['--only', 'Logical.*']),
                                   ('own code', [], ['--own', *SHADOWED]), ('walked', [], ['--own']), ('elt2', [], ['--hooks', 'elt2']),
                                   ('tiers', ['40'], ['--log', 'sites'])):
        # often collected: what waits moves
        r = t.record(PROGRAM.command('Logical') + command, *options, env=dict(ENVIRONMENT, DOTNET_GCgen0size='0x20000'))
        t.equal(r.status, 0, r)
        elt2 = more == 'elt2'
        exact, ended = check(t, r, several=elt2)
        t.true(exact >= (47 if elt2 else 89), '%s: %d exact' % (more, exact))
        t.true(elt2 or ended <= {'Logical.Pooled.InTwice', 'Logical.Pooled.InLeaf'}, '%s: %s' % (more, ended))
        t.equal(elt2, 'Logical.Moved.ForFirst' in ended, 'without identity its callers cannot be distinguished')
        if not elt2:
            begun_anew(t, r)
    for options in ['--sample', '150'], ['--types', 'Logical.*']:
        r = t.record(PROGRAM.command('Logical') + ['10'], *options)
        exact, _ = check(t, r, filtered=True)
        rows = sum(row['type'] in stated(r) for row in r.report()['rows'])
        t.true(exact >= rows * 0.75 > 8, '%s: %d of %d exact' % (' '.join(options), exact, rows))
        t.note('%s: %d of %d exact' % (options[0], exact, rows))


@needs('LogicalTasks')
def test_logical_paths_of_fsharp(t):
    t.true(check(t, t.record(PROGRAM.command('LogicalTasks')))[0] >= 9, 'exact')


@needs('LogicalRuntime')
@each('framework', 'net10.0', 'net11.0')
def test_logical_paths_of_runtime_async(t, framework):
    """The same program, its methods suspended by the runtime: all paths whole, collected often, at every tier."""
    for options, command in ([], []), (['--only', 'Logical.*'], []), (['--own'], []), (['--log', 'sites', '--no-inline'], ['40']):
        r = t.record(PROGRAM.command('LogicalRuntime', framework) + command, *options,
                     env=dict(ENVIRONMENT, DOTNET_RuntimeAsync='1', DOTNET_GCgen0size='0x20000'))
        t.equal(r.status, 0, r)
        t.equal(check(t, r)[1], set(), options)
        begun_anew(t, r)


@needs('Logical')
def test_logical_everywhere(t):
    """A method that completes a task has nothing of its continuations: --method, annotate, folded, by line; --physical has."""
    r = t.record(PROGRAM.command('Logical'))
    types = lambda *options: {row['type'] for row in r.report('--method', '*Tasks.Leaf', *options)['rows']}
    t.equal('Logical.Tasks.After' in types(), False, '--method')
    t.equal('Logical.Tasks.After' in types('--physical'), True, '--method --physical')
    t.equal('Logical.Tasks.LeafAfter' in types(), True, '--method')
    folded = tool('report', '--format', 'folded', r.path).text
    line = next(line for line in folded.splitlines() if '[Logical.Tasks.After]' in line)
    t.equal(('Tasks.<Leaf>' in line, 'Logical.Tasks.Run()' in line), (False, True), line)
    with open(SOURCE, encoding='utf-8') as file:
        source = file.read().splitlines()
    at = next(n for n, text in enumerate(source, 1) if 'await Middle();' in text)
    end = next(n for n, text in enumerate(source, 1) if n > at and 'Keep(new LeafAgain())' in text) + 2
    below = lambda *options: {line['line']: line['below_bytes'] for line in tool_json('annotate', '--format=json', *options, r.path, 'Program.cs')['lines']}
    logical, physical = below(), below('--physical')
    t.equal(source[end - 1].strip(), '}')
    t.true(physical[end] > logical.get(end, 0) + 100, 'below the end of Leaf: %s, %s' % (physical[end], logical.get(end)))
    t.true(logical[at] > physical[at] + 100, 'below the await: %s, %s' % (logical[at], physical[at]))


def record_server(t, *more):
    return t.record(PROGRAM.command('WebServer') + ['--scale', '1', '--clients', '1', *more], '--log', 'sites', cwd=t.folder).path


def shown(text):
    return int(next(line for line in text.splitlines() if line.startswith('Shown: ')).split()[1])


@lane('programs')  # how often an await waits depends on how the machine shares its processors
@needs('WebServer')
def test_two_runs_of_a_server_hardly_differ(t):
    """
    Of one build: at most ten rows. Hash codes are random, and so is on which path a table of the framework grows: of three runs
    two have to be alike, whichever.
    """
    rows_of = lambda pair: shown(tool('diff', *pair).text)
    lines_of = lambda pair: shown(tool('diff', '--by=line', *pair).text)
    pair = min(itertools.combinations([record_server(t) for _ in range(3)], 2), key=lambda pair: max(rows_of(pair), lines_of(pair)))
    physical = tool_json('diff', '--format=json', '--physical', '--exact', *pair)['changed']
    logical = tool_json('diff', '--format=json', *pair)['changed']
    t.true(rows_of(pair) <= 10, 'two runs of one build: %d rows of %d' % (rows_of(pair), logical))
    t.true(lines_of(pair) <= 10, 'two runs of one build: %d lines' % lines_of(pair))
    t.note('%d rows shown, %d lines, %d changed, by the machine\'s stacks %d' % (rows_of(pair), lines_of(pair), logical, physical))


@early
@needs('WebServer')
def test_the_line_of_a_server_that_allocates_more_is_first(t):
    """One log a side, or several."""
    runs = [record_server(t), record_server(t), record_server(t, '--pad', '200')]
    with open(os.path.join(PROGRAMS, 'WebServer', 'Program.cs'), encoding='utf-8') as file:
        line = next(n for n, text in enumerate(file, 1) if 'PadRight' in text)
    for sides in [runs[0], runs[2]], runs[:2] + ['--'] + runs[2:]:
        d = tool_json('diff', '--format=json', '--inline-stacks', *sides)
        first = d['rows'][0]
        at = next(x['line'] for x, name in zip(first['stack_lines'], first['stack']) if x and name.startswith('WebServer.'))
        t.equal((at, first['type'], first['certain']), (line, 'System.String', True), first)
        by_line = tool_json('diff', '--format=json', '--by=line', *sides)['rows'][0]
        t.equal((by_line['line'], by_line['type'], by_line['certain']), (line, 'System.String', True), by_line)
    rows = shown(tool('diff', *sides).text)
    t.true(d['noise'] > 0, 'nothing within the noise')
    t.note('of one line: %d rows, %d of noise' % (rows, d['noise']))
