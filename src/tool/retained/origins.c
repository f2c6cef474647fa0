#include "retained/origins.h"

#include <string.h>

/* All bytes are the key: no padding. */
INDEX_OF_BYTES(place_kind, struct origin_place, lack);

void origins_init(struct origins *o)
{
    *o = (struct origins){.count = 0};
}

void origins_free(struct origins *o)
{
    log_id_map_free(&o->ids);
    memory_free_all(o->all, o->places);
    index_free(&o->index);
    origins_init(o);
}

int origins_take(struct origins *o, struct log_defs *defs, const struct log_record *record)
{
    const struct log_alloc *site = &record->alloc;
    struct origin origin;
    uint32_t known;
    int err;

    if (record->kind != SST_KIND_LIVE_SITE)
        return 0;
    if (o->recording != defs->recording.number)
        log_id_map_free(&o->ids);
    o->recording = defs->recording.number;
    origin = (struct origin){.il = log_defs_alloc_il(defs, site)};
    err = log_defs_alloc_path(defs, site, record->at, &origin.path);
    if (!err)
        err = log_defs_class(defs, site->class_id, record->at, &origin.class_number);
    if (err)
        return err;
    known = log_id_map_get(&o->ids, site->id);
    if (known && site->unloaded) /* in a later part; an earlier one has said where it is */
        return 0;
    if (known) {
        o->all[known - 1] = origin;
        return 0;
    }
    if (!array_reserve(&o->all, &o->capacity, o->count + 1))
        return -ENOMEM;
    o->all[o->count] = origin;
    return log_id_map_set(&o->ids, site->id, (uint32_t)o->count++);
}

/* ---- places ---- */

enum { OWN, ANY, RULES };

static struct origin_place find_place(struct model_near near[RULES], const struct origin *origin)
{
    struct origin_place place = {.file = NULL};
    struct model_near_place found;

    if (origin->path <= LOG_PATH_LOST)
        return place;
    place.method = log_call_path(near->defs, origin->path)->method;
    for (int rule = 0; rule < RULES; rule++)
        if (model_near_find(&near[rule], origin->path, origin->il, &found))
            return (struct origin_place){found.line.file, found.method, found.line.line,
                                         found.line.line_last, found.lack};
    return place;
}

static int find_places(struct origins *o, struct model_near near[RULES])
{
    struct origin_place none = {.file = NULL};
    uint32_t number;

    if (index_add(&o->index, &place_kind, &o->places, &o->place_count, &o->place_capacity, &none,
                  &number) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < o->count; i++) {
        struct origin_place place = find_place(near, &o->all[i]);

        if (index_add(&o->index, &place_kind, &o->places, &o->place_count, &o->place_capacity,
                      &place, &o->all[i].place) < 0)
            return -ENOMEM;
    }
    return 0;
}

int origins_place(struct origins *o, const struct log_defs *defs, const struct model_own *own,
                  struct source_lines *lines)
{
    struct model_near near[RULES] = {{.ranks = NULL}};
    int err = model_near_init(&near[OWN], defs, own, lines);

    if (!err)
        err = model_near_init(&near[ANY], defs, own, lines);
    near[ANY].any = true;
    if (!err)
        err = find_places(o, near);
    model_near_fini(&near[OWN]);
    model_near_fini(&near[ANY]);
    return err;
}
