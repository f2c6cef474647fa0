"""What measurements must show, line by line, with the figure reached."""
import live
from opening import PPROF_MOST
from retained import MEGABYTES_MOST, SECONDS_MOST
from runs import MODE, median
from show import difference, number, quartiles, ratio, values


def interval(found, scale=1.0):
    """Of what ratio() and difference() give: their interval, or how few rounds there were."""
    _, low, high, rounds = found
    if rounds < 3:
        return '(%d round%s)' % (rounds, 's' if rounds > 1 else '')
    return '[%s, %s]' % (number(low * scale), number(high * scale))


def spread(result, program, mode, metric, scale=1.0):
    found = values(result, program, mode, metric)
    return '(1 round)' if len(found) < 2 else 'quartiles %s to %s' % tuple(number(value * scale) for value in quartiles(found))


class Lines:
    def __init__(self):
        self.lines = []

    def add(self, what, verdict, figure):
        self.lines.append((what, verdict, figure))

    def none(self, what, why='not measured'):
        self.add(what, '-', why)

    def ratio(self, result, what, program, metrics, mode, base, limit, more=''):
        """Every metric has to hold: (metric, name) pairs."""
        found = [(name, ratio(result, program, metric, mode, base)) for metric, name in metrics]
        found = [(name, value) for name, value in found if value]
        if not found:
            self.none(what)
            return
        holds = [value[0] <= limit for _, value in found]
        text = ', '.join('%s %.3f %s' % (name, value[0], interval(value)) for name, value in found)
        if all(holds):
            verdict = 'ok'
        elif any(holds):
            verdict = 'ok by ' + ' and '.join(name for (name, _), ok in zip(found, holds) if ok) + ' only'
        else:
            verdict = 'not reached'
        self.add(what, verdict, '%s, at most %.3g%s' % (text, limit, more))


def beside(result, program, metric, modes, base='plain'):
    parts = []
    for mode, name in modes:
        found = ratio(result, program, metric, mode, base)
        if found:
            parts.append('%s %.2f' % (name, found[0]))
    return '; beside it ' + ', '.join(parts) if parts else ''


def mid(result, program, mode, metric):
    found = values(result, program, mode, metric)
    return median(found) if found else None


def calls(result, lines):
    both = [('op_wall', 'wall'), ('op_cpu', 'CPU')]
    for key, name in (('fib1', '1 thread'), ('fib2', '2 threads')):
        lines.ratio(result, 'fib, %s: ours / empty ELT3' % name, key, both, 'events3', 'elt3', 1.2)
    lines.ratio(result, 'fib: ours / empty ELT2', 'fib1', both, 'events2', 'elt2', 1.1)


def trees(result, lines):
    for mode, name in (('events3', 'ours'), ('events3-0', '--check 0'), ('sites3', 'sites'), ('sites3-0', 'sites, --check 0')):
        above = {}
        for key in ('tree20', 'tree1000'):
            ours, floor, hooks = (mid(result, key, which, 'op_cpu') for which in (mode, 'alloc', 'elt3a'))
            if ours is None or floor is None:
                continue
            found = difference(result, key, 'op_cpu', mode, 'alloc')
            above[key] = found[0]
            snapshot = mid(result, key, 'snapshot', 'op_cpu')
            wall, wall_floor = (mid(result, key, which, 'op_wall') for which in (mode, 'alloc'))
            lines.add('%s, %s: ns above ObjectAllocated only' % (key, name), 'ok' if above[key] <= 60 else 'not reached',
                      '%.0f %s, at most 60; above empty hooks and ObjectAllocated %s; by the wall clock %.0f%s' % (
                          above[key], interval(found), '%.0f' % (ours - hooks) if hooks else '?', wall - wall_floor,
                          '; snapshot %s' % number(snapshot - floor) if snapshot else ''))
        if len(above) == 2:
            shallow, deep = above['tree20'], above['tree1000']
            limit = max(0.15 * shallow, 5)
            lines.add('tree, %s: slower at 1,000 than at 20 by' % name, 'ok' if deep - shallow <= limit else 'not reached',
                      '%.0f ns, at most %.0f' % (deep - shallow, limit))
        elif mode == 'events3':
            lines.none('tree: ns of one allocation')


