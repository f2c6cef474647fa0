/*
 * cli/print_forms.h - the comparisons beyond that of allocations: registers of every frame, and what was asked for by
 * options of its own.
 */
#ifndef SHADOWTRACE_CLI_PRINT_FORMS_H
#define SHADOWTRACE_CLI_PRINT_FORMS_H

#include "report/checks.h"

#include <stdio.h>

void print_forms(const struct report_checks *checks,
                 FILE *out); /* nothing where the log has none */

#endif
