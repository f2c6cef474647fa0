/*
 * browse/page.h - one view on the screen: rows under a cursor. What differs from view to view is in
 * its operations; the frame around it (title, status, keys of all views) is browse.c's.
 */
#ifndef SHADOWTRACE_BROWSE_PAGE_H
#define SHADOWTRACE_BROWSE_PAGE_H

#include "browse/ranking.h"
#include "terminal/canvas.h"
#include "terminal/list.h"

struct page;

/* What a key of a page asks the frame to do. */
enum page_answer {
    PAGE_NOT_MINE, /* the key is none of the page's */
    PAGE_DONE,
    PAGE_FAILED,  /* out of memory */
    PAGE_CALLERS, /* open the callers of what is under the cursor */
    PAGE_SOURCE,  /* its source */
    PAGE_MODULE,  /* the methods of the module under the cursor */
    PAGE_THREAD,  /* only the thread under the cursor */
    PAGE_TREE,    /* the tree */
    PAGE_BACK,
};

struct page_ops {
    void (*free)(struct page *page);
    size_t (*count)(const struct page *page);
    /* What the columns are, and one row of them, from the left edge on. */
    void (*heads)(const struct page *page, struct canvas *c, int row);
    void (*draw)(const struct page *page, struct canvas *c, int row, size_t index);
    enum page_answer (*key)(struct page *page, int key); /* that does not move; may be NULL */
    void (*target)(const struct page *page, struct target *out);
    /* The next row that the search finds, forward or back, and round: false: there is none. */
    bool (*find)(struct page *page, bool forward);
    /* The order of rows has changed. Returns: 0 or -ENOMEM. */
    int (*sort)(struct page *page);
    const char *empty; /* what to say where there is no row */
    const char *keys;  /* the hint; keys of all views follow */
    bool text;         /* no cursor: the page moves as a whole */
};

struct page {
    const struct page_ops *ops;
    struct data *data;
    struct list list;
    char title[160];
};

/* All Return NULL without memory; page_free is NULL-safe. */
struct page *page_overview(struct data *d);
struct page *page_tree(struct data *d);
struct page *page_ranking(struct data *d, enum ranking_kind kind, uint32_t only_module);
struct page *page_source(struct data *d, const struct target *t, char *why, size_t why_size);
struct page *page_help(struct data *d);
/* Callers or callees of what places of `plain` mean; name: of them. */
struct page *page_merged(struct data *d, const struct target *t, enum model_direction direction);
void page_free(struct page *page);

/* page_find - the same by a function that says whether a row is found. */
bool page_find(struct page *page, bool forward,
               bool (*hits)(const struct page *page, size_t index));

/* ---- what rows have in common ---- */

/*
 * Amounts stand at the left, as many as there is room for: page_width - their columns; page_heads -
 * what they are; page_amounts - those of one row. Return: where the name begins.
 */
int page_width(const struct canvas *c, bool has_total);
int page_heads(const struct page *page, struct canvas *c, int row, bool has_total);
int page_amounts(const struct page *page, struct canvas *c, int row, const double total[2],
                 const double self[2], bool has_total);

/* page_name - from a column to the right edge; behind it a file, if there is room. */
void page_name(struct canvas *c, int row, int column, unsigned style, const char *name,
               const char *where);

#endif
