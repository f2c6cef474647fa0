/*
 * views/print_families.h - `events TOPIC`: tables for people, and JSON.
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_FAMILIES_H
#define SHADOWTRACE_VIEWS_PRINT_FAMILIES_H

#include "views/print_stack.h"

#include "report/families.h"

#include <stdio.h>

struct print_families {
    const struct families_report *report;
    const struct report_problems *problems;
    struct print_stack stack; /* how stacks are shown; defs: the report's */
    uint64_t top;             /* rows at most; 0 all */
};

void print_families_text(const struct print_families *p, FILE *out);

/* Returns: whether memory ran out. */
int print_families_json(const struct print_families *p, FILE *out);

#endif
