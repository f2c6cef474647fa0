#include "views/column.h"

static void row_at(const struct view_rows *r, size_t number, struct view_row *out)
{
    double total[MODEL_WEIGHTS];
    size_t at = number;
    const struct view_rows *of = r->locate ? r->locate(r, number, &at) : r;

    *out = (struct view_row){.of = of, .row = &of->rows.rows[at], .number = number};
    model_row_weights(&of->rows, out->row, false, out->self_weights);
    model_row_weights(&of->rows, out->row, true, total);
    view_amount(of->view, out->self_weights, &out->self);
    view_amount(of->view, total, &out->total);
}

/* The sets of columns that a view's rows have, one after the other. */
static const struct column *column_at(const struct view_rows *r, size_t number)
{
    for (size_t i = 0; i < VIEW_COLUMN_SETS; i++) {
        const struct columns *set = r->columns[i];

        if (set && number < set->count)
            return &set->column[number];
        number -= set ? set->count : 0;
    }
    return NULL;
}

static void value_begin(struct column_value *value, struct view_row *row, const struct column *c)
{
    row->column = c;
    value->count = 0;
    value->number = 0;
    value->text = value->before = value->link = NULL;
    value->name = false;
    buffer_clear(&value->made);
    buffer_clear(&value->beside);
}

static void value_end(struct column_value *value)
{
    buffer_free(&value->made);
    buffer_free(&value->beside);
}

/* ---- text ---- */

static void choose(struct columns_text *c)
{
    const struct view_rows *r = c->rows;
    const struct column *column;

    for (size_t i = 0; (column = column_at(r, i)) && c->count < TABLE_COLUMNS; i++) {
        if ((!column->heading && !column->titled) || (column->shown && !column->shown(r)))
            continue;
        c->shown[c->count] = column;
        c->columns[c->count++] =
            (struct table_column){column->titled ? column->titled(r->view) : column->heading,
                                  column->kind, column->rank, column->least};
    }
}

static void put(struct table *t, size_t at, enum table_kind kind, const struct column_value *value)
{
    switch (kind) {
    case TABLE_SHARE:
    case TABLE_BAR:
        table_share(t, at, value->number);
        break;
    case TABLE_NAME:
        table_name(t, at, value->before ? value->before : "", value->text);
        break;
    case TABLE_PLACE:
        if (value->name)
            table_name(t, at, "", value->text);
        else
            table_place(t, at, value->text, value->link);
        break;
    case TABLE_COUNT:
    case TABLE_TIME:
        if (value->text)
            table_text(t, at, value->text);
        else if (kind == TABLE_COUNT)
            table_count(t, at, value->count);
        else
            table_time(t, at, value->number);
        break;
    case TABLE_NUMBER_TEXT:
    case TABLE_TEXT:
        table_text(t, at, value->text);
        break;
    }
}

int columns_fit(struct columns_text *c, const struct view_rows *r, size_t count, FILE *out)
{
    const struct table_look look = view_look(r->view, out);
    struct column_value value = {.made = BUFFER_INIT, .beside = BUFFER_INIT};
    int err;

    *c = (struct columns_text){.rows = r};
    choose(c);
    err = table_new(c->columns, c->count, &c->table);
    for (size_t i = 0; !err && i < count; i++) {
        struct view_row row;

        row_at(r, i, &row);
        table_row(c->table);
        for (size_t k = 0; k < c->count; k++) {
            value_begin(&value, &row, c->shown[k]);
            if (c->shown[k]->value(&row, &value))
                put(c->table, k, c->shown[k]->kind, &value);
        }
    }
    value_end(&value);
    return err ? err : table_fit(c->table, &look);
}

void columns_print(const struct columns_text *c, FILE *out)
{
    size_t count = table_rows(c->table);
    struct buffer line = BUFFER_INIT;
    struct view_row row;

    if (count)
        fprintf(out, "%s\n", table_head(c->table, &line));
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s\n", table_line(c->table, i, &line));
        if (!c->rows->below)
            continue;
        row_at(c->rows, i, &row);
        c->rows->below(row.of, row.row, out);
    }
    buffer_free(&line);
}

void columns_free(struct columns_text *c)
{
    table_free(c->table);
}

int columns_table(const struct view_rows *r, size_t count, FILE *out)
{
    struct columns_text columns;
    int err = columns_fit(&columns, r, count, out);

    if (!err)
        columns_print(&columns, out);
    columns_free(&columns);
    return err;
}

const char *columns_name(const struct view_rows *r, size_t number, struct buffer *b)
{
    struct column_value value = {.made = BUFFER_INIT, .beside = BUFFER_INIT};
    const struct column *column;
    struct view_row row;

    buffer_clear(b);
    row_at(r, number, &row);
    for (size_t i = 0; (column = column_at(r, i)); i++) {
        if (column->kind != TABLE_NAME || !column->value)
            continue;
        value_begin(&value, &row, column);
        if (column->value(&row, &value))
            buffer_text(b, value.text);
        break;
    }
    value_end(&value);
    return b->data && !b->failed ? b->data : "";
}

/* ---- JSON ---- */

static void member(const struct column *c, const struct column_value *value, struct json_writer *w)
{
    if (c->kind == TABLE_SHARE)
        jw_number(w, c->key, "%.6g", value->number);
    else if (c->kind == TABLE_TIME)
        jw_unsigned(w, c->key, (uint64_t)value->number);
    else if (value->text)
        jw_text(w, c->key, value->text);
    else
        jw_unsigned(w, c->key, value->count);
}

void columns_json(const struct view_rows *r, const char *key, size_t count, struct json_writer *w)
{
    struct column_value value = {.made = BUFFER_INIT, .beside = BUFFER_INIT};
    const struct column *column;
    struct view_row row;

    jw_line_array(w, 1, key);
    for (size_t i = 0; i < count; i++) {
        row_at(r, i, &row);
        jw_line_object(w, 2, NULL);
        for (size_t k = 0; (column = column_at(r, k)); k++) {
            if ((!column->key && !column->json) || (column->shown && !column->shown(r)))
                continue;
            value_begin(&value, &row, column);
            if (column->json)
                column->json(&row, w);
            else if (column->value(&row, &value))
                member(column, &value, w);
        }
        jw_end(w);
    }
    jw_end(w);
    value_end(&value);
}
