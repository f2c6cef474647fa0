/* model/matches.h - which methods and types globs mean (model_globs), and what was meant. */
#ifndef SHADOWTRACE_MODEL_MATCHES_H
#define SHADOWTRACE_MODEL_MATCHES_H

#include "model/shape.h"

enum matches_table { MATCHES_METHODS, MATCHES_TYPES };

/*
 * matches_of - which numbers of a table match; *out is NULL if there are no globs. Free it with
 * memory_free. Returns: the number of matches, which can be 0; -ENOMEM.
 */
int64_t matches_of(const struct model *m, enum matches_table table, const struct model_globs *globs,
                   bool **out);

/* matches_why - a line for globs that match nothing of these tables, with the nearest name. */
void matches_why(const struct model *m, bool methods, bool types, const struct model_globs *globs,
                 char *why, size_t why_size);

#endif
