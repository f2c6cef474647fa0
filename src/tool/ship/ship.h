/* ship/ship.h - the command of this room. */
#ifndef SHADOWTRACE_SHIP_SHIP_H
#define SHADOWTRACE_SHIP_SHIP_H

#include "command/command.h"

extern const struct cli_command cmd_ship;

#endif
