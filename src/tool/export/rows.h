/*
 * export/rows.h - allocations as rows of tables, for a database that collects many recordings of
 * many machines: one JSON object per line. include/shadowtrace/rows_schema.json describes the
 * members.
 *
 * The ids of methods, types, frames and stacks are hashes of their names and of the stack above
 * them (model_tree_ids). The id of a recording is a hash of its start time and process. So every
 * process has the same id for the same stack, a definition may be written any number of times, and
 * rows of a recording that is exported again replace the earlier ones.
 *
 * Definitions come before the rows that name them. Memory grows with the tree and the definitions,
 * not with the rows.
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
    bool whole; /* a tree may have some minutes only: its recording's sums are the model's */
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

/*
 * For a process that writes repeatedly, each time in a forked copy, to a receiver that keeps the
 * rows (src/tool/shipper):
 * export_rows_to     - in the copy: where rows go from here on.
 * export_rows_told   - in the copy: the ids that were defined since, to be learned.
 * export_rows_learn  - these ids are not defined again. Returns: 0; -EBADMSG; -ENOMEM.
 * export_rows_known  - the number of ids that are kept; export_rows_forget - drops them.
 */
void export_rows_to(struct export_rows *r, FILE *out);
int export_rows_told(const struct export_rows *r, FILE *out);
int export_rows_learn(struct export_rows *r, const void *told, size_t size);
size_t export_rows_known(const struct export_rows *r);
void export_rows_forget(struct export_rows *r);

/* What was written so far. */
struct export_rows_sums {
    uint64_t recordings, rows, bytes, allocs; /* rows: of what was allocated */
};
const struct export_rows_sums *export_rows_sums(const struct export_rows *r);

#endif
