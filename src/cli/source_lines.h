/*
 * cli/source_lines.h - the one place where reports ask for files and lines: symbols of a module, opened at first need.
 */
#ifndef SHADOWTRACE_CLI_SOURCE_LINES_H
#define SHADOWTRACE_CLI_SOURCE_LINES_H

#include "report/defs.h"

struct source_lines;

struct source_line {
    const char *file; /* as the compiler wrote it; lives as long as the source_lines */
    uint32_t line;
};

int source_lines_new(struct source_lines **out); /* 0 or -ENOMEM */
void source_lines_free(struct source_lines *s);

/* source_line_of - where `il` of a method (number in defs) stands in the source. false: not known. */
bool source_line_of(struct source_lines *s, const struct report_defs *defs, uint32_t method,
                    int32_t il, struct source_line *out);

#endif
