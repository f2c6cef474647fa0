/*
 * browse/outline_page.h - a page of rows that open and close: of a call tree, of callers and
 * callees. Operations give the nodes.
 */
#ifndef SHADOWTRACE_BROWSE_OUTLINE_PAGE_H
#define SHADOWTRACE_BROWSE_OUTLINE_PAGE_H

#include "browse/page.h"
#include "terminal/outline.h"

struct outline_page {
    struct page page;
    struct outline outline;
    const struct outline_node_ops *nodes;
    void *of; /* what the nodes are of */
};

/* A node: its place, and its sums by weight. */
struct outline_node {
    const struct model_place *place;
    double self[DATA_SUMS], total[DATA_SUMS];
};

struct outline_node_ops {
    void (*node)(const struct outline_page *p, uint32_t node, struct outline_node *out);
    int (*children)(void *page, uint32_t node, struct outline_children *out); /* sorted */
    bool (*has_children)(void *page, uint32_t node);
    void (*free)(struct outline_page *p);
    bool (*find)(struct page *page, bool forward); /* also in what is not open; may be NULL */
};

/*
 * outline_page_new - `size` bytes of zeros that begin with an outline_page. Returns: NULL without
 * memory. Owns: the page frees `of`, with its operation.
 */
void *outline_page_new(const struct outline_node_ops *nodes, size_t size, struct data *d, void *of);

/* outline_page_sort - children by the sums that rows are sorted by. For children(). */
int outline_page_sort(const struct outline_page *p, struct outline_children *children);

/* outline_page_show - the row of a node goes under the cursor; path: from the first row to it. */
int outline_page_show(struct outline_page *p, const uint32_t *path, size_t length);

#endif
