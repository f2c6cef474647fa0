/*
 * command/loading.h - logs from their files to a model that a command can make trees of: read, with
 * a progress bar; problems told; lines looked up; own code found; names made.
 *
 *     loading_read -> loading_know -> loading_name -> model_tree_new -> ... -> loading_end
 */
#ifndef SHADOWTRACE_COMMAND_LOADING_H
#define SHADOWTRACE_COMMAND_LOADING_H

#include "command/filters.h"
#include "command/from_rows.h"
#include "model/names.h"
#include "model/own.h"

#include "base/buffer.h"

struct loading_options {
    struct reading_options reading;
    const struct filters *filters; /* of them the window and what is own code */
    const struct args_list *symbols;
    bool no_lines, physical;
    bool stands_in; /* what is nearest to own code may stand in for it; as with --own always */
    struct model_dimensions dimensions;
    bool calls;               /* as model_options' */
    uint32_t calls_thread;    /* id in the log; 0: of all */
    struct reading_live live; /* instead: the window is its, all allocations are read */
    int (*event)(void *context, const struct report_cell_event *event); /* as model_options' */
    /* After each log, of rows never. Returns: 0 or -errno, which ends it. NULL: not needed. */
    int (*each)(void *context, const struct model *m, const char *log);
    void *context; /* of both */
};

/* What a command's options of those names say (command/rows.h). */
#define LOADING_ASKED(args) \
    .reading = (args)->reading, .filters = &(args)->filters, .symbols = &(args)->symbols, \
    .no_lines = (args)->no_lines, .physical = (args)->physical

struct loading {
    struct log_problems problems;
    struct log_window found; /* of the log read last: the part that was asked for */
    struct model *model;
    const struct log_defs *defs;
    struct source_lines *lines; /* NULL: not looked up */
    struct model_own *own;
    struct names *names, *others; /* those shown; what globs mean besides */
    struct rows_log *rows;        /* with --from-rows what was read; NULL: logs */
    struct buffer own_note;       /* a line where own code makes next to nothing; else empty */
    bool stand_in;                /* and so others count as own */
};

/*
 * loading_read - `count` logs, or all up to a NULL. Returns: CLI_OK; else a line has said why.
 * Owns: *out must not move, and is the caller's until loading_end, whatever is returned.
 */
int loading_read(const struct cli_command *command, const struct loading_options *options,
                 char **logs, size_t count, struct loading *out);

/*
 * loading_know - lines and own code; the model knows them. Where own code makes next to nothing and
 * has no line, the nearest modules stand in for it. Returns: 0; -ENOMEM; -ENOENT: what is to be own
 * code matches nothing, why says which.
 * loading_tell_own - with --own: whose code it is about, if it is not own, in a line on stderr.
 */
int loading_know(const struct cli_command *command, const struct loading_options *options,
                 struct loading *l, char *why, size_t why_size);
void loading_tell_own(const struct cli_command *command, const struct loading_options *options,
                      const struct loading *l);

/*
 * loading_name - first: logs shown beside these, as names_beside has it; NULL none.
 * Returns: 0 or -ENOMEM.
 */
int loading_name(struct loading *l, const struct loading *first, enum names_style style,
                 enum names_style others);

void loading_end(struct loading *l); /* trees first */

#endif
