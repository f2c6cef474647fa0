#include "model/tree.h"

#include "base/hash128.h"

const struct log_def *model_place_def(const struct log_defs *d, const struct model_place *p)
{
    if (p->kind == MODEL_PLACE_METHOD)
        return log_method(d, p->method);
    return p->kind == MODEL_PLACE_TYPE ? log_class(d, p->method) : NULL;
}

const char *model_place_name(const struct log_defs *d, const struct model_place *p)
{
    const struct log_def *def = model_place_def(d, p);

    if (def)
        return def->name;
    return p->name ? p->name : "";
}

/* The hash of a place's kind and names, without where in it. */
static hash128 named(const struct log_defs *d, const struct model_place *p)
{
    const struct log_def *def = model_place_def(d, p);
    hash128 hash = hash128_number(HASH128_BEGIN, (uint64_t)p->kind, 1);

    hash = hash128_text(hash, model_place_name(d, p));
    return hash128_text(hash, def ? log_module(d, def->module)->name : "");
}

/* Long names are hashed once, however many places a method has: by its number. */
static hash128 named_once(const struct log_defs *d, const struct model_place *p, hash128 *known,
                          bool *is_known)
{
    if (p->kind != MODEL_PLACE_METHOD)
        return named(d, p);
    if (!is_known[p->method]) {
        known[p->method] = named(d, p);
        is_known[p->method] = true;
    }
    return known[p->method];
}

/* line_last: 0, as of most places: then it changes nothing. */
static hash128 place_id(hash128 name, uint32_t line, uint32_t line_last, int32_t il, bool filter)
{
    hash128 hash = hash128_number(name, line, 4);

    if (line_last)
        hash = hash128_number(hash, line_last, 4);
    hash = hash128_number(hash, (uint32_t)il, 4);
    return hash128_number(hash, filter, 1);
}

static void put(uint64_t to[2], hash128 hash)
{
    to[0] = hash128_high(hash);
    to[1] = hash128_low(hash);
}

int model_place_ids(const struct model_tree *t, uint64_t (**out)[2], uint64_t (**bases)[2])
{
    const struct log_defs *d = model_defs(t->model);
    uint64_t(*ids)[2] = memory_alloc((t->place_count + 1) * sizeof(*ids));
    uint64_t(*whole)[2] = memory_alloc((t->place_count + 1) * sizeof(*whole));
    hash128 *known = memory_alloc(d->methods.count * sizeof(*known));
    bool *is_known = memory_zalloc(d->methods.count, sizeof(*is_known));
    bool there = ids && whole && known && is_known;

    for (uint32_t i = 0; there && i < t->place_count; i++) {
        const struct model_place *p = &t->places[i];
        hash128 name = named_once(d, p, known, is_known);

        put(ids[i], place_id(name, p->line, p->line_last, p->il, p->filter));
        put(whole[i], place_id(name, 0, 0, LOG_NO_IL, false));
    }
    memory_free_all(known, is_known, there ? NULL : ids, there ? NULL : whole);
    *out = there ? ids : NULL;
    *bases = there ? whole : NULL;
    return there ? 0 : -ENOMEM;
}

int model_tree_ids(const struct model_tree *t, uint64_t (**out)[2])
{
    uint64_t(*places)[2], (*bases)[2], (*ids)[2];
    int err = model_place_ids(t, &places, &bases);

    memory_free(bases);
    ids = err ? NULL : memory_alloc(t->node_count * sizeof(*ids));
    for (uint32_t i = 0; ids && i < t->node_count; i++) {
        const struct model_node *n = &t->nodes[i];
        hash128 hash = HASH128_BEGIN;

        if (i) {
            hash = hash128_number(hash, ids[n->parent][0], 8);
            hash = hash128_number(hash, ids[n->parent][1], 8);
        }
        hash = hash128_number(hash, places[n->place][0], 8);
        put(ids[i], hash128_number(hash, places[n->place][1], 8));
    }
    memory_free(places);
    *out = ids;
    return ids ? 0 : -ENOMEM;
}
