#include "ship/options.h"

#include "command/rows.h"

#define ARGS_INTO struct ship_options
const struct args_option ship_rows[] = {
    ARGS_ROW(TEXT, "to", "URL", to, "the server: https://HOST:8443, or http://127.0.0.1:8123",
             .group = "Where rows go"),
    ARGS_ROW(TEXT, "database", "NAME", database, "its database (default: shadowtrace)"),
    ARGS_ROW(TEXT, "credentials", "FILE", credentials,
             "user:password in the first line of a file that only you can read"),
    ARGS_ROW(TEXT, "ca", "FILE", ca, "certificates to trust instead of the system's"),
    ARGS_ROW(DURATION, "timeout", "TIME", timeout_ns,
             "time limit of an attempt; a failed one is repeated, at most a minute later",
             .unit = 1000000000, .standard = UINT64_C(60000000000), .least = 1000000,
             .limit = UINT64_C(3600000000000)),
    ARGS_ROW(FLAG, "once", NULL, once, "send the existing data, then exit"),
    ARGS_ROW(FLAG, "dry-run", NULL, dry_run,
             "print the rows of the existing data instead of sending them, then exit"),
    ARGS_ROW(TEXT, "host", "NAME", host, "name of this machine in the rows (default: its own)",
             .group = "What rows say"),
    ARGS_ROW(TEXT, "container", "NAME", container, "name of the container (default: none)"),
    ARGS_ROW(FLAG, "lines", NULL, lines,
             "look up source lines. They change the ids of frames: use this only if the assemblies "
             "stay as they are"),
    ROW_SYMBOLS,
    ROW_OWN_CODE(filters.own_code),
    ARGS_ROW(DURATION, "every", "TIME", every_ns, "time between two uploads of a log",
             .unit = 1000000000, .standard = UINT64_C(10000000000), .least = 1000000,
             .limit = UINT64_C(3600000000000), .group = "What it takes"),
    ROW_MAX_MEMORY((uint64_t)48 << 20, "memory for rows that are not acknowledged yet; a log that "
                                       "exceeds it is no longer followed, and a line says so"),
    ARGS_END};
