/* manual/parts.h - sections that pages are made of. */
#ifndef SHADOWTRACE_MANUAL_PARTS_H
#define SHADOWTRACE_MANUAL_PARTS_H

#include "command/command.h"
#include "manual/troff.h"

struct manual_edition {
    const char *version; /* of the program */
    const char *date;    /* 2026-11-24 */
};

/* The title line and NAME; `name` is that of the page, in small letters. */
void manual_begin(const struct troff *t, const char *name, const char *does,
                  const struct manual_edition *edition);

/* SYNOPSIS: a line for each way to write the arguments, which " | " parts; `name`: a command's. */
void manual_synopsis(const struct troff *t, const char *name, const char *args);

/* The words of all tables and of `args` that stand for something, each between blanks. */
void manual_variables(struct buffer *b, const struct cli_command *command);

/* OPTIONS, and a section for each group of a table that has only topics. */
void manual_options(const struct troff *t, const struct cli_command *command);

/* A section of terms; NULL: none. */
void manual_terms(const struct troff *t, const char *heading, const struct manual_term *terms);

/* EXAMPLES; NULL: none. */
void manual_examples(const struct troff *t, const struct manual_term *examples);

#endif
