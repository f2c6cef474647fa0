/*
 * manual/troff.h - texts of the tables, for people, as the source of a manual page.
 *
 * In a text `code` and options are bold; words in capitals that stand for something are slanted;
 * `shadowtrace help NAME` is a reference to that page.
 */
#ifndef SHADOWTRACE_MANUAL_TROFF_H
#define SHADOWTRACE_MANUAL_TROFF_H

#include "base/buffer.h"

struct troff {
    struct buffer *page;
    const char *variables; /* the words that stand for something, each between blanks */
};

/* One line of code. All of it but variables is bold. */
void troff_code(const struct troff *t, const char *text);

/* The same for the head of a list's item, .TP; in `name` there are no variables. */
void troff_term(const struct troff *t, const char *name, const char *argument);

/* Paragraphs; `next` is the macro that begins each but the first: .PP, or .IP within a list. */
void troff_text(const struct troff *t, const char *text, const char *next);

/* The same of a text that is no sentence yet: it gets a capital letter and its end, . or : */
void troff_sentence(const struct troff *t, const char *text, char end, const char *next);

/* A heading: .SH, which is in capitals, or .SS. */
void troff_heading(const struct troff *t, const char *macro, const char *text);

#endif
