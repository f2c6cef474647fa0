/*
 * command/print_complete.h - whether a log is complete, and what is missing (readers/complete.h),
 * in words and in JSON: the same for every command, page and export.
 */
#ifndef SHADOWTRACE_COMMAND_PRINT_COMPLETE_H
#define SHADOWTRACE_COMMAND_PRINT_COMPLETE_H

#include "command/command.h"

#include "base/buffer.h"
#include "base/json_writer.h"
#include "readers/log.h"
#include "readers/marks.h"

/* print_complete - a line, or a line and one for each gap. */
void print_complete(const struct log_input *log, FILE *out);

/* print_complete_text - the same in one line if it is not. Returns: whether there is one. */
bool print_complete_text(const struct log_input *log, struct buffer *b);

/* print_complete_stderr - one line on stderr if it is not, for formats without a place for it. */
void print_complete_stderr(const struct cli_command *command, const struct log_input *log);

/* One gap, in words. */
void print_gap(struct buffer *b, const struct log_gap *gap);

/* Gaps that are at hand: a line for each. */
void print_gaps(const struct log_completeness *c, FILE *out);

/* Members of an object that is open in w: complete and gaps; problem_count and problems. */
void print_gaps_json(const struct log_completeness *c, struct json_writer *json);
void print_problems_json(const struct log_problems *problems, struct json_writer *w);

/* print_log_json - an object: how far the log goes, what is wrong with it, what is missing. */
void print_log_json(const struct log_input *log, const struct log_problems *problems,
                    const char *key, struct json_writer *w);

/* print_collection_json - members of an open object; time: the key of its moment. */
void print_collection_json(const struct log_collection *c, const char *time,
                           struct json_writer *json);

#endif
