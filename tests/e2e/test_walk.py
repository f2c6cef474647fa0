"""
--capture walk: at each allocation the stack that is unwound from the machine's equals the runtime's own snapshot, on every
program that makes and unmakes frames; with one rule of the walk switched off it does not. What is not certain is counted.
"""
from harness import ENVIRONMENT, FRAMEWORKS, HOOKS, PROGRAM, SDK_FRAMEWORK, SHADOWED, TOOL, each, full, lane, needs, run, tool, tool_json, without
from test_compiler import command as compilation
from test_negative import rule_names

PROGRAMS = {'Exceptions': (), 'Boundaries': (), 'Native': (), 'Faults': (), 'Async': (), 'TailCalls': (), 'Tiers': (), 'Generics': (),
            'Dynamic': (), 'Unload': (), 'Threads': (), 'Rules': None}
# What a walk may leave to a snapshot, beside a return address that a suspension has replaced: handlers of dynamic methods, which
# nobody tells of, filters around them, and what was interrupted where an abort is thrown.
UNCERTAIN = {'Native': ('dynamic',), 'Dynamic': ('dynamic',), 'Rules': ('dynamic', 'filter'), 'Threads': ('code',)}
SETTINGS = {'default': {}, 'no tiers': {'DOTNET_TieredCompilation': '0'}, 'no profile': {'DOTNET_TieredPGO': '0'},
            'nothing precompiled': {'DOTNET_ReadyToRun': '0'}, 'server GC': {'DOTNET_gcServer': '1'},
            'legacy exceptions': {'DOTNET_LegacyExceptionHandling': '1'}}


def some_of(program, framework, settings):
    """Outside the lane: each program once, on one framework or another; where bodies replace running ones, or faults differ, on both kinds."""
    turn = sorted(PROGRAMS).index(program)
    both = ('Tiers', 'net11.0'), ('Faults', 'net8.0')
    return settings == 'default' and (framework == FRAMEWORKS[turn % len(FRAMEWORKS)] or (program, framework) in both)


def some_between(program, framework, settings):
    """Outside the lane: a program made for it, on the SDK's framework and on another one."""
    return program == 'Woven' and (framework, settings) in ((SDK_FRAMEWORK, 'elt3'), (FRAMEWORKS[-1], 'elt2'))


def agreed(t, end):
    """Of an end record: all stacks that were walked are equal to the snapshot's, the others are counted by reason, and nothing is lost."""
    snapshots, walks = end['snapshots'], end['walks']
    t.equal((snapshots['mismatched'], end['lost']), (0, 0), 'different, lost: %s' % snapshots)
    t.equal(snapshots['compared'], snapshots['equal'], 'equal')
    t.equal(snapshots['compared'] + snapshots['refused'], walks['taken'], 'compared')
    t.equal(walks['taken'] + walks['fallbacks'], end['seen'], 'walks')
    t.equal(sum(walks['fallbacks_by'].values()), walks['fallbacks'], 'reasons')


def judged(t, r, may=(), least=500):
    """The end record, of a recording in which all that was walked and compared is equal."""
    t.equal(r.status, 0, str(r))
    end = r.log.end
    snapshots, walks = end['snapshots'], end['walks']
    agreed(t, end)
    t.equal([reason for reason in walks['fallbacks_by'] if reason not in may + ('hijacked',)], [], 'reasons: %s' % walks)
    t.true(snapshots['equal'] > least, '%d equal' % snapshots['equal'])
    t.note('%d equal, %d refused, %d fallbacks' % (snapshots['equal'], snapshots['refused'], walks['fallbacks']))
    return end


@lane('walk', sample=some_of)
@needs('program')
@each('program', *PROGRAMS)
@each('framework', *FRAMEWORKS)
@each('settings', *SETTINGS)
def test_every_walk_equals_the_snapshot(t, program, framework, settings):
    scale = full('walk', [], ['--scale', '5'])
    command = PROGRAM.command(program, framework) + (scale if PROGRAMS[program] is not None else [])
    r = t.record(command, '--capture', 'walk', '--log', 'sites', check=1, env=dict(ENVIRONMENT, **SETTINGS[settings]))
    judged(t, r, UNCERTAIN.get(program, ()))


