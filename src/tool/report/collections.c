#include "report/collections.h"

#include <stdlib.h>

void collections_init(struct collections *c, struct report_defs *defs)
{
    memset(c, 0, sizeof(*c));
    c->defs = defs;
}

void collections_fini(struct collections *c)
{
    memory_free(c->all);
    memory_free(c->shares);
    index_free(&c->index);
}

static void sizes_in(const struct report_record *r, const char *key, uint64_t to[COLLECTION_HEAPS])
{
    const json_t *sizes = json_object_get(r->json, key);

    for (size_t i = 0; i < COLLECTION_HEAPS; i++)
        to[i] = (uint64_t)json_integer_value(json_array_get(sizes, i));
}

int collections_add(struct collections *c, const struct report_record *r)
{
    struct collection *added;
    const char *reason = "";
    const json_t *generation;
    size_t i;

    if (!array_reserve(&c->all, &c->capacity, c->count + 1))
        return -ENOMEM;
    added = &c->all[c->count++];
    *added = (struct collection){.number = report_count_in(r->json, "gc"),
                                 .t = report_count_in(r->json, "t"),
                                 .ns = report_count_in(r->json, "ns")};
    added->t -= added->ns < added->t ? added->ns : added->t;
    (void)report_member_text(r->json, "reason", &reason);
    added->induced = strcmp(reason, "induced") == 0;
    json_array_foreach(json_object_get(r->json, "generations"), i, generation)
    {
        added->generations |= 1u << (json_integer_value(generation) & 7);
    }
    sizes_in(r, "before", added->before);
    sizes_in(r, "after", added->after);
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct collection *x = a, *y = b;

    return x->t < y->t ? -1 : x->t > y->t;
}

void collections_sort(struct collections *c)
{
    if (c->count)
        qsort(c->all, c->count, sizeof(*c->all), by_start);
}

/* The first collection that began after t; the count of them if none did. */
static size_t collection_after(const struct collections *c, uint64_t t)
{
    size_t low = 0, high = c->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->all[middle].t <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t hash_of(const struct collections_share *s)
{
    return hash_mix(hash_mix((uint64_t)s->at << 32 | s->path, s->class_number), (uint32_t)s->il);
}

static uint64_t hash_at(const void *context, uint32_t number)
{
    return hash_of(&((const struct collections *)context)->shares[number]);
}

static bool equal(const void *context, uint32_t number, const void *key)
{
    const struct collections *c = context;
    const struct collections_share *have = &c->shares[number], *want = key;

    return have->at == want->at && have->path == want->path &&
           have->class_number == want->class_number && have->il == want->il;
}

/* The share of a site, made if it is new; NULL when memory ran out. */
static struct collections_share *share_of(struct collections *c,
                                          const struct collections_share *key)
{
    uint32_t number;
    int added;

    if (!array_reserve(&c->shares, &c->share_capacity, c->share_count + 1))
        return NULL;
    added = index_add(&c->index, hash_of(key), equal, hash_at, c, key, c->share_count, &number);
    if (added > 0)
        c->shares[c->share_count++] = *key;
    return added < 0 ? NULL : &c->shares[number];
}

int collections_alloc(struct collections *c, const struct report_record *r)
{
    const struct report_alloc *a = &r->alloc;
    struct collections_share key = {.at = (uint32_t)collection_after(c, a->t),
                                    .il = report_alloc_il(a)},
                             *share;
    bool last = key.at == c->count;
    uint64_t bytes = a->weight > 0 ? (uint64_t)a->weight : a->bytes;
    uint64_t allocs = a->weight > 0 && a->bytes ? bytes / a->bytes : a->allocs;
    int err = report_defs_alloc_path(c->defs, a, r->at, &key.path);

    if (!err)
        err = report_defs_plain(c->defs, &key.path);
    if (!err)
        err = a->class_id ? report_defs_class(c->defs, a->class_id, r->at, &key.class_number)
                          : report_defs_inline_class(c->defs, a, &key.class_number);
    if (err)
        return err;
    *(last ? &c->bytes_after : &c->all[key.at].bytes) += bytes;
    *(last ? &c->allocs_after : &c->all[key.at].allocs) += allocs;
    share = share_of(c, &key);
    if (!share)
        return -ENOMEM;
    share->bytes += bytes;
    share->allocs += allocs;
    return 0;
}

static int by_collection(const void *a, const void *b)
{
    const struct collections_share *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->path != y->path ? x->path < y->path ? -1 : 1 : x->il - y->il;
}

void collections_finish(struct collections *c)
{
    if (c->share_count)
        qsort(c->shares, c->share_count, sizeof(*c->shares), by_collection);
}

const struct collections_share *collections_shares(const struct collections *c, size_t at,
                                                   size_t *count)
{
    size_t low = 0, high = c->share_count, first;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->shares[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    for (first = low; low < c->share_count && c->shares[low].at == at; low++)
        ;
    *count = low - first;
    return c->shares + first;
}
