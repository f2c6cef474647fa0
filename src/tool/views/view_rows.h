/* views/view_rows.h - rows of a model (model/rows.h) as a view shows them. */
#ifndef SHADOWTRACE_VIEWS_VIEW_ROWS_H
#define SHADOWTRACE_VIEWS_VIEW_ROWS_H

#include "views/view.h"
#include "model/rows.h"

struct view_rows {
    const struct view *view;
    enum view_kind kind;
    struct model_rows rows;
};

/* Kinds: all flat ones. Returns: 0 or -ENOMEM; *r is for view_rows_fini even then. */
int view_rows_init(struct view_rows *r, const struct view *v, enum view_kind kind);
void view_rows_fini(struct view_rows *r);

/* Puts the row's line, or why it has none, in the column of the last row of t. */
void view_put_place(const struct view_rows *r, const struct model_row *row, struct table *t,
                    size_t column);

/* "Doc[], string +3": of the row's types the first ones, in b. */
const char *view_types_text(const struct view_rows *r, const struct model_row *row, size_t most,
                            struct buffer *b);
/* What a row is of: for people, in b or a text of others; as members of the object open in w. */
const char *view_row_text(const struct view_rows *r, const struct model_row *row, struct buffer *b);
void view_row_what_json(const struct view_rows *r, const struct model_row *row,
                        struct json_writer *w);
const char *view_row_heading(enum view_kind kind); /* of the column that view_row_text is in */
/* Below the rows: how many of them were shown, and what share; of own lines also which command
 * shows what has no own frame. */
void view_print_shown(const struct view_rows *r, size_t shown, FILE *out);
/* An object of the array that is open in w. */
void view_row_json(const struct view_rows *r, const struct model_row *row, struct json_writer *w);

#endif
