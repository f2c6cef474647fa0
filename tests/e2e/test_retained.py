"""Who keeps memory (`retained`), of heaps of real programs: as networkx has it, and as the program says."""
import json
import os

from control import Kept
from harness import HOOKS, PROGRAM, PROGRAMS, each, needs, one_line, sampled, tool, tool_json
from heapdump import HANDLE, STACK, WEAK, Dump
from test_heap import ALONE, dump

try:
    import networkx
except ImportError:
    networkx = None

NODES = 300  # of the list; networkx takes a time that grows with its square


def retained(log, path, *options):
    return tool_json('retained', '--format', 'json', '--names', 'raw', '--no-lines', *options, log, path)


def graph_of(found):
    """The dump as it was read here, with one root, 0."""
    graph = networkx.DiGraph()
    graph.add_node(0)
    graph.add_edges_from((0, a) for a, _, flags, _ in found.roots if not flags & WEAK and a in found.objects)
    graph.add_edges_from((0, a) for _, a, _, _, _ in found.statics if a in found.objects)
    graph.add_edges_from((a, r) for a, (_, _, refs) in found.objects.items() for r in refs if r in found.objects)
    graph.add_edges_from((key, value) for key, value in found.pairs if key in found.objects and value in found.objects)
    return graph


def named_roots(found):
    """Static fields, handles, and variables of methods that are known."""
    return ({a for _, a, _, _, _ in found.statics} |
            {a for a, kind, flags, name in found.roots if not flags & WEAK and (kind == HANDLE or kind == STACK and name is not None)})


def sums_of(found, graph):
    """{class: [objects, bytes, retained objects, retained bytes]} by networkx's dominators."""
    above = dict(networkx.immediate_dominators(graph, 0))
    above.pop(0, None)
    below = networkx.DiGraph((dominator, node) for node, dominator in above.items())
    order = list(networkx.topological_sort(below))
    held = {node: [1, found.objects[node][1]] if node else [0, 0] for node in order}
    for node in reversed(order[1:]):
        for side in 0, 1:
            held[above[node]][side] += held[node][side]
    around, sums = {0: frozenset()}, {}
    for node in order[1:]:  # the classes of what dominates it
        name, size, _ = found.objects[node]
        row = sums.setdefault(name, [0, 0, 0, 0])
        row[0] += 1
        row[1] += size
        if name not in around[above[node]]:
            row[2] += held[node][0]
            row[3] += held[node][1]
        around[node] = around[above[node]] | {name}
    return sums


@needs('Kept')
def test_a_real_heap_is_as_networkx_has_it(t):
    if not networkx:
        t.skip('no python3-networkx')
    program = Kept(t, '--check', '0', nodes=NODES, settings=[ALONE])
    found = dump(t, program)
    t.equal(program.close(), 0, 'exit status')
    graph = graph_of(found)
    said = retained(program.path, t.path('heap'))
    t.equal(said['total']['objects'] + said['total']['loose_objects'], len(found.objects), 'objects')
    t.equal(said['total']['objects'], len(found.held()), 'objects that are held')
    t.equal({row.get('type', '?'): [row[key] for key in ('objects', 'bytes', 'retained_objects', 'retained_bytes')]
             for row in said['types']}, sums_of(found, graph), 'types')
    away = networkx.single_source_shortest_path_length(graph, 0)
    graph.remove_edges_from([(0, a) for a in set(graph.adj[0]) - named_roots(found)])
    away.update(networkx.single_source_shortest_path_length(graph, 0))  # first from roots that say who holds
    for name in 'Kept.Load', 'Kept.Value', 'Kept.Mark', 'System.String':
        asked = retained(program.path, t.path('heap'), '--type', name, '--paths', '0')
        t.equal(min(len(path['steps']) for path in asked['paths']),
                min(away[a] for a in found.of(name) if a in away), 'steps to ' + name)
        t.equal(sum(path['objects'] for path in asked['paths']), asked['asked']['objects'], 'objects of ' + name)


