/*
 * page/union.h - one tree of one or more sides: frames with the same name, module and line are one
 * node, whatever log and build they are from. Cells know their side.
 *
 * A node is identified by parent and place, not by model_tree_ids: the page has columns of names,
 * files and places, which must be merged across all sides in any case. With ids, a node's key would
 * have 16 bytes instead of 8, no code would go away, and equal line numbers in two files would be
 * one node, because ids do not include the file.
 */
#ifndef SHADOWTRACE_PAGE_UNION_H
#define SHADOWTRACE_PAGE_UNION_H

#include "model/near.h"
#include "page/side.h"

/* Texts are those of the sides' names and definitions, which must live as long. */
struct union_name {
    const char *full;
    uint32_t module, space; /* space: of a method */
    bool type;
    enum model_owner owner;
    const char *shown;
    /* Of a method: whether it has lines, in the build of some side; why a place has none. */
    bool lined;
    enum model_near_lack lack;
};

struct union_module {
    const char *name;
    enum model_owner owner;
};

struct union_space {
    const char *name; /* of a namespace; "" is one */
};

struct union_place {
    enum model_place_kind kind;
    uint32_t name, file, line, line_last, count;
    /* Filled in by union_finish: nodes of it, and what they weigh, recursion more than once. */
    uint32_t uses;
    double bytes;
};

struct union_node {
    uint32_t parent, place;
    double bytes; /* with all below */
};

struct union_thread {
    uint32_t id;      /* 0 not said */
    uint32_t process; /* of several, its number, from 1; 0: there is one, or not said */
    const char *name;
};

struct union_file {
    const char *path;
};

/*
 * What a cell is of, besides a side: 0 and 1. What became of objects (live.h) is of side 0, and of
 * no thread; of PAGE_FATES `size` is the fate, and only SURVIVED and DIED have a slice.
 */
enum page_weights { PAGE_FATES = 2, PAGE_SURVIVED, PAGE_DIED, PAGE_PEAK };

struct union_cell {
    uint32_t node, thread, slice;
    uint8_t size; /* enum sst_heap << 6 | power of two */
    uint8_t side;
    double weight[MODEL_WEIGHTS];
};

/* What grows at each of `looks` full collections, as a log reports it for a path and a type. */
struct union_growing {
    uint32_t node;
    double looks, allocs;
};

/* X(a record of the table, the table's name) */
#define UNION_TABLES(X) \
    X(union_name, names) \
    X(union_module, modules) \
    X(union_space, spaces) \
    X(union_place, places) \
    X(union_node, nodes) \
    X(union_thread, threads) \
    X(union_cell, cells) \
    X(union_file, files)
#define UNION_TABLE(record, table) \
    struct record *table; \
    size_t table##_count, table##_capacity; \
    struct index table##_index;

struct page_union {
    bool compares; /* two sides: threads are the same by name, whatever process they are of */
    UNION_TABLES(UNION_TABLE)
    struct union_growing *growing;
    size_t growing_count;
    /* After union_finish: */
    uint32_t *order;      /* nodes in preorder, the heaviest child first */
    uint32_t *first_cell; /* by node, one more than nodes, into cell_order */
    uint32_t *cell_order; /* by thread and time */
};

int union_init(struct page_union *u); /* 0 or -ENOMEM */
void union_fini(struct page_union *u);

/*
 * union_add   - what a side has, as side number `side`; nodes: room for the numbers here of those
 * of its tree.
 * union_weigh - adds to the cell of key's node, slice, size and side; nothing is no cell.
 * Both return: 0 or -ENOMEM.
 */
int union_add(struct page_union *u, struct side *s, unsigned side, uint32_t *nodes);
int union_weigh(struct page_union *u, const struct union_cell *key, double bytes, double allocs);
int union_finish(struct page_union *u); /* nothing is added after it. Returns: 0 or -ENOMEM */

#endif
