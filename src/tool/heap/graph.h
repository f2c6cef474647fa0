/*
 * heap/graph.h - who refers to whom, in compressed arrays. Node 0 is the root of all: it refers to
 * what each root that is not weak refers to. Objects are nodes 1 to count, by address.
 *
 * A reference to something that is no object of the dump is counted, and leads to node 0, where it
 * does no harm.
 */
#ifndef SHADOWTRACE_HEAP_GRAPH_H
#define SHADOWTRACE_HEAP_GRAPH_H

#include "heap/addresses.h"
#include "heap/dump.h"

/* Of node i: to[first[i]] to to[first[i + 1] - 1]. */
struct heap_edges {
    uint32_t nodes; /* with node 0 */
    uint32_t *first, *to;
};

struct heap_root {
    uint32_t object, name; /* name: number of `names`, 0 none */
    uint8_t kind, flags;
};

/* By SST_HEAP_ROOT_*. A root that says more about who holds has the lower rank. */
struct heap_root_kind {
    unsigned rank;
    const char *words;
};

extern const struct heap_root_kind heap_root_kinds[];

struct heap_pair {
    uint32_t key, value;
};

/* By number, from 1. */
struct heap_names {
    struct heap_name {
        uint32_t id; /* of a line of the log; 0 none */
        uint32_t at; /* of its text; 0: it has none */
    } * names;
    char *text; /* each with its NUL; [0] is one */
    size_t count, capacity, size, text_capacity;
};

struct heap_graph {
    struct heap_addresses addresses;
    struct heap_edges edges;
    uint32_t *classes; /* by node: number of `class_names`; 0 not known */
    uint32_t *units;   /* size */
    uint32_t *sites;   /* id of a live_site line; 0: allocated before that was kept. NULL: of all */
    struct heap_root *roots; /* that hold, by object; of one object the one that says most first */
    size_t root_count, root_capacity;
    struct heap_pair *pairs; /* by key, value */
    size_t pair_count, pair_capacity;
    struct heap_names class_names, names;
    struct heap_counts seen; /* in the file */
    uint64_t weak;           /* roots that hold nothing */
    uint64_t outside;        /* references, pairs and roots to what is no object of the dump */
};

/*
 * heap_graph_read - all of a dump that was opened. Returns: 0; -EBADMSG: d->why says what is wrong;
 * -EFBIG: over 2 billion objects or 4 billion references; -ENOMEM; -errno.
 * Owns:    *g is for heap_graph_free even then.
 */
int heap_graph_read(struct heap_dump *d, struct heap_graph *g);
void heap_graph_free(struct heap_graph *g);

/* The first of the object's roots; NULL: none holds it. */
const struct heap_root *heap_graph_root(const struct heap_graph *g, uint32_t object);

/* Whether `value` is held by `key` as an entry of a ConditionalWeakTable. */
bool heap_graph_pair(const struct heap_graph *g, uint32_t key, uint32_t value);

const struct heap_name *heap_name(const struct heap_names *n, uint32_t number); /* NULL none */

#endif
