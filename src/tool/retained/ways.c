#include "retained/ways.h"

#include "base/path.h"

#include "retained/print.h"

static void sum_json(const struct heap_sum *sum, struct json_writer *w)
{
    jw_unsigned(w, "objects", sum->objects);
    jw_unsigned(w, "bytes", sum->bytes);
    jw_unsigned(w, "retained_objects", sum->retained_objects);
    jw_unsigned(w, "retained", sum->retained_bytes);
}

/* "File.cs:12", or a method where no line is known; in b. */
static const char *place_text(const struct held *h, uint32_t number, struct buffer *b)
{
    const struct origin_place *place = &h->origins.places[number];

    buffer_clear(b);
    if (!number)
        return "(not known)";
    if (!place->file)
        return place->method ? names_method(h->names, place->method) : report_no_frame(&h->defs);
    buffer_format(b, "%s:%u", path_base_name_foreign(place->file), place->line);
    return b->failed ? "?" : b->data;
}

/* ---- ways ---- */

static void more_json(uint64_t count, struct json_writer *w)
{
    jw_object(w, NULL);
    jw_unsigned(w, "more", count);
    jw_end(w);
}

static void step_json(const struct held *h, const struct heap_path *path, size_t i,
                      struct json_writer *w)
{
    uint32_t node = path->steps[i], place = held_place(h, node);
    struct buffer b = BUFFER_INIT;

    jw_object(w, NULL);
    jw_text(w, "type", held_type(h, held_class(h, node)));
    jw_unsigned(w, "retained", h->d.retained[h->d.place[node]]);
    if (i && heap_graph_pair(&h->g, path->steps[i - 1], node))
        jw_bool(w, "attached", true);
    if (place)
        jw_text(w, "at", place_text(h, place, &b));
    jw_end(w);
    buffer_free(&b);
}

/* What repeats is told by its count. */
static void steps_json(const struct held *h, const struct heap_path *path, struct json_writer *w)
{
    for (size_t i = 0; i < path->step_count; i++) {
        size_t repeats = retained_repeats(h, path, i), end = i + repeats;
        bool skips = path->skipped && i <= path->skipped_before && path->skipped_before < end;

        if (repeats) {
            more_json(repeats + (skips ? path->skipped : 0), w);
            i = end;
        } else if (path->skipped && i == path->skipped_before) {
            more_json(path->skipped, w);
        }
        step_json(h, path, i, w);
    }
}

static int put_ways(struct held *h, uint32_t class_number, uint32_t place, struct json_writer *w)
{
    struct buffer b = BUFFER_INIT;
    int err = held_find_row(h, class_number, place, WAYS_EACH);

    if (err)
        return err;
    jw_unsigned(w, "shapes", h->paths.shapes);
    jw_array(w, "ways");
    for (size_t i = 0; i < h->paths.count; i++) {
        const struct heap_path *path = &h->paths.paths[i];

        jw_object(w, NULL);
        sum_json(&path->sum, w);
        jw_text(w, "root", held_root(h, heap_graph_root(&h->g, path->steps[0]), &b));
        jw_array(w, "steps");
        steps_json(h, path, w);
        jw_end(w);
        jw_end(w);
    }
    jw_end(w);
    buffer_free(&b);
    return 0;
}

/* ---- rows ---- */

static int types_json(struct held *h, struct json_writer *w)
{
    uint32_t *rows;
    size_t count;
    int err = held_rows(h->types, h->defs.classes.count, &rows, &count);

    jw_array(w, "types");
    for (size_t i = 0; !err && i < count; i++) {
        jw_object(w, NULL);
        jw_text(w, "name", held_type(h, rows[i]));
        sum_json(&h->types[rows[i]], w);
        if (i < WAYS_ROWS)
            err = put_ways(h, rows[i], HELD_ANY, w);
        jw_end(w);
    }
    jw_end(w);
    memory_free(rows);
    return err;
}

static int lines_json(struct held *h, struct json_writer *w)
{
    struct buffer b = BUFFER_INIT;
    uint32_t *rows;
    size_t count;
    int err = held_rows(h->places, h->origins.place_count, &rows, &count);

    jw_array(w, "lines");
    for (size_t i = 0; !err && i < count; i++) {
        const struct origin_place *place = &h->origins.places[rows[i]];

        jw_object(w, NULL);
        jw_text(w, "name", place_text(h, rows[i], &b));
        if (place->file)
            jw_text(w, "file", place->file);
        jw_bool(w, "own", place->method && model_own_of_method(h->own, place->method) == MODEL_OWN);
        jw_text(w, "types", held_place_types(h, rows[i], &b));
        sum_json(&h->places[rows[i]], w);
        if (i < WAYS_ROWS && rows[i])
            err = put_ways(h, HELD_ANY, rows[i], w);
        jw_end(w);
    }
    jw_end(w);
    memory_free(rows);
    buffer_free(&b);
    return err;
}

int ways_json(struct held *h, struct json_writer *w)
{
    int err;

    jw_object(w, "heap");
    jw_unsigned(w, "objects", h->all.objects);
    jw_unsigned(w, "bytes", h->all.bytes);
    jw_unsigned(w, "loose_objects", h->loose.objects);
    jw_unsigned(w, "loose_bytes", h->loose.bytes);
    jw_unsigned(w, "roots", h->g.root_count);
    if (h->head.collection)
        jw_unsigned(w, "gc", h->head.collection);
    jw_unsigned(w, "t", h->head.t);
    jw_bool(w, "placed", h->placed);
    jw_unsigned(w, "rows_with_ways", WAYS_ROWS);
    err = types_json(h, w);
    if (!err && h->placed)
        err = lines_json(h, w);
    jw_end(w);
    return err;
}
