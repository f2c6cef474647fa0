#include "retained/changes.h"

#include "base/array.h"
#include "base/order.h"

#include "terminal/table.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include <string.h>

/* ---- rows ---- */

static int add(struct change_rows *r, const char *name, int side, const struct heap_sum *sum)
{
    struct change row = {.name = memory_strdup(name)};

    if (!row.name || !array_reserve(&r->rows, &r->capacity, r->count + 1)) {
        memory_free(row.name);
        return -ENOMEM;
    }
    row.sum[side] = *sum;
    r->rows[r->count++] = row;
    return 0;
}

static void add_sum(struct heap_sum *to, const struct heap_sum *sum)
{
    to->objects += sum->objects;
    to->bytes += sum->bytes;
    to->retained_objects += sum->retained_objects;
    to->retained_bytes += sum->retained_bytes;
}

ORDERED_BY(name_order, struct change, strcmp(x->name, y->name))

static int64_t grown(const struct change *c)
{
    return (int64_t)(c->sum[CHANGES_NEW].retained_bytes - c->sum[CHANGES_OLD].retained_bytes);
}

static int64_t grown_itself(const struct change *c)
{
    return (int64_t)(c->sum[CHANGES_NEW].bytes - c->sum[CHANGES_OLD].bytes);
}

ORDERED_BY(growth_order, struct change, ORDER(grown(y), grown(x)),
           ORDER(grown_itself(y), grown_itself(x)), strcmp(x->name, y->name))

/* What has one name becomes one row. */
static void settle(struct change_rows *r)
{
    size_t kept = 0;

    SORT(r->rows, r->count, name_order);
    for (size_t i = 0; i < r->count; i++) {
        if (!kept || strcmp(r->rows[kept - 1].name, r->rows[i].name) != 0) {
            r->rows[kept++] = r->rows[i];
            continue;
        }
        for (int side = 0; side < CHANGES_SIDES; side++)
            add_sum(&r->rows[kept - 1].sum[side], &r->rows[i].sum[side]);
        memory_free(r->rows[i].name);
    }
    r->count = kept;
    SORT(r->rows, r->count, growth_order);
}

static int add_types(struct changes *c, const struct held *h, int side)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < h->defs.classes.count; i++)
        if (h->types[i].objects)
            err = add(&c->types, i ? held_type(h, i) : "", side, &h->types[i]);
    return err;
}

static int add_paths(struct changes *c, struct held *h, int side)
{
    struct buffer b = BUFFER_INIT;
    struct heap_paths paths;
    int status = CLI_OK, err = heap_paths_all(&h->g, &h->d, &paths);

    if (!err)
        status = held_slots(h, &paths, 1);
    for (size_t i = 0; !err && !status && i < paths.count; i++)
        err = add(&c->paths, held_chain(h, &paths.paths[i], &b), side, &paths.paths[i].sum);
    buffer_free(&b);
    heap_paths_free(&paths);
    return err ? cli_failed(h->command, err) : status;
}

int changes_find(struct changes *c, struct held *old, struct held *new)
{
    struct held *sides[] = {old, new};
    int status = CLI_OK;

    *c = (struct changes){.sides = {old, new}};
    for (int side = 0; !status && side < CHANGES_SIDES; side++) {
        status = cli_failed(new->command, add_types(c, sides[side], side));
        if (!status)
            status = add_paths(c, sides[side], side);
    }
    settle(&c->types);
    settle(&c->paths);
    return status;
}

static void rows_free(struct change_rows *r)
{
    for (size_t i = 0; i < r->count; i++)
        memory_free(r->rows[i].name);
    memory_free(r->rows);
}

void changes_free(struct changes *c)
{
    rows_free(&c->types);
    rows_free(&c->paths);
}

/* ---- text ---- */

enum { GREW, OLD, NEW, OBJECTS, NAME };

static const struct table_column columns[] = {{"grew", TABLE_NUMBER_TEXT, 0, 0},
                                              {"retained", TABLE_COUNT, 1, 0},
                                              {"now", TABLE_COUNT, 0, 0},
                                              {"objects", TABLE_NUMBER_TEXT, 2, 0},
                                              {"type", TABLE_NAME, 0, 0}};

