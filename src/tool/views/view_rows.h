/*
 * views/view_rows.h - a view's tree added up into rows of one kind: types, methods, lines, ... A
 * row has what it allocated itself, so that all rows together are the total; of what lies on call
 * paths (methods, lines, modules, namespaces) also what was allocated in or below it, recursion
 * counted once.
 */
#ifndef SHADOWTRACE_VIEWS_VIEW_ROWS_H
#define SHADOWTRACE_VIEWS_VIEW_ROWS_H

#include "views/view.h"
#include "model/method_namespaces.h"
#include "model/near.h"

/* Of one type on one row. */
struct view_type {
    uint32_t row, class_number;
    double bytes, allocs;
};

struct view_row {
    uint64_t key[2];
    /*
     * types: a class; methods, own, lines: a method + 1, 0: none; modules: a module + 1, 0: no
     * managed frame; namespaces: a number of `names`; threads, processes: as of a cell; sizes: the
     * power of two; time: a slice; sites: a node of the tree
     */
    uint32_t what;
    const struct model_place *place; /* of methods, lines, own; NULL none */
    uint32_t cell;                   /* the first of the row's, UINT32_MAX: it has none */
    uint32_t number;                 /* as rows came */
    uint8_t heap;                    /* of sizes */
    size_t first_type, type_count;   /* most bytes first */
    double self[MODEL_WEIGHTS], total[MODEL_WEIGHTS];
};

struct view_rows {
    const struct view *view;
    enum view_kind kind;
    struct view_row *rows; /* in their order once made */
    size_t count, capacity;
    struct index index;
    struct view_type *types; /* by row, as far as the kind has them */
    size_t type_count, type_capacity;
    struct index type_index;
    struct namespaces names;
    struct model_near rule; /* of lines and own */
    uint32_t *near;         /* by node: of lines and own the node that its allocations belong to */
    uint32_t *of_cells;     /* of lifetimes: by cell of the model the row, as rows came */
};

/* Kinds: all flat ones. Returns: 0 or -ENOMEM; *r is for view_rows_fini even then. */
int view_rows_init(struct view_rows *r, const struct view *v, enum view_kind kind);
void view_rows_fini(struct view_rows *r);

/* Of lifetimes: by cell the row; to be freed with memory_free. Returns: 0 or -ENOMEM. */
int view_rows_of_cells(const struct view_rows *r, uint32_t **out);

bool view_rows_inclusive(enum view_kind kind); /* whether `total` means anything */
/* How many rows --top, --min-bytes and --min-share let through: those in front. */
size_t view_rows_shown(const struct view_rows *r);

/* Of own lines: whether it is the row of what has no own frame on its stack. */
bool view_row_foreign(const struct view_rows *r, const struct view_row *row);
/* Of lines: why the row has none; MODEL_NEAR_LACKS_NOTHING: it has, or is of no line. */
enum model_near_lack view_row_lack(const struct view_rows *r, const struct view_row *row);
/* Puts the row's line, or why it has none, in the column of the last row of t. */
void view_put_place(const struct view_rows *r, const struct view_row *row, struct table *t,
                    size_t column);

/* "Doc[], string +3": of the row's types the first ones, in b. */
const char *view_types_text(const struct view_rows *r, const struct view_row *row, size_t most,
                            struct buffer *b);
/* What a row is of: for people, in b or a text of others; as members of the object open in w. */
const char *view_row_text(const struct view_rows *r, const struct view_row *row, struct buffer *b);
void view_row_what_json(const struct view_rows *r, const struct view_row *row,
                        struct json_writer *w);
const char *view_row_heading(enum view_kind kind); /* of the column that view_row_text is in */
/* Below the rows: how many of them were shown, and what share; of own lines also which command
 * shows what has no own frame. */
void view_print_shown(const struct view_rows *r, size_t shown, FILE *out);
/* An object of the array that is open in w. */
void view_row_json(const struct view_rows *r, const struct view_row *row, struct json_writer *w);

#endif
