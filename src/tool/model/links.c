#include "model/links.h"

#include "model/own.h"

#define CYCLE_MAX 1000 /* frames; shape.h says so, too */

INDEX_OF_BYTES(link_kind, struct link, place);

int links_init(struct links *l, const struct model *m, const struct model_shape *shape)
{
    const struct link root = {0, 0};
    int err;

    *l = (struct links){.shape = shape,
                        .fold_framework = shape->fold_framework && model_own_code(m)};
    err = places_init(&l->places, m, shape->grain);
    if (!err && l->fold_framework)
        err = runs_init(&l->runs, model_defs(m));
    if (!err &&
        (!array_reserve(&l->links, &l->capacity, 1) ||
         (l->fold_framework && !array_reserve_zeroed(&l->longest, &l->longest_capacity, 1))))
        err = -ENOMEM;
    if (!err)
        l->links[l->count++] = root; /* not in the index: it is nobody's child */
    return err;
}

void links_fini(struct links *l)
{
    memory_free_all(l->links, l->longest);
    index_free(&l->index);
    places_fini(&l->places);
    runs_fini(&l->runs);
}

int links_child(struct links *l, uint32_t parent, uint32_t place, uint32_t *out)
{
    const struct link key = {parent, place};
    int added = index_add(&l->index, &link_kind, &l->links, &l->count, &l->capacity, &key, out);

    if (added > 0 && l->fold_framework &&
        !array_reserve_zeroed(&l->longest, &l->longest_capacity, l->count))
        return -ENOMEM;
    return added < 0 ? added : 0;
}

/* ---- recursion ---- */

/* Where a near frame goes: beside the frame of its method, if there is one above it. */
static uint32_t parent_of_frame(const struct links *l, uint32_t parent, uint32_t place)
{
    const struct model_place *places = l->places.places, *p = &places[place], *q;
    unsigned frames = 0;

    for (uint32_t at = parent; at && frames < CYCLE_MAX; at = l->links[at].parent, frames++) {
        q = &places[l->links[at].place];
        if (q->kind == p->kind && q->method == p->method && q->filter == p->filter)
            return l->links[at].parent;
    }
    return parent;
}

static int push(struct links *l, uint32_t parent, uint32_t place, uint32_t *out)
{
    if (l->shape->fold_recursion && l->places.places[place].near)
        parent = parent_of_frame(l, parent, place);
    return links_child(l, parent, place, out);
}

/* ---- framework ---- */

int links_end(struct links *l, struct links_state from, uint32_t *out)
{
    const struct run *run;
    uint32_t place;
    const char *name;
    int err;

    *out = from.link;
    if (from.run == RUNS_NONE)
        return 0;
    run = &l->runs.runs[from.run];
    if (run->count == 1)
        return push(l, from.link, run->place, out);
    err = runs_name(&l->runs, from.run, &name);
    if (!err)
        err = places_folded(&l->places, name, 0, &place);
    if (!err)
        err = push(l, from.link, place, out);
    run = &l->runs.runs[from.run];
    if (!err && l->longest[*out] < run->count)
        l->longest[*out] = run->count;
    return err;
}

static bool in_run(const struct links *l, uint32_t place)
{
    const struct model_place *p = &l->places.places[place];

    return p->kind == MODEL_PLACE_METHOD && !p->near;
}

int links_step(struct links *l, struct links_state from, const struct report_frame *f,
               struct links_state *out)
{
    uint32_t place, link;
    int err = places_frame(&l->places, f, &place);

    *out = from;
    if (!err && l->fold_framework && in_run(l, place))
        return runs_add(&l->runs, from.run, f->method, place, &out->run);
    if (!err)
        err = links_end(l, from, &link);
    out->run = RUNS_NONE;
    return err ? err : push(l, link, place, &out->link);
}

int links_finish(struct links *l)
{
    int err = 0;

    index_free(&l->index);
    for (size_t i = 0; !err && l->longest && i < l->count; i++) {
        const struct model_place *p = &l->places.places[l->links[i].place];

        if (p->kind == MODEL_PLACE_FOLDED)
            err = places_folded(&l->places, p->name, l->longest[i], &l->links[i].place);
    }
    return err;
}
