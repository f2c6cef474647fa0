/* command/naming.h - how a command shows names: --names. */
#ifndef SHADOWTRACE_COMMAND_NAMING_H
#define SHADOWTRACE_COMMAND_NAMING_H

#include "command/command.h"
#include "model/names.h"

struct naming {
    enum names_style style;
};

/*
 * naming_choose - once the arguments are read. standard: the style without --names, of what
 * programs read; text for people has short names.
 */
void naming_choose(struct naming *naming, const struct cli_command *command,
                   const struct args *args, enum names_style standard);

/* naming_other - the style that patterns may mean besides that of the names that are shown. */
static inline enum names_style naming_other(enum names_style shown)
{
    return shown == NAMES_SHORT ? NAMES_FULL : NAMES_SHORT;
}

#endif
