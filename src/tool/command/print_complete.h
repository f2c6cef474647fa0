/*
 * command/print_complete.h - whether a log is complete, and what is missing, in words and in JSON:
 * for every command, page and export the same (readers/complete.h).
 */
#ifndef SHADOWTRACE_COMMAND_PRINT_COMPLETE_H
#define SHADOWTRACE_COMMAND_PRINT_COMPLETE_H

#include "command/command.h"

#include "readers/log.h"

#include <jansson.h>

/* print_complete - a line, or a line and one for each gap. */
void print_complete(const struct report_log *log, FILE *out);

/* print_complete_stderr - one line on stderr if it is not; for formats that have no place for it. */
void print_complete_stderr(const struct cli_command *command, const struct report_log *log);

/* print_complete_json - {"complete": bool, "gaps": […]}, the caller's; NULL: no memory. */
json_t *print_complete_json(const struct report_log *log);

/* The same of gaps that are at hand. */
void print_gaps(const struct report_completeness *c, FILE *out);
json_t *print_gaps_json(const struct report_completeness *c);

#endif
