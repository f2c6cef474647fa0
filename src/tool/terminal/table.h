/*
 * terminal/table.h - rows of a text view in columns that fit the terminal.
 *
 *     table_new(columns, count, &t);
 *     for each row: table_row(t); table_count(t, 0, bytes); table_name(t, 1, "", name); ...
 *     table_fit(t, &(struct table_look){.width = terminal_width(out)});
 *     table_print(t, out);              all of it, or
 *     table_head(t, b), table_line(t, row, b)    line by line, with lines of others between them
 *
 * Numbers are never cut. Where the columns do not fit, names, places and texts are cut (fit.h) down
 * to what they are worth showing in; then columns are left out, the highest rank first; then
 * numbers become short ones (21.1M); then what is left is cut to the width.
 *
 * Setters fill the newest row. The setter's name says how a text is shortened, whatever else its
 * column has. A cell that is not set stays empty. Texts are copied, and cleaned when printed.
 * table_fit reports that memory ran out.
 *
 * Threads: one at a time.
 */
#ifndef SHADOWTRACE_TERMINAL_TABLE_H
#define SHADOWTRACE_TERMINAL_TABLE_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_COLUMNS 16 /* of a table, at most */

enum table_kind {
    TABLE_COUNT,       /* at the right: 1,234,567; bytes, too */
    TABLE_SHARE,       /* at the right: 12.3% */
    TABLE_TIME,        /* at the right: 3.4 ms */
    TABLE_BAR,         /* a share of 1 as a bar of `least` columns */
    TABLE_NUMBER_TEXT, /* at the right, as it is: "1.2M-3.4M" */
    TABLE_TEXT,
    TABLE_NAME,  /* of a type or method, maybe behind the lines of a tree */
    TABLE_PLACE, /* file and line */
};

#define TABLE_IF_FILLED 100u /* added to a rank: the column is there only if some row fills it */

struct table_column {
    const char *heading;
    enum table_kind kind;
    unsigned rank;  /* 0: never left out */
    unsigned least; /* columns that a text is worth showing in; 0: 16; of a bar its width, 0: 10 */
};

struct table_look {
    size_t width; /* SIZE_MAX: nothing is cut */
    size_t indent;
    bool colour;
};

struct table;

/* columns: borrowed. Returns: 0 or -ENOMEM. */
int table_new(const struct table_column *columns, size_t count, struct table **out);
void table_free(struct table *t);  /* NULL is fine */
void table_clear(struct table *t); /* no rows; columns stay */

void table_row(struct table *t);    /* begins a row */
void table_strong(struct table *t); /* the row stands out, where there are colours */
void table_count(struct table *t, size_t column, uint64_t value);
void table_share(struct table *t, size_t column, double share); /* TABLE_SHARE, TABLE_BAR */
void table_time(struct table *t, size_t column, double ns);
void table_text(struct table *t, size_t column, const char *text); /* NULL: empty */
/* before: lines of a tree or blanks; where they would take over half of the column, their front is
 * cut. */
void table_name(struct table *t, size_t column, const char *before, const char *name);
/* uri: of a link that terminals open, NULL none. Only what cannot end an escape is passed on. */
void table_place(struct table *t, size_t column, const char *place, const char *uri);

size_t table_rows(const struct table *t);

/* table_fit - lays out the rows there are. Returns: 0 or -ENOMEM (some setter's, too). */
int table_fit(struct table *t, const struct table_look *look);

/* Whether a column is shown, and the columns it has; after table_fit. */
bool table_shows(const struct table *t, size_t column);
size_t table_column_width(const struct table *t, size_t column);
/* Where a shown column begins, from 0: to put lines below a row's name. */
size_t table_column_at(const struct table *t, size_t column);

/* One line, without newline and without blanks at its end, in b (cleared first). */
const char *table_head(const struct table *t, struct buffer *out);
const char *table_line(const struct table *t, size_t row, struct buffer *out);

/* table_print - headings and all rows, each with a newline. */
void table_print(const struct table *t, FILE *out);

#endif
