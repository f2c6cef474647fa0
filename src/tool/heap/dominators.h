/*
 * heap/dominators.h - who holds whom alone: the dominator tree of a graph from node 0 on, and what
 * each node retains, itself included: what would be free if it were.
 *
 * Semi-NCA (Georgiadis, Tarjan, "Finding dominators revisited", 2004), without recursion.
 *
 * Nodes have places: their order in the tree, each before those below it, which follow it without
 * any other between. Place 0 is node 0. A node that cannot be reached has none.
 */
#ifndef SHADOWTRACE_HEAP_DOMINATORS_H
#define SHADOWTRACE_HEAP_DOMINATORS_H

#include "heap/graph.h"

struct heap_dominators {
    uint32_t count;     /* of places */
    uint32_t *node;     /* by place, as all but `place` */
    uint32_t *above;    /* place of the dominator; of place 0: 0 */
    uint32_t *below;    /* places from this one on that are it and what it dominates */
    uint64_t *retained; /* bytes */
    uint32_t *place;    /* by node; HEAP_NO_PLACE */
};

#define HEAP_NO_PLACE UINT32_MAX

/*
 * heap_dominators_find - units: sizes by node, in SST_HEAP_UNIT bytes. Returns: 0 or -ENOMEM.
 * Owns: *out is for heap_dominators_free even then. Time: near to linear; memory while it runs: 32
 * bytes a node, 8 an edge.
 */
int heap_dominators_find(const struct heap_edges *edges, const uint32_t *units,
                         struct heap_dominators *out);
void heap_dominators_free(struct heap_dominators *d);

#endif
