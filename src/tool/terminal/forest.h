/*
 * terminal/forest.h - items of which each may come from another one, as processes do, in the order
 * of a tree: an item stands before those that come from it.
 */
#ifndef SHADOWTRACE_TERMINAL_FOREST_H
#define SHADOWTRACE_TERMINAL_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOREST_NONE UINT32_MAX

struct forest_row {
    uint32_t item;
    uint32_t depth; /* how many rows it stands below */
    bool asked;     /* for itself, not only for what comes from it */
};

struct forest {
    struct forest_row *rows;
    size_t count;
};

/*
 * forest_make - rows of the items that `order` asks for, `asked` of them, each once, and of all
 * that these come from. Siblings are in the order in which `order` comes to them or to one below
 * them. parents: by item, `items` of them, the item that it comes from, or FOREST_NONE. Where they
 * lead round in a circle, it is cut somewhere.
 * Returns: 0 or -ENOMEM. Owns: out is the caller's until forest_fini, also after a failure.
 */
int forest_make(struct forest *out, const uint32_t *parents, uint32_t items, const uint32_t *order,
                size_t asked);
void forest_fini(struct forest *f);

#endif
