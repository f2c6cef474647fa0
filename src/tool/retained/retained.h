/* retained/retained.h - the command that tells who keeps memory: a heap dump beside its log. */
#ifndef SHADOWTRACE_RETAINED_RETAINED_H
#define SHADOWTRACE_RETAINED_RETAINED_H

#include "command/command.h"

extern const struct cli_command cmd_retained;

#endif
