/*
 * terminal/tree_list.h - a tree as a list: the rows that are open, in their order, whatever the
 * tree is of. What lies below a row is asked for when it is opened; opening costs as much as there
 * are children, however large and deep the tree is.
 */
#ifndef SHADOWTRACE_TERMINAL_TREE_LIST_H
#define SHADOWTRACE_TERMINAL_TREE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one row of nodes. */
struct tree_children {
    uint32_t *nodes;
    size_t count, capacity;
};

struct tree_source {
    /* The children of a node, in the order in which they are shown. Returns: 0 or -ENOMEM. */
    int (*children)(void *context, uint32_t node, struct tree_children *out);
    bool (*has_children)(void *context, uint32_t node);
    void *context;
};

struct tree_row {
    uint32_t node;
    uint32_t depth : 31, open : 1; /* depth of the first row: 0 */
};

struct tree_list {
    struct tree_source source;
    struct tree_row *rows;
    size_t count, capacity;
    struct tree_children children; /* of the node asked for last */
};

/* tree_list_init - one closed row, of the root. Returns: 0 or -ENOMEM. Owns: source is copied. */
int tree_list_init(struct tree_list *t, const struct tree_source *source, uint32_t root);
void tree_list_fini(struct tree_list *t);

/* What does not apply to a row does nothing. Returns: 0 or -ENOMEM. */
int tree_list_open(struct tree_list *t, size_t row);
void tree_list_close(struct tree_list *t, size_t row);

/* tree_list_open_all - the whole subtree, as far as `most` rows. Returns: -E2BIG: it has more. */
int tree_list_open_all(struct tree_list *t, size_t row, size_t most);

/*
 * tree_list_open_path - opens a row, which has path[0], and what lies on a path below it: path[1]
 * is a child of path[0], and so on. *at is the row of the last one. Returns: 0 or -ENOMEM.
 */
int tree_list_open_path(struct tree_list *t, size_t row, const uint32_t *path, size_t length,
                        size_t *at);

/* tree_list_parent - the row above it in the tree; the first row is its own. */
size_t tree_list_parent(const struct tree_list *t, size_t row);

/* tree_list_end - behind the open rows below a row. */
size_t tree_list_end(const struct tree_list *t, size_t row);

#endif
