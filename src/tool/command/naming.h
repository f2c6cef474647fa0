/* command/naming.h - how a command shows names: --names and --raw. */
#ifndef SHADOWTRACE_COMMAND_NAMING_H
#define SHADOWTRACE_COMMAND_NAMING_H

#include "command/command.h"
#include "model/names.h"

struct naming {
    enum names_style style;
    bool raw;
};

/*
 * naming_choose - once the arguments are read. standard: the style without --names, of what
 * programs read; text for people has short names.
 */
void naming_choose(struct naming *naming, const struct cli_command *command,
                   const struct args *args, enum names_style standard);

#endif
