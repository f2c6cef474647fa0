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

/*
 * diff_join_unlined - what a method makes on a line that is not known, and one of its lines, become
 * one row where the one lost what the other has more of. How much of a method is optimised, and
 * when, differs from run to run.
 * Returns: 0 or -ENOMEM; *joined counts the rows that became part of others.
 */
int diff_join_unlined(struct diff_rows *rows, uint64_t *joined);

#endif
