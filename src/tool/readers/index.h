/*
 * readers/index.h - a hash index over records that lie in an array of the caller's: numbers of
 * records in open addressing, half full at most. Records are added, never removed. Numbers are 32
 * bits: 4 bytes a slot.
 */
#ifndef SHADOWTRACE_READERS_INDEX_H
#define SHADOWTRACE_READERS_INDEX_H

#include "base/array.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define INDEX_NONE UINT32_MAX

struct index {
    uint32_t *slots; /* number + 1; 0 empty */
    size_t mask, used;
};

/* What the records are. A key is one, too: to find it only what `hash` and `equal` read matters. */
struct index_kind {
    size_t size;
    uint64_t (*hash)(const void *record);
    bool (*equal)(const void *record, const void *key);
};

/*
 * INDEX_OF_BYTES - the kind of records of a struct whose first members, to `last`, are their key,
 * byte by byte: there is no padding among them. INDEX_OF_TEXT - the same of those that begin with
 * a pointer to a text, which is their key.
 */
#define INDEX_OF_BYTES(kind, type, last) \
    INDEX_OF(kind, type, hash_bytes(record, INDEX_KEY(type, last)), \
             memcmp(record, key, INDEX_KEY(type, last)) == 0)
#define INDEX_OF_TEXT(kind, type) \
    INDEX_OF(kind, type, hash_bytes(index_text(record), strlen(index_text(record))), \
             strcmp(index_text(record), index_text(key)) == 0)
#define INDEX_KEY(type, last) (offsetof(type, last) + sizeof(((type *)NULL)->last))
#define INDEX_OF(kind, type, hash, equal) \
    static uint64_t kind##_hash(const void *record) \
    { \
        return hash; \
    } \
    static bool kind##_equal(const void *record, const void *key) \
    { \
        return equal; \
    } \
    static const struct index_kind kind = {sizeof(type), kind##_hash, kind##_equal}

static inline const char *index_text(const void *record)
{
    return *(const char *const *)record;
}

static inline const void *index_at(const struct index_kind *kind, const void *records,
                                   size_t number)
{
    return (const char *)records + number * kind->size;
}

/*
 * index_find - the number of the record with that key and hash, or INDEX_NONE; *slot is where it is
 * or would be.
 */
static inline uint32_t index_find(const struct index *x, const struct index_kind *kind,
                                  const void *records, uint64_t hash, const void *key, size_t *slot)
{
    size_t at = (size_t)hash & x->mask;

    if (UNLIKELY(!x->slots))
        return INDEX_NONE;
    for (; x->slots[at]; at = (at + 1) & x->mask)
        if (LIKELY(kind->equal(index_at(kind, records, x->slots[at] - 1), key)))
            break;
    *slot = at;
    return x->slots[at] - 1; /* an empty slot gives INDEX_NONE */
}

/*
 * index_reserve - room for one more record. Call before index_find where a new one is added.
 * Returns: 0 or -ENOMEM.
 */
static inline int index_reserve(struct index *x, const struct index_kind *kind, const void *records)
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
        at = (size_t)kind->hash(index_at(kind, records, x->slots[i] - 1)) & larger.mask;
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
 * index_add - the number of the record with that key; a new one, all of it, goes behind the others.
 * array: the address of the caller's pointer, as array_reserve has it.
 * Returns: 1: it is new; 0; -ENOMEM.
 */
static inline int index_add(struct index *x, const struct index_kind *kind, void *array,
                            size_t *count, size_t *capacity, const void *key, uint32_t *number)
{
    size_t slot = 0;
    char *records;

    if (*count == *capacity && !array_extend(array, capacity, *count + 1, kind->size, false))
        return -ENOMEM;
    memcpy(&records, array, sizeof(records));
    if (index_reserve(x, kind, records))
        return -ENOMEM;
    *number = index_find(x, kind, records, kind->hash(key), key, &slot);
    if (*number != INDEX_NONE)
        return 0;
    *number = (uint32_t)(*count)++;
    memcpy(records + *number * kind->size, key, kind->size);
    index_put(x, slot, *number);
    return 1;
}

#endif
