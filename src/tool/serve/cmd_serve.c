/*
 * shadowtrace serve - starts shadowtrace-serve, a program of its own: it needs libmicrohttpd, and
 * nothing else of the command does.
 */
#include "serve/serve.h"

#include "command/program.h"
#include "serve/options.h"

static int run(void *into, const struct args *args, FILE *out)
{
    (void)into;
    (void)args;
    (void)out;
    return program_become(&cmd_serve, "libmicrohttpd-dev");
}

const struct cli_command cmd_serve = SERVE_COMMAND(run);
