/* views/print_events.h - `events TOPIC`: tables for people, and JSON. */
#ifndef SHADOWTRACE_VIEWS_PRINT_EVENTS_H
#define SHADOWTRACE_VIEWS_PRINT_EVENTS_H

#include "views/print_stack.h"

#include "report/events.h"

#include <stdio.h>

struct print_events {
    const struct events_report *report;
    const struct log_problems *problems;
    struct print_stack stack; /* how stacks are shown; defs: the report's */
    uint64_t top;             /* rows at most; 0 all */
};

void print_events_text(const struct print_events *p, FILE *out);

/* Returns: whether memory ran out. */
int print_events_json(const struct print_events *p, FILE *out);

#endif
