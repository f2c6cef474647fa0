#include "retained/print.h"

#include "terminal/table.h"
#include "terminal/terminal.h"
#include "terminal/text.h"

#include <inttypes.h>
#include <string.h>

/* ---- rows ---- */

enum { RETAINED, SHARE, OWN, OBJECTS, NAME, PLACE };

static const struct table_column type_columns[] = {
    {"retained", TABLE_COUNT, 0, 0}, {"share", TABLE_SHARE, 3, 0}, {"own bytes", TABLE_COUNT, 2, 0},
    {"objects", TABLE_COUNT, 1, 0},  {"type", TABLE_NAME, 0, 0},
};
static const struct table_column place_columns[] = {
    {"retained", TABLE_COUNT, 0, 0},  {"share", TABLE_SHARE, 3, 0},
    {"own bytes", TABLE_COUNT, 2, 0}, {"objects", TABLE_COUNT, 1, 0},
    {"types", TABLE_NAME, 0, 0},      {"allocated at", TABLE_PLACE, 0, 0},
};

static struct table_look look(const struct retained_print *p, FILE *out)
{
    struct terminal t = terminal_of(out);

    return (struct table_look){.width = p->wide ? SIZE_MAX : t.width, .colour = t.colour};
}

static void put_sum(const struct retained_print *p, struct table *t, const struct heap_sum *sum)
{
    const struct held *h = p->held;

    table_row(t);
    table_count(t, RETAINED, sum->retained_bytes);
    table_share(t, SHARE, h->all.bytes ? (double)sum->retained_bytes / (double)h->all.bytes : 0);
    table_count(t, OWN, sum->bytes);
    table_count(t, OBJECTS, sum->objects);
}

static int print_table(const struct retained_print *p, struct table *t, size_t rows, FILE *out)
{
    struct table_look how = look(p, out);

    if (table_fit(t, &how))
        return -ENOMEM;
    table_print(t, out);
    if (table_rows(t) < rows)
        fprintf(out, "Shown: %zu of %zu. `--top 0` shows all.\n", table_rows(t), rows);
    return 0;
}

/* Rows of types, or of places. */
static int table_text_of(const struct retained_print *p, bool places, FILE *out)
{
    const struct held *h = p->held;
    const struct heap_sum *sums = places ? h->places : h->types;
    struct buffer text = BUFFER_INIT;
    struct table *t = NULL;
    uint32_t *rows;
    size_t count;
    int err =
        held_rows(sums, places ? h->origins.place_count : h->defs.classes.count, &rows, &count);

    if (!err)
        err = places ? table_new(place_columns, COUNT_OF(place_columns), &t)
                     : table_new(type_columns, COUNT_OF(type_columns), &t);
    for (size_t i = 0; !err && i < held_shown(p->top, count); i++) {
        put_sum(p, t, &sums[rows[i]]);
        table_name(t, NAME, "",
                   places ? held_place_types(h, rows[i], &text) : held_type(h, rows[i]));
        if (places)
            table_place(t, PLACE, held_place_text(h, rows[i], p->wide, true, &text), NULL);
    }
    if (!err)
        err = print_table(p, t, count, out);
    table_free(t);
    memory_free(rows);
    buffer_free(&text);
    return err;
}

/* ---- what stands around them ---- */

/* Sentences, in lines that fit. */
static void put_text(struct buffer *b, FILE *out)
{
    if (!b->failed && b->data)
        args_print_text(out, b->data, terminal_width(out));
    buffer_free(b);
}

static void head_text(const struct retained_print *p, FILE *out)
{
    const struct held *h = p->held;
    struct buffer b = BUFFER_INIT;
    struct text_number n, m, k;

    buffer_format(&b, "%s object%s, %s bytes, that %s root%s hold%s",
                  text_count(&n, h->all.objects), text_plural(h->all.objects),
                  text_count(&m, h->all.bytes), text_count(&k, h->g.root_count),
                  text_plural(h->g.root_count), h->g.root_count == 1 ? "s" : "");
    if (h->head.collection)
        buffer_format(&b, "; after collection %" PRIu64, h->head.collection);
    if (h->head.t)
        buffer_format(&b, ", %.3f s into the recording", (double)h->head.t / 1e9);
    buffer_text(&b, ".");
    if (h->loose.objects)
        buffer_format(&b, "\nHeld by nothing in the dump: %s object%s, %s bytes.",
                      text_count(&n, h->loose.objects), text_plural(h->loose.objects),
                      text_count(&m, h->loose.bytes));
    if (h->g.outside)
        buffer_format(&b, "\nReferences to addresses without an object in the dump: %s.",
                      text_count(&n, h->g.outside));
    put_text(&b, out);
}

static void notes_text(const struct retained_print *p, FILE *out)
{
    const json_t *options = json_object_get(p->held->log.header, "options");
    struct buffer b = BUFFER_INIT;

    fputc('\n', out);
    if (!p->held->placed)
        buffer_format(&b, "Where objects were allocated is not known: %s.\n",
                      json_is_true(json_object_get(options, "live"))
                          ? "the dump does not contain it"
                          : "the log was recorded without --live");
    buffer_text(&b, "retained: what would be freed with each object of the row; "
                    "objects that others of the row hold count once. Rows do not add up.\n"
                    "What holds them: --type PATTERN or --line FILE:LINE.");
    put_text(&b, out);
}

