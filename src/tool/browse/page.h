/*
 * browse/page.h - one view on the screen: rows under a cursor. What differs from view to view is in
 * its operations; the frame around it (title, status, keys of all views) is browse.c's.
 */
#ifndef SHADOWTRACE_BROWSE_PAGE_H
#define SHADOWTRACE_BROWSE_PAGE_H

#include "browse/ranking.h"
#include "terminal/canvas.h"
#include "terminal/list.h"

/* The heaviest path goes on as long as one child has this share of its parent. */
#define PAGE_HEAVY 0.3

struct page;

/* What a key of a page asks the frame to do. */
enum page_answer {
    PAGE_NOT_MINE, /* the key is none of the page's */
    PAGE_DONE,
    PAGE_FAILED,  /* out of memory */
    PAGE_CALLERS, /* open the callers of what is under the cursor */
    PAGE_SOURCE,  /* its source */
    PAGE_METHODS, /* the methods of the module or namespace under the cursor */
    PAGE_ONLY,    /* only the thread or the slice of time under the cursor */
    PAGE_TREE,    /* the tree */
    PAGE_BACK,
};

/* What may be NULL stands last. */
struct page_ops {
    size_t (*count)(const struct page *page);
    /* What the columns are, and one row of them, from the left edge on. */
    void (*heads)(const struct page *page, struct canvas *c, int row);
    void (*draw)(const struct page *page, struct canvas *c, int row, size_t index);
    bool (*hits)(const struct page *page, size_t index); /* whether the search finds a row */
    enum page_answer (*key)(struct page *page, int key); /* that does not move */
    void (*fini)(struct page *page);                     /* frees what the page holds */
    void (*target)(const struct page *page, struct target *out); /* page_target */
    bool (*find)(struct page *page, bool forward); /* page_find, where rows are not all there is */
    int (*sort)(struct page *page);                /* page_sort */
    const char *empty;                             /* what to say where there is no row */
    const char *keys;                              /* the hint; keys of all views follow */
    bool text;                                     /* no cursor: the page moves as a whole */
};

struct page {
    const struct page_ops *ops;
    struct data *data;
    struct list list;
    char title[160];
};

/* All Return NULL without memory. */
struct page *page_overview(struct data *d);
struct page *page_tree(struct data *d);
struct page *page_ranking(struct data *d, enum view_kind kind, const struct target *only);
struct page *page_source(struct data *d, const struct target *t, char *why, size_t why_size);
struct page *page_help(struct data *d);
/* Callers or callees of what places of `plain` mean; name: of them. */
struct page *page_merged(struct data *d, const struct target *t, enum model_direction direction);

/*
 * page_new - `size` bytes of zeros that begin with a page. Returns: NULL without memory.
 * page_free - NULL-safe.
 */
void *page_new(const struct page_ops *ops, size_t size, struct data *d);
void page_free(struct page *page);

/* page_target - what is under the cursor. */
void page_target(const struct page *page, struct target *out);

/*
 * page_find - moves to the next row that the search finds, forward or back, and wraps around;
 * page_find_row - the same, among the existing rows. Return: false: not found.
 */
bool page_find(struct page *page, bool forward);
bool page_find_row(struct page *page, bool forward);

/* page_sort - the order of rows, or how names are written, has changed. Returns: 0 or -ENOMEM. */
int page_sort(struct page *page);

/* ---- what rows have in common ---- */

/*
 * Amounts stand at the left, as many as there is room for: page_width - their columns; page_heads -
 * what they are; page_amounts - those of one row. Return: where the name begins.
 */
int page_width(const struct page *page, const struct canvas *c, bool has_total);
int page_heads(const struct page *page, struct canvas *c, int row, bool has_total);
int page_amounts(const struct page *page, struct canvas *c, int row, const double total[DATA_SUMS],
                 const double self[DATA_SUMS], bool has_total);

/* page_name - from a column to the right edge, followed by a file if there is room. */
void page_name(struct canvas *c, int row, int column, unsigned style, const char *name,
               const char *where);

#endif