# As above, with hooks on own methods or on those of a pattern, and walks between them.
BETWEEN = {'Woven': ('--own',), **{program: ('--only', 'Torture.*') for program in PROGRAMS}, 'TailCalls': ('--only', 'TailCalls.*')}
BETWEEN_SETTINGS = {**{hooks: {} for hooks in HOOKS}, **SETTINGS}
BETWEEN_SETTINGS.pop('default')


@lane('walk', sample=some_between)
@needs('program')
@each('program', *BETWEEN)
@each('framework', *FRAMEWORKS)
@each('settings', *BETWEEN_SETTINGS)
def test_every_walk_between_hooked_frames_equals_the_snapshot(t, program, framework, settings):
    hooks = ('--hooks', settings) if settings in HOOKS else ()
    r = t.record(PROGRAM.command(program, framework), *BETWEEN[program], '--framework-frames', 'walk', '--log', 'sites', *hooks, check=1,
                 env=dict(ENVIRONMENT, **BETWEEN_SETTINGS[settings]))
    end = judged(t, r, UNCERTAIN.get(program, ()))
    t.true(end['hooks']['calls'] > 500, 'calls of hooked methods: %d' % end['hooks']['calls'])


@needs('Woven')
def test_frames_of_the_framework_are_between_those_of_own_code(t):
    """Of what own code allocates each path goes down to Main or to where a thread begins, and the calls keep their instructions."""
    r = t.record(PROGRAM.command('Woven'), '--own')
    log = r.log
    paths = [(a, [log.methods[m]['name'] for m in log.stack(a['node'])]) for a in log.allocs]
    own = [(a, path) for a, path in paths if log.type(a) == 'Torture.Mark']
    t.true(len(own) > 300, '%d of own code' % len(own))
    t.equal([a for a, _ in own if 'il' not in a][:3], [], 'without an instruction')
    t.equal([path for _, path in own if not path[0].startswith('Torture.')][:3], [], 'not allocated by own code')
    starts = '.Main(', 'Thread.StartCallback(', 'Thread.StartHelper'
    reach = [path for _, path in own if any(start in path[-1] for start in starts)]
    t.note('%d of %d reach Main or the start of a thread' % (len(reach), len(own)))
    t.equal([path for _, path in own if path not in reach][:3], [], 'from elsewhere')
    sorts = [path for _, path in own if 'Program.Backwards(' in path[1]]
    t.true(sorts and all(path[2].startswith('System.') for path in sorts), 'what compares is called by the framework: %s' % sorts[:1])
    t.true(all(any('Program.Sort(' in name for name in path[3:]) for path in sorts), 'which own code has called')
    t.equal(log.end['walks']['fallbacks_by'].get('hooked'), None, 'hooked frames not met')
    plain = t.record(PROGRAM.command('Woven'), '--own', *SHADOWED, check=0).log
    t.true(all(plain.methods[n['method']]['name'].startswith('Torture.') for n in plain.nodes.values()), 'without: own frames only')
    t.equal(tool('validate', r.path).status, 0, 'validate')


@needs('WebServer', framework='net11.0')
@needs('RuntimeAsync', framework='net11.0')
@each('program', 'WebServer', 'RuntimeAsync')
def test_walks_through_runtime_async_are_all_certain(t, program):
    """A method of runtime async is called through a thunk of its name, which snapshots have no frame for."""
    r = t.record(PROGRAM.command(program, 'net11.0'), '--capture', 'walk', '--log', 'sites', check=1)
    judged(t, r)


@lane('walk')
def test_walks_of_the_compiler_are_all_certain(t):
    end = judged(t, t.record(compilation(t, 'made')[0], '--capture', 'walk', '--log', 'sites', check=1), least=100_000)
    t.equal(end['walks']['fallbacks'], 0, 'fallbacks')


