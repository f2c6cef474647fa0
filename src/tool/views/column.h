/*
 * views/column.h - a view's rows as columns. A table of columns says what a row has, in text and in
 * JSON; one printer each walks over it. To add a column is to add a row to such a table.
 */
#ifndef SHADOWTRACE_VIEWS_COLUMN_H
#define SHADOWTRACE_VIEWS_COLUMN_H

#include "views/view_rows.h"

#include "base/json_writer.h"
#include "terminal/table.h"

/* A row that is being printed. */
struct view_row {
    const struct view_rows *of;
    const struct model_row *row;
    size_t number;               /* of the row, where it is printed */
    const struct column *column; /* whose value is asked for */
    double self_weights[MODEL_WEIGHTS];
    struct model_amount self, total;
};

/* What a column has of a row: the member that its kind needs. */
struct column_value {
    uint64_t count;
    double number;              /* a share of 1; ns */
    const char *text;           /* also in place of a count */
    const char *before;         /* of a name: blanks or lines of a tree */
    const char *link;           /* of a place; NULL: none */
    bool name;                  /* in a column of places: it is one */
    struct buffer made, beside; /* for texts made here */
};

struct column {
    const char *key;     /* in JSON; NULL: it is not there, or `json` writes it */
    const char *heading; /* in text; NULL: it is not there, or `titled` tells it */
    enum table_kind kind;
    unsigned rank, least;                     /* see struct table_column */
    unsigned number;                          /* for `value`, if several columns share one */
    bool (*shown)(const struct view_rows *r); /* NULL: always */
    const char *(*titled)(const struct view *v);
    bool (*value)(struct view_row *row, struct column_value *out); /* Returns: has it one? */
    void (*json)(struct view_row *row, struct json_writer *w);     /* one member or several */
};

/* A row of such a table that is there in text: what it is called, its kind, its value; then what
 * else it has. COLUMN_TITLED: `titled` tells what it is called. */
#define COLUMN(heading_, kind_, value_, ...) \
    { \
        .heading = (heading_), .kind = TABLE_##kind_, .value = (value_), __VA_ARGS__ \
    }
#define COLUMN_TITLED(titled_, kind_, value_, ...) \
    { \
        .titled = (titled_), .kind = TABLE_##kind_, .value = (value_), __VA_ARGS__ \
    }

struct columns {
    const struct column *column;
    size_t count;
};
#define COLUMNS(table) \
    { \
        table, COUNT_OF(table) \
    }

/* column_text - a value that is a text made for it, which is copied. */
static inline bool column_text(struct column_value *out, const char *text)
{
    buffer_text(&out->made, text);
    out->text = out->made.failed ? "?" : out->made.data;
    return true;
}

/* ---- text ---- */

struct columns_text {
    const struct view_rows *rows;
    const struct column *shown[TABLE_COLUMNS];
    struct table_column columns[TABLE_COLUMNS];
    size_t count;
    struct table *table;
};

/* columns_fit - the first `count` rows, laid out. Returns: 0 or -ENOMEM; then columns_free, too.
 * columns_print - headings and rows, each with what the view shows below it. */
int columns_fit(struct columns_text *c, const struct view_rows *r, size_t count, FILE *out);
void columns_print(const struct columns_text *c, FILE *out);
void columns_free(struct columns_text *c);

/* columns_table - all three. Returns: 0 or -ENOMEM. */
int columns_table(const struct view_rows *r, size_t count, FILE *out);

/* The name that a row has in its column of names, in b or a text of others. */
const char *columns_name(const struct view_rows *r, size_t number, struct buffer *b);

/* ---- JSON ---- */

/* columns_json - the first `count` rows, as the array `key` of the object open in w. */
void columns_json(const struct view_rows *r, const char *key, size_t count, struct json_writer *w);

#endif
