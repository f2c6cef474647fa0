/*
 * server/mark.h - what the cells of a log came to at a moment, so that later only what was
 * allocated since can be told: `?seconds=`, the flame graph of the last minutes, rates.
 *
 * Cells are added and grow while a log is read, and keep their numbers; so a mark is two sums for
 * each cell that there was, and six once the log proves sampled.
 */
#ifndef SHADOWTRACE_SERVER_MARK_H
#define SHADOWTRACE_SERVER_MARK_H

#include "report/cells.h"

struct mark_sums {
    double bytes, allocs;
};

struct mark {
    uint64_t at_ns; /* clock_ns */
    size_t count;
    struct mark_sums *sums;
    struct report_cell_sampled *sampled; /* NULL: nothing was sampled until then */
    struct report_cell_sum heaps[SST_HEAP_COUNT];
};

/* mark_new - of cells that are being read. Returns: 0 or -ENOMEM, *out is NULL then. */
int mark_new(struct report_cells *c, uint64_t now_ns, struct mark **out);
void mark_free(struct mark *m); /* NULL is fine */

/* All bytes, or all objects, as of then. */
struct mark_sums mark_total(const struct mark *m);

/*
 * mark_since - cells become what was allocated since the mark; those of which there is nothing go,
 * and so does what is alive. No record is taken after it: they are of a copy (job/job.h).
 */
void mark_since(struct report_cells *c, const struct mark *m);

/*
 * mark_slices - the same since the first of `count` marks, in their order, with a slice of time for
 * each: behind marks[i] lies slice i. Returns: 0 or -ENOMEM.
 */
int mark_slices(struct report_cells *c, struct mark *const *marks, size_t count, uint64_t slice_ns,
                uint64_t now_ns);

#endif
