#include "retained/ways.h"

static void sum_json(const struct heap_sum *sum, struct json_writer *w)
{
    jw_unsigned(w, "objects", sum->objects);
    jw_unsigned(w, "bytes", sum->bytes);
    jw_unsigned(w, "retained_objects", sum->retained_objects);
    jw_unsigned(w, "retained", sum->retained_bytes);
}

/* ---- ways ---- */

static void more_json(uint64_t count, struct json_writer *w)
{
    jw_object(w, NULL);
    jw_unsigned(w, "more", count);
    jw_end(w);
}

static void step_json(const struct held *h, const struct heap_path *path, size_t i,
                      struct json_writer *json)
{
    uint32_t node = path->steps[i], place = held_place(h, node);
    struct buffer b = BUFFER_INIT;

    jw_object(json, NULL);
    jw_text(json, "type", held_type(h, held_class(h, node)));
    jw_unsigned(json, "retained", h->d.retained[h->d.place[node]]);
    if (i)
        jw_text_if(json, "field", held_link(h, path->steps[i - 1], node, &b));
    if (i && heap_graph_pair(&h->g, path->steps[i - 1], node))
        jw_bool(json, "attached", true);
    if (place)
        jw_text(json, "at", held_place_text(h, place, false, false, &b));
    jw_end(json);
    buffer_free(&b);
}

/* Repetitions are written as a count. */
static void steps_json(const struct held *h, const struct heap_path *path, struct json_writer *json)
{
    for (size_t i = 0; i < path->step_count; i++) {
        size_t repeats = held_repeats(h, path, i), end = i + repeats;
        bool skips = path->skipped && i <= path->skipped_before && path->skipped_before < end;

        if (repeats) {
            more_json(repeats + (skips ? path->skipped : 0), json);
            i = end;
        } else if (path->skipped && i == path->skipped_before) {
            more_json(path->skipped, json);
        }
        step_json(h, path, i, json);
    }
}

static void put_ways(const struct held *h, const struct heap_paths *paths, struct json_writer *json)
{
    struct buffer b = BUFFER_INIT;

    jw_unsigned(json, "shapes", paths->shapes);
    jw_array(json, "ways");
    for (size_t i = 0; i < paths->count; i++) {
        const struct heap_path *path = &paths->paths[i];

        jw_object(json, NULL);
        sum_json(&path->sum, json);
        jw_text(json, "root", held_root(h, heap_graph_root(&h->g, path->steps[0]), &b));
        jw_text(json, "chain", held_chain(h, path, &b));
        jw_array(json, "steps");
        steps_json(h, path, json);
        jw_end(json);
        jw_end(json);
    }
    jw_end(json);
    buffer_free(&b);
}

/* ---- rows ---- */

struct ways {
    uint32_t *types, *places; /* rows */
    size_t type_count, place_count;
    struct heap_paths of[2 * WAYS_ROWS]; /* of the first types, then of the first places */
};

static int find_row(struct held *h, struct heap_paths *out, uint32_t class_number, uint32_t place)
{
    int err = held_find_row(h, class_number, place, WAYS_EACH);

    *out = h->paths;
    h->paths = (struct heap_paths){.paths = NULL};
    return err;
}

/* All ways first: then the dump is read once more for all of them. */
static int find_ways(struct held *h, struct ways *ways)
{
    int err = held_rows(h->types, h->defs.classes.count, &ways->types, &ways->type_count);

    if (!err && h->placed)
        err = held_rows(h->places, h->origins.place_count, &ways->places, &ways->place_count);
    for (size_t i = 0; !err && i < WAYS_ROWS && i < ways->type_count; i++)
        err = find_row(h, &ways->of[i], ways->types[i], HELD_ANY);
    for (size_t i = 0; !err && i < WAYS_ROWS && i < ways->place_count; i++)
        if (ways->places[i])
            err = find_row(h, &ways->of[WAYS_ROWS + i], HELD_ANY, ways->places[i]);
    if (!err && held_slots(h, ways->of, 2 * WAYS_ROWS))
        h->slot_count = 0; /* it has said why: ways without fields */
    return err;
}

static void ways_free(struct ways *ways)
{
    memory_free_all(ways->types, ways->places);
    for (size_t i = 0; i < 2 * WAYS_ROWS; i++)
        heap_paths_free(&ways->of[i]);
}

static void types_json(const struct held *h, const struct ways *ways, struct json_writer *json)
{
    jw_array(json, "types");
    for (size_t i = 0; i < ways->type_count; i++) {
        jw_object(json, NULL);
        jw_text(json, "name", held_type(h, ways->types[i]));
        sum_json(&h->types[ways->types[i]], json);
        if (i < WAYS_ROWS)
            put_ways(h, &ways->of[i], json);
        jw_end(json);
    }
    jw_end(json);
}

static void lines_json(const struct held *h, const struct ways *ways, struct json_writer *json)
{
    struct buffer b = BUFFER_INIT;

    jw_array(json, "lines");
    for (size_t i = 0; i < ways->place_count; i++) {
        uint32_t row = ways->places[i];
        const struct origin_place *place = &h->origins.places[row];

        jw_object(json, NULL);
        jw_text(json, "name", held_place_text(h, row, false, false, &b));
        if (place->file)
            jw_text(json, "file", place->file);
        jw_bool(json, "own",
                place->method && model_own_of_method(h->own, place->method) == MODEL_OWN);
        jw_text(json, "types", held_place_types(h, row, &b));
        sum_json(&h->places[row], json);
        if (i < WAYS_ROWS && row)
            put_ways(h, &ways->of[WAYS_ROWS + i], json);
        jw_end(json);
    }
    jw_end(json);
    buffer_free(&b);
}

int ways_json(struct held *h, struct json_writer *json)
{
    struct ways ways = {.types = NULL};
    int err = find_ways(h, &ways);

    jw_object(json, "heap");
    jw_unsigned(json, "objects", h->all.objects);
    jw_unsigned(json, "bytes", h->all.bytes);
    jw_unsigned(json, "loose_objects", h->loose.objects);
    jw_unsigned(json, "loose_bytes", h->loose.bytes);
    jw_unsigned(json, "roots", h->g.root_count);
    if (h->head.collection)
        jw_unsigned(json, "gc", h->head.collection);
    jw_unsigned(json, "t", h->head.t);
    jw_bool(json, "placed", h->placed);
    jw_unsigned(json, "rows_with_ways", WAYS_ROWS);
    types_json(h, &ways, json);
    if (h->placed)
        lines_json(h, &ways, json);
    jw_end(json);
    ways_free(&ways);
    return err;
}
