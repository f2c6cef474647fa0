/*
 * report/collections.h - the collections of a log in the order in which they began, with what was
 * allocated before each, and by which sites. The log is read twice: collections are written when
 * they have ended, so all must be known before an allocation can be said to lie between two.
 */
#ifndef SHADOWTRACE_REPORT_COLLECTIONS_H
#define SHADOWTRACE_REPORT_COLLECTIONS_H

#include "readers/defs.h"
#include "readers/index.h"

#define COLLECTION_HEAPS 5 /* generations 0 to 2, large, pinned */

struct collection {
    uint64_t number, t, ns; /* t: when it began */
    bool induced;
    uint32_t generations; /* bit mask */
    uint64_t before[COLLECTION_HEAPS], after[COLLECTION_HEAPS];
    uint64_t bytes, allocs; /* since the one before began */
};

/* What one site allocated before one collection; of a sampled log an estimate, as all sums here. */
struct collections_share {
    uint32_t at; /* the collection's index; their count: since the last one */
    uint32_t path, class_number;
    int32_t il;
    uint64_t bytes, allocs;
};

struct collections {
    struct log_defs *defs; /* borrowed */
    struct collection *all;
    size_t count, capacity;
    uint64_t bytes_after, allocs_after; /* since the last one began */
    struct collections_share *shares;   /* once finished: by collection, most bytes first */
    size_t share_count, share_capacity;
    struct index index;
};

void collections_init(struct collections *c, struct log_defs *defs);
void collections_fini(struct collections *c);

/* First reading: gc records, then sorted. Returns: 0 or -ENOMEM. */
int collections_add(struct collections *c, const struct log_record *r);
void collections_sort(struct collections *c);

/* Second reading: alloc records, then shares are sorted. 0, -ENOMEM, or as log_defs_path. */
int collections_alloc(struct collections *c, const struct log_record *r);
void collections_finish(struct collections *c);

/* The shares of collection `at`. Returns: the first of *count. */
const struct collections_share *collections_shares(const struct collections *c, size_t at,
                                                   size_t *count);

#endif