def compiler(result, lines):
    both = [('wall', 'wall'), ('cpu', 'CPU')]
    lines.ratio(result, 'F# compiler, events: ours / empty ELT3', 'fsc', both, 'events3', 'elt3', 1.35,
                beside(result, 'fsc', 'wall', [('elt3a', 'hooks with ObjectAllocated'), ('jit', 'without hooks')], 'elt3'))
    lines.ratio(result, 'F# compiler, events: ours / snapshot', 'fsc', both, 'events3', 'snapshot', 0.40)
    lines.ratio(result, 'F# compiler, sites: ours / empty ELT3', 'fsc', both, 'sites3', 'elt3', 1.2)
    for name, mode, base in (('events', 'events3', 'nolines3'), ('sites', 'sites3', 'nolines-sites3')):
        lines.ratio(result, 'F# compiler, %s: call instructions and lines / --no-lines' % name, 'fsc', both, mode, base, 1.1)
    above = {mode: difference(result, 'fsc', 'rss', mode, 'elt3') for mode in ('events3', 'sites3')}
    above = {mode: found for mode, found in above.items() if found}
    if above:
        most = max(above, key=lambda mode: above[mode][0])
        megabytes = above[most][0] / 2 ** 20
        others = [(base, difference(result, 'fsc', 'rss', most, base)) for base in ('elt3a', 'plain')]
        lines.add('F# compiler: MB above empty ELT3', 'ok' if megabytes <= 64 else 'not reached',
                  '%.0f %s, at most 64%s' % (megabytes, interval(above[most], 1 / 2 ** 20), ''.join(
                      '; above %s %.0f' % (MODE[base].label, found[0] / 2 ** 20) for base, found in others if found)))
    else:
        lines.none('F# compiler: MB above empty ELT3')


def rich(result, lines):
    for key, name, cpu in (('csc', 'C# compiler', 'cpu'), ('kestrel', 'Kestrel', 'op_cpu')):
        for mode, base, which in (('rich', 'richless', '--own'), ('rich-all', 'richless-all', 'all methods')):
            what = '%s, %s: rich debug info / --no-rich' % (name, which)
            lines.ratio(result, what, key, [(cpu, 'CPU'), ('log_bytes', 'log')] if key == 'csc' else [(cpu, 'CPU')], mode, base, 1.05)
            found = difference(result, key, 'rss', mode, base)
            if found:
                megabytes = found[0] / 2 ** 20
                lines.add(what + ', MB', 'ok' if megabytes <= 5 else 'not reached',
                          '%.1f %s, at most 5' % (megabytes, interval(found, 1 / 2 ** 20)))


def walks(result, lines):
    """Whole paths: of walks alone, and of walks between hooked frames above those frames alone."""
    for key, name, cpu, most in (('csc', 'C# compiler', 'cpu', 1.3), ('fsc', 'F# compiler', 'cpu', 1.9), ('kestrel', 'Kestrel', 'op_cpu', 1.25)):
        lines.ratio(result, '%s, --capture walk, sites / unprofiled' % name, key, [(cpu, 'CPU')], 'walk', 'plain', most)
    lines.ratio(result, 'C# compiler, --capture walk, events / unprofiled', 'csc', [('cpu', 'CPU')], 'walk-events', 'plain', 1.4)
    for key, depth, mode, name, most in (('tree20', '20', 'walk', '--capture walk', 150), ('tree20', '20', 'only-walk', 'own code hooked', 150),
                                         ('tree1000', '1,000', 'walk', '--capture walk', 2500),
                                         ('tree1000', '1,000', 'only-walk', 'own code hooked', 300)):
        found = difference(result, key, 'op_cpu', mode, 'alloc')
        if found:
            lines.add('tree, %s deep, %s: ns above ObjectAllocated only' % (depth, name), 'ok' if found[0] <= most else 'not reached',
                      '%.0f %s, at most %s' % (found[0], interval(found), format(most, ',')))
    for key, name, cpu in (('csc', 'C# compiler', 'cpu'), ('kestrel', 'Kestrel', 'op_cpu'), ('lucene', 'Lucene.NET', 'cpu'),
                           ('jint', 'Jint', 'cpu'), ('markdig', 'Markdig', 'cpu')):
        what = '%s, --own: walks above none, of the unprofiled CPU' % name
        found, plain = difference(result, key, cpu, 'rich', 'own-hooked'), mid(result, key, 'plain', cpu)
        if found and plain:
            above = found[0] / plain
            lines.add(what, 'ok' if above <= 0.15 else 'not reached', '%.2f %s, at most 0.15' % (above, interval(found, 1 / plain)))
        else:
            lines.none(what)


def server(result, lines):
    for mode, name, limit in (('sites3', 'sites', 1 / 0.85), ('events3', 'events', 1 / 0.6), ('only', '--only own', 1 / 0.95)):
        rounds = len(values(result, 'kestrel', mode, 'op_cpu'))
        others = {'sites3': [('elt3', 'empty ELT3'), ('elt2', 'empty ELT2'), ('snapshot', 'snapshot')],
                  'only': [('alloc', 'ObjectAllocated only'), ('only-sites', 'with --log sites')]}
        more = beside(result, 'kestrel', 'op_cpu', others.get(mode, []))
        lines.ratio(result, 'Kestrel, %s: CPU a request / unprofiled' % name, 'kestrel', [('op_cpu', 'CPU')], mode, 'plain',
                    limit, '; %d rounds%s%s' % (rounds, '' if rounds >= 9 else ', fewer than 9: says little', more))


