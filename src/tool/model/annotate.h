/* model/annotate.h - lines of a source file: what each allocated itself, and below its calls. */
#ifndef SHADOWTRACE_MODEL_ANNOTATE_H
#define SHADOWTRACE_MODEL_ANNOTATE_H

#include "model/tree.h"

#define ANNOTATE_LINES_MAX (1u << 24) /* of a source file; what is beyond is not looked at */

struct annotate_amount {
    double allocs, bytes;
    struct report_spread spread;
};

/* What a line made itself, and what was made by the calls on it. */
struct annotate_line {
    uint32_t line, line_last; /* as in struct model_place */
    struct annotate_amount own, below;
};

/* Of one type on one line. */
struct annotate_type {
    uint32_t line, class_number; /* line: an index of annotation.lines */
    struct annotate_amount own;
};

struct annotation {
    struct annotate_line *lines; /* those that frames have, in their order */
    size_t line_count;
    struct annotate_type *types; /* by line */
    size_t type_count, type_capacity;
    struct annotate_amount total; /* of all of the tree, in whatever file */
};

/*
 * annotate_file - file: a path as in struct model_place. The tree has grain LINE.
 * Returns: 0 or -ENOMEM; *a is for annotation_fini even then.
 */
int annotate_file(const struct model_tree *t, const char *file, struct annotation *a);
void annotation_fini(struct annotation *a);

/* annotation_from - the first index of a line or of one that follows it; line_count: none. */
size_t annotation_from(const struct annotation *a, uint32_t line);

#endif
