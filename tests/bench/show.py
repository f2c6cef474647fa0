"""Tables for the terminal, and the statistics under them."""
import random

import families
import instructions
import live
from runs import MODE, MODES, median


def values(result, program, mode, metric):
    return [sample[metric] for sample in result['samples']
            if sample['program'] == program and sample['mode'] == mode and 'error' not in sample and metric in sample]


def quartiles(data):
    """First and third quartile; of fewer than four values the smallest and the largest."""
    data = sorted(data)
    if len(data) < 4:
        return data[0], data[-1]
    half = len(data) // 2
    return median(data[:half]), median(data[-half:])


def interval(draw):
    """95 % of what a draw gives that takes its chances from the argument: a bootstrap."""
    chance = random.Random(5)
    tries = sorted(draw(chance) for _ in range(1000))
    return tries[25], tries[974]


def ratio(result, program, metric, mode, base):
    """Ratio of medians, its 95 % interval (bootstrap over rounds) and the smaller number of rounds; or None."""
    above, below = values(result, program, mode, metric), values(result, program, base, metric)
    if not above or not below or not median(below):
        return None
    low, high = interval(lambda chance: median(chance.choices(above, k=len(above))) / median(chance.choices(below, k=len(below))))
    return median(above) / median(below), low, high, min(len(above), len(below))


def difference(result, program, metric, mode, base):
    """The same of the difference of medians."""
    above, below = values(result, program, mode, metric), values(result, program, base, metric)
    if not above or not below:
        return None
    low, high = interval(lambda chance: median(chance.choices(above, k=len(above))) - median(chance.choices(below, k=len(below))))
    return median(above) - median(below), low, high, min(len(above), len(below))


def number(value):
    """Three digits that count, 1,234 above a thousand."""
    if value is None:
        return ''
    return '{:,.0f}'.format(value) if abs(value) >= 1000 else '%.3g' % value if abs(value) < 100 else '%.0f' % value


def meaning(program):
    """What a program is compared by."""
    metric, _, depth = program.primary.partition('@')
    return {'op_cpu': 'CPU per ' + program.unit, 'cpu': 'CPU time', 'wall': 'wall time'}[metric] + \
        (', {:,} frames deep'.format(int(depth)) if depth else '')


def row(result, program, mode):
    def one(metric, scale=1.0):
        found = values(result, program.key, mode, metric)
        return median(found) * scale if found else None

    main = values(result, program.key, mode, program.primary)
    low, high = quartiles(main)
    middle = median(main)

    def times(metric, base):
        found = ratio(result, program.key, metric, mode, base)
        return '%.2f' % found[0] if found else ''

    per_op = [metric for metric in ('op_cpu', 'op_wall') if values(result, program.key, mode, metric)]
    return [MODE[mode].label, str(len(main)), number(one('wall')), number(one('cpu')),
            '-%.0f +%.0f %%' % (100 * (1 - low / middle), 100 * (high / middle - 1)),
            times(program.primary, 'plain'), times(program.primary, 'elt3'), times('wall', 'plain'),
            number(one(per_op[0])) if per_op else '', number(one(per_op[1])) if per_op[1:] else '',
            number(one('events_s', 1e-6)), number(one('bytes_event')), number(one('rss', 1 / 2 ** 20)),
            number(one('lost')) if mode in MODE and MODE[mode].kind in ('ours', 'record') else '']


def table_of(heads, lines):
    widths = [max(len(line[i]) for line in [heads] + lines) for i in range(len(heads))]
    text = []
    for line in [heads] + lines:
        text.append('  '.join(cell.ljust(width) if i == 0 else cell.rjust(width)
                              for i, (cell, width) in enumerate(zip(line, widths))).rstrip())
    text.insert(1, '-' * len(text[0]))
    return '\n'.join(text)


def depths(result):
    """Cost of an allocation against depth, above a profiler that only receives ObjectAllocated."""
    at = sorted({int(key[7:]) for sample in result['samples'] if sample['program'] == 'depth' for key in sample
                 if key.startswith('op_cpu@')})
    lines = []
    for mode in MODES:
        if any(values(result, 'depth', mode.key, 'op_cpu@%d' % depth) for depth in at):
            lines.append([mode.label] + [number(median(values(result, 'depth', mode.key, 'op_cpu@%d' % depth) or [0]))
                                         for depth in at])
    return table_of(['CPU ns an allocation, frames below it:'] + ['{:,}'.format(depth) for depth in at], lines)


