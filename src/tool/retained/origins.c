#include "retained/origins.h"

#include <string.h>

/* All bytes are the key: no padding. */
INDEX_OF_BYTES(place_kind, struct origin_place, line);

void origins_init(struct origins *o)
{
    *o = (struct origins){.count = 0};
}

void origins_free(struct origins *o)
{
    report_ids_free(&o->ids);
    memory_free_all(o->all, o->places);
    index_free(&o->index);
    origins_init(o);
}

int origins_take(struct origins *o, struct report_defs *defs, const struct report_record *r)
{
    const struct report_alloc *site = &r->alloc;
    struct origin origin;
    uint32_t known;
    int err;

    if (r->kind != SST_KIND_LIVE_SITE)
        return 0;
    if (o->recording != defs->recording.number)
        report_ids_free(&o->ids);
    o->recording = defs->recording.number;
    origin = (struct origin){.il = report_alloc_il(site)};
    err = report_defs_path(defs, site->node, r->at, &origin.path);
    if (!err)
        err = report_defs_class(defs, site->class_id, r->at, &origin.class_number);
    if (err)
        return err;
    known = report_ids_get(&o->ids, site->id);
    if (known && site->unloaded) /* in a later part; an earlier one has said where it is */
        return 0;
    if (known) {
        o->all[known - 1] = origin;
        return 0;
    }
    if (!array_reserve(&o->all, &o->capacity, o->count + 1))
        return -ENOMEM;
    o->all[o->count] = origin;
    return report_ids_set(&o->ids, site->id, (uint32_t)o->count++);
}

/* ---- places ---- */

/* Whether the frame has a line; *found is set if it is better than what was found further in. */
static bool take_frame(const struct model_own *own, struct source_lines *lines, uint32_t method,
                       int32_t il, struct origin_place *found)
{
    bool is_own = model_own_of_method(own, method) == MODEL_OWN;
    struct source_line line;

    if ((found->file && !is_own) || il == REPORT_NO_IL || !source_line_of(lines, method, il, &line))
        return false;
    *found = (struct origin_place){line.file, method, line.line};
    return is_own;
}

static struct origin_place find_place(const struct report_defs *defs, const struct model_own *own,
                                      struct source_lines *lines, const struct origin *origin)
{
    const struct report_path *path = report_path(defs, origin->path);
    struct origin_place found = {.method = origin->path > REPORT_PATH_LOST ? path->method : 0};
    int32_t il = origin->il;

    for (uint32_t at = origin->path; lines && at > REPORT_PATH_LOST;) {
        path = report_path(defs, at);
        if (take_frame(own, lines, path->method, il, &found))
            break;
        il = path->il < 0 ? REPORT_NO_IL : path->il;
        at = path->parent;
    }
    return found;
}

int origins_place(struct origins *o, const struct report_defs *defs, const struct model_own *own,
                  struct source_lines *lines)
{
    struct origin_place none = {.file = NULL};
    uint32_t number;

    if (index_add(&o->index, &place_kind, &o->places, &o->place_count, &o->place_capacity, &none,
                  &number) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < o->count; i++) {
        struct origin_place place = find_place(defs, own, lines, &o->all[i]);

        if (index_add(&o->index, &place_kind, &o->places, &o->place_count, &o->place_capacity,
                      &place, &o->all[i].place) < 0)
            return -ENOMEM;
    }
    return 0;
}
