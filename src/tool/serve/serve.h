/* serve/serve.h - the command of this room. */
#ifndef SHADOWTRACE_SERVE_SERVE_H
#define SHADOWTRACE_SERVE_SERVE_H

#include "command/command.h"

extern const struct cli_command cmd_serve;

#endif
