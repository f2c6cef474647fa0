/* report/diff_side.h - the logs that are compared: those of an older and those of a newer build. */
#ifndef SHADOWTRACE_REPORT_DIFF_SIDE_H
#define SHADOWTRACE_REPORT_DIFF_SIDE_H

#include "report/sites.h"

#define REPORT_DIFF_NONE SIZE_MAX

enum { REPORT_DIFF_OLD, REPORT_DIFF_NEW, REPORT_DIFF_SIDES };

/* What report_row.line stands for. */
struct report_diff_line {
    uint32_t method;  /* number in defs */
    const char *file; /* without its folders; NULL: it is not known which line of the method */
    uint32_t line;
};

/* The logs of one side: finished report_sites of the same `by`. */
struct report_diff_logs {
    const struct report_sites *const *sites;
    size_t count; /* at least 1 */
    /* By line only: of the side's n-th log; false: the number stands for no line. */
    bool (*line)(void *context, size_t log, uint32_t number, struct report_diff_line *out);
    void *context;
};

#endif
