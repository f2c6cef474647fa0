/*
 * export/rows.h - what was allocated as rows of tables, for an engine in which many recordings of
 * many machines meet: one JSON object a line, whose members include/shadowtrace/rows_schema.json
 * describes.
 *
 * Methods, types, frames and stacks have ids that are hashes of what they are called and of the
 * stack above them (model_tree_ids), and recordings one of when and as which process they began. So
 * every process says the same of the same stack, a definition is a row that may come any number of
 * times, and what is told of one recording again replaces what was told before.
 *
 * Definitions stand before the rows that name them. What is kept while rows are written grows with
 * the tree and the definitions, not with the rows.
 */
#ifndef SHADOWTRACE_EXPORT_ROWS_H
#define SHADOWTRACE_EXPORT_ROWS_H

#include "model/names.h"
#include "model/tree.h"

#include <stdio.h>

#define EXPORT_ROWS_BUCKET UINT64_C(60000000000) /* ns: events are added up by the minute */

/* Methods of a stack that its row of ancestors names; those between are counted. */
#define EXPORT_ROWS_METHODS 1000

struct export_rows_options {
    const char *host, *container; /* container NULL: not said */
    bool redact;             /* no arguments, no folders: include/shadowtrace/rows_schema.json */
    const char *const *dirs; /* where else modules may lie, for their versions */
    size_t ndirs;
};

struct export_rows;

/* export_rows_new - Returns: 0 or -ENOMEM. Owns: out and options are borrowed until _free. */
int export_rows_new(FILE *out, const struct export_rows_options *options,
                    struct export_rows **rows);
void export_rows_free(struct export_rows *r); /* NULL is fine */

/*
 * export_rows_put - the rows of one log, whose header says when it was recorded. The tree is by
 * instruction with types as leaves; its model has slices of EXPORT_ROWS_BUCKET by the clock.
 * Returns: 0; -ENOMEM; whether all could be written ferror() of `out` tells.
 */
int export_rows_put(struct export_rows *r, const struct model_tree *tree, struct names *names);

/* What was written so far. */
struct export_rows_sums {
    uint64_t recordings, rows, bytes, allocs; /* rows: of what was allocated */
};
const struct export_rows_sums *export_rows_sums(const struct export_rows *r);

#endif
