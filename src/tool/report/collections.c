#include "report/collections.h"

#include "base/order.h"

void collections_init(struct collections *c, struct log_defs *defs)
{
    memset(c, 0, sizeof(*c));
    c->defs = defs;
}

void collections_fini(struct collections *c)
{
    memory_free_all(c->all, c->shares);
    index_free(&c->index);
}

static void sizes_in(const struct log_record *r, const char *key, uint64_t to[COLLECTION_HEAPS])
{
    const json_t *sizes = json_object_get(r->json, key);

    for (size_t i = 0; i < COLLECTION_HEAPS; i++)
        to[i] = (uint64_t)json_integer_value(json_array_get(sizes, i));
}

int collections_add(struct collections *c, const struct log_record *r)
{
    struct collection *added;
    const char *reason = "";
    const json_t *generation;
    size_t i;

    if (!array_reserve(&c->all, &c->capacity, c->count + 1))
        return -ENOMEM;
    added = &c->all[c->count++];
    *added = (struct collection){.number = log_count_in(r->json, "gc"),
                                 .t = log_count_in(r->json, "t"),
                                 .ns = log_count_in(r->json, "ns")};
    added->t -= added->ns < added->t ? added->ns : added->t;
    (void)log_member_text(r->json, "reason", &reason);
    added->induced = strcmp(reason, "induced") == 0;
    json_array_foreach(json_object_get(r->json, "generations"), i, generation)
    {
        added->generations |= 1u << (json_integer_value(generation) & 7);
    }
    sizes_in(r, "before", added->before);
    sizes_in(r, "after", added->after);
    return 0;
}

ORDERED_BY(by_start, struct collection, ORDER(x->t, y->t))

void collections_sort(struct collections *c)
{
    SORT(c->all, c->count, by_start);
}

static bool began_by(const void *collection, const void *t)
{
    return ((const struct collection *)collection)->t <= *(const uint64_t *)t;
}

INDEX_OF_BYTES(share_kind, struct collections_share, il);

/* The share of a site, made if it is new; NULL when memory ran out. */
static struct collections_share *share_of(struct collections *c,
                                          const struct collections_share *key)
{
    uint32_t number;
    int added = index_add(&c->index, &share_kind, &c->shares, &c->share_count, &c->share_capacity,
                          key, &number);

    return added < 0 ? NULL : &c->shares[number];
}

int collections_alloc(struct collections *c, const struct log_record *r)
{
    const struct log_alloc *a = &r->alloc;
    struct collections_share key = {.at = (uint32_t)order_first(c->all, c->count, sizeof(*c->all),
                                                                began_by, &a->t),
                                    .il = log_defs_alloc_il(c->defs, a)},
                             *share;
    bool last = key.at == c->count;
    uint64_t bytes = a->weight > 0 ? (uint64_t)a->weight : a->bytes;
    uint64_t allocs = a->weight > 0 && a->bytes ? bytes / a->bytes : a->allocs;
    int err = log_defs_alloc_path(c->defs, a, r->at, &key.path);

    if (!err)
        err = log_defs_plain(c->defs, &key.path);
    if (!err)
        err = a->class_id ? log_defs_class(c->defs, a->class_id, r->at, &key.class_number)
                          : log_defs_inline_class(c->defs, a, &key.class_number);
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

ORDERED_BY(by_collection, struct collections_share, ORDER(x->at, y->at), ORDER(y->bytes, x->bytes),
           ORDER(x->path, y->path), ORDER(x->il, y->il))

void collections_finish(struct collections *c)
{
    SORT(c->shares, c->share_count, by_collection);
}

static bool share_before(const void *share, const void *at)
{
    return ((const struct collections_share *)share)->at < *(const size_t *)at;
}

const struct collections_share *collections_shares(const struct collections *c, size_t at,
                                                   size_t *count)
{
    size_t first = order_first(c->shares, c->share_count, sizeof(*c->shares), share_before, &at);

    for (*count = 0; first + *count < c->share_count && c->shares[first + *count].at == at;)
        ++*count;
    return c->shares + first;
}
