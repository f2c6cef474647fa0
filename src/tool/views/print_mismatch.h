/* views/print_mismatch.h - one difference for people: shadow stack and snapshot side by side. */
#ifndef SHADOWTRACE_VIEWS_PRINT_MISMATCH_H
#define SHADOWTRACE_VIEWS_PRINT_MISMATCH_H

#include "terminal/terminal.h"
#include "views/print_stack.h"

#include "report/checks.h"

#include <stdio.h>

/*
 * One row of both stacks: indices of frames counted from the root, PRINT_MISMATCH_NONE where a side
 * has no frame.
 */
#define PRINT_MISMATCH_NONE SIZE_MAX
struct print_mismatch_row {
    size_t shadow, snapshot;
};

/*
 * print_mismatch_rows - the rows from the root. If one stack is the other with frames left out,
 * equal frames share a row and a frame too many stands alone; else frames of equal index do.
 * Returns: how many; rows has room for as many as both stacks have frames.
 */
size_t print_mismatch_rows(const struct report_mismatch *m, struct print_mismatch_row *rows);

/* stack: how names are shown. Two methods that look alike so have those of the log. */
void print_mismatch(const struct report_mismatch *m, const struct report_checks *c,
                    const struct print_stack *stack, const struct terminal *terminal, FILE *out);

#endif
