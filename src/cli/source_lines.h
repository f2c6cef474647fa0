/*
 * cli/source_lines.h - the one place where reports ask for files and lines: symbols of a module,
 * opened at first need.
 */
#ifndef SHADOWTRACE_CLI_SOURCE_LINES_H
#define SHADOWTRACE_CLI_SOURCE_LINES_H

#include "cli/commands.h"

#include "report/defs.h"

struct source_lines;

struct source_line {
    const char *file; /* as the compiler wrote it; lives as long as the source_lines */
    uint32_t line;
};

/*
 * source_lines_new - for the modules of `defs` (borrowed).
 * command: speaks for symbols that are there but cannot be used, once for each module; missing ones
 *          are no news.
 * dirs:    folders to look in besides the assembly's own; borrowed; ndirs may be 0.
 * header:  of the log, or NULL: an assembly written after its recording began is another one, and
 *          gives no lines.
 * Returns: 0 or -ENOMEM.
 */
int source_lines_new(const struct cli_command *command, const struct report_defs *defs,
                     const char *const *dirs, size_t ndirs, const json_t *header,
                     struct source_lines **out);
void source_lines_free(struct source_lines *s);

/*
 * source_line_of - where `il` of a method (number in defs) stands in the source. s NULL, or not
 * known: false.
 */
bool source_line_of(struct source_lines *s, uint32_t method, int32_t il, struct source_line *out);

#endif
