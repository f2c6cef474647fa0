/* views/print_report.h - rows of report/sites.h as text for people, and as JSON for programs. */
#ifndef SHADOWTRACE_VIEWS_PRINT_REPORT_H
#define SHADOWTRACE_VIEWS_PRINT_REPORT_H

#include "report/line_rows.h"
#include "command/reading.h"
#include "views/print_stack.h"

#include "base/json_writer.h"
#include "report/sites.h"

#include <stdio.h>

struct print_report {
    const struct report_sites *sites;
    const struct report_problems *problems;
    struct print_stack stack; /* how paths and lines are shown; defs: the sites' */
    struct line_rows *rows;   /* what report_row.line numbers */
    enum report_by by;
};

/*
 * What a row is of, in at most `room` columns; the same, with the stack where p->by
 * is REPORT_BY_SITE, as members of a JSON object that is open in w.
 */
void print_report_what(const struct print_report *p, const struct report_row *row, size_t room,
                       FILE *out);
void print_report_what_json(const struct print_report *p, const struct report_row *row,
                            struct json_writer *w);

extern const char *const print_report_keys[]; /* names on the command line, by enum report_by */

/* What stands above the column that print_report_what fills. */
const char *print_report_heading(enum report_by by);

#endif
