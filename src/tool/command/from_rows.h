/*
 * command/from_rows.h - --from-rows: a command that reads logs reads rows of tables instead, as
 * `export --format rows` and queries of examples/fleet write them. They become one recording in the
 * model's cells; the rest of the command notices nothing.
 */
#ifndef SHADOWTRACE_COMMAND_FROM_ROWS_H
#define SHADOWTRACE_COMMAND_FROM_ROWS_H

#include "command/reading.h"
#include "rows/rows_log.h"

#define ROW_FROM_ROWS \
    ARGS_ROW(FLAG, "from-rows", NULL, reading.rows, \
             "LOG contains rows, not a log: the output of `export --format rows`, or of a query " \
             "of the tables in examples/fleet; duplicate rows count once")

/*
 * from_rows_read - `count` files, or all up to a NULL. Returns: the exit status; a line has said
 * what is wrong. Owns: *out is the caller's until rows_log_free, whatever is returned; cells are
 * borrowed until then.
 */
int from_rows_read(const struct cli_command *command, char *const *files, size_t count,
                   struct report_cells *cells, struct rows_log **out);

#endif
