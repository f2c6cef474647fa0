#include "metadata/records.h"

#include "base/memory.h"

/* Where record `id` lies, or would: its chunk and the place in it. */
static unsigned place_of(uint32_t id, uint32_t *at)
{
    uint64_t n = (uint64_t)id - 1 + METADATA_CHUNK;
    unsigned chunk = 63 - (unsigned)__builtin_clzll(n) - (unsigned)__builtin_ctz(METADATA_CHUNK);

    *at = (uint32_t)(n - ((uint64_t)METADATA_CHUNK << chunk));
    return chunk;
}

void *metadata_record_at(const struct metadata_records *records, uint32_t id)
{
    _Atomic(void *) *chunk;
    uint32_t at;
    unsigned k;

    if (id == 0 || id > load_acquire(&records->count)) /* pairs with metadata_records_add */
        return NULL;
    k = place_of(id, &at);
    chunk = load_relaxed(&records->chunk[k]);
    return load_relaxed(&chunk[at]);
}

uint32_t metadata_records_reserve(struct metadata_records *records, struct memory_pool *pool)
{
    uint32_t at, id = load_relaxed(&records->count) + 1;
    unsigned k = place_of(id, &at);

    if (k >= METADATA_CHUNKS)
        return 0;
    if (!load_relaxed(&records->chunk[k])) {
        _Atomic(void *) *chunk =
            memory_pool_zalloc(pool, (size_t)METADATA_CHUNK << k, sizeof(*chunk));

        if (!chunk)
            return 0;
        store_relaxed(&records->chunk[k], chunk);
    }
    return id;
}

void metadata_records_add(struct metadata_records *records, uint32_t id, void *record)
{
    uint32_t at;
    unsigned k = place_of(id, &at);

    if (id <= load_relaxed(&records->count))
        return; /* it was there before */

    store_relaxed(&load_relaxed(&records->chunk[k])[at], record);
    store_release(&records->count, id); /* the record and its chunk before the count */
}
