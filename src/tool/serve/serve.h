/* serve/serve.h - the command of this room. */
#ifndef SHADOWTRACE_SERVE_SERVE_H
#define SHADOWTRACE_SERVE_SERVE_H

#include "command/command.h"

extern const struct cli_command cmd_serve;

#define SERVE_PROGRAM "shadowtrace-serve"

/*
 * serve_program - the path of the program that serves, beside this one: `self` is this program's
 * path. Returns: whether it can be run.
 */
bool serve_program(const char *self, char *path, size_t size);

#endif
