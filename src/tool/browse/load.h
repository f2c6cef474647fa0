/* browse/load.h - logs from their files to what is looked at. */
#ifndef SHADOWTRACE_BROWSE_LOAD_H
#define SHADOWTRACE_BROWSE_LOAD_H

#include "browse/data.h"
#include "command/loading.h"

struct load_options {
    struct reading_options reading;
    struct args_list symbols, sources;
    struct naming naming;
    struct filters filters; /* of them what the command has: the window and own code */
    const char *filter;     /* as typed behind f; NULL none */
    bool no_lines, physical;
};

struct loaded {
    struct loading read;
    double before[MODEL_WEIGHTS]; /* sums of the logs read so far */
    size_t count;                 /* of them */
    struct data_log *logs;
    struct data data;
};

/*
 * browse_load - reads all logs; `command` says what is wrong. Returns: the exit status.
 * Owns: *out must not move, and is the caller's until browse_load_end, whatever is returned;
 * options and paths are borrowed.
 */
int browse_load(const struct cli_command *command, const struct load_options *options, char **paths,
                size_t count, struct loaded *out);
void browse_load_end(struct loaded *l);

#endif
