/*
 * views/view_rows.h - rows of a model (model/rows.h) as a view shows them: which key they are of,
 * and in which columns (views/column.h).
 */
#ifndef SHADOWTRACE_VIEWS_VIEW_ROWS_H
#define SHADOWTRACE_VIEWS_VIEW_ROWS_H

#include "views/view.h"
#include "model/rows.h"

struct column_value;
struct columns;
struct view_row;

/* What follows a row in text, such as its stack. */
struct view_rows;
typedef void view_below(const struct view_rows *r, const struct model_row *row, FILE *out);

enum { VIEW_COLUMNS_AMOUNTS, VIEW_COLUMNS_WHAT, VIEW_COLUMNS_NOTES, VIEW_COLUMN_SETS };

struct view_rows {
    const struct view *view;
    enum view_kind kind;
    struct model_rows rows;
    const struct columns *columns[VIEW_COLUMN_SETS]; /* NULL: none */
    view_below *below;                               /* NULL: nothing */
    const uint32_t *depths;                          /* by row, of processes; NULL: all 0 */
    uint64_t slice_ns;                               /* of time */
    double most;                                     /* bytes of the slice with the most */
    struct view_deaths *deaths;                      /* by row, of lifetimes; NULL: none */
    struct view_grows *grows;                        /* by row, of grown; NULL: none */
    const void *context;                             /* for columns of one view only */
    /* Rows that are those of others: whose, and which of its; NULL: they are its own. */
    const struct view_rows *(*locate)(const struct view_rows *r, size_t number, size_t *at);
};

/* Kinds: all flat ones. Returns: 0 or -ENOMEM; *r is for view_rows_fini even then. */
int view_rows_init(struct view_rows *r, const struct view *v, enum view_kind kind);
void view_rows_fini(struct view_rows *r);

/*
 * view_rows_text - the head, the first `shown` rows, and how many these are; all but the foot.
 * view_rows_json - the object with all of them. Both return: 0 or -ENOMEM.
 */
int view_rows_text(const struct view_rows *r, size_t shown, FILE *out);
int view_rows_json(const struct view_rows *r, size_t shown, FILE *out);
/* Below the rows: how many of them were shown, and what share; of own lines also which command
 * shows what has no own frame. */
void view_print_shown(const struct view_rows *r, size_t shown, FILE *out);

/* view_live_beside - fills deaths or grows, if the question wants them. Returns: 0 or -ENOMEM.
 * view_live_growing - which rows grow at each collection, a line each. */
int view_live_beside(struct view_rows *r);
void view_live_growing(const struct view_rows *r, FILE *out);

/* ---- columns of several views ---- */

extern const struct columns view_amount_columns;      /* of what was allocated */
extern const struct columns view_live_amount_columns; /* of what a live question asks */
extern const struct columns view_process_columns, view_time_columns;

bool view_value_bytes(struct view_row *row, struct column_value *out);
bool view_value_share(struct view_row *row, struct column_value *out);
bool view_value_objects(struct view_row *row, struct column_value *out);
bool view_value_range(struct view_row *row, struct column_value *out);
void view_amount_members(struct view_row *row, struct json_writer *w);
/* The columns that say how much, in each view the same; `last`: the rank of the objects. */
#define VIEW_AMOUNTS(last) \
    {.json = view_amount_members}, \
        {.heading = "bytes", .kind = TABLE_COUNT, .value = view_value_bytes}, \
        {.heading = "share", .kind = TABLE_SHARE, .rank = 2, .value = view_value_share}, \
        {.heading = "objects", .kind = TABLE_COUNT, .rank = (last), .value = view_value_objects}, \
    { \
        .heading = "95% range", .kind = TABLE_NUMBER_TEXT, .rank = TABLE_IF_FILLED + 2, \
        .value = view_value_range \
    }
#define VIEW_SHARE_MEMBER \
    { \
        .key = "share", .kind = TABLE_SHARE, .value = view_value_share \
    }

/* The generated code that makes most of what a row of own lines has, in a line. */
void view_print_passed(const struct view_rows *r, const struct model_row *row, size_t indent,
                       FILE *out);
bool view_value_once(struct view_row *row, struct column_value *out);
#define VIEW_ONCE \
    { \
        .heading = "", .kind = TABLE_TEXT, .rank = TABLE_IF_FILLED + 8, .least = 12, \
        .value = view_value_once \
    }

bool view_value_type(struct view_row *row, struct column_value *out);  /* rows are of types */
bool view_value_line(struct view_row *row, struct column_value *out);  /* of lines, below, too */
bool view_value_types(struct view_row *row, struct column_value *out); /* "Doc[], string +3" */
/* A row's line, or why it has none. */
void view_find_line(const struct view_rows *r, const struct model_row *row,
                    struct column_value *out);

#endif
