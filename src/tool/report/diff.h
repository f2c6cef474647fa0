/*
 * report/diff.h - logs of an older and of a newer build, row against row: what grew, what shrank,
 * what is only on one side. Rows are matched by names, never by ids, so that the logs may be of two
 * builds: call paths by their methods and the type allocated. Without `exact` paths are compared as
 * report/diff_paths.h says; with it instructions must be the same, too.
 *
 * Lines have other numbers in another build: those of one method and type are matched in their
 * order, so that as few bytes as possible changed. With `exact`, and within one build of the
 * module, a line is matched by its number.
 *
 * A side may have several logs. What they differ by among themselves is no change.
 */
#ifndef SHADOWTRACE_REPORT_DIFF_H
#define SHADOWTRACE_REPORT_DIFF_H

#include "report/diff_side.h"

struct report_change {
    struct report_diff_side {
        uint64_t allocs, bytes; /* of several logs their mean; rounded, as estimates are */
        /* Of bytes: 95 % where they are estimates; of several logs the lowest and the highest. */
        double low, high;
        double spread;   /* of bytes: how far apart the logs of the side are */
        bool mixed;      /* as in struct report_row, of one log at least: allocs say little */
        size_t row, log; /* the largest of those summed here, and its log; REPORT_DIFF_NONE */
    } side[REPORT_DIFF_SIDES];
};

struct report_diff;

/* report_diff_new - Returns: 0 or -ENOMEM. Owns: the caller; the sides are not needed after it. */
int report_diff_new(const struct report_diff_logs sides[REPORT_DIFF_SIDES], enum report_by by,
                    bool exact, struct report_diff **out);
void report_diff_free(struct report_diff *diff);

/*
 * By how many bytes changed, most first; then objects; then as the logs have them. Of several logs
 * a side, what may be the noise of one side is behind the rest.
 */
size_t report_diff_count(const struct report_diff *diff);
const struct report_change *report_diff_change(const struct report_diff *diff, size_t index);
bool report_diff_several(const struct report_diff *diff); /* of one side at least */

/* Rows with the same counts on both sides, with other counts, and of one side only. */
struct report_diff_sum {
    uint64_t same, changed, only[REPORT_DIFF_SIDES];
    uint64_t inlined; /* rows joined with others, see report/diff_inlined.h */
};
void report_diff_sum(const struct report_diff *diff, struct report_diff_sum *out);

/*
 * Whether the change is beyond what sampling may have made, and what the logs of one side differ
 * by: their ranges do not overlap, and lie further apart than the logs of one side do.
 */
bool report_change_certain(const struct report_change *change);

/* report_distance - by how much two counts differ, whichever is larger. */
static inline uint64_t report_distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

#endif
