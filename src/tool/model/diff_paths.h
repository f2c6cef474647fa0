/*
 * model/diff_paths.h - keys of the call paths of one log. Where they need not be exact, recursion
 * is folded, frames of awaiters and builders are skipped, and allocations that any first caller
 * would make (a static constructor, the runtime's cache of casts) have no caller.
 */
#ifndef SHADOWTRACE_MODEL_DIFF_PATHS_H
#define SHADOWTRACE_MODEL_DIFF_PATHS_H

#include "model/diff_rows.h"

/* A path with its recursion folded: of each method only the outermost frame. */
struct diff_folded {
    uint32_t parent, method; /* parent: a path's number, whose folded this one continues */
};

struct diff_paths {
    const struct log_defs *defs;
    struct diff_key *methods;
    uint8_t *parts;
    struct diff_folded *folded; /* by path */
    uint32_t *as;               /* by path: the path whose folded form is this one's, too */
    struct diff_key *keys;      /* by path */
};

/* Returns: 0 or -ENOMEM. Owns: the caller until diff_paths_fini, also on failure. */
int diff_paths_make(struct diff_paths *p, const struct log_defs *d, bool exact);
void diff_paths_fini(struct diff_paths *p);

#endif
