/* gate/replace.h - a budget in the place of the one that it was made from. */
#ifndef SHADOWTRACE_GATE_REPLACE_H
#define SHADOWTRACE_GATE_REPLACE_H

#include "command/command.h"
#include "gate/budget.h"

/*
 * replace_budget - the file has the new budget, whole, or still the old one; its mode stays.
 * Returns: CLI_OK; else a line has said why.
 */
int replace_budget(const struct cli_command *command, const char *path, const struct budget *b);

#endif
