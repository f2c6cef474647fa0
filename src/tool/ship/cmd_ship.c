/*
 * shadowtrace ship - starts shadowtrace-ship, a program of its own: it needs libcurl, and nothing
 * else of the command does.
 */
#include "ship/ship.h"

#include "command/program.h"
#include "ship/options.h"

PROGRAM_RUN(cmd_ship, "libcurl4-openssl-dev")

SHIP_COMMAND;
