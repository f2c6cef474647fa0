/*
 * views/print_native.h - native frames between the managed ones of a logged snapshot (--native).
 */
#ifndef SHADOWTRACE_VIEWS_PRINT_NATIVE_H
#define SHADOWTRACE_VIEWS_PRINT_NATIVE_H

#include "terminal/terminal.h"

#include "report/checks.h"

#include <stdio.h>

/* The snapshot with the most runs of native frames; nothing if the log has none. */
void print_native_text(const struct report_checks *c, const struct terminal *terminal, FILE *out);

/* The same: {"line", "offset", "stack": [{"method"} or {"native"}, ...]}, leaf first; NULL: none. */
json_t *print_native_json(const struct report_checks *c);

/* [{"at", "frames": ["lib.so!function", ...]}, ...] of one example. */
json_t *print_native_runs(const struct report_checks *c, const struct report_native *natives,
                          size_t count);

#endif
