#include "retained/print.h"

#include "command/print_complete.h"

#include <string.h>

void held_sum_json(const struct heap_sum *sum, struct json_writer *w)
{
    jw_unsigned(w, "objects", sum->objects);
    jw_unsigned(w, "bytes", sum->bytes);
    jw_unsigned(w, "retained_objects", sum->retained_objects);
    jw_unsigned(w, "retained_bytes", sum->retained_bytes);
}

static void place_json(const struct held *h, uint32_t number, struct json_writer *json)
{
    const struct origin_place *place = &h->origins.places[number];

    if (place->method)
        jw_text(json, "method", names_method(h->names, place->method));
    if (place->lack)
        jw_text(json, "no_line", model_near_keys[place->lack]);
    if (!place->file)
        return;
    jw_text(json, "file", place->file);
    jw_unsigned(json, "line", place->line);
    if (place->line_last)
        jw_unsigned(json, "line_last", place->line_last);
}

static void made_json(const struct held *h, uint32_t place, struct json_writer *json)
{
    jw_array(json, "types");
    for (size_t m = 0; m < h->made_count; m++)
        if (h->made[m].place == place) {
            jw_object(json, NULL);
            jw_text(json, "type", held_type(h, h->made[m].class_number));
            jw_unsigned(json, "bytes", h->made[m].bytes);
            jw_end(json);
        }
    jw_end(json);
}

/* Rows of types, or of places. */
static int rows_json(const struct retained_print *p, bool places, struct json_writer *json)
{
    const struct held *h = p->held;
    const struct heap_sum *sums = places ? h->places : h->types;
    uint32_t *rows;
    size_t count;
    int err =
        held_rows(sums, places ? h->origins.place_count : h->defs.classes.count, &rows, &count);

    jw_unsigned(json, places ? "line_count" : "type_count", count);
    jw_line_array(json, 1, places ? "lines" : "types");
    for (size_t i = 0; !err && i < held_shown(p->top, count); i++) {
        jw_line_object(json, 2, NULL);
        if (places)
            place_json(h, rows[i], json);
        else
            jw_text_if(json, "type", rows[i] ? held_type(h, rows[i]) : NULL);
        held_sum_json(&sums[rows[i]], json);
        if (places)
            made_json(h, rows[i], json);
        jw_end(json);
    }
    jw_end(json);
    memory_free(rows);
    return err;
}

static void root_json(const struct held *h, const struct heap_root *root, struct json_writer *json)
{
    static const char *const words[] = {"other", "stack", "finalizer", "handle", "static"};
    uint32_t name = root && root->name < h->g.names.count ? h->named[root->name] : 0;
    struct buffer b = BUFFER_INIT;

    jw_object(json, "root");
    jw_text(json, "kind", root ? words[root->kind] : words[0]);
    if (name)
        jw_text(json, "name", names_method(h->names, name));
    jw_text_if(json, "name", held_static(h, root, &b));
    if (root && root->field && (h->g.statics[root->field - 1].flags & SST_HEAP_STATIC_THREAD))
        jw_bool(json, "thread", true);
    jw_text_if(json, "handle", held_handle(h, root));
    if (root && (root->flags & SST_HEAP_ROOT_PINNING))
        jw_bool(json, "pinned", true);
    jw_end(json);
    buffer_free(&b);
}

static void path_json(const struct held *h, const struct heap_path *path, struct json_writer *json)
{
    struct buffer b = BUFFER_INIT;

    root_json(h, heap_graph_root(&h->g, path->steps[0]), json);
    jw_text(json, "chain", held_chain(h, path, &b));
    jw_line_array(json, 3, "steps");
    for (size_t i = 0; i < path->step_count; i++) {
        uint32_t node = path->steps[i];

        jw_line_object(json, 4, NULL);
        if (i)
            jw_text_if(json, "field", held_link(h, path->steps[i - 1], node, &b));
        if (heap_graph_keeps(&h->g, node))
            jw_bool(json, "statics", true);
        if (held_class(h, node))
            jw_text(json, "type", held_type(h, held_class(h, node)));
        jw_unsigned(json, "bytes", (uint64_t)h->g.units[node] * SST_HEAP_UNIT);
        jw_unsigned(json, "retained_bytes", h->d.retained[h->d.place[node]]);
        if (i && heap_graph_pair(&h->g, path->steps[i - 1], node))
            jw_bool(json, "attached", true);
        if (path->skipped && i == path->skipped_before)
            jw_unsigned(json, "skipped", path->skipped);
        if (held_place(h, node))
            place_json(h, held_place(h, node), json);
        jw_end(json);
    }
    jw_end(json);
    buffer_free(&b);
}

static void paths_json(const struct held *h, struct json_writer *json)
{
    jw_line_object(json, 1, "asked");
    held_sum_json(&h->paths.sum, json);
    jw_unsigned(json, "together_objects", h->together_objects);
    jw_unsigned(json, "together_bytes", h->together_bytes);
    jw_end(json);
    jw_unsigned(json, "path_count", h->paths.shapes);
    jw_line_array(json, 1, "paths");
    for (size_t i = 0; i < h->paths.count; i++) {
        jw_line_object(json, 2, NULL);
        held_sum_json(&h->paths.paths[i].sum, json);
        path_json(h, &h->paths.paths[i], json);
        jw_end(json);
    }
    jw_end(json);
}

int retained_json(const struct retained_print *p, FILE *out)
{
    const struct held *h = p->held;
    struct json_writer w;
    int err = 0, failed;

    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_unsigned(&w, "schema", 2);
    jw_text(&w, "view", "retained");
    jw_unsigned(&w, "roots", h->g.root_count);
    if (h->head.collection)
        jw_unsigned(&w, "gc", h->head.collection);
    jw_unsigned(&w, "t", h->head.t);
    jw_object(&w, "total");
    jw_unsigned(&w, "objects", h->all.objects);
    jw_unsigned(&w, "bytes", h->all.bytes);
    jw_unsigned(&w, "loose_objects", h->loose.objects);
    jw_unsigned(&w, "loose_bytes", h->loose.bytes);
    jw_unsigned(&w, "outside", h->g.outside);
    jw_end(&w);
    print_log_json(&h->log, &h->problems, "log", &w);
    if (p->paths) {
        paths_json(h, &w);
    } else {
        err = rows_json(p, false, &w);
        if (!err && h->placed)
            err = rows_json(p, true, &w);
    }
    jw_end(&w);
    failed = jw_finish(&w);
    return err ? err : failed;
}
