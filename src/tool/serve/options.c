#include "serve/options.h"

#include "command/rows.h"

#define ARGS_INTO struct serve_options
const struct args_option serve_rows[] = {
    ARGS_ROW(TEXT, "listen", "ADDRESS:PORT", listen,
             "listen on TCP, for clients with the token; port 0: a free one, which is printed",
             .letter = 'l', .group = "Where it answers"),
    ARGS_ROW(
        TEXT, "socket", "PATH", socket,
        "answer on a Unix socket there (default: serve.sock in $XDG_RUNTIME_DIR/shadowtrace, or "
        "in /tmp/shadowtrace-UID)"),
    ARGS_ROW(TEXT, "token-file", "FILE", token_file,
             "a file with the token for TCP, which only you can read; it is created if missing "
             "(default: serve.token in the folder of the default socket)"),
    ARGS_ROW(
        LIST, "host", "NAME", hosts,
        "another name of this machine in requests; addresses and localhost are always accepted"),
    ARGS_EXPLAINED(
        "/metrics",
        "for Prometheus: allocations and bytes, rates, top types and own sites, what was lost",
        .group = "What it answers"),
    ARGS_EXPLAINED("/debug/pprof/allocs",
                   "for `go tool pprof`: since the start; with ?seconds=N of the next N seconds"),
    ARGS_EXPLAINED("/debug/pprof/heap",
                   "live objects after the last collection, for a log recorded with --live"),
    ARGS_EXPLAINED("/", "a page: the processes, and the flame graph of the last minutes, or with "
                        "?since=start of all"),
    ARGS_ROW(COUNT, "top", "N", top, "types and own sites in /metrics, each", .standard = 20,
             .least = 1, .limit = SERVE_TOP_MAX),
    ARGS_ROW(
        TEXT, "min-share", "PERCENT", min_share,
        "in profiles, add sites below this share of the bytes to their callers (default 0.001)"),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ROW_OWN_CODE(filters.own_code),
    ARGS_ROW(DURATION, "keep", "TIME", keep_ns, "how long a process that has ended is served",
             .unit = 1000000000, .standard = UINT64_C(600000000000),
             .limit = UINT64_C(86400000000000), .group = "What it keeps"),
    ROW_MAX_MEMORY((uint64_t)1 << 30, "memory for the sums of all processes; a process that "
                                      "exceeds it is no longer followed, and its responses say so"),
    ARGS_END};
