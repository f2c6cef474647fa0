/* record/record.h - starts a program with the profiler, and reports the result. */
#ifndef SHADOWTRACE_RECORD_RECORD_H
#define SHADOWTRACE_RECORD_RECORD_H

#include "command/command.h"

extern const struct cli_command cmd_record, cmd_attach, cmd_env;

#endif
