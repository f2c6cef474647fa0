"""--only: a few methods hooked, precompiled code of all else in use; nothing allocated is missed, nothing misplaced."""
from harness import ENVIRONMENT, FRAMEWORKS, HOOKS, PROGRAM, SHADOWED, each, needs, sampled
from test_known import SEEDS, known_is_exact



@sampled
@needs('KnownAllocs')
@each('hooks', *HOOKS)
@each('framework', *FRAMEWORKS)
def test_counts_and_bytes_are_exact(t, hooks, framework):
    """Also what the framework's precompiled code allocates for the program: each thread's bytes are the runtime's."""
    known_is_exact(t, SEEDS[0], hooks, PROGRAM.command('KnownAllocs', framework), '--only', 'Known.*', *SHADOWED)


@sampled
@needs('Exceptions', 'Boundaries', 'Async', 'TailCalls', 'Tiers', 'Generics', 'Dynamic', 'Unload', 'Threads', 'Native', 'Faults')
@each('hooks', *HOOKS)
@each('framework', *FRAMEWORKS)
@each('program', 'Exceptions', 'Boundaries', 'Async', 'TailCalls', 'Tiers', 'Generics', 'Dynamic', 'Unload', 'Threads',
      'Native', 'Faults')
def test_stacks_are_the_snapshots_own_methods(t, hooks, framework, program):
    """Frames that are not hooked throw, catch, filter and unwind between those that are."""
    r = t.record(PROGRAM.command(program, framework), '--only', 'Torture.*', *SHADOWED, hooks=hooks, check=1)
    t.true(t.exact(r)['equal'] > 100, 'too few comparisons')


@needs('KnownAllocs')
@each('framework', *FRAMEWORKS)
def test_names_are_those_of_the_runtimes_own_metadata(t, framework):
    """Where hot reload may change modules the runtime is asked for its metadata: the same names as by our own importer."""
    command = PROGRAM.command('KnownAllocs', framework) + ['--seed', '3', '--threads', '2']
    found = []
    for environment in ENVIRONMENT, dict(ENVIRONMENT, DOTNET_MODIFIABLE_ASSEMBLIES='debug'):
        log = t.record(command, '--check', '0', env=environment).log
        t.true(log.end and not log.end['lost'], 'the log has no end, or something is lost')
        names = {d['name'] for defined in (log.methods, log.classes) for d in defined.values()}
        t.true(not [n for n in names if n.startswith('?')], 'without a name: %s' % [n for n in names if n.startswith('?')])
        found.append({n for n in names if n.startswith('Known.')})
    t.true(len(found[0]) > 100, 'too few names')
    t.equal(found[1], found[0], 'names')


@needs('KnownAllocs')
def test_patterns_that_match_nothing_are_named(t):
    r = t.record(PROGRAM.command('KnownAllocs'), '--only', 'Known.Place', '--only', 'Known.*', '--exclude', '*.Nothing*',
                 '--types', 'Known.Cel', '--types', 'Known.Cell')
    row = {(x['option'], x['pattern']): x['near'] for x in r.log.end['unmatched']}
    t.equal(sorted(row), [('exclude', '*.Nothing*'), ('only', 'Known.Place'), ('types', 'Known.Cel')])
    t.true(all(name.startswith('Known.Places.') for name in row['only', 'Known.Place']) and row['only', 'Known.Place'], row)
    t.true('Known.Cell' in row['types', 'Known.Cel'], row)
    t.true('--only Known.Place: no method that ran has such a name; near: Known.Places.' in r.errors, r.errors)
    t.true('--types Known.Cel: no type of an object that was made has such a name; near: ' in r.errors, r.errors)


@sampled
@needs('Loading')
@each('hooks', *HOOKS)
@each('framework', *FRAMEWORKS)
def test_methods_compiled_while_modules_are_loaded_are_hooked(t, hooks, framework):
    """One thread compiles 240 methods for the first time while another loads modules all the time."""
    r = t.record(PROGRAM.command('Loading', framework), '--only', 'Loading.*', *SHADOWED, hooks=hooks, check=1)
    t.true(t.exact(r)['equal'] > 500, 'too few comparisons')
    log = r.log
    t.equal(log.end['hooks']['missed'], 0, 'compiled without hooks')
    calls = [m for m, d in log.methods.items() if '.First<' in d['name'] or '.Second<' in d['name']]
    deepest = max(sum(m in calls for m in log.stack(a['node'])) for a in log.allocs)
    t.equal(deepest, 41, 'frames of the deepest recursion')
    t.true(len(calls) >= 200, 'only %d of the methods are in the log' % len(calls))
