/* views/print_diff.h - report/diff.h as text for people and as JSON. */
#ifndef SHADOWTRACE_VIEWS_PRINT_DIFF_H
#define SHADOWTRACE_VIEWS_PRINT_DIFF_H

#include "views/print_report.h"

#include "report/diff.h"

struct print_diff_side {
    struct print_report *logs; /* how rows of each are shown */
    char **names;
    size_t count;
};

struct print_diff {
    const struct report_diff *diff;
    const char *view; /* of live objects: which; NULL: of allocations */
    struct print_diff_side side[REPORT_DIFF_SIDES];
    uint64_t top, min_bytes; /* rows; bytes by which one changed */
    uint64_t small_bytes;    /* the same, in text, where more than `top` rows changed */
};

void print_diff_text(const struct print_diff *p, FILE *out);
int print_diff_json(const struct print_diff *p, FILE *out); /* 0 or -ENOMEM */

#endif
