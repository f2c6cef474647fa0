/*
 * report/diff.h - two logs, an older and a newer, row against row: what grew, what shrank, what is
 * only in one of them. Rows are matched by names, never by ids: of call paths by their methods and
 * the type allocated (with `exact`, by instructions too), so that the logs may be of two builds of
 * a program.
 */
#ifndef SHADOWTRACE_REPORT_DIFF_H
#define SHADOWTRACE_REPORT_DIFF_H

#include "report/sites.h"

#define REPORT_DIFF_NONE SIZE_MAX

enum { REPORT_DIFF_OLD, REPORT_DIFF_NEW, REPORT_DIFF_SIDES };

struct report_change {
    struct report_diff_side {
        uint64_t allocs, bytes; /* estimates are rounded */
        double low, high;       /* of bytes: 95 % where they are estimates */
        size_t row;             /* the largest of those summed here; REPORT_DIFF_NONE */
    } side[REPORT_DIFF_SIDES];
};

struct report_diff;

/*
 * report_diff_new - sides are two finished report_sites of the same `by`, not by line.
 * Returns: 0 or -ENOMEM. Owns: the caller; the sides are only read, and not needed after it.
 */
int report_diff_new(const struct report_sites *const sides[REPORT_DIFF_SIDES], enum report_by by,
                    bool exact, struct report_diff **out);
void report_diff_free(struct report_diff *diff);

/* By how many bytes changed, most first; then objects; then as the logs have them. */
size_t report_diff_count(const struct report_diff *diff);
const struct report_change *report_diff_change(const struct report_diff *diff, size_t index);

/* Rows of both logs with the same counts, with other counts, and of one log only. */
struct report_diff_sum {
    uint64_t same, changed, only[REPORT_DIFF_SIDES];
};
void report_diff_sum(const struct report_diff *diff, struct report_diff_sum *out);

/* Whether the change is one, beyond what sampling may have made: ranges that do not overlap. */
bool report_change_certain(const struct report_change *change);

#endif
