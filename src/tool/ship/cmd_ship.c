/*
 * shadowtrace ship - starts shadowtrace-ship, a separate executable: only it needs libcurl.
 */
#include "ship/ship.h"

#include "command/program.h"
#include "ship/options.h"

PROGRAM_RUN(cmd_ship, "libcurl4-openssl-dev")

SHIP_COMMAND;
