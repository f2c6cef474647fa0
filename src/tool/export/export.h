/* export/export.h - the command of this room. */
#ifndef SHADOWTRACE_EXPORT_EXPORT_H
#define SHADOWTRACE_EXPORT_EXPORT_H

#include "command/command.h"

extern const struct cli_command cmd_export;

#endif
