"""The same as a picture: bars with spread, one panel for each program, readable on light and dark pages."""
import math
from xml.sax.saxutils import escape

from runs import MODE, median
from show import meaning, quartiles, values

PANELS = ['fib1', 'tree20', 'tree1000', 'csc', 'fsc', 'kestrel', 'short']
BARS = ['jit', 'alloc', 'elt2', 'elt3', 'sites3', 'events3', 'sites2', 'events2', 'only', 'snapshot', 'trace']
KIND = {'plain': 'base', 'noop': 'floor', 'ours': 'ours', 'trace': 'other'}
WIDTH, LABEL, BAR, LINE, HEAD, GAP = 860, 232, 520, 18, 30, 16

STYLE = '''
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .head { font-weight: 600; font-size: 14px } .faint { fill: #6e7781 }
  .axis { stroke: #d0d7de; stroke-width: 1 } .one { stroke: #8c959f; stroke-width: 1 }
  .base { fill: #8c959f } .floor { fill: #54aeff } .ours { fill: #2da44e } .peer { fill: #e16f24 } .other { fill: #a475f9 }
  .spread { stroke: #24292f; stroke-width: 1.5 } .page { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .faint { fill: #8b949e } .axis { stroke: #30363d } .one { stroke: #6e7681 }
    .base { fill: #6e7681 } .floor { fill: #388bfd } .ours { fill: #3fb950 } .peer { fill: #db6d28 } .other { fill: #8957e5 }
    .spread { stroke: #e6edf3 } .page { fill: #0d1117 }
  }
'''


def bars_of(program, result):
    base = values(result, program.key, 'plain', program.primary)
    if not base:
        return []
    bars = []
    for mode in BARS:
        found = values(result, program.key, mode, program.primary)
        if found:
            low, high = quartiles(found)
            kind = 'peer' if mode == 'snapshot' else KIND[MODE[mode].kind]
            bars.append((MODE[mode].label, kind, *(value / median(base) for value in (median(found), low, high))))
    return bars


def ticks(top):
    step = [1, 2, 5]
    return [value * 10 ** power for power in range(5) for value in step if value * 10 ** power <= top]


def write(path, programs, result):
    table = [(program, bars_of(program, result)) for program in programs if program.key in PANELS]
    table = [(program, bars) for program, bars in table if bars]
    if not table:
        return
    body, y = [], 58
    for program, bars in table:
        top = max(2.0, max(high for *_, high in bars) * 1.05)
        low = min(1.0, min(bar[3] for bar in bars)) * 0.9

        def x(value):
            return LABEL + BAR * math.log(max(value, low) / low) / math.log(top / low)

        body.append('<text class="head" x="12" y="%d">%s</text><text class="faint" x="%d" y="%d">%s, times unprofiled</text>' % (
            y, escape(program.label), LABEL, y, meaning(program)))
        bottom = y + 12 + LINE * len(bars)
        for tick in ticks(top):
            body.append('<line class="%s" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/><text class="faint" x="%.1f" y="%d" '
                        'text-anchor="middle">%d</text>' % ('one' if tick == 1 else 'axis', x(tick), x(tick), y + 8, bottom,
                                                            x(tick), bottom + 13, tick))
        for i, (label, kind, middle, first, last) in enumerate(bars):
            at = y + 10 + LINE * i
            left, right = sorted((x(1), x(middle)))
            body.append('<text x="%d" y="%d" text-anchor="end">%s</text><rect class="%s" x="%.1f" y="%d" width="%.1f" '
                        'height="12" rx="2"><title>%s: %.3f (%.3f to %.3f)</title></rect>' % (
                            LABEL - 8, at + 11, escape(label), kind, left, at + 1, max(1.5, right - left), escape(label),
                            middle, first, last))
            body.append('<line class="spread" x1="%.1f" x2="%.1f" y1="%d" y2="%d"/>' % (x(first), x(last), at + 7, at + 7))
            body.append('<text x="%.1f" y="%d">%s</text>' % (max(x(middle), x(last), x(1)) + 6, at + 11,
                                                             '%.2f' % middle if middle < 10 else '%.0f' % middle))
        y = bottom + HEAD + GAP
    about = result['machine']
    note = '%s, %d cores, .NET %s; bars: medians, lines: quartiles, logarithmic; green is shadowtrace' % (
        about['cpu'], about['cores'], about['runtime'].split(', ')[-1])
    with open(path, 'w', encoding='utf-8') as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" '
                   'aria-label="Cost of each way of capturing, times an unprofiled run">\n<style>%s</style>\n'
                   '<rect class="page" width="%d" height="%d" rx="6"/>\n'
                   '<text class="faint" x="12" y="26">%s</text>\n%s\n</svg>\n' % (
                       WIDTH, y - GAP, WIDTH, y - GAP, STYLE, WIDTH, y - GAP, escape(note), '\n'.join(body)))
