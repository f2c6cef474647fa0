/*
 * serve/options.h - the options of `shadowtrace serve`. The command explains and checks them, and
 * starts the separate executable (src/tool/server), which reads the same rows.
 */
#ifndef SHADOWTRACE_SERVE_OPTIONS_H
#define SHADOWTRACE_SERVE_OPTIONS_H

#include "command/command.h"
#include "command/filters.h"

#define SERVE_TOP_MAX 200

struct serve_options {
    const char *listen, *socket, *token_file; /* NULL: not given */
    struct args_list hosts;
    uint64_t top;
    uint64_t keep_ns;
    uint64_t max_memory; /* bytes */
    const char *min_share;
    struct args_list symbols;
    bool no_lines;
    struct filters filters; /* of them own_code */
};

extern const struct args_option serve_rows[];

/*
 * The command, which run() of the file runs: in one program it starts the other, in the other it
 * serves.
 */
#define SERVE_COMMAND \
    CLI_COMMAND(serve, "[options] [LOG...]", \
                "serve running recordings to Prometheus, pprof and browsers", \
                .about = SERVE_ABOUT, .notes = SERVE_NOTES, \
                CLI_TAKES(struct serve_options, serve_rows, 0, SERVE_LOGS_MAX, NULL, false))

#define SERVE_LOGS_MAX 64
#define SERVE_ABOUT \
    "Follows the logs of your traced processes (as `shadowtrace list` finds them), or LOG, while " \
    "they are written, and answers HTTP requests. ?pid=PID chooses a process, ?log=LOG a log. " \
    "The default is the first process found that still runs; /metrics covers all."
#define SERVE_NOTES \
    "Without --listen it answers on a Unix socket that only you can open. With --listen a token " \
    "is always needed: as `Authorization: Bearer TOKEN`, or as the password of any user, as in " \
    "`go tool pprof http://x:TOKEN@127.0.0.1:9464/debug/pprof/allocs`. Responses are not " \
    "encrypted: use a proxy for access from other machines.\nIt ends with SIGTERM or SIGINT: " \
    "pending requests are served, the socket is removed, the status is 0."

#endif
