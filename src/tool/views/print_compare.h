/*
 * views/print_compare.h - what report/checks.h found, as text for people (one log, or two side by
 * side), and as JSON.
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_COMPARE_H
#define SHADOWTRACE_VIEWS_PRINT_COMPARE_H

#include "views/print_stack.h"

#include "report/checks.h"
#include "model/diff.h"

#include <stdio.h>

#define PRINT_COMPARE_LOGS 2

/*
 * checks[i] was read from names[i], stacks[i] says how its names are shown; count is 1 or 2. sites:
 * how call sites of two logs agree; NULL: not asked.
 */
void print_compare_text(const struct report_checks *checks, const struct print_stack *stacks,
                        char *const *names, size_t count, const struct diff_sum *sites, FILE *out);

/* print_compare_json - one object for one log; {"logs": [...]} for two. Returns: 0 or -ENOMEM. */
int print_compare_json(const struct report_checks *checks, const struct log_problems *problems,
                       size_t count, const struct diff_sum *sites, FILE *out);

#endif