OPENED = {'export': 'export --format pprof', 'pprof': 'go tool pprof -top', 'browse': 'browse, until it stands'}


def opening(found):
    """Of opening.py: how soon a log can be looked at."""
    lines = []
    for way, label in OPENED.items():
        walls = [sample['wall'] for sample in found[way]]
        if not walls:
            continue
        low, high = quartiles(walls)
        middle = median(walls)
        lines.append([label, str(len(walls)), number(middle), '-%.0f +%.0f %%' % (100 * (1 - low / middle), 100 * (high / middle - 1)),
                      number(median([sample['cpu'] for sample in found[way]])),
                      '%.0f' % max(sample['rss'] / 2 ** 20 for sample in found[way]),
                      '%.2f' % (found['export_bytes'] / 1e6) if way == 'export' else ''])
    return table_of(['', 'n', 'wall s', 'spread', 'CPU s', 'peak MB', 'MB written'], lines)


def retained_title(found):
    return 'Who keeps %s objects (%s references, a dump of %.1f MB)' % (number(found['objects']), number(found['references']),
                                                                         found['dump_bytes'] / 1e6)


def retained(found):
    """Of retained.py."""
    lines = []
    for way, label in ('rows', 'retained'), ('paths', 'retained --type'):
        walls = [sample['wall'] for sample in found[way]]
        low, high = quartiles(walls)
        middle = median(walls)
        lines.append([label, str(len(walls)), '%.2f' % middle, '-%.0f +%.0f %%' % (100 * (1 - low / middle), 100 * (high / middle - 1)),
                      '%.2f' % median([sample['cpu'] for sample in found[way]]),
                      '%.0f' % max(sample['rss'] / 2 ** 20 for sample in found[way])])
    return table_of(['', 'n', 'wall s', 'spread', 'CPU s', 'peak MB'], lines)


def tables(programs, result):
    about = result['machine']
    others = [sample['others'] for sample in result['samples'] if 'others' in sample]
    print('%s, %d cores, Linux %s, .NET %s, %s' % (about['cpu'], about['cores'], about['kernel'], about['runtime'],
                                                   result['when']))
    if others:
        noise = median(others)
        print('Other programs used %.2f cores during a run (median; at most %.2f)%s' % (
            noise, max(others), ': NOISY, trust ratios of CPU time only' if noise > 0.1 else '.'))
    for program in programs:
        modes = [mode.key for mode in MODES if values(result, program.key, mode.key, program.primary)]
        if not modes:
            if program.key in result.get('missing', {}):
                print('\n%s: not measured: %s' % (program.label, result['missing'][program.key]))
            continue
        print('\n%s   (spread and ratios: %s)' % (program.label, meaning(program)))
        print(table_of(['', 'n', 'wall s', 'CPU s', 'spread', 'x plain', 'x ELT3', 'wall x', 'CPU ns/' + program.unit, 'wall ns',
                        'Mevents/s', 'B/event', 'peak MB', 'lost'],
                       [row(result, program, mode) for mode in modes]))
        if program.key == 'depth':
            print(depths(result))
    if result.get('families'):
        print('\nEvent families: a Kestrel server that answers a fixed number of requests')
        print(table_of(families.HEADS, families.rows(result['families'])))
    if result.get('opening'):
        print('\nA log of the F# compiler (%.0f MB) opened' % (result['opening']['log_bytes'] / 1e6))
        print(opening(result['opening']))
    if result.get('retained'):
        print('\n' + retained_title(result['retained']))
        print(retained(result['retained']))
    if result.get('live'):
        print('\nLive objects: --live beside the same recording without it, 2 million live objects')
        print(table_of(live.HEADS, live.rows(result['live'])))
    for title, heads, lines in instructions.tables(result.get('instructions') or {}):
        print('\n%s\n%s' % (title, table_of(heads, lines)))
    if 'trace' in result.get('missing', {}):
        print('\ndotnet-trace: not measured: %s' % result['missing']['trace'])
    else:
        print('\ndotnet-trace samples (about one allocation in 100 KB): it does not see every allocation as the others do.')
