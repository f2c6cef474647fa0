/*
 * cli/print_diff.h - report/diff.h as text for people and as JSON.
 */
#ifndef SHADOWTRACE_CLI_PRINT_DIFF_H
#define SHADOWTRACE_CLI_PRINT_DIFF_H

#include "cli/print_report.h"

#include "report/diff.h"

struct print_diff {
    const struct report_diff *diff;
    struct print_report side[REPORT_DIFF_SIDES]; /* how rows of each log are shown */
    const char *names[REPORT_DIFF_SIDES];        /* of the logs */
    uint64_t top, min_bytes;                     /* rows; bytes by which one changed */
};

void print_diff_text(const struct print_diff *p, FILE *out);
int print_diff_json(const struct print_diff *p, FILE *out); /* 0 or -ENOMEM */

#endif
