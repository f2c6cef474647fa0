#include "model/places.h"

#include "model/own.h"

#include <stdlib.h>

/* The key of a frame. */
struct place_frame {
    uint32_t method;
    int32_t il;
    uint32_t filter, lost;
    uint32_t place;
};

INDEX_OF_BYTES(frame_kind, struct place_frame, lost);

/* Texts are each in one piece of memory: a file belongs to source lines, a name to defs. */
static uint64_t place_hash(const void *record)
{
    const struct model_place *p = record;
    uint64_t what = (uint64_t)p->method << 32 | (uint32_t)p->kind << 1 | p->filter,
             where = (uint64_t)p->line << 32 | (uint32_t)p->il;

    uint64_t number = (uint64_t)p->line_last << 32 | p->count;
    uint64_t name = hash_mix((uint64_t)(uintptr_t)p->name, number);

    return hash_mix(hash_mix(what, where), hash_mix((uint64_t)(uintptr_t)p->file, name));
}

static bool place_equal(const void *record, const void *key)
{
    const struct model_place *have = record, *want = key;

    return have->kind == want->kind && have->name == want->name && have->count == want->count &&
           have->method == want->method && have->il == want->il && have->line == want->line &&
           have->line_last == want->line_last && have->file == want->file &&
           have->filter == want->filter;
}

static int add_place(struct places *p, const struct model_place *place, uint32_t *out)
{
    static const struct index_kind kind = {sizeof(struct model_place), place_hash, place_equal};
    int added = index_add(&p->index, &kind, &p->places, &p->count, &p->capacity, place, out);

    return added < 0 ? added : 0;
}

/* ---- kinds ---- */

static enum model_place_kind kind_of(const char *name)
{
    if (name[0] != '(')
        return MODEL_PLACE_METHOD;
    if (strcmp(name, LOG_PATH_CUT) == 0)
        return MODEL_PLACE_CUT;
    if (strcmp(name, LOG_PATH_DYNAMIC) == 0)
        return MODEL_PLACE_DYNAMIC;
    return strncmp(name, LOG_SEVERAL, strlen(LOG_SEVERAL)) == 0 ? MODEL_PLACE_SEVERAL
                                                                : MODEL_PLACE_METHOD;
}

int places_init(struct places *p, const struct model *m, enum model_grain grain)
{
    const struct log_defs *d = model_defs(m);
    const struct model_place root = {.kind = MODEL_PLACE_ROOT, .il = LOG_NO_IL};
    uint32_t number;

    *p = (struct places){.model = m, .defs = d, .grain = grain};
    p->kinds = memory_alloc(d->methods.count);
    if (!p->kinds)
        return -ENOMEM;
    for (size_t i = 0; i < d->methods.count; i++)
        p->kinds[i] = (uint8_t)kind_of(d->methods.defs[i].name);
    return add_place(p, &root, &number);
}

void places_fini(struct places *p)
{
    memory_free_all(p->places, p->frames, p->kinds);
    index_free(&p->index);
    index_free(&p->frame_index);
}

/* ---- frames ---- */

static void describe(const struct places *p, const struct report_frame *f, struct model_place *out)
{
    struct source_line line;
    const char *name;

    *out = (struct model_place){.il = LOG_NO_IL, .count = 1};
    if (f->path == LOG_PATH_LOST) {
        out->kind = MODEL_PLACE_LOST;
        out->name = MODEL_NAME_LOST;
        return;
    }
    name = log_method(p->defs, f->method)->name;
    out->kind = (enum model_place_kind)p->kinds[f->method];
    out->method = f->method;
    if (out->kind != MODEL_PLACE_METHOD) {
        out->name = name;
        if (out->kind == MODEL_PLACE_SEVERAL)
            out->count = (uint32_t)strtoul(name + strlen(LOG_SEVERAL), NULL, 10);
        return;
    }
    out->filter = f->filter;
    out->own = model_own_of_method(model_own_code(p->model), f->method) == MODEL_OWN;
    out->near = model_is_near(p->model, f->method);
    if (p->grain == MODEL_GRAIN_IL)
        out->il = f->il;
    if (p->grain != MODEL_GRAIN_METHOD &&
        source_line_of(model_source_lines(p->model), f->method, f->il, &line)) {
        out->line = line.line;
        out->line_last = line.line_last;
        out->file = line.file;
    }
}

int places_frame(struct places *p, const struct report_frame *f, uint32_t *out)
{
    struct place_frame frame = {.method = f->method,
                                .il = p->grain == MODEL_GRAIN_METHOD ? LOG_NO_IL : f->il,
                                .filter = f->filter,
                                .lost = f->path == LOG_PATH_LOST};
    struct model_place place;
    size_t slot = 0;
    uint32_t number;

    if (!array_reserve(&p->frames, &p->frame_capacity, p->frame_count + 1) ||
        index_reserve(&p->frame_index, &frame_kind, p->frames))
        return -ENOMEM;
    number =
        index_find(&p->frame_index, &frame_kind, p->frames, frame_kind_hash(&frame), &frame, &slot);
    if (number != INDEX_NONE) {
        *out = p->frames[number].place;
        return 0;
    }
    describe(p, f, &place);
    if (add_place(p, &place, &frame.place))
        return -ENOMEM;
    *out = frame.place;
    index_put(&p->frame_index, slot, (uint32_t)p->frame_count);
    p->frames[p->frame_count++] = frame;
    return 0;
}

int places_type(struct places *p, uint32_t class_number, uint32_t *out)
{
    const struct model_place place = {
        .kind = MODEL_PLACE_TYPE, .method = class_number, .il = LOG_NO_IL, .count = 1};

    return add_place(p, &place, out);
}

int places_folded(struct places *p, const char *name, uint32_t count, uint32_t *out)
{
    const struct model_place place = {
        .kind = MODEL_PLACE_FOLDED, .il = LOG_NO_IL, .name = name, .count = count};

    return add_place(p, &place, out);
}

int places_none(struct places *p, uint32_t *out)
{
    const struct model_place place = {
        .kind = MODEL_PLACE_NONE, .il = LOG_NO_IL, .name = log_no_frame(p->defs), .count = 1};

    return add_place(p, &place, out);
}
