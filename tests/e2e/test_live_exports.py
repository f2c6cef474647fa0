"""
What is alive, in the formats of other tools: heaptrack's own programs and Go's pprof say of an export what the log's lines
say, which are read here without the command.
"""
import os
import re

import consumers
from consumers import pprof
from harness import ENVIRONMENT, needs, run, tool_json
from readback import export
from test_live import PLAIN, kept


def heaptrack_costs(t, path, kind):
    """What heaptrack_print says of each stack: {(root, ..., leaf): cost}; allocations, temporary, leaked or peak."""
    made = t.path('heaptrack.' + kind)
    result = run([consumers.program('heaptrack_print'), '-f', path, '-p', '0', '-a', '0', '-T', '0', '-l', '0', '-t', '0', '-F', made,
                  '--flamegraph-cost-type', kind], timeout=120, env=dict(ENVIRONMENT))
    t.equal(result.status, 0, result)
    costs = {}
    with open(made, encoding='utf-8') as file:
        for line in file:
            stack, cost = line.rsplit(' ', 1)
            stack = tuple(stack.rstrip(';').split(';')) # of several places in its methods
            costs[stack] = costs.get(stack, 0) + int(cost)
    return costs


def heaptrack_course(t, path):
    """(seconds, bytes) of all moments, as massif has them."""
    made = t.path('heaptrack.massif')
    result = run([consumers.program('heaptrack_print'), '-f', path, '-M', made], timeout=120, env=dict(ENVIRONMENT))
    t.equal(result.status, 0, result)
    with open(made, encoding='utf-8') as file:
        text = file.read()
    return [(float(time), int(size)) for time, size in re.findall(r'time=([\d.]+)\nmem_heap_B=(\d+)', text)]


def by_type(costs):
    sums = {}
    for stack, cost in costs.items():
        sums[stack[-1]] = sums.get(stack[-1], 0) + cost
    return {name: cost for name, cost in sums.items() if cost}


def view(r, name, member):
    """By type, without those that are nothing; and the total."""
    report = tool_json('report', '--view', name, '--by', 'type', '--format', 'json', '--quiet', '--no-lines', r.path)
    rows = {}
    for row in report['rows']:
        value = sum(row[word + member] for word in ('live_', 'young_', 'temporary_') if word + member in row and
                    (name != 'temporary' or word == 'temporary_'))
        if value:
            rows[row['type']] = rows.get(row['type'], 0) + value
    return rows


@needs('Keeper', framework=PLAIN[0])
def test_heaptrack_reads_what_was_made_and_freed(t):
    """To the byte: allocations, what is never freed, the peak, what died at once, and the course over time."""
    consumers.program('heaptrack_print')
    r = kept(t, PLAIN)
    made = export(t, 'heaptrack', [r.path], '--min-share', '0')
    total = tool_json('report', '--by', 'type', '--format', 'json', '--quiet', r.path)['total']
    t.equal(sum(heaptrack_costs(t, made, 'allocations').values()), total['allocs'], 'allocations')
    t.equal(by_type(heaptrack_costs(t, made, 'leaked')), view(r, 'end', 'bytes'), 'not known dead')
    t.equal(by_type(heaptrack_costs(t, made, 'temporary')), view(r, 'temporary', 'allocs'), 'died young')
    totals = [moment.total for moment in r.found.moments.values()]
    peak = max(totals, key=lambda one: one['bytes'])
    end = sum(view(r, 'end', 'bytes').values())
    if peak['bytes'] > end:
        t.equal(by_type(heaptrack_costs(t, made, 'peak')), view(r, 'peak', 'bytes'), 'peak')
    course = heaptrack_course(t, made)
    t.true(course[0][1] == 0 and course[-1][1] == end, 'begins and ends with %s, %s' % (course[0], course[-1]))
    for one in totals:
        t.true((one['t'] // 1000000 / 1000, one['bytes']) in course, 'no moment of %s in %s' % (one, course))


@needs('Keeper', framework=PLAIN[0])
def test_pprof_has_what_is_in_use(t):
    r = kept(t, PLAIN)
    made = export(t, 'pprof', [r.path], '--min-share', '0')
    for index, member in ('inuse_space', 'bytes'), ('inuse_objects', 'allocs'):
        text = pprof(t, '-raw', made) if index == 'inuse_space' else text
        types = re.search(r'^Samples:\n(.*)$', text, re.M).group(1).split()
        at = [one.split('/')[0] for one in types].index(index)
        sums, values = {}, []
        for line in text.splitlines():
            sample, label = re.match(r' +([\d ]+): [\d ]+$', line), re.search(r' type:\[(.*)\]$', line)
            values = sample.group(1).split() if sample else values
            if label and int(values[at]):
                sums[label.group(1)] = sums.get(label.group(1), 0) + int(values[at])
        t.equal(sums, view(r, 'end', member), index)
