/* report/annotate.h - lines of a source file: what each allocated itself, and below its calls. */
#ifndef SHADOWTRACE_REPORT_ANNOTATE_H
#define SHADOWTRACE_REPORT_ANNOTATE_H

#include "report/sites.h"
#include "report/source_lines.h"

#define ANNOTATE_LINES_MAX (1u << 24) /* of a source file; what is beyond is not looked at */

struct annotate_amount {
    uint64_t allocs, bytes;
    struct report_spread spread;
};

/* What a line made itself, and what was made by the calls on it. */
struct annotate_line {
    struct annotate_amount own, below;
};

/* Of one type on one line. */
struct annotate_type {
    uint32_t line, class_number;
    struct annotate_amount own;
};

struct annotation {
    struct annotate_line *lines; /* by line, 1 to line_count */
    size_t line_count, line_capacity;
    struct annotate_type *types; /* by line */
    size_t type_count;
    struct annotate_amount total; /* of all sites, in whatever file */
};

/*
 * annotate_file - file: a path as in struct source_line. Sites were made with REPORT_BY_SITE.
 * Returns: 0 or -ENOMEM; *a is for annotation_fini even then.
 */
int annotate_file(const struct report_sites *sites, struct source_lines *lines, const char *file,
                  struct annotation *a);
void annotation_fini(struct annotation *a);

#endif