static void put_row(struct table *t, const struct change *row, const char *unknown)
{
    const struct heap_sum *old = &row->sum[CHANGES_OLD], *new = &row->sum[CHANGES_NEW];
    struct text_number n;

    table_row(t);
    table_text(t, GREW, text_change(&n, old->retained_bytes, new->retained_bytes));
    table_count(t, OLD, old->retained_bytes);
    table_count(t, NEW, new->retained_bytes);
    table_text(t, OBJECTS, text_change(&n, old->objects, new->objects));
    table_name(t, NAME, "", *row->name ? row->name : unknown);
}

static int rows_text(const struct change_rows *r, bool paths, uint64_t top, bool wide, FILE *out)
{
    struct terminal terminal = terminal_of(out);
    struct table_look look = {.width = wide ? SIZE_MAX : terminal.width, .colour = terminal.colour};
    struct table_column shown[COUNT_OF(columns)];
    struct table *t = NULL;
    size_t changed = 0;
    int err;

    memcpy(shown, columns, sizeof(columns));
    if (paths)
        shown[NAME] = (struct table_column){"path", TABLE_TEXT, 0, 0};
    err = table_new(shown, COUNT_OF(shown), &t);
    for (size_t i = 0; !err && i < r->count; i++)
        if (memcmp(&r->rows[i].sum[CHANGES_OLD], &r->rows[i].sum[CHANGES_NEW],
                   sizeof(struct heap_sum)) != 0 &&
            (!top || changed++ < top))
            put_row(t, &r->rows[i], "(type not known)");
    if (!err)
        err = table_fit(t, &look) ? -ENOMEM : 0;
    if (!err && !table_rows(t))
        fprintf(out, "None of %zu rows has changed.\n", r->count);
    else if (!err)
        table_print(t, out);
    if (!err && top && changed > top)
        fprintf(out, "Shown: %zu of %zu. `--top 0` shows all.\n", table_rows(t), changed);
    table_free(t);
    return err;
}

int changes_text(const struct changes *c, uint64_t top, bool wide, FILE *out)
{
    const struct heap_sum *old = &c->sides[CHANGES_OLD]->all, *new = &c->sides[CHANGES_NEW]->all;
    struct text_number bytes, change, objects, more;
    int err;

    fprintf(out, "Held: %s bytes, before %s: %s objects, %s.\n\n", text_count(&bytes, new->bytes),
            text_count(&more, old->bytes), text_count(&objects, new->objects),
            text_change(&change, old->objects, new->objects));
    err = rows_text(&c->types, false, top, wide, out);
    fputc('\n', out);
    return err ? err : rows_text(&c->paths, true, top, wide, out);
}

/* ---- JSON ---- */

static void sum_json(const char *name, const struct heap_sum *sum, struct json_writer *w)
{
    jw_object(w, name);
    held_sum_json(sum, w);
    jw_end(w);
}

static void rows_json(const struct change_rows *r, const char *const keys[3], uint64_t top,
                      struct json_writer *json)
{
    jw_unsigned(json, keys[0], r->count);
    jw_line_array(json, 1, keys[1]);
    for (size_t i = 0; i < held_shown(top, r->count); i++) {
        jw_line_object(json, 2, NULL);
        jw_text_if(json, keys[2], *r->rows[i].name ? r->rows[i].name : NULL);
        sum_json("old", &r->rows[i].sum[CHANGES_OLD], json);
        sum_json("new", &r->rows[i].sum[CHANGES_NEW], json);
        jw_end(json);
    }
    jw_end(json);
}

static void side_json(const char *name, const struct held *h, struct json_writer *json)
{
    jw_line_object(json, 1, name);
    if (h->head.collection)
        jw_unsigned(json, "gc", h->head.collection);
    jw_unsigned(json, "t", h->head.t);
    jw_unsigned(json, "objects", h->all.objects);
    jw_unsigned(json, "bytes", h->all.bytes);
    jw_end(json);
}

int changes_json(const struct changes *c, uint64_t top, FILE *out)
{
    static const char *const types[] = {"type_count", "types", "type"};
    static const char *const paths[] = {"path_count", "paths", "path"};
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_unsigned(&w, "schema", 2);
    jw_text(&w, "view", "retained_diff");
    side_json("old", c->sides[CHANGES_OLD], &w);
    side_json("new", c->sides[CHANGES_NEW], &w);
    rows_json(&c->types, types, top, &w);
    rows_json(&c->paths, paths, top, &w);
    jw_end(&w);
    return jw_finish(&w);
}
