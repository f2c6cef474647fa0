/*
 * heap/sums.h - what groups of objects hold: those of a type, or from one place of the source.
 *
 * What an object retains is what would be free if it were. What a group retains is the sum over
 * those objects of it that no other one of it dominates: nothing counts twice within a group. What
 * several of its objects share, each alone does not hold: that is not in it (heap_together). One
 * object may count in several groups, so retained bytes of groups do not add up.
 */
#ifndef SHADOWTRACE_HEAP_SUMS_H
#define SHADOWTRACE_HEAP_SUMS_H

#include "heap/dominators.h"

/* Which group an object is of: groups[keys[node]]; a key that is not below key_count: group 0. */
struct heap_grouping {
    const uint32_t *keys;   /* by node; NULL: all have key 0 */
    const uint32_t *groups; /* by key */
    uint32_t key_count, group_count;
};

/* Of objects that a root holds. */
struct heap_sum {
    uint64_t objects, bytes;                   /* themselves */
    uint64_t retained_objects, retained_bytes; /* with all that they alone hold */
};

static inline uint32_t heap_group(const struct heap_grouping *by, uint32_t node)
{
    uint32_t key = by->keys ? by->keys[node] : 0;

    return key < by->key_count ? by->groups[key] : 0;
}

/* heap_sums - sums: of group_count, set. Returns: 0 or -ENOMEM. */
int heap_sums(const struct heap_graph *g, const struct heap_dominators *dominators,
              const struct heap_grouping *by, struct heap_sum *sums);

/* heap_held - all that some root holds. heap_loose - all else: nothing in the dump holds it. */
void heap_held(const struct heap_graph *g, const struct heap_dominators *dominators,
               struct heap_sum *out);
void heap_loose(const struct heap_graph *g, const struct heap_dominators *dominators,
                struct heap_sum *out);

/*
 * heap_together - what would be free if all objects of group 1 were: they, and whatever no way from
 * a root reaches but through one of them. Returns: 0 or -ENOMEM.
 */
int heap_together(const struct heap_graph *g, const struct heap_dominators *dominators,
                  const struct heap_grouping *wanted, uint64_t *objects, uint64_t *bytes);

#endif