def logs(result, lines):
    speed = mid(result, 'tree20', 'events3', 'events_s')
    if speed:
        others = [(mid(result, program, mode, 'events_s'), label) for program, mode, label in (
            ('tree20', 'events3-0', '--check 0'), ('tree20', 'zstd3', '--compress'),
            ('tree20x2', 'events3-0', '2 threads, --check 0'), ('tree20', 'sites3', 'counted, --log sites'))]
        lines.add('log: million events a second', 'ok' if speed >= 3e6 else 'not reached',
                  '%.2f, %s, at least 3; beside it %s' % (speed / 1e6, spread(result, 'tree20', 'events3', 'events_s', 1e-6), ', '.join(
                      '%s %.2f' % (label, value / 1e6) for value, label in others if value)))
    else:
        lines.none('log: million events a second')
    for mode, name, limit in (('events3', 'plain', 115), ('zstd3', 'compressed', 12)):
        found = {program: mid(result, program, mode, 'bytes_event') for program in ('tree20', 'tree1000', 'csc', 'fsc', 'kestrel')}
        found = {program: value for program, value in found.items() if value}
        if found:
            lines.add('log: bytes an event, %s' % name, 'ok' if max(found.values()) <= limit else 'not reached',
                      ', '.join('%s %.1f' % pair for pair in found.items()) + ', at most %d' % limit)
        else:
            lines.none('log: bytes an event, %s' % name)
    ours = [sample for sample in result['samples'] if 'lost' in sample]
    bad = sorted({'%s %s' % (sample['program'], sample['mode']) for sample in ours if sample['lost']})
    why = sorted({reason for sample in ours for reason in sample.get('lost_by', {})})
    failed = sum('error' in sample for sample in result['samples'])
    if ours:
        lines.add('0 lost in all of the above', 'not reached' if bad or failed else 'ok', '%d runs, %s of %s events lost%s; %d runs failed' % (
            len(ours), number(sum(s['lost'] for s in ours)), number(sum(s['events'] + s['lost'] for s in ours)),
            ' (%s) in %s' % (', '.join(why) or '?', ', '.join(bad)) if bad else '', failed))


def show(result):
    lines = Lines()
    calls(result, lines)
    trees(result, lines)
    compiler(result, lines)
    rich(result, lines)
    walks(result, lines)
    server(result, lines)
    lines.ratio(result, 'short program, record --only: wall / unprofiled', 'short', [('wall', 'wall')], 'only-record', 'plain', 1.15,
                beside(result, 'short', 'wall', [('only', 'without `record` around it'), ('events3', 'all hooked')]))
    logs(result, lines)
    found = result.get('sampling')
    if found:
        lines.add('sampling: 95 % intervals that contain the exact bytes', 'ok' if found['share'] >= 0.9 else 'not reached',
                  '%.1f %% of %s intervals (%d runs, %d sites), at least 90 %%' % (
                      100 * found['share'], number(found['intervals']), found['runs'], found['sites']))
    else:
        lines.none('sampling: 95 % intervals that contain the exact bytes')
    found = result.get('report')
    if found:
        lines.add('report: million events a second', 'ok' if found['events_s'] >= 2e6 else 'not reached',
                  '%.2f (one reading), at least 2 (%s events, CPU %.1f s)' % (found['events_s'] / 1e6, number(found['events']), found['cpu']))
        lines.add('report: MB of memory', 'ok' if found['rss'] <= 200 * 2 ** 20 else 'not reached',
                  '%.0f, at most 200' % (found['rss'] / 2 ** 20))
    else:
        lines.none('report: million events a second, MB of memory')
    found = result.get('opening')
    if found and found['pprof']:
        seconds = [sample['wall'] for sample in found['pprof']]
        lines.add('go tool pprof -top of the F# compiler: seconds', 'ok' if median(seconds) <= PPROF_MOST else 'not reached',
                  '%.1f %s, at most %d' % (median(seconds), '(%d rounds)' % len(seconds), PPROF_MOST))
    else:
        lines.none('go tool pprof -top of the F# compiler: seconds')
    found = result.get('retained')
    if found:
        seconds, peak = median([sample['wall'] for sample in found['rows']]), max(sample['rss'] for sample in found['rows'] + found['paths'])
        lines.add('retained of %s objects: seconds' % number(found['objects']), 'ok' if seconds <= SECONDS_MOST else 'not reached',
                  '%.2f (%d rounds), at most %d' % (seconds, len(found['rows']), SECONDS_MOST))
        lines.add('retained of %s objects: MB of memory' % number(found['objects']),
                  'ok' if peak <= MEGABYTES_MOST * 2 ** 20 else 'not reached', '%.0f, at most %d' % (peak / 2 ** 20, MEGABYTES_MOST))
    else:
        lines.none('retained: seconds, MB of memory')
    if result.get('live'):
        live.must(result['live'], lines)
    else:
        lines.none('--live')
    print('\nMust show (medians; 95 % intervals in brackets)')
    width = max(len(what) for what, _, _ in lines.lines)
    short = max(len(verdict) for _, verdict, _ in lines.lines)
    for what, verdict, figure in lines.lines:
        print('  %-*s  %-*s  %s' % (width, what, short, verdict, figure))
    return [{'what': what, 'verdict': verdict, 'figure': figure} for what, verdict, figure in lines.lines]
