"""
Negative controls: with one rule of the shadow stack switched off, in a build made for that, the comparison finds
differences; with all rules it finds none. Each line of the output is a row of the table: rule, program and case, differences.
"""
import os
import re

from harness import DEFAULT_FRAMEWORK, ENVIRONMENT, FRAMEWORKS, LIBRARY, PROGRAM, ROOT, SDK_FRAMEWORK, SHADOWED, SHARED, built, each, early, full, needs, sampled

# rule: framework on which it makes the difference, program, its arguments, seed of the mixer, hooks, --only, how to compare
RULES = {
    'dead_on_leave': ('net10.0', 'Rules', '--case caught-then-leave'),
    'filter_frame': ('net10.0', 'Rules', '--case filter-swallows'),
    'filter_dispatch': ('net10.0', 'Rules', '--case mixer-first-chance', 14),
    'handler_cut': ('net10.0', 'Rules', '--case out-of-native'),
    'thrown_cut': ('net10.0', 'Rules', '--case recursion-out-of-native'),
    'run_end': ('net10.0', 'Rules', '--case recursion-caught'),
    'unwind_pending': ('net10.0', 'Rules', '--case caught-beyond-native'),
    'first_leave': ('net10.0', 'Rules', '--case same-left-out-of-filter'),
    'finally_leave': ('net10.0', 'Rules', '--case finally-then-calls'),
    'alloc_settles': ('net10.0', 'Rules', '--case caught-then-alloc'),
    'nested_dispatch': ('net10.0', 'Rules', '--case first-chance'),
    'live_above': ('net10.0', 'Rules', '--case caught-and-call'),
    'finally_pair': ('net10.0', 'Dynamic', '--case dynamic-method-catches'),
    'in_wrapper': ('net8.0', 'Threads', '--case controlled-execution-calls --scale 100', 1, 'elt2'),
    'silent_pass': ('net10.0', 'Rules', '--case silent-out-of-native'),
    'suspended': ('net10.0', 'RuntimeAsync', '--case suspended', 1, 'elt3', 'Torture.*'),
    'suspended_there': ('net11.0', 'RuntimeAsync', '--case suspended-often', 1, 'elt3', 'Torture.*', ('--check-threads', '1')),
    'suspended_stub': ('net11.0', 'RuntimeAsync', '--case collected-meanwhile', 1, 'elt3'),
    'superseded': ('net10.0', 'Rules', '--case finally-throws'),
    'cut_goes_on': ('net10.0', 'Rules', '--case finally-compiles'),
    'duplicate': ('net9.0', 'Rules', '--case same-beyond-other'),
    'unhooked_throws': ('net10.0', 'Rules', '--case handler-dynamic'),
    'unhooked_gone': ('net10.0', 'Rules', '--case caught-then-out-deep'),
    'dynamic_runs': ('net10.0', 'Rules', '--case filter-dynamic-twice'),
    'ends_early': ('net8.0', 'Rules', '--case ends-early'),
    'hidden': ('net10.0', 'Rules', '--case out-of-native'),
}
# Rows of the SDK's framework run on the one that is asked for (run.py --framework). On .NET 11 these two cases are exact without them.
NOT_ON_11 = {'silent_pass', 'unhooked_throws'}
RULES = {rule: (DEFAULT_FRAMEWORK if row[0] == SDK_FRAMEWORK and not (rule in NOT_ON_11 and DEFAULT_FRAMEWORK == 'net11.0') else row[0],
                *row[1:]) for rule, row in RULES.items()}

TRIES = 10  # an abort that meets a wrapper is a matter of timing: a busy machine may miss all of a run's

# No program tried so far comes out wrong without these: what they mend, another rule mends before anybody looks.
COVERED = {
    'grace_period': 'it is of memory, not of frames: tests/unit/stack/test_copies.c fails without it',
    'dead_on_enter': 'what was left without notice is taken out as unwound: alloc_settles, live_above, run_end',
    'stale': 'a search that nobody ends costs time, not frames: unwind_pending and first_leave know what it left',
}

# Not about which frames there are: without them somebody meets memory that was given back, or from which an object has moved
# (test_filters.py).
OF_MEMORY = {'grace_period', 'pinned'}


def with_all(rule, by=None):
    """
    The comparison with every rule on, of the same library, in one recording for all rows of that framework, program, seed, kind of
    hooks and pattern.
    """
    def of(row):
        return row[:2], row[3:]
    cases = sorted({row[2] for row in RULES.values() if of(row) == of(RULES[rule])})
    framework, program, _, *more = RULES[rule]
    return SHARED.get('negative.with %s %s' % (of(RULES[rule]), by), lambda t: judged(
        t, recorded(t, framework, program, ' '.join(cases), *more, by=by)))


