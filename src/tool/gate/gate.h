/* gate/gate.h - the command that holds logs against a budget; the room's map is in budget.h. */
#ifndef SHADOWTRACE_GATE_GATE_H
#define SHADOWTRACE_GATE_GATE_H

#include "command/command.h"

extern const struct cli_command cmd_gate;

#endif
