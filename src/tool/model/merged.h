/*
 * model/merged.h - a tree merged from another end: who calls a method (or makes objects of a type),
 * or what it calls, of all its nodes together; level by level, as rows are opened.
 *
 * Where a method calls itself, through others or not, its outermost frame is what counts: row 0's
 * total counts every byte once, and no caller is within the recursion. Row 0's self is that of all
 * its nodes, so that both are what a table of methods says.
 *
 *     callers  a row is a caller, that one's caller, ...: its sums are what of the method's comes
 *              through it. Rows end at the outermost frames.
 *     callees  a row is what the method calls, what that calls, ...: its sums are its own.
 */
#ifndef SHADOWTRACE_MODEL_MERGED_H
#define SHADOWTRACE_MODEL_MERGED_H

#include "model/tree.h"

struct model_merged;
enum model_direction { MODEL_CALLERS, MODEL_CALLEES };

struct model_merged_row {
    uint32_t place, parent; /* of row 0: the first of the places; row 0 */
    double self[MODEL_WEIGHTS], total[MODEL_WEIGHTS];
};

/*
 * model_merged_new - places: those of the method (with grain METHOD one, else one for each line or
 * instruction), or of the type (callers only; the tree has types). Returns: NULL without memory.
 * Owns: it is the caller's until model_merged_free; the tree must live as long.
 */
struct model_merged *model_merged_new(const struct model_tree *t, const uint32_t *places,
                                      size_t count, enum model_direction direction);
void model_merged_free(struct model_merged *g); /* NULL is fine */

/* A row; valid until the next model_merged_open. */
const struct model_merged_row *model_merged_row(const struct model_merged *g, uint32_t row);
uint32_t model_merged_count(const struct model_merged *g); /* rows that were made so far */

/*
 * model_merged_open - a row's children, heaviest first: numbers from *first on. They are made when
 * they are first asked for. Returns: 0 or -ENOMEM.
 */
int model_merged_open(struct model_merged *g, uint32_t row, uint32_t *first, uint32_t *count);

#endif