def differs_without(t, rule, by=None):
    """With all rules nothing differs, and without this one something does."""
    t.equal(with_all(rule, by)['mismatched'], 0, 'differences with %s' % rule)
    for _ in range(TRIES):
        c = judged(t, recorded(t, *RULES[rule], without=rule, by=by))
        if c['mismatched']:
            break
    t.true(c['mismatched'] > 0, 'without %s no difference in %d comparisons, %d times' % (rule, c['compared'], TRIES))
    t.note('%-6s %s %s: %d of %d differ' % (RULES[rule][0], RULES[rule][1], RULES[rule][2], c['mismatched'], c['compared']))


def judged(t, r):
    t.equal((r.status, r.text.splitlines()[-1:]), (0, ['ok']), 'exit status, last line\n%s' % r)
    c = r.compare()
    threads = c['threads']
    return dict(threads, compared=threads['walked'] - threads['refused']) if threads['walked'] else c


def recorded(t, framework, program, arguments, seed=1, hooks='elt3', only=None, check=('--check', '1'), without=None, by=None):
    """by(t, framework, program, arguments, options, environment): records, by a library made for that; here if it is left out."""
    env = {'RULES_SEED': str(seed), 'DOTNET_RuntimeAsync': '1'}
    if without:
        env['SHADOWTRACE_WITHOUT'] = without
    # The seeds of the mixers hold for code that is compiled without rich debug info.
    options = ['--no-rich', '--hooks', hooks, *check] + (['--only', only, *SHADOWED] if only else [])
    return (by or recorded_here)(t, framework, program, arguments.split(), options, env)


def recorded_here(t, framework, program, arguments, options, env):
    library = built('negative/libshadowtrace.so', 'make negative', newer_than=LIBRARY)
    return t.record(PROGRAM.command(program, framework) + arguments, *options, rich=True,
                    env=dict(ENVIRONMENT, SHADOWTRACE_LIBRARY=library, **env))


@needs('Rules')
@needs('Dynamic')
@needs('RuntimeAsync', framework='net10.0')
@needs('RuntimeAsync', framework='net11.0')
@needs('Threads', framework='net8.0')
@needs('Rules', framework='net9.0')
@needs('Rules', framework='net8.0')
@each('rule', *RULES)
def test_without(t, rule):
    differs_without(t, rule)


def rule_names():
    folder = os.path.join(ROOT, 'src/tracer/stack')
    text = ''.join(open(os.path.join(folder, name), encoding='utf-8').read() for name in sorted(os.listdir(folder)))
    return set(re.findall(r'"(\w+)"', re.search(r'rule_names\[STACK_RULES\] = \{(.*?)\}', text, re.S).group(1)))


def test_every_rule_has_a_row(t):
    """Those of live objects have theirs in test_live.py, and those of walks in test_walk.py."""
    t.equal({rule for rule in rule_names() if rule in RULES or not rule.startswith(('live_', 'walk_'))}, set(RULES) | set(COVERED) | OF_MEMORY, 'rules')


# Case and seeds of the mixer that came out wrong under earlier rules, on one runtime or another.
MIXED = (('mixer', 2, 2), ('mixer', 17, 2), ('mixer', 28, 1), ('mixer', 50, 1), ('mixer-first-chance', 14, 1),
         ('mixer-first-chance', 23, 1))


@sampled
@early
@needs('Rules')
@needs('Rules', framework='net9.0')
@needs('Rules', framework='net8.0')
@each('framework', *FRAMEWORKS)
@each('hooks', 'elt2', 'elt3')
def test_random_nesting(t, framework, hooks):
    """
    Every allocation equal; the lane combinations runs each seed on each runtime, the lane matrix a hundred. Outside of them
    each has two of the six, the next one two others.
    """
    third = slice(FRAMEWORKS.index(framework) % 3, None, 3)
    for case, seed, count in full('combinations', MIXED[third], MIXED):
        t.exact(t.record(PROGRAM.command('Rules', framework) + ['--case', case, '--scale', str(count)], hooks=hooks, check=1,
                         env=dict(ENVIRONMENT, RULES_SEED=str(seed))))


@sampled
@needs('Rules')
@needs('Rules', framework='net9.0')
@needs('Rules', framework='net8.0')
@each('framework', *FRAMEWORKS)
@each('hooks', 'elt2', 'elt3')
def test_all_rules_on(t, framework, hooks):
    """What runtime versions report twice, late or not at all: no difference on any."""
    t.exact(t.record(PROGRAM.command('Rules', framework), hooks=hooks, check=1))
