/* views/report_families.h - `report --exceptions`, --gc, --jit, --suspensions, --calls: event families, not allocations. */
#ifndef SHADOWTRACE_VIEWS_REPORT_FAMILIES_H
#define SHADOWTRACE_VIEWS_REPORT_FAMILIES_H

#include "views/report_args.h"

/* Returns the exit status. */
int report_families_run(const struct cli_command *command, const struct report_args *a,
                        const char *path, FILE *out);

#endif
