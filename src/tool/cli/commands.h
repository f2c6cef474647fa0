/* cli/commands.h - all commands, and how main() chooses one. */
#ifndef SHADOWTRACE_CLI_COMMANDS_H
#define SHADOWTRACE_CLI_COMMANDS_H

#include "command/command.h"

extern const struct cli_command cmd_help;
extern const struct cli_manual cli_manual; /* of the page of all of them */

const struct cli_command *cli_find(const char *name); /* NULL: no such command */

/* cli_at - in the order of the help page, with the group's heading; NULL past the last. */
const struct cli_command *cli_at(size_t index, const char **group);

/* cli_unknown_command - cli_usage_error for a name; `by`: who was told it, NULL: main. */
int cli_unknown_command(const struct cli_command *by, const char *name);

/* cli_start - what main() does with its arguments; reorders them. Returns: the exit status. */
int cli_start(int argc, char **argv, FILE *out);

#endif
