/*
 * terminal/outline.h - a tree as a list: the rows that are open, in their order, whatever the
 * tree is of. What lies below a row is asked for when it is opened; opening costs as much as there
 * are children, however large and deep the tree is.
 */
#ifndef SHADOWTRACE_TERMINAL_OUTLINE_H
#define SHADOWTRACE_TERMINAL_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one row of nodes. */
struct outline_children {
    uint32_t *nodes;
    size_t count, capacity;
};

struct outline_source {
    /* The children of a node, in the order in which they are shown. Returns: 0 or -ENOMEM. */
    int (*children)(void *context, uint32_t node, struct outline_children *out);
    bool (*has_children)(void *context, uint32_t node);
    void *context;
};

struct outline_row {
    uint32_t node;
    uint32_t depth : 31, open : 1; /* depth of the first row: 0 */
};

struct outline {
    struct outline_source source;
    struct outline_row *rows;
    size_t count, capacity;
    struct outline_children children; /* of the node asked for last */
};

/* outline_init - one closed row, of the root. Returns: 0 or -ENOMEM. Owns: source is copied. */
int outline_init(struct outline *t, const struct outline_source *source, uint32_t root);
void outline_fini(struct outline *t);

/* What does not apply to a row does nothing. Returns: 0 or -ENOMEM. */
int outline_open(struct outline *t, size_t row);
void outline_close(struct outline *t, size_t row);

/* outline_open_all - the whole subtree, as far as `most` rows. Returns: -E2BIG: it has more. */
int outline_open_all(struct outline *t, size_t row, size_t most);

/*
 * outline_open_path - opens a row, which has path[0], and what lies on a path below it: path[1]
 * is a child of path[0], and so on. *at is the row of the last one. Returns: 0 or -ENOMEM.
 */
int outline_open_path(struct outline *t, size_t row, const uint32_t *path, size_t length,
                      size_t *at);

/* outline_parent - the row above it in the tree; the first row is its own. */
size_t outline_parent(const struct outline *t, size_t row);

/* outline_end - behind the open rows below a row. */
size_t outline_end(const struct outline *t, size_t row);

#endif
