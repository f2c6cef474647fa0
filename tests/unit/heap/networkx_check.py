#!/usr/bin/env python3
"""Holds what src/tool/heap makes of heaps against networkx. usage: networkx_check.py FILE

FILE is test_networkx.c's: a heap on each line, as generated, and the result. Exit status 77: no networkx.
"""
import json
import sys
try:
    import networkx
except ImportError:
    sys.exit(77)


def differs(number, what, ours, theirs):
    if ours != theirs:
        sys.exit('heap %d: %s: %r, by networkx %r' % (number, what, ours, theirs))


def topmost(chosen, above):
    """Of the chosen nodes those that no other one of them dominates."""
    def covered(node):
        while node:
            node = above[node]
            if node in chosen:
                return True
        return False
    return [node for node in chosen if not covered(node)]


def reached_without(edges, chosen):
    """Nodes that ways from node 0 reach which enter none of the chosen ones."""
    seen, todo = {0}, [0]
    while todo:
        for node in edges[todo.pop()]:
            if node not in seen and node not in chosen:
                seen.add(node)
                todo.append(node)
    return seen


def amount(nodes, heap):
    return [len(nodes), 8 * sum(heap['units'][node] for node in nodes)]


def check_class(number, kind, ours, graph, heap, away, above, retained):
    what, edges = 'class %d' % kind, graph.adj
    chosen = {node for node in away if node and heap['classes'][node] == kind}
    tops = topmost(chosen, above)
    path = ours[6]
    differs(number, what, ours[0:2], amount(chosen, heap))
    differs(number, what, ours[2:4], [sum(retained[node][side] for node in tops) for side in (0, 1)])
    differs(number, what, ours[4:6], amount(away.keys() - reached_without(edges, chosen), heap))
    differs(number, what + ', steps to it', len(path), min((away[node] for node in chosen), default=0))
    differs(number, what + ', a path that is one', all(to in edges[node] for node, to in zip([0] + path, path)), True)
    differs(number, what + ', where it ends', not chosen or path[-1] in chosen, True)


def check(number, heap):
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(heap['units'])))
    graph.add_edges_from(edge for edge in heap['edges'] if edge[1])
    away = networkx.single_source_shortest_path_length(graph, 0)
    first = graph.copy()  # ways begin with roots that say who holds, if one does
    first.remove_edges_from([(0, node) for node in graph.adj[0] if node not in heap['named']])
    nearest = {**away, **networkx.single_source_shortest_path_length(first, 0)}
    theirs = dict(networkx.immediate_dominators(graph, 0))
    theirs.pop(0, None)
    above = {int(node): dominator for node, dominator in heap['dominators'].items()}
    differs(number, 'dominators', above, theirs)
    retained = {0: amount(away.keys(), heap)}
    for node in away:  # by its meaning, not by the tree: what cannot be reached without it
        if node:
            retained[node] = amount(away.keys() - reached_without(graph.adj, {node}), heap)
    differs(number, 'retained', {int(node): value for node, value in heap['retained'].items()}, retained)
    for kind, ours in enumerate(heap['by_class'], 1):
        check_class(number, kind, ours, graph, heap, nearest, above, retained)
    return len(away) - 1


def main():
    heaps = reached = 0
    with open(sys.argv[1], encoding='utf-8') as lines:
        for number, line in enumerate(lines):
            reached += check(number, json.loads(line))
            heaps += 1
    print('%d heaps, %d objects that roots hold: as networkx %s has them' % (heaps, reached, networkx.__version__))


if __name__ == '__main__':
    main()
