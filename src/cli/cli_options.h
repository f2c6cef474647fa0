/*
 * cli/cli_options.h - the arguments of `record` and `env`, which are the same but for a few, as struct options.
 */
#ifndef SHADOWTRACE_CLI_CLI_OPTIONS_H
#define SHADOWTRACE_CLI_CLI_OPTIONS_H

#include "cli/commands.h"
#include "cli/record_why.h"
#include "options/options.h"

enum cli_env_format { CLI_ENV_SHELL, CLI_ENV_JSON, CLI_ENV_DOCKER, CLI_ENV_SYSTEMD };

struct cli_recording {
    struct options options;
    bool help;                  /* --help: the rest was not looked at */
    bool quiet, progress;       /* record */
    enum cli_env_format format; /* env */
    int command;                /* where COMMAND begins in argv; argc if there is none */
};

/* The part of the help page that both share. */
#define CLI_OPTIONS_HELP \
    "What is recorded:\n" \
    "  --only PATTERN      hook only methods whose full name matches (may be repeated)\n" \
    "  --exclude PATTERN   do not hook methods that match (may be repeated)\n" \
    "  --types PATTERN     record allocations of matching types only (may be repeated)\n" \
    "  --process PATTERN   record processes whose main assembly matches (may be repeated)\n" \
    "  --min-size BYTES    record objects of this size and above only\n" \
    "  --sample BYTES      record one allocation per so many bytes, each with its weight\n" \
    "  --paused            do not record before being told to (`shadowtrace ctl PID start`)\n" \
    "  --no-control        no socket for `list`, `dump`, `ctl` and `top`\n" \
    "  --events LIST       which events, with commas: alloc (the default), calls (every enter " \
    "and\n" \
    "                      leave), threads, modules, classes, jit, exceptions, gc, suspend,\n" \
    "                      transitions (managed to native and back: a callback at each, see\n" \
    "                      README), finalizers (concurrent collection goes off), or all\n" \
    "  --calls PATTERN     trace calls of matching methods only (may be repeated)\n" \
    "  --max-depth N       trace calls nested at most N deep in other traced ones\n" \
    "  --min-duration NS   trace calls that take NS nanoseconds and above\n" \
    "  --call-buffer BYTES memory for traced calls that are not written yet, for whichever\n" \
    "                      threads need it (1G); what finds no room is counted\n" \
    "What methods are called with (slower hooks: elt2):\n" \
    "  --args PATTERN      arguments of methods whose full name matches (may be repeated); with\n" \
    "                      --only of the same methods at a fifth of the cost: no others are " \
    "hooked\n" \
    "  --returns PATTERN   what they return (may be repeated)\n" \
    "  --value-length N    characters of a text at most (100)\n" \
    "  --value-items N     elements of an array or a span at most (10)\n" \
    "  --exact-generics    Cache<Customer>, where code is shared and other stacks say Cache<T>\n" \
    "  --profile HZ        sample the stacks of all threads so many times a second, without\n" \
    "                      stopping them (at most 1000); `report --profile` shows it\n" \
    "  --profile-snapshot  the same by suspending the runtime, beside it; see `compare`\n" \
    "How:\n" \
    "  --hooks auto|elt2|elt3            hooks for method calls (auto)\n" \
    "  --capture shadow|snapshot|both    where stacks come from (shadow)\n" \
    "  --check N           compare every N-th stack of a thread with the runtime's own;\n" \
    "                      0: never (1000, and at most 2 % of its time; with --capture both 1)\n" \
    "  --check-calls N     compare in the hook of every N-th call of a thread\n" \
    "  --check-threads MS  so often suspend the runtime and compare the stacks of all threads\n" \
    "  --native            native frames, where logged snapshots have a run of them (libunwind)\n" \
    "  --no-lines          call paths by method only: no IL offsets, no lines\n" \
    "  --optimized         compile everything optimised from its first call: no tiers, own " \
    "code too\n" \
    "  --no-inline         keep the JIT from inlining, so that every call is seen\n" \
    "  --max-nodes N       distinct call paths to keep (4000000)\n" \
    "The log:\n" \
    "  -o, --output FILE   the first process writes FILE, others FILE with their PID before\n" \
    "                      the extension; a folder: default names in it\n" \
    "                      (shadowtrace-NAME-PID.ndjson, here)\n" \
    "  --log events|sites  a line for each allocation, or sums for each call site (events)\n" \
    "  --stacks node|inline              stacks by number, or in each line (node)\n" \
    "  --full wait|drop    when the log cannot keep up: threads wait a little, or not (wait)\n" \
    "  --compress          zstd\n" \
    "  --max-log BYTES     keep the log below this size\n" \
    "BYTES may end in K, M or G. A PATTERN covers a whole name; * stands for any text, ? for\n" \
    "one character.\n"

/*
 * cli_options_parse - read argv as main() gives it to a command.
 * Returns: an exit status; when it is not CLI_OK one line was written to stderr.
 * Owns:    out is initialised here and released with cli_options_fini, even on failure.
 */
int cli_options_parse(const struct cli_command *command, int argc, char **argv,
                      struct cli_recording *out);
void cli_options_fini(struct cli_recording *r);

/*
 * cli_options_check_output - could the log be created? What exists is never overwritten.
 * Returns: CLI_OK or CLI_IO.
 */
int cli_options_check_output(const struct options *o, struct record_why *why);

/* cli_parse_bytes - "1048576", "1024K", "1M". Returns 0; -EINVAL for no size; -ERANGE for one above max. */
int cli_parse_bytes(const char *text, uint64_t max, uint64_t *out);

#endif
