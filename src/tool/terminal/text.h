/* terminal/text.h - numbers, names and columns for people. */
#ifndef SHADOWTRACE_TERMINAL_TEXT_H
#define SHADOWTRACE_TERMINAL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_WIDTH 100 /* columns that output for people keeps to */

/* Any number of these may be in one printf: each call has its own memory in the caller's array. */
struct text_number {
    char text[32];
};

const char *text_count(struct text_number *to, uint64_t value);                   /* 1,234,567 */
const char *text_change(struct text_number *to, uint64_t before, uint64_t after); /* +1,234; 0 */
const char *text_share(struct text_number *to, double share);                     /* 12.3%; <0.1% */
const char *text_short(struct text_number *to, double value);   /* 950, 1.2k, 34.5M, 1.2G */
const char *text_bytes(struct text_number *to, uint64_t bytes); /* 812 bytes, 3.4 MB, of 1,000s */
const char *text_ns(struct text_number *to, double ns);         /* 25 ns, 3.4 us, 1.2 ms */

static inline const char *text_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* text_bar - a share of 1 as a bar of that many columns, in eighths of a column. */
struct buffer; /* base/buffer.h */
void text_bar(struct buffer *b, double share, size_t width);

/* text_print - text of others, as much of it as a terminal only shows (base/clean.h). */
void text_print(FILE *out, const char *text);

/* text_part - the same between two words; nothing for NULL. */
void text_part(FILE *out, const char *before, const char *text, const char *after);

/* text_clean - the same into `to`, cut to fit, for a column of printf's. Returns: to. */
const char *text_clean(char *to, size_t size, const char *text);

/* Columns that text takes: a letter has one, a wide one (East Asian, emoji) two, an accent none. */
size_t text_columns(const char *text);

/* text_letter - one letter of a text that has not ended. Returns: its bytes. */
size_t text_letter(const char *text, bool *safe, size_t *columns);

/*
 * text_elide - print text in at most `width` columns, the middle left out if needed. Returns: the
 * columns used.
 */
size_t text_elide(FILE *out, const char *text, size_t width);

/* WHEN of --links. text_links_wanted: auto asks `out`. */
enum text_links { TEXT_LINKS_AUTO, TEXT_LINKS_ALWAYS, TEXT_LINKS_NEVER };
extern const char *const text_links_words[];
bool text_links_wanted(enum text_links when, FILE *out);

#endif
