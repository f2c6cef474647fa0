/*
 * model/matches.h - which methods and types globs mean: those whose name they cover, as logged, as
 * written (report/demangle.h), and both without parameters.
 */
#ifndef SHADOWTRACE_MODEL_MATCHES_H
#define SHADOWTRACE_MODEL_MATCHES_H

#include "model/shape.h"

/*
 * matches_of - one for each number of a table; *out is NULL if there are no globs, and to be freed
 * with memory_free. Returns: how many match, 0 too; -ENOMEM.
 */
int64_t matches_of(const struct report_table *table, const struct model_globs *globs, bool **out);

/* matches_why - a line for globs that match nothing of these tables (NULL: not meant), with the
 * nearest name. */
void matches_why(const struct report_table *methods, const struct report_table *types,
                 const struct model_globs *globs, char *why, size_t why_size);

/* matches_places - as model_tree_find. */
int matches_places(const struct report_defs *d, const struct model_globs *globs,
                   const struct model_place *places, uint32_t place_count, uint32_t **out,
                   size_t *count, char *why, size_t why_size);

#endif