static int rows_text(const struct retained_print *p, FILE *out)
{
    int err;

    fputc('\n', out);
    err = table_text_of(p, false, out);
    if (!err && p->held->placed) {
        fputc('\n', out);
        err = table_text_of(p, true, out);
    }
    if (!err)
        notes_text(p, out);
    return err;
}

/* ---- paths ---- */

static const struct table_column step_columns[] = {
    {"retained", TABLE_COUNT, 1, 0},
    {"", TABLE_NAME, 0, 0},
    {"allocated at", TABLE_PLACE, 2, 0},
};

static void put_step(const struct retained_print *p, struct table *t, uint32_t node, uint32_t above)
{
    const struct held *h = p->held;
    struct buffer name = BUFFER_INIT, place = BUFFER_INIT, part = BUFFER_INIT;
    const char *link = above ? held_link(h, above, node, &part) : NULL;
    uint32_t number = held_place(h, node);

    if (link)
        buffer_format(&name, "%s%s: ", *link == '[' ? "" : ".", link);
    buffer_text(&name, held_object(h, node, &part));
    if (above && heap_graph_pair(&h->g, above, node))
        buffer_text(&name, " (attached)");
    table_row(t);
    table_count(t, 0, h->d.retained[h->d.place[node]]);
    table_name(t, 1, "  ", name.failed ? "?" : name.data);
    if (number)
        table_place(t, 2, held_place_text(h, number, p->wide, true, &place), NULL);
    buffer_free(&name);
    buffer_free(&place);
    buffer_free(&part);
}

static void put_more(struct table *t, uint64_t count)
{
    struct text_number n;
    char text[64];

    table_row(t);
    snprintf(text, sizeof(text), "… %s more like these", text_count(&n, count));
    table_name(t, 1, "  ", text);
}

static int path_text(const struct retained_print *p, const struct heap_path *path, FILE *out)
{
    const struct held *h = p->held;
    struct table_look how = look(p, out);
    struct buffer root = BUFFER_INIT;
    struct table *t;
    int err = table_new(step_columns, 3, &t);

    if (err)
        return err;
    table_row(t);
    table_name(t, 1, "", held_root(h, heap_graph_root(&h->g, path->steps[0]), &root));
    for (size_t i = 0; i < path->step_count; i++) {
        size_t repeats = held_repeats(h, path, i), end = i + repeats;
        bool skips = path->skipped && i <= path->skipped_before && path->skipped_before < end;

        if (repeats) {
            put_more(t, repeats + (skips ? path->skipped : 0));
            i = end;
        } else if (path->skipped && i == path->skipped_before) {
            put_more(t, path->skipped);
        }
        put_step(p, t, path->steps[i], i ? path->steps[i - 1] : 0);
    }
    how.indent = 2;
    err = table_fit(t, &how);
    if (!err)
        table_print(t, out);
    table_free(t);
    buffer_free(&root);
    return err;
}

static void asked_text(const struct retained_print *p, FILE *out)
{
    const struct held *h = p->held;
    const struct heap_sum *sum = &h->paths.sum;
    struct buffer b = BUFFER_INIT;
    struct text_number n, m, k;

    fputc('\n', out);
    buffer_format(&b, "Asked for: %s object%s of %s bytes, which retain %s, each for itself.\n",
                  text_count(&n, sum->objects), text_plural(sum->objects),
                  text_count(&m, sum->bytes), text_count(&k, sum->retained_bytes));
    buffer_format(&b, "Without all of them %s bytes would be free: %s object%s.",
                  text_count(&n, h->together_bytes), text_count(&m, h->together_objects),
                  text_plural(h->together_objects));
    put_text(&b, out);
}

static int paths_text(const struct retained_print *p, FILE *out)
{
    const struct heap_paths *paths = &p->held->paths;
    struct buffer chain = BUFFER_INIT, text = BUFFER_INIT;
    struct text_number n, m;
    int err = 0;

    asked_text(p, out);
    for (size_t i = 0; !err && i < paths->count; i++) {
        const struct heap_path *path = &paths->paths[i];

        fprintf(out, "\n%s of them, which retain %s bytes, from a root on:\n",
                text_count(&n, path->sum.objects), text_count(&m, path->sum.retained_bytes));
        buffer_format(&chain, "  %s\n", held_chain(p->held, path, &text));
        put_text(&chain, out);
        err = path_text(p, path, out);
    }
    buffer_free(&text);
    if (paths->count < paths->shapes)
        fprintf(out, "\nShown: %zu of %zu ways to them. `--paths 0` shows all.\n", paths->count,
                paths->shapes);
    return err;
}

int retained_text(const struct retained_print *p, FILE *out)
{
    int err;

    head_text(p, out);
    err = p->paths ? paths_text(p, out) : rows_text(p, out);
    fputc('\n', out);
    reading_completeness(&p->held->log, out);
    return err;
}
