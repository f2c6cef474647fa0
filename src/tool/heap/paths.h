/*
 * heap/paths.h - why objects are alive: ways from a root to them. A root that says who holds comes
 * before one that does not, such as a stack without a method. Then the shortest way counts.
 *
 * Ways of one shape are one: the same kind of root of the same name, then objects of the same
 * types, however often one type, or two in turn, come again in a row (the nodes of a list).
 */
#ifndef SHADOWTRACE_HEAP_PATHS_H
#define SHADOWTRACE_HEAP_PATHS_H

#include "heap/sums.h"

/* The objects that are asked for: of group 1. */
struct heap_path {
    /* Of these objects those that are reached in this shape; retained: of those of them that no
     * other object asked for dominates. */
    struct heap_sum sum;
    uint32_t object; /* the one that is fewest steps away */
    uint32_t *steps; /* nodes from the root's to that object */
    size_t step_count;
    size_t skipped; /* nodes left out before steps[skipped_before] */
    size_t skipped_before;
};

struct heap_paths {
    struct heap_path *paths; /* those that retain most first */
    size_t count;
    size_t shapes;       /* how many there are */
    struct heap_sum sum; /* of all objects asked for */
};

#define HEAP_STEPS_MAX 1024 /* of a path; of a longer one its ends are kept */

/*
 * heap_paths_find - at most `most` of them. Returns: 0 or -ENOMEM.
 * Owns: *out is for heap_paths_free even then. Memory while it runs: 16 bytes a node.
 */
int heap_paths_find(const struct heap_graph *g, const struct heap_dominators *dominators,
                    const struct heap_grouping *wanted, size_t most, struct heap_paths *out);
/*
 * heap_paths_all - one for each shape of ways to all objects, in no order; retained of a path: what
 * a group of its objects retains (sums.h). Returns: 0 or -ENOMEM. Owns: as heap_paths_find.
 */
int heap_paths_all(const struct heap_graph *g, const struct heap_dominators *dominators,
                   struct heap_paths *out);
void heap_paths_free(struct heap_paths *p);

#endif