@needs('Kept')
def test_the_way_to_what_a_program_keeps(t):
    program = Kept(t, '--check', '0', nodes=5000, settings=[ALONE])
    dump(t, program)
    t.equal(program.close(), 0, 'exit status')
    path = t.path('heap')
    node, load = 40, 24  # bytes
    rows = {row.get('type'): row for row in retained(program.path, path)['types']}
    t.equal((rows['Kept.Node']['objects'], rows['Kept.Node']['retained_bytes']), (5000, 5000 * (node + load) + 24),
            'the list, with what it shares')
    asked = retained(program.path, path, '--type', 'Kept.Value')
    way, = asked['paths']
    t.equal([step['type'] for step in way['steps'][-2:]], ['Kept.Key', 'Kept.Value'], 'the way to a value')
    t.equal(way['steps'][-1].get('attached'), True, 'that it is one')
    ways = retained(program.path, path, '--type', 'Kept.Load')['paths']
    t.equal([len(ways), ways[0]['objects']], [1, 5000], 'a list is one way, however long')
    one_line(tool('retained', '--type', 'Kept.Gone', program.path, path), 2, 'no live object is of a type')
    with open(path, 'r+b') as file:
        file.truncate(os.path.getsize(path) - 1)
    one_line(tool('retained', program.path, path), 3, 'is cut')


@needs('Kept')
def test_the_line_that_made_what_is_kept(t):
    with open(os.path.join(PROGRAMS, 'Kept', 'Program.cs'), encoding='utf-8') as file:
        made, = [number for number, text in enumerate(file, 1) if 'new Load' in text]
    program = Kept(t, '--check', '0', '--live', nodes=5000)
    dump(t, program)
    t.equal(program.close(), 0, 'exit status')
    said = tool_json('retained', '--format', 'json', program.path, t.path('heap'))
    line, = [row for row in said['lines'] if row.get('file', '').endswith('Program.cs') and row['line'] == made]
    t.equal((line['objects'], line['bytes'], line['retained_bytes']), (10000, 5000 * 64, 5000 * 64 + 24), 'the line of the list')
    t.equal({row['type']: row['bytes'] for row in line['types']}, {'Kept.Node': 5000 * 40, 'Kept.Load': 5000 * 24}, 'its types')
    asked = tool_json('retained', '--format', 'json', '--line', 'Program.cs:%d' % made, '--type', 'Load', program.path, t.path('heap'))
    t.equal(asked['asked']['objects'], 5000, 'Loads of that line')
    t.equal([step.get('line') for step in asked['paths'][0]['steps']][-2:], [made, made], 'where the last two were made')


@sampled
@needs('Kept')
@each('hooks', *HOOKS)
@each('collector', 'gcServer=0', 'gcServer=1', 'GCName=libclrgc.so')
def test_a_dump_at_the_end_knows_where_each_object_was_allocated(t, hooks, collector):
    """Its collection is the last: the session that tells of collections is over by then."""
    heap = t.path('heap')
    r = t.record(['env', 'DOTNET_' + collector] + PROGRAM.command('Kept') + ['--nodes', '3000'], '--live', '--heap-at-exit', heap,
                 check=0, hooks=hooks, stdin=b'collect\n')
    t.equal(r.status, 0, r.errors)
    found = Dump(heap)
    t.equal(set(found.sites), set(found.objects), 'objects that the table has, and the heap')
    with open(r.path, encoding='utf-8') as log:
        totals = [json.loads(line) for line in log if '"kind":"live_total"' in line]
    # The program's own, unless the writer, who takes them once a second, met both at once.
    t.equal({(line['depth'], line['exact']) for line in totals}, {(2, True)}, 'collections')
    t.equal(totals[-1]['allocs'], len(found.objects), 'objects that are alive behind the last one')
    said = tool_json('retained', '--format', 'json', r.path, heap)
    t.true(any(row.get('file', '').endswith('Program.cs') and row['retained_bytes'] == 3000 * 64 + 24 for row in said['lines']),
           'the line of the list')
