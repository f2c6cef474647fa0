/*
 * ship/options.h - the options of `shadowtrace ship`. The command explains and checks them, and
 * starts the separate executable (src/tool/shipper), which reads the same rows.
 */
#ifndef SHADOWTRACE_SHIP_OPTIONS_H
#define SHADOWTRACE_SHIP_OPTIONS_H

#include "command/command.h"
#include "command/filters.h"

#define SHIP_WORDS_MAX 64 /* logs and folders of the command line */

struct ship_options {
    const char *to, *database, *credentials, *ca; /* NULL: not given */
    const char *host, *container;
    uint64_t every_ns, timeout_ns;
    uint64_t max_memory; /* bytes */
    bool once, dry_run, lines;
    struct args_list symbols;
    struct filters filters; /* of them own_code */
};

extern const struct args_option ship_rows[];

/*
 * The command, which run() of the file runs: in one program it starts the other, in the other it
 * ships.
 */
#define SHIP_COMMAND \
    CLI_COMMAND(ship, "[options] LOG... --to URL", \
                "send rows of logs to a database while they are written", .about = SHIP_ABOUT, \
                .notes = SHIP_NOTES, \
                CLI_TAKES(struct ship_options, ship_rows, 1, SHIP_WORDS_MAX, \
                          "a log, or a folder of logs: LOG", false))

#define SHIP_ABOUT \
    "Follows each LOG, or where that is a folder the logs in it (*.ndjson, *.ndjson.zst) as they " \
    "appear, through rotations and restarts, and inserts what is new as rows (`export --format " \
    "rows`) into ClickHouse, whose tables are in examples/fleet. A URL with a question mark is " \
    "taken as it is, for what else takes lines of JSON over HTTP."
#define SHIP_NOTES \
    "The logs are what waits while the server is down: nothing else is written to disk, and " \
    "what was sent and not acknowledged is sent again, by the same ids, so that it counts once. " \
    "After a restart logs that are still there are sent again, from their beginning. Stacks are " \
    "those of the machine, as --physical has them: they do not change while a log grows.\n" \
    "A proxy that the environment names (https_proxy, http_proxy, all_proxy) is used for servers " \
    "on other machines only. Credentials leave this machine only in TLS, through a proxy too.\n" \
    "It ends with SIGTERM or SIGINT, after one more attempt to send what is left. Exit status: " \
    "0, " \
    "or 3 where something could not be sent."

#endif