@needs('KnownAllocs')
def test_a_walk_leaves_the_program_as_it_is(t):
    """No method is hooked, and each allocation has its whole path, down to Main, and the instruction."""
    r = t.record(PROGRAM.command('KnownAllocs'), '--capture', 'walk')
    log = r.log
    t.equal((log.header['capture'], log.header['hooks'], log.end['hooks']['calls']), ('walk', 'none', 0), 'header, hooks')
    paths = [(a, [log.methods[m]['name'] for m in log.stack(a['node'])]) for a in log.allocs]
    own = [(a, path) for a, path in paths if path and path[0].startswith('Known.')]
    t.true(len(own) > 1000, '%d allocations of own methods, of %d' % (len(own), len(paths)))
    t.equal([a for a, _ in own if 'il' not in a][:3], [], 'without an instruction')
    t.equal([path for _, path in own if '.Main(' not in path[-1] and 'Thread' not in path[-1]][:3], [], 'from elsewhere')
    t.equal(tool('validate', r.path).status, 0, 'validate')


# Code stays as it is first: how soon it is compiled again depends on the load.
STEADY = {'DOTNET_TC_CallCounting': '0', 'DOTNET_TC_OnStackReplacement_InitialCounter': '1000000'}


@needs('Observed')
def test_a_walk_does_not_change_what_is_allocated(t):
    """By the runtime's own count: the same with walks and with hooks on own code as without a tracer; more with hooks everywhere."""
    command, env = PROGRAM.command('Observed'), dict(ENVIRONMENT, **STEADY)

    def counted(text):
        return {name: int(bytes) for name, bytes in (line.split() for line in text.splitlines())}

    plain = run(command, env=env)
    t.equal(plain.status, 0, str(plain))
    plain = counted(plain.text)
    t.equal(len(plain), 6, str(plain))
    said = {}
    for way, options in {'walks': ('--capture', 'walk'), 'own': ('--own',), 'hooks': ()}.items():
        r = t.record(command, *options, check=0, env=env)
        t.equal(r.status, 0, str(r))
        said[way] = counted(r.text)
    t.equal(said['walks'], plain, 'walks')
    t.equal(said['own'], plain, '--own')
    t.true(said['hooks']['texts'] > plain['texts'], 'hooks everywhere: %s beside %s' % (said['hooks'], plain))
    t.note('texts: %d bytes, with hooks everywhere %d' % (plain['texts'], said['hooks']['texts']))


@needs('Dynamic')
def test_compare_tells_of_walks(t):
    r = t.record(PROGRAM.command('Dynamic'), '--capture', 'walk', check=1)
    walks = r.log.end['walks']
    t.true(walks['fallbacks'] > 0, 'fallbacks: %s' % walks)
    t.equal(tool_json('compare', '--format=json', r.path)['walks'], walks, 'in JSON')
    text = tool('compare', r.path).text
    t.true('The walked stack equalled the snapshot in all of' in text, text)
    t.true('handler of dynamic code' in text, text)


def test_what_needs_hooks_is_refused(t):
    for more in ('--events', 'calls'), ('--own',), ('--args', '*'), ('--profile', '10'):
        r = run([TOOL, 'record', '--capture', 'walk', *more, '--', 'true'])
        t.equal(r.status, 2, str(r))
        t.true('--capture' in r.errors and '"snapshot"' not in r.errors, r.errors)


# rule: framework, program, arguments
RULES = {
    'walk_frameless': ('net10.0', 'Exceptions', ''),
    'walk_osr': ('net10.0', 'Tiers', ''),
    'walk_hidden': ('net10.0', 'Exceptions', ''),
    'walk_filter': ('net10.0', 'Exceptions', ''),
    'walk_exact': ('net10.0', 'Faults', ''),
    'walk_memo': ('net10.0', 'Exceptions', ''),
    'walk_start': ('net10.0', 'Exceptions', ''),
}


# The same with hooks on own code: only there are walk_below and walk_hooked.
RULES_BETWEEN = 'walk_below', 'walk_memo', 'walk_start', 'walk_frameless'
# With these rules of the shadow stack switched off, it has frames that have ended.
FAULTY = 'alloc_settles,dead_on_leave,run_end,live_above,unwind_pending'


