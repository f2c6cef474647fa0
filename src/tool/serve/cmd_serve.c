/*
 * shadowtrace serve - starts shadowtrace-serve, a separate executable: only it needs libmicrohttpd.
 */
#include "serve/serve.h"

#include "command/program.h"
#include "serve/options.h"

PROGRAM_RUN(cmd_serve, "libmicrohttpd-dev")

SERVE_COMMAND;
