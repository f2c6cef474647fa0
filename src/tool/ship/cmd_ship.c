/*
 * shadowtrace ship - starts shadowtrace-ship, a program of its own: it needs libcurl, and nothing
 * else of the command does.
 */
#include "ship/ship.h"

#include "command/program.h"
#include "ship/options.h"

static int run(void *into, const struct args *args, FILE *out)
{
    (void)into;
    (void)args;
    (void)out;
    return program_become(&cmd_ship, "libcurl4-openssl-dev");
}

const struct cli_command cmd_ship = SHIP_COMMAND(run);
