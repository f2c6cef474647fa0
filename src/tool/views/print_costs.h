/*
 * views/print_costs.h - what shadow stack and snapshot cost, by depth and by thread, for one log or
 * two side by side.
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_COSTS_H
#define SHADOWTRACE_VIEWS_PRINT_COSTS_H

#include "terminal/terminal.h"

#include "report/checks.h"

#include <stdio.h>

/* Mean cost by depth: a table, and below it a plot with a logarithmic scale. count is 1 or 2. */
void print_costs_by_depth(const struct report_checks *checks, size_t count,
                          const struct terminal *terminal, FILE *out);

/* The threads with the most comparisons; those with differences before all others. */
void print_costs_by_thread(const struct report_checks *c, const struct terminal *terminal,
                           FILE *out);

/*
 * print_costs_order - numbers of the threads that have comparisons, in the order of the table.
 * Returns: how many, or 0 without memory. Owns: *out is the caller's, for memory_free.
 */
size_t print_costs_order(const struct report_checks *c, uint32_t **out);

#endif
