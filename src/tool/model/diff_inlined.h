/* model/diff_inlined.h - rows of call paths that differ by what was inlined. */
#ifndef SHADOWTRACE_MODEL_DIFF_INLINED_H
#define SHADOWTRACE_MODEL_DIFF_INLINED_H

#include "model/diff_paths.h"

/*
 * diff_join_inlined - two rows become one that differ only by frames which one of them does not
 * have, and of which one lost what the other has more of. paths: by log, not exact.
 * Returns: 0 or -ENOMEM; *joined counts the rows that became part of others.
 */
int diff_join_inlined(struct diff_rows *rows, const struct diff_paths *paths, uint64_t *joined);

#endif
