/* views/print_diff.h - model/diff.h as text for people and as JSON. */
#ifndef SHADOWTRACE_VIEWS_PRINT_DIFF_H
#define SHADOWTRACE_VIEWS_PRINT_DIFF_H

#include "model/diff.h"
#include "views/view_rows.h"

/* One log: its rows as the view of them shows them. Its view is `compared`. */
struct print_diff_log {
    struct view view;
    struct view_rows rows;
};

struct print_diff_side {
    struct print_diff_log *logs;
    char **names;
    size_t count;
};

struct print_diff {
    const struct diff *diff;
    struct print_diff_side side[DIFF_SIDES];
    uint64_t top, min_bytes; /* rows; bytes by which one changed */
    uint64_t small_bytes;    /* the same, in text, where more than `top` rows changed */
    bool steady; /* some logs have hooks in all methods, and what these cause is left out */
};

int print_diff_text(struct print_diff *p, FILE *out); /* 0 or -ENOMEM */
int print_diff_json(struct print_diff *p, FILE *out); /* the same */

#endif
