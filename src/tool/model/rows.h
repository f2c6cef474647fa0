/*
 * model/rows.h - a tree added up into rows of one key: types, methods, lines, ... A row has what it
 * allocated itself, so that all rows together are the total; of what lies on call paths (methods,
 * lines, modules, namespaces) also what was allocated in or below it, recursion counted once.
 *
 *     model_rows_init -> rows[0 .. model_rows_shown()) -> model_rows_fini
 */
#ifndef SHADOWTRACE_MODEL_ROWS_H
#define SHADOWTRACE_MODEL_ROWS_H

#include "model/method_namespaces.h"
#include "model/near.h"

/*
 * What a row is of. The tree has the grain that is named, or METHOD; of keys that are not on call
 * paths, and of sites, NONE will do. Threads, processes, sizes and slices need the dimension of the
 * model of that name.
 */
enum model_key {
    MODEL_BY_SITE, /* call path, instruction and type; with `below` the tree has grain IL */
    MODEL_BY_TYPE,
    MODEL_BY_METHOD,
    MODEL_BY_LINE,      /* the innermost frame with lines; the tree has grain LINE */
    MODEL_BY_LINE_TYPE, /* the same for each type */
    MODEL_BY_OWN,       /* the same of own code */
    MODEL_BY_MODULE,
    MODEL_BY_NAMESPACE,
    MODEL_BY_THREAD,
    MODEL_BY_PROCESS,
    MODEL_BY_SIZE,
    MODEL_BY_SLICE,  /* of time; all of them, in their order */
    MODEL_BY_NOTHING /* one row */
};

enum model_sort { MODEL_SORT_BYTES, MODEL_SORT_ALLOCS, MODEL_SORT_TOTAL };

struct model_rows_options {
    enum model_key key;
    enum model_sort sort;
    uint64_t top; /* rows to show; 0: all */
    /* Rows with less are not shown; a share is 0 to 1, of all bytes. */
    uint64_t min_bytes;
    double min_share;
    bool signed_bytes; /* bytes may be below 0; their size counts */
    bool no_totals;    /* of subtrees */
    bool of_cells;     /* model_rows_of_cells will be called */
    bool join_methods; /* of lines: several methods on one are one row */
};

/* Of one type on one row. */
struct model_row_type {
    uint32_t row, class_number;
    double bytes, allocs;
};

struct model_row {
    uint64_t key[3];
    /*
     * types: a class; methods, own, lines: a method + 1, 0: none; modules: a module + 1, 0: no
     * managed frame; namespaces: a number of `names` + 1, 0: no managed frame; threads, processes,
     * slices: as of a cell; sizes: the power of two; sites: a path
     */
    uint32_t what;
    const struct model_place *place; /* of methods, lines, own; NULL none */
    uint32_t cell;                   /* the row's first, UINT32_MAX: it has none */
    uint32_t sums;                   /* for model_row_self; 0: all are 0 */
    uint32_t class_number;           /* of sites, and lines with types */
    int32_t il;                      /* of sites */
    uint32_t depth;                  /* of sites: frames that the filter leaves; 0: all */
    uint8_t heap;                    /* of sizes */
    size_t first_type, type_count;   /* of model_rows.types, most bytes first */
};

/* Of a line of own code: generated code that it goes before (model/near.h), most bytes of it. */
struct model_row_passed {
    const struct model_place *place;
    uint32_t row;      /* model_row.sums - 1 */
    uint32_t reserved; /* 0 */
    double bytes;
};

struct model_rows {
    const struct model_tree *tree;
    struct model_rows_options options;
    struct model_row *rows; /* in their order once made */
    size_t count, capacity;
    struct index index;
    /*
     * Of row i as rows were made `stride` doubles from (i + 1) * stride on, those of the weights
     * that the tree has: what it made itself, then, of inclusive rows, the total.
     */
    double *sums;
    size_t sum_capacity;
    enum model_weight weights[MODEL_WEIGHTS];
    unsigned weight_count, stride;
    uint8_t column[MODEL_WEIGHTS]; /* by weight: its number in `weights` + 1; 0: not there */
    struct model_row_type *types;  /* by row, of keys on call paths */
    size_t type_count, type_capacity;
    struct index type_index;
    struct namespaces names;
    struct model_near rule; /* of lines and own */
    uint32_t *near;         /* by node: of lines and own the node that its allocations count for */
    uint32_t *passed;       /* by node: see model_near_nodes */
    struct model_row_passed *all_passed;
    size_t passed_count, passed_capacity;
    struct index passed_index;
    uint32_t *of_cells; /* by cell of the model: model_row.sums - 1 */
};

/* Returns: 0 or -ENOMEM; *r is for model_rows_fini even then. Owns: the tree is borrowed. */
int model_rows_init(struct model_rows *r, const struct model_tree *t,
                    const struct model_rows_options *options);
void model_rows_fini(struct model_rows *r); /* all zero is fine, and what it leaves */

/* By cell the row; to be freed with memory_free. Returns: 0 or -ENOMEM. */
int model_rows_of_cells(const struct model_rows *r, uint32_t **out);

/* model_row_self - a weight of what the row made itself. model_row_total - with what was made below
 * it; 0 unless rows are inclusive. model_row_weights - all weights of one of both. */
double model_row_self(const struct model_rows *r, const struct model_row *row, enum model_weight w);
double model_row_total(const struct model_rows *r, const struct model_row *row,
                       enum model_weight w);
void model_row_weights(const struct model_rows *r, const struct model_row *row, bool total,
                       double out[MODEL_WEIGHTS]);

bool model_rows_inclusive(const struct model_rows *r); /* whether rows have totals of subtrees */
/* How many rows the options let through: those in front. */
size_t model_rows_shown(const struct model_rows *r);

/* Of own lines: whether it is the row of what has no own frame on its stack. */
bool model_row_foreign(const struct model_rows *r, const struct model_row *row);
/* Of own lines: the generated code that makes most of what the row has; NULL: none. */
const struct model_row_passed *model_row_passed(const struct model_rows *r,
                                                const struct model_row *row);
/* Of lines: why the row has none; MODEL_NEAR_LACKS_NOTHING: it has, or is of no line. */
enum model_near_lack model_row_lack(const struct model_rows *r, const struct model_row *row);

#endif
