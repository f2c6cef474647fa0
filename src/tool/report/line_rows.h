/*
 * report/line_rows.h - the lines that a report has rows of, numbered from 1. An allocation belongs
 * to the innermost frame of its stack that has a line: a list that grows inside of the framework to
 * the line that adds to it. If a frame has lines, and it is not known which one is meant, it
 * belongs to that method, and to no line.
 */
#ifndef SHADOWTRACE_REPORT_LINE_ROWS_H
#define SHADOWTRACE_REPORT_LINE_ROWS_H

#include "report/source_lines.h"

#include "report/diff.h"

struct line_row {
    struct source_line line; /* file NULL: not known which of the method's */
    uint32_t method;         /* number in defs; its code is there */
};

struct line_rows {
    const struct report_defs *defs;
    struct source_lines *lines;
    struct line_row *rows;
    size_t count, capacity;
    struct index index;
};

void line_rows_init(struct line_rows *l, const struct report_defs *defs,
                    struct source_lines *lines);
void line_rows_fini(struct line_rows *l);

/* line_rows_of - a report_line_of (report/sites.h) of a struct line_rows. 0 without memory. */
uint32_t line_rows_of(void *context, uint32_t path, int32_t il);

/* line_rows_diff - a report_diff_logs.line (report/diff_side.h) of an array of struct line_rows. */
bool line_rows_diff(void *context, size_t log, uint32_t number, struct report_diff_line *out);

static inline const struct line_row *line_rows_at(const struct line_rows *l, uint32_t number)
{
    return number && number <= l->count ? &l->rows[number - 1] : NULL;
}

#endif
