/* views/report_profile.h - `report --profile`: sampled stacks instead of allocations. */
#ifndef SHADOWTRACE_VIEWS_REPORT_PROFILE_H
#define SHADOWTRACE_VIEWS_REPORT_PROFILE_H

#include "views/report_args.h"

/* Returns the exit status. */
int report_profile_run(const struct cli_command *command, const struct report_args *a, char **logs,
                       FILE *out);

#endif
