/*
 * readers/index.h - a hash index over records that lie in an array of the caller's: numbers of
 * records in open addressing, half full at most. Records are added, never removed. Numbers are 32
 * bits: 4 bytes a slot.
 */
#ifndef SHADOWTRACE_READERS_INDEX_H
#define SHADOWTRACE_READERS_INDEX_H

#include "base/atomics.h"
#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define INDEX_NONE UINT32_MAX

struct index {
    uint32_t *slots; /* number + 1; 0 empty */
    size_t mask, used;
};

/* Whether record `number` has the key looked for; its hash, for when the index grows. */
typedef bool index_equal(const void *context, uint32_t number, const void *key);
typedef uint64_t index_hash(const void *context, uint32_t number);

/* Two words to one well mixed (the high half of a product depends on every bit of both). */
static inline uint64_t index_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product =
        (unsigned __int128)(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t index_hash_bytes(const void *data, size_t size)
{
    const char *at = data;
    uint64_t hash = size, word;

    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = index_mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, size);
    return index_mix(hash, word ^ 0x2545F4914F6CDD1Du);
}

/*
 * index_find - the number of the record with that key and hash, or INDEX_NONE; *slot is where it is
 * or would be.
 */
static inline uint32_t index_find(const struct index *x, uint64_t hash, index_equal *equal,
                                  const void *context, const void *key, size_t *slot)
{
    size_t at = (size_t)hash & x->mask;

    if (UNLIKELY(!x->slots))
        return INDEX_NONE;
    for (; x->slots[at]; at = (at + 1) & x->mask)
        if (LIKELY(equal(context, x->slots[at] - 1, key)))
            break;
    *slot = at;
    return x->slots[at] - 1; /* an empty slot gives INDEX_NONE */
}

/*
 * index_reserve - room for one more record. Call before index_find where a new one is added.
 * Returns: 0 or -ENOMEM.
 */
static inline int index_reserve(struct index *x, index_hash *hash, const void *context)
{
    size_t size = x->slots ? (x->mask + 1) * 2 : 64;
    struct index larger = {NULL, size - 1, x->used};

    if (LIKELY(x->slots && x->used <= x->mask / 2))
        return 0;
    if (size > UINT32_MAX || !(larger.slots = memory_zalloc(size, sizeof(*larger.slots))))
        return -ENOMEM;
    for (size_t i = 0; x->slots && i <= x->mask; i++) {
        size_t at;

        if (!x->slots[i])
            continue;
        at = (size_t)hash(context, x->slots[i] - 1) & larger.mask;
        while (larger.slots[at])
            at = (at + 1) & larger.mask;
        larger.slots[at] = x->slots[i];
    }
    memory_free(x->slots);
    *x = larger;
    return 0;
}

/* The slot is index_find's, with nothing added in between. */
static inline void index_put(struct index *x, size_t slot, uint32_t number)
{
    x->slots[slot] = number + 1;
    x->used++;
}

static inline void index_clear(struct index *x)
{
    if (x->slots)
        memset(x->slots, 0, (x->mask + 1) * sizeof(*x->slots));
    x->used = 0;
}

static inline void index_free(struct index *x)
{
    memory_free(x->slots);
    *x = (struct index){NULL, 0, 0};
}

/*
 * array_grow - the array with room for half as many elements again; *capacity and the caller's
 * pointer are updated by the caller's assignment: a = array_grow(a, &capacity, sizeof(*a)) would
 * lose a when this gives NULL.
 */
static inline void *array_grow(void *array, size_t *capacity, size_t size)
{
    size_t more = *capacity ? *capacity + *capacity / 2 : 8;
    void *larger = memory_realloc(array, more * size);

    if (larger)
        *capacity = more;
    return larger;
}

#endif
