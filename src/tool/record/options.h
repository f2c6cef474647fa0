/* record/options.h - arguments of `record` and `env`, nearly the same, as struct options. */
#ifndef SHADOWTRACE_RECORD_OPTIONS_H
#define SHADOWTRACE_RECORD_OPTIONS_H

#include "command/command.h"
#include "command/why.h"
#include "options/options.h"

#include <limits.h>

enum env_format { ENV_SHELL, ENV_JSON, ENV_DOCKER, ENV_SYSTEMD, ENV_RUNSETTINGS };

struct record_args {
    struct options options;
    const char *output;     /* as given; NULL: it was not */
    const char *heap;       /* --heap-at-exit, as given; NULL: it was not */
    bool always_on;         /* --always-on */
    bool attaches;          /* to a process that runs: attach */
    uint64_t lasts;         /* --for, in nanoseconds: attach */
    bool snapshots;         /* as stacks: attach */
    uint32_t check;         /* attach */
    bool quiet, progress;   /* record */
    enum env_format format; /* env */
};

extern const struct args_option record_options[];
/* Those on the short help pages of `record` and `env`. */
extern const char *const record_usual[], *const record_env_usual[]; /* what both share */

#define RECORD_PATTERNS \
    "BYTES may end in K, M or G (KiB, MiB, GiB), N in k, M or G (1,000s). A PATTERN matches a " \
    "whole " \
    "name; * stands for any text, ? for one character."

/*
 * record_options_settle - what depends on more than one option, once all are read.
 * Returns: an exit status; when it is not CLI_OK one line was written to stderr.
 */
int record_options_settle(const struct cli_command *command, const struct args *args,
                          struct record_args *r);
void record_options_free(void *r); /* of a struct record_args; as a command's `free` */

/* Where the log goes: the folder of its file, or the one given; "" if neither is set. */
void record_options_folder(const struct options *o, char folder[PATH_MAX]);

/* record_options_make_folder - of -o FOLDER/, where it is missing. Returns: CLI_OK or CLI_IO. */
int record_options_make_folder(const struct options *o, struct record_why *why);

/* record_options_check_absent - the half of check_output that creates no file for a trial. */
int record_options_check_absent(const struct options *o, struct record_why *why);

/* Could the log be created? What exists is never overwritten. Returns: CLI_OK or CLI_IO. */
int record_options_check_output(const struct options *o, struct record_why *why);

#endif
