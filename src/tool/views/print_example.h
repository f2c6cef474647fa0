/*
 * views/print_example.h - one difference for people: shadow stack and snapshot side by side.
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_EXAMPLE_H
#define SHADOWTRACE_VIEWS_PRINT_EXAMPLE_H

#include "terminal/terminal.h"

#include "report/checks.h"

#include <stdio.h>

/*
 * One row of both stacks: indices of frames counted from the root, PRINT_EXAMPLE_NONE where a side
 * has no frame.
 */
#define PRINT_EXAMPLE_NONE SIZE_MAX
struct print_example_row {
    size_t shadow, snapshot;
};

/*
 * print_example_rows - the rows from the root. If one stack is the other with frames left out,
 * equal frames share a row and a frame too many stands alone; else frames of equal index do.
 * Returns: how many; rows has room for as many as both stacks have frames.
 */
size_t print_example_rows(const struct report_example *e, struct print_example_row *rows);

void print_example(const struct report_checks *c, const struct report_example *e,
                   const struct terminal *terminal, FILE *out);

#endif
