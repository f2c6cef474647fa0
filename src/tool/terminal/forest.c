#include "terminal/forest.h"

#include "base/memory.h"

#include <errno.h>

/* Of an item, and one more of the whole forest, whose children are those that come from none. */
struct item {
    uint32_t first, last, next; /* child, child, sibling */
    bool known, asked, put;
};

/* `item` becomes the last child of `parent`. */
static void join(struct item *all, uint32_t parent, uint32_t item)
{
    if (all[parent].first == FOREST_NONE)
        all[parent].first = item;
    else
        all[all[parent].last].next = item;
    all[parent].last = item;
}

/* It, and what it comes from as far as that is new. */
static void meet(struct item *all, const uint32_t *parents, uint32_t items, uint32_t item)
{
    all[item].asked = true;
    while (item < items && !all[item].known) {
        uint32_t parent = parents[item] < items ? parents[item] : items;

        all[item].known = true;
        join(all, parent, item);
        item = parent;
    }
}

/* Rows of an item and all below it. up: scratch, by depth the items above. */
static void put(struct item *all, uint32_t item, uint32_t *up, struct forest *out)
{
    uint32_t depth = 0;

    while (item != FOREST_NONE || depth) {
        if (item == FOREST_NONE) {
            item = all[up[--depth]].next;
            continue;
        }
        if (all[item].put) { /* a circle */
            item = all[item].next;
            continue;
        }
        all[item].put = true;
        out->rows[out->count++] = (struct forest_row){item, depth, all[item].asked};
        up[depth++] = item;
        item = all[item].first;
    }
}

int forest_make(struct forest *out, const uint32_t *parents, uint32_t items, const uint32_t *order,
                size_t asked)
{
    struct item *all = memory_alloc((items + (size_t)1) * sizeof(*all));
    uint32_t *up = memory_alloc((items + (size_t)1) * sizeof(*up));

    *out = (struct forest){memory_alloc((items + (size_t)1) * sizeof(*out->rows)), 0};
    for (uint32_t i = 0; all && i <= items; i++)
        all[i] = (struct item){.first = FOREST_NONE, .last = FOREST_NONE, .next = FOREST_NONE};
    if (!all || !up || !out->rows) {
        memory_free_all(all, up);
        return -ENOMEM;
    }
    for (size_t i = 0; i < asked; i++)
        meet(all, parents, items, order[i]);
    put(all, all[items].first, up, out);
    for (uint32_t i = 0; i < items; i++) /* below no root: in a circle */
        if (all[i].known && !all[i].put) {
            all[i].next = FOREST_NONE;
            put(all, i, up, out);
        }
    memory_free_all(all, up);
    return 0;
}

void forest_fini(struct forest *f)
{
    memory_free(f->rows);
    *f = (struct forest){NULL, 0};
}
