/*
 * cli/print_families.h - report --exceptions, --gc, --jit, --suspensions, --calls: tables for people, and JSON.
 */
#ifndef SHADOWTRACE_CLI_PRINT_FAMILIES_H
#define SHADOWTRACE_CLI_PRINT_FAMILIES_H

#include "report/families.h"

#include <stdio.h>

/* top: rows at most; 0 all. */
void print_families_text(const struct families_report *f, uint64_t top, FILE *out);

/* Returns: whether memory ran out. */
int print_families_json(const struct families_report *f, const struct report_problems *problems,
                        uint64_t top, FILE *out);

#endif
