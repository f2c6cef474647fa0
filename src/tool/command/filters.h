/*
 * command/filters.h - what part of its logs a command is asked for, and whose code is own: the
 * options of `report`, `html` and `export`, which mean the same everywhere.
 */
#ifndef SHADOWTRACE_COMMAND_FILTERS_H
#define SHADOWTRACE_COMMAND_FILTERS_H

#include "command/reading.h"
#include "command/rows.h"
#include "model/shape.h"

struct filters {
    struct args_list types, methods, exclude, below, own_code, processes;
    struct reading_window window;
    uint32_t thread; /* id in the log; 0 all */
    bool own, no_own, once, no_once, steady;
    bool generated; /* generated code is as what was written by hand: model/near.h */
};

#define ROW_PROCESS(into, group_) \
    ARGS_ROW(LIST, "process", "PATTERN", into, \
             "of several logs or a directory, only those of processes whose main assembly " \
             "matches, as in `record --process`: MSBuild, VBCS*", \
             .group = (group_))

/* Their rows, but for --steady. ARGS_INTO has a member `filters`. group: as a row's. */
#define ROWS_FILTERS(group_) \
    ROW_PROCESS(filters.processes, group_), \
        ARGS_ROW(COUNT, "thread", "ID", filters.thread, "only the thread with this id in the log", \
                 .least = 1, .limit = UINT32_MAX - 1), \
        ARGS_ROW(LIST, "type", "PATTERN", filters.types, \
                 "only types whose name, as shown or in full, matches; * stands for any text, ? " \
                 "for one character"), \
        ARGS_ROW(LIST, "method", "PATTERN", filters.methods, \
                 "only allocations in or below methods whose name matches"), \
        ARGS_ROW(LIST, "exclude", "PATTERN", filters.exclude, \
                 "leave out these types, and allocations in or below these methods"), \
        ARGS_ROW(LIST, "below", "PATTERN", filters.below, \
                 "stacks begin at their outermost method that matches; others are left out"), \
        ROW_OWN(filters.own), \
        ARGS_ROW(FLAG, "no-own", NULL, filters.no_own, \
                 "only allocations without own code on the stack: (no own frame) in `report --by " \
                 "own`"), \
        ROW_OWN_CODE(filters.own_code), \
        ARGS_ROW(FLAG, "generated", NULL, filters.generated, \
                 "show generated lines (source generators, gRPC, *.g.cs, obj/) as own lines; by " \
                 "default their allocations count for the nearest hand-written line"), \
        ARGS_ROW(FLAG, "once", NULL, filters.once, \
                 "only what is made once: in or below static constructors, module initializers " \
                 "and what the runtime calls before Main"), \
        ARGS_ROW(FLAG, "no-once", NULL, filters.no_once, "leave out what is made once"), \
        ARGS_ROW(TEXT, "from", "WHEN", filters.window.from, \
                 "only allocations after this mark (`shadowtrace ctl PID mark MARK`), or " \
                 "from this time on: 10s, 500ms, 50%"), \
        ARGS_ROW(TEXT, "to", "WHEN", filters.window.to, \
                 "only allocations before this mark, the first with its name after --from, or " \
                 "before this time")
#define ROW_STEADY(more) \
    ARGS_ROW(FLAG, "steady", NULL, filters.steady, \
             "leave out objects that only unoptimised code makes" more)

/* filters_model - the same for a tree; the lists are borrowed. filters_any: it is not all. */
struct model_filter filters_model(const struct filters *f);
bool filters_any(const struct filters *f);

/*
 * filters_processes - as reading_once, and of these logs those of the processes that --process
 * names, if it names any.
 * Returns: the exit status; a line has said which processes there are, if none is one of them.
 */
int filters_processes(const struct cli_command *command, const struct args_list *processes,
                      char **logs, size_t *count);

/*
 * filters_share - what --min-share says, "0.5" or "0.5%", as a share from 0 to 1; NULL: *share
 * stays. Returns: CLI_OK; CLI_USAGE: a line has said what is wrong.
 */
int filters_share(const struct cli_command *command, const char *text, double *share);

#endif
