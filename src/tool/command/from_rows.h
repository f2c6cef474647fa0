/*
 * command/from_rows.h - --from-rows: a command that reads logs reads rows of tables instead, as
 * `export --format rows` and queries of examples/fleet write them. They become one log, which takes
 * the place of all of them; the rest of the command notices nothing.
 */
#ifndef SHADOWTRACE_COMMAND_FROM_ROWS_H
#define SHADOWTRACE_COMMAND_FROM_ROWS_H

#include "command/reading.h"
#include "rows/rows_log.h"

#define ROW_FROM_ROWS \
    ARGS_ROW(FLAG, "from-rows", NULL, reading.rows, \
             "LOG contains rows, not a log: the output of `export --format rows`, or of a query " \
             "of the tables in examples/fleet; duplicate rows count once")

struct from_rows {
    struct rows_log *log; /* NULL: none */
    char path[ROWS_LOG_PATH];
    char *logs[2]; /* the path, and NULL */
};

/*
 * from_rows_read - `count` files, or all up to a NULL. window: must be none, for rows have no
 * times. Returns: the exit status; a line has said what is wrong. Owns: *out must not move, and is
 * the caller's until from_rows_free, whatever is returned.
 */
int from_rows_read(const struct cli_command *command, const struct reading_window *window,
                   char *const *files, size_t count, struct from_rows *out);
void from_rows_free(struct from_rows *f); /* also a zeroed one */

/* from_rows_give - as rows_log_give; nothing without rows, or without lines (NULL). */
int from_rows_give(const struct from_rows *f, const struct report_defs *defs,
                   struct source_lines *lines);

#endif
