/*
 * model/diff.h - logs of an older and of a newer build, row against row: what grew, what shrank,
 * what is only on one side. Rows are matched by names, never by ids, so that the logs may be of two
 * builds: call paths by their methods and the type allocated. Without `exact` paths are compared as
 * model/diff_paths.h says; with it instructions must be the same, too.
 *
 * Lines have other numbers in another build: those of one method and type are matched in their
 * order, so that as few bytes as possible changed. With `exact`, and within one build of the
 * module, a line is matched by its number.
 *
 * A side may have several logs. What they differ by among themselves is no change.
 */
#ifndef SHADOWTRACE_MODEL_DIFF_H
#define SHADOWTRACE_MODEL_DIFF_H

#include "model/diff_rows.h"

struct diff_change {
    struct diff_side {
        uint64_t allocs, bytes; /* of several logs their mean; rounded, as estimates are */
        /* Of bytes: 95 % where they are estimates; of several logs the lowest and the highest. */
        double low, high;
        double spread;   /* of bytes: how far apart the logs of the side are */
        bool mixed;      /* as in struct model_amount, of one log at least: allocs say little */
        size_t row, log; /* the largest of those summed here, and its log; DIFF_NONE */
    } side[DIFF_SIDES];
};

struct diff;

/* diff_new - Returns: 0 or -ENOMEM. Owns: the caller; the sides are not needed after it. */
int diff_new(const struct diff_logs sides[DIFF_SIDES], bool exact, struct diff **out);
void diff_free(struct diff *diff);

/*
 * By how many bytes changed, most first; then objects; then as the logs have them. Of several logs
 * a side, what may be the noise of one side is behind the rest.
 */
size_t diff_count(const struct diff *diff);
const struct diff_change *diff_change(const struct diff *diff, size_t index);
bool diff_several(const struct diff *diff); /* of one side at least */

/* Rows with the same counts on both sides, with other counts, and of one side only. */
struct diff_sum {
    uint64_t same, changed, only[DIFF_SIDES];
    uint64_t inlined; /* rows joined with others, see model/diff_inlined.h and diff_lines.h */
};
void diff_sum(const struct diff *diff, struct diff_sum *out);

/*
 * Whether the change is beyond what sampling may have made, and what the logs of one side differ
 * by: their ranges do not overlap, and lie further apart than the logs of one side do.
 */
bool diff_change_certain(const struct diff_change *change);

/* diff_distance - by how much two counts differ, whichever is larger. */
static inline uint64_t diff_distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

#endif
