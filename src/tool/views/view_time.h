/* views/view_time.h - what was allocated when, for the view of time and the overview's line. */
#ifndef SHADOWTRACE_VIEWS_VIEW_TIME_H
#define SHADOWTRACE_VIEWS_VIEW_TIME_H

#include "views/view_rows.h"

struct time_line {
    uint64_t slice_ns;
    unsigned first, count; /* slices [first, count) are shown */
    unsigned peak;
    double most;              /* bytes of the slice with the most, `peak` */
    struct model_rows slices; /* all of them */
};

int time_line_init(struct time_line *l, const struct view *v); /* 0 or -ENOMEM */
void time_line_fini(struct time_line *l);                      /* also after a failure */

void time_line_put(const struct time_line *l, struct buffer *b); /* a bar for each slice */
/* The slices that are shown, as rows of a view; they are the line's. */
struct view_rows time_line_rows(const struct view *v, const struct time_line *l);

#endif
