/*
 * collect/snapshot.h - the heap as the runtime's events of one collection tell it: objects and
 * references in two streams of batches, of which either may be ahead; each object says how many of
 * the references are its own. Puts them together.
 */
#ifndef SHADOWTRACE_COLLECT_SNAPSHOT_H
#define SHADOWTRACE_COLLECT_SNAPSHOT_H

#include "session/session.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SNAPSHOT_ROOTS = 16, /* GCBulkRootEdge */
    SNAPSHOT_PAIRS,      /* GCBulkRootConditionalWeakTableElementEdge */
    SNAPSHOT_NODES,      /* GCBulkNode */
    SNAPSHOT_EDGES,      /* GCBulkEdge */
    SNAPSHOT_KINDS = 4,
};

struct snapshot_node {
    uintptr_t address, class_id;
    uint64_t bytes, edges;
};

/* All zero: nothing was told. What waits for its other half is little more than one batch. */
struct snapshot {
    struct snapshot_node *nodes;
    size_t first_node, end_node, node_capacity;
    uintptr_t *edges;
    size_t first_edge, end_edge, edge_capacity;
    uint32_t batches[SNAPSHOT_KINDS]; /* that were told */
    int error;                        /* the first one */
};

/* Who takes it. kind, flags: as COR_PRF_GC_ROOT_KIND and _FLAGS. id of one on a stack: method. */
struct snapshot_taker {
    void *context;
    void (*object)(void *context, const struct snapshot_node *node, const uintptr_t *references);
    void (*root)(void *context, uintptr_t object, int32_t kind, int32_t flags, uintptr_t id);
    void (*pair)(void *context, uintptr_t key, uintptr_t value);
};

/* snapshot_take - an event of one of these kinds. Threads: one at a time; the others stand. */
void snapshot_take(struct snapshot *s, const struct session_event *event,
                   const struct snapshot_taker *taker);

/*
 * snapshot_end - frees it, and empties it. Returns: 0; -ENOMEM; -EPROTO: a batch is missing or cut,
 * or references without an object, or the other way round.
 */
int snapshot_end(struct snapshot *s);

#endif
