/* model/diff_lines.h - lines of source code that have other numbers in another build. */
#ifndef SHADOWTRACE_MODEL_DIFF_LINES_H
#define SHADOWTRACE_MODEL_DIFF_LINES_H

#include "model/diff_rows.h"

/* What is the same in every build: the type, method and file if known. Returns: has it a line? */
bool diff_line_of(const struct diff_log *log, const struct model_row *row, struct diff_key *key);

/* diff_line_number - rises with the line; of one that may be another it is another number. */
static inline uint64_t diff_line_number(const struct model_place *place)
{
    return (uint64_t)place->line << 32 | place->line_last;
}

/*
 * diff_join_lines - rows by line, each of one side, become one where they are of the same line.
 * Returns: 0 or -ENOMEM.
 */
int diff_join_lines(struct diff_rows *rows);

#endif
