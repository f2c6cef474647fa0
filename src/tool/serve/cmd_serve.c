/*
 * shadowtrace serve - starts shadowtrace-serve, a program of its own: it needs libmicrohttpd, and
 * nothing else of the command does.
 */
#include "serve/serve.h"

#include "command/program.h"
#include "serve/options.h"

PROGRAM_RUN(cmd_serve, "libmicrohttpd-dev")

SERVE_COMMAND;
