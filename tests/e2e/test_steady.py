"""Boxes that the program does not make unless it is recorded: unoptimised code where else precompiled code runs."""
import collections

from harness import ENVIRONMENT, FRAMEWORKS, HOOKS, PROGRAM, each, needs, run, sampled

PARTS = 'Interpolated', 'Boxed', 'Keys'


def said(output):
    """Bytes by part, as the program printed them."""
    return {name: int(number) for name, number in (line.split() for line in output.splitlines())}


def reported(r, part, *options):
    """Bytes of the second run of a part: the first one makes what is made once."""
    report = r.report('--method', 'Steady.Program.Bytes(*', *options)
    return sum(row['bytes'] for row in report['rows'] if any('Program.%s(' % part in name for name in row['stack']))


@sampled
@needs('Steady')
@each('hooks', *HOOKS)
@each('framework', *FRAMEWORKS)
def test_without_boxes_of_unoptimised_code_a_program_allocates_what_it_does_unrecorded(t, hooks, framework):
    command = PROGRAM.command('Steady', framework)
    bare = said(run(command).text)
    r = t.record(command, hooks=hooks)
    traced = said(r.text)
    t.true(traced['interpolated'] > bare['interpolated'], 'the traced program boxes no more than the untraced: %s' % traced)
    for part in PARTS:
        t.equal(reported(r, part), traced[part.lower()], '%s, as it was recorded' % part)
    t.equal(reported(r, 'Interpolated', '--steady'), bare['interpolated'], 'interpolated strings')
    t.equal(reported(r, 'Boxed', '--steady'), bare['boxed'], 'boxes of precompiled code')
    # Generics over a type of the program have no precompiled code: they are unoptimised at first in any case.
    own = [a for a in r.log.allocs if r.log.classes[a['class']]['name'] == 'Steady.Own']
    t.true(own, 'no box of the program\'s own type')
    t.true(not any('il0' in a for a in own), 'a box of the program\'s own type is marked')


@needs('Steady')
@each('framework', *FRAMEWORKS)
def test_optimized_compiles_as_precompiled_code_is(t, framework):
    command = PROGRAM.command('Steady', framework)
    bare = said(run(command).text)
    r = t.record(command, '--optimized')
    t.equal(said(r.text)['interpolated'], bare['interpolated'])
    t.true(not any('il0' in a for a in r.log.allocs), 'a mark without unoptimised code')


@needs('Steady')
def test_nothing_is_marked_where_precompiled_code_is_not_used_in_any_case(t):
    for variable in 'DOTNET_ReadyToRun', 'DOTNET_TieredCompilation', 'DOTNET_TC_QuickJit':
        r = t.record(PROGRAM.command('Steady'), env=dict(ENVIRONMENT, **{variable: '0'}))
        t.true(r.log.allocs and not any('il0' in a for a in r.log.allocs), 'marks with %s=0' % variable)


@needs('Steady')
def test_sums_by_site_have_the_same_marks(t):
    def marked(log, records):
        sums = collections.Counter()
        for a in records:
            if 'il0' in a:
                sums[log.methods[log.nodes[a['node']]['method']]['name']] += a.get('allocs', 1)
        return sums

    events = t.record(PROGRAM.command('Steady'))
    sites = t.record(PROGRAM.command('Steady'), '--log', 'sites')
    t.equal(marked(sites.log, sites.log.sites)[BOXING], marked(events.log, events.log.allocs)[BOXING])
    t.equal(marked(events.log, events.log.allocs)[BOXING] >= 1000, True)


BOXING = 'System.Runtime.CompilerServices.DefaultInterpolatedStringHandler.AppendFormatted<System.Int32>(System.Int32)'
