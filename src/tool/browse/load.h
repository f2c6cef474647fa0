/* browse/load.h - logs from their files to what is looked at. */
#ifndef SHADOWTRACE_BROWSE_LOAD_H
#define SHADOWTRACE_BROWSE_LOAD_H

#include "browse/data.h"
#include "command/naming.h"
#include "command/reading.h"

struct load_options {
    struct reading_options reading;
    struct args_list symbols, sources, own_code;
    struct naming naming;
    struct reading_window window; /* of each log */
    const char *filter;           /* as typed behind f; NULL none */
    bool own;
    bool no_lines, physical;
};

struct loaded {
    struct report_problems problems;
    struct model *model;
    struct source_lines *lines;
    struct model_own *own;
    struct data_log *logs;
    struct data data;
};

/*
 * load - reads all logs; `command` says what is wrong. Returns: the exit status.
 * Owns: *out must not move, and is the caller's until load_end, whatever is returned; options and
 * paths are borrowed.
 */
int load(const struct cli_command *command, const struct load_options *options, char **paths,
         size_t count, struct loaded *out);
void load_end(struct loaded *l);

#endif
