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
    "Follows each LOG (of a directory: all *.ndjson and *.ndjson.zst in it, as they appear) " \
    "through rotations and restarts. Inserts new data as rows (`export --format rows`) into " \
    "ClickHouse; examples/fleet has the tables. A URL with a question mark is used as it is, for " \
    "other servers that accept lines of JSON over HTTP."
#define SHIP_NOTES \
    "While the server is down, rows wait in the logs: nothing else is written to disk. Rows that " \
    "were not acknowledged are sent again with the same ids, so they count once. After a " \
    "restart, existing logs are sent again from their beginning. Stacks are the machine's " \
    "(--physical), which do not change while a log grows.\nA proxy that the environment names " \
    "(https_proxy, http_proxy, all_proxy) is used for servers on other machines only. " \
    "Credentials leave this machine only in TLS, through a proxy too.\nIt ends with SIGTERM or " \
    "SIGINT, after one more attempt to send what is left. Exit status: 0, or 3 if something " \
    "could not be sent."

#endif
