/*
 * page/union.h - one tree of one or more sides: what is the same frame by its name, module and line
 * is one node, whatever log and build it is from. Cells know their side.
 */
#ifndef SHADOWTRACE_PAGE_UNION_H
#define SHADOWTRACE_PAGE_UNION_H

#include "page/side.h"

/* Texts are those of the sides' names and definitions, which must live as long. */
struct union_name {
    const char *full;
    uint32_t module;
    bool type;
    enum model_owner owner;
    const char *shown;
};

struct union_module {
    const char *name;
    enum model_owner owner;
};

struct union_place {
    enum model_place_kind kind;
    uint32_t name, file, line, count;
    /* Filled in by union_finish: nodes of it, and what they weigh, recursion more than once. */
    uint32_t uses;
    double bytes;
};

struct union_node {
    uint32_t parent, place;
    double bytes; /* with all below */
};

struct union_thread {
    uint32_t id; /* 0 not said */
    const char *name;
};

struct union_file {
    const char *path;
};

struct union_cell {
    uint32_t node, thread, slice;
    uint8_t size; /* enum sst_heap << 6 | power of two */
    uint8_t side;
    double weight[MODEL_WEIGHTS];
};

#define UNION_OF(type, name) \
    struct type *name; \
    size_t name##_count, name##_capacity; \
    struct index name##_index

struct page_union {
    UNION_OF(union_name, names);
    UNION_OF(union_module, modules);
    UNION_OF(union_place, places);
    UNION_OF(union_node, nodes);
    UNION_OF(union_thread, threads);
    UNION_OF(union_cell, cells);
    UNION_OF(union_file, files);
    /* After union_finish: */
    uint32_t *order;      /* nodes in preorder, the heaviest child first */
    uint32_t *first_cell; /* by node, one more than nodes, into cell_order */
    uint32_t *cell_order; /* by thread and time */
};

int union_init(struct page_union *u); /* 0 or -ENOMEM */
void union_fini(struct page_union *u);

/* union_add - what a side has, as side number `side`. Returns: 0 or -ENOMEM. */
int union_add(struct page_union *u, const struct side *s, unsigned side);
int union_finish(struct page_union *u); /* nothing is added after it. Returns: 0 or -ENOMEM */

#endif
