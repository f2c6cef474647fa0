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
    uint32_t field;        /* of a static field: its number in `statics` + 1; else 0 */
    uint8_t kind, flags;
};

/*
 * By SST_HEAP_ROOT_*. A root that says more about who holds has the lower rank; from
 * HEAP_RANK_NAMELESS on it says nothing.
 */
struct heap_root_kind {
    unsigned rank;
    const char *words;
};

#define HEAP_RANK_NAMELESS 3

extern const struct heap_root_kind heap_root_kinds[];
unsigned heap_root_rank(const struct heap_root *root);

/* A static field: of which type, and its name, at `at` of `field_text`. */
struct heap_static {
    uint32_t class_number, at;
    uint8_t flags;
};

/* A word of an object, or of an array's elements, and its name. By class, slot. */
struct heap_field {
    uint32_t class_number, first, stride, slot, at;
};

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
    struct heap_static *statics; /* each is a root, too */
    size_t static_count, static_capacity;
    struct heap_field *fields;
    size_t field_count, field_capacity;
    char *field_text; /* each with its NUL; [0] is one */
    size_t field_size, text_capacity;
    /* Arrays in which the runtime keeps static fields, ascending. */
    uint32_t *keepers;
    size_t keeper_count, keeper_capacity;
    struct heap_counts seen; /* in the file */
    uint64_t weak;           /* roots that hold nothing */
    uint64_t outside;        /* references, pairs and roots to addresses without an object */
};

/*
 * heap_graph_read - all of a dump that was opened. Returns: 0; -EBADMSG: d->why says what is wrong;
 * -EFBIG: over 2 billion objects or 4 billion references; -ENOMEM; -errno.
 * Owns:    *g is for heap_graph_free even then.
 */
int heap_graph_read(struct heap_dump *d, struct heap_graph *graph);
void heap_graph_free(struct heap_graph *g);

/* The first of the object's roots; NULL: none holds it. */
const struct heap_root *heap_graph_root(const struct heap_graph *g, uint32_t object);

/* Whether `value` is held by `key` as an entry of a ConditionalWeakTable. */
bool heap_graph_pair(const struct heap_graph *g, uint32_t key, uint32_t value);

/* heap_graph_keeps - whether static fields are kept in that array: it is the runtime's own. */
bool heap_graph_keeps(const struct heap_graph *g, uint32_t object);

/* The name of a word of an object of that class; NULL: nobody says. */
const char *heap_field_name(const struct heap_graph *g, uint32_t class_number, uint32_t slot);

/*
 * heap_slots_find - where objects hold others: for each step its slot, from another reading of the
 * dump. steps: sorted by from, to; one from node 0 has none. Returns: as heap_graph_read.
 */
struct heap_step {
    uint32_t from, to;
    uint32_t slot; /* unit of `from`; 0 not said */
};
int heap_slots_find(struct heap_dump *d, const struct heap_graph *graph, struct heap_step *steps,
                    size_t count);

/* heap_slot_of - the slot of one of the steps that heap_slots_find has sorted; 0: not said. */
uint32_t heap_slot_of(const struct heap_step *steps, size_t count, uint32_t from, uint32_t to);

const struct heap_name *heap_name(const struct heap_names *n, uint32_t number); /* NULL none */

#endif
