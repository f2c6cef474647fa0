/* attach/attach.h - the commands that talk to processes which are being traced. */
#ifndef SHADOWTRACE_ATTACH_ATTACH_H
#define SHADOWTRACE_ATTACH_ATTACH_H

#include "command/command.h"

extern const struct cli_command cmd_list, cmd_dump, cmd_ctl, cmd_top, cmd_detach;

#endif
