/* views/print_native.h - native frames between the managed ones of a logged snapshot (--native). */
#ifndef SHADOWTRACE_VIEWS_PRINT_NATIVE_H
#define SHADOWTRACE_VIEWS_PRINT_NATIVE_H

#include "terminal/terminal.h"
#include "views/print_stack.h"

#include "base/json_writer.h"
#include "report/checks.h"

#include <stdio.h>

/* The snapshot with the most runs of native frames; nothing if the log has none. */
void print_native_text(const struct report_checks *c, const struct print_stack *stack,
                       const struct terminal *terminal, FILE *out);

/*
 * As a member native of a JSON object that is open in w. print_native_json: the same, as
 * {"line", "offset", "stack": [{"method"} or {"native"}, ...]}, leaf first.
 * print_native_runs_json: of a mismatch, as [{"at", "frames": ["lib.so!function", ...]}, ...].
 */
void print_native_json(const struct report_checks *c, struct json_writer *w);
void print_native_runs_json(const struct report_checks *c, const struct log_native *natives,
                            size_t count, struct json_writer *w);

#endif