def test_every_rule_has_a_row(t):
    """That of walk_proven is in test_attach.py."""
    t.equal({rule for rule in rule_names() if rule.startswith('walk_')},
            set(RULES) | set(RULES_BETWEEN) | {'walk_hooked', 'walk_epoch', 'walk_proven'}, 'rules')


def without_between(t, rules, command, *options):
    """The end record of a recording with walks between hooked frames, in a build that can switch rules off."""
    r = t.record(command, *options, '--framework-frames', 'walk', '--log', 'sites', check=1, env=without(rules))
    t.equal(r.status, 0, str(r))
    t.note('%s: %d differ, fallbacks: %s' % (rules, r.log.end['snapshots']['mismatched'], r.log.end['walks']['fallbacks_by']))
    return r.log.end


@lane('walk', sample=lambda rule: rule == 'walk_below')
@needs('Woven')
@each('rule', *RULES_BETWEEN)
def test_without_between_hooked_frames(t, rule):
    end = without_between(t, rule, PROGRAM.command('Woven'), '--own')
    t.true(end['snapshots']['mismatched'] > 0, 'without %s nothing differs: %s' % (rule, end['snapshots']))


@needs('Rules')
def test_a_faulty_shadow_stack_never_makes_a_walk_wrong(t):
    """
    Frames that have ended are not met: then a snapshot is taken, and the reason is counted. That is what finds them: without
    the check nothing is counted. The path is right without it, too, as a walk has all frames.
    """
    command = PROGRAM.command('Rules') + ['--case', 'caught-then-alloc', '--case', 'recursion-caught', '--case', 'out-of-native']
    end = without_between(t, FAULTY, command, '--only', 'Torture.*')
    t.equal(end['snapshots']['mismatched'], 0, 'different')
    t.true(end['walks']['fallbacks_by'].get('hooked', 0) > 0, 'frames that have ended were met: %s' % end['walks'])
    end = without_between(t, FAULTY + ',walk_hooked', command, '--only', 'Torture.*')
    t.equal((end['snapshots']['mismatched'], end['walks']['fallbacks_by'].get('hooked')), (0, None), 'without the check')


@needs('Exceptions')
@needs('Tiers')
@needs('Faults')
@each('rule', *RULES)
def test_without(t, rule):
    """In a build that can switch it off: then stacks differ, or are no longer certain."""
    framework, program, arguments = RULES[rule]
    r = t.record(PROGRAM.command(program, framework) + arguments.split(), '--capture', 'walk', '--log', 'sites', check=1, env=without(rule))
    end = r.log.end
    t.equal(r.status, 0, str(r))
    t.true(end['snapshots']['mismatched'] + end['walks']['fallbacks'] > 0, 'without %s nothing differs: %s' % (rule, end['snapshots']))
    t.note('%d differ, %d fall back' % (end['snapshots']['mismatched'], end['walks']['fallbacks']))


@needs('Collectible')
def test_what_was_unloaded_is_forgotten(t):
    """A thread keeps rules, steps and nodes. In a small heap, other code soon lies where they were met; they then are others' memory."""
    command, options = PROGRAM.command('Collectible') + ['contexts', '1000', '0'], ['--capture', 'walk', '--log', 'sites']
    small = {'DOTNET_GCHeapHardLimit': '0x8000000'}
    r = t.record(command, *options, check=1, env=dict(ENVIRONMENT, **small))
    end = r.log.end
    t.equal((r.status, end['snapshots']['mismatched'], end['walks']['fallbacks']), (0, 0, 0), str(r))
    t.true(end['given_back']['modules'] >= 900, 'given back: %s' % end['given_back'])
    r = t.record(command, *options, check=1, env=dict(without('walk_epoch'), **small))
    t.true(r.status or r.log.end['snapshots']['mismatched'], 'without walk_epoch nothing differs: %s' % r)
    t.unchecked.add(r.path)
