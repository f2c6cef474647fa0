/* cli/report_profile.h - `report --profile`: sampled stacks instead of allocations. */
#ifndef SHADOWTRACE_CLI_REPORT_PROFILE_H
#define SHADOWTRACE_CLI_REPORT_PROFILE_H

#include "cli/commands.h"

#include <stdbool.h>

/* Is --profile among the arguments? Then report_profile_run reads them: other options are its own. */
bool report_profile_asked(int argc, char **argv);
int report_profile_run(const struct cli_command *command, int argc, char **argv, FILE *out);

#endif
