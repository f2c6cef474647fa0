/*
 * report/diff.h - logs of an older and of a newer build, row against row: what grew, what shrank, what is only on one
 * side. Rows are matched by names, never by ids: of call paths by their methods and the type allocated, so that the logs
 * may be of two builds of a program. Without `exact` recursion is folded, frames of awaiters and builders are passed over, and what whoever comes first makes (a static
 * constructor, the runtime's cache of casts) belongs to nobody else; with it instructions must be the same, too.
 *
 * Lines have other numbers in another build: those of one method and type are matched in their order, so that as few
 * bytes as possible changed. With `exact`, and within one build of the module, a line is matched by its number.
 *
 * A side may have several logs. What they differ by among themselves is no change.
 */
#ifndef SHADOWTRACE_REPORT_DIFF_H
#define SHADOWTRACE_REPORT_DIFF_H

#include "report/sites.h"

#define REPORT_DIFF_NONE SIZE_MAX

enum { REPORT_DIFF_OLD, REPORT_DIFF_NEW, REPORT_DIFF_SIDES };

struct report_change {
    struct report_diff_side {
        uint64_t allocs, bytes; /* of several logs their mean; rounded, as estimates are */
        double low,
            high; /* of bytes: 95 % where they are estimates; of several logs the lowest and the highest */
        double spread;   /* of bytes: how far apart the logs of the side are */
        size_t row, log; /* the largest of those summed here, and its log; REPORT_DIFF_NONE */
    } side[REPORT_DIFF_SIDES];
};

struct report_diff;

/* What report_row.line stands for. */
struct report_diff_line {
    uint32_t method;  /* number in defs */
    const char *file; /* without its folders; NULL: it is not known which line of the method */
    uint32_t line;
};

/* The logs of one side: finished report_sites of the same `by`. */
struct report_diff_logs {
    const struct report_sites *const *sites;
    size_t count; /* 1 at least */
    /* By line only: of the side's n-th log; false: the number stands for no line. */
    bool (*line)(void *context, size_t log, uint32_t number, struct report_diff_line *out);
    void *context;
};

/*
 * report_diff_new - Returns: 0 or -ENOMEM. Owns: the caller; the sides are only read, and not needed after it.
 */
int report_diff_new(const struct report_diff_logs sides[REPORT_DIFF_SIDES], enum report_by by,
                    bool exact, struct report_diff **out);
void report_diff_free(struct report_diff *diff);

/*
 * By how many bytes changed, most first; then objects; then as the logs have them. Of several logs a side, what may have
 * come from the noise of one side is behind the rest.
 */
size_t report_diff_count(const struct report_diff *diff);
const struct report_change *report_diff_change(const struct report_diff *diff, size_t index);
bool report_diff_several(const struct report_diff *diff); /* of one side at least */

/* Rows with the same counts on both sides, with other counts, and of one side only. */
struct report_diff_sum {
    uint64_t same, changed, only[REPORT_DIFF_SIDES];
    uint64_t
        inlined; /* rows joined with others that have more frames, or fewer: see diff_internal.h */
};
void report_diff_sum(const struct report_diff *diff, struct report_diff_sum *out);

/*
 * Whether the change is one, beyond what sampling may have made, or what the logs of one side differ by: their ranges do
 * not overlap, and lie further apart than the logs of one side do.
 */
bool report_change_certain(const struct report_change *change);

#endif
