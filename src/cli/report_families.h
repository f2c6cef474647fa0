/* cli/report_families.h - `report --exceptions`, --gc, --jit, --suspensions, --calls: event families, not allocations. */
#ifndef SHADOWTRACE_CLI_REPORT_FAMILIES_H
#define SHADOWTRACE_CLI_REPORT_FAMILIES_H

#include "cli/commands.h"

#include <stdbool.h>

/* Is one of them among the arguments? Then report_families_run reads them: other options are its own. */
bool report_families_asked(int argc, char **argv);
int report_families_run(const struct cli_command *command, int argc, char **argv, FILE *out);

#endif
