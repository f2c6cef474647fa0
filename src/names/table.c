#include "names/table.h"

#include <errno.h>

#define FIRST_SLOTS  256
#define ADDRESS_BITS 48

static struct names_entry removed; /* where one was: others with its hash may lie behind it */

static uint64_t hash_of(uintptr_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15); /* ids are addresses: high bits of the product */
}

static struct names_entry *entry_of(uint64_t slot)
{
    return (struct names_entry *)(uintptr_t)(slot & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

/* The slot of a key, or the free one where it would be; *found is the entry, NULL for a free one. */
static _Atomic(uint64_t) *slot_of(struct names_slots *slots, uintptr_t key,
                                  struct names_entry **found)
{
    uint64_t hash = hash_of(key), word;
    size_t at = (size_t)(hash >> 32);

    for (;; at++) {
        _Atomic(uint64_t) *slot = &slots->slot[at & (slots->count - 1)];

        word = load_acquire(slot); /* pairs with the releases below */
        *found = entry_of(word);
        if (!word || (word >> ADDRESS_BITS == (hash & UINT16_MAX) && (*found)->key == key))
            return slot;
    }
}

struct names_entry *names_table_find(const struct names_table *table, uintptr_t key)
{
    struct names_slots *slots = load_acquire(&table->slots);
    struct names_entry *found = NULL;

    if (slots && key)
        slot_of(slots, key, &found);
    return found;
}

static uint64_t word_of(const struct names_entry *entry, uintptr_t key)
{
    return (uintptr_t)entry | hash_of(key) << ADDRESS_BITS;
}

static size_t entries_in(const struct names_slots *slots)
{
    size_t entries = 0;

    for (size_t i = 0; i < slots->count; i++) {
        uint64_t word = load_relaxed(&slots->slot[i]);

        entries += word && entry_of(word) != &removed;
    }
    return entries;
}

int names_table_room(struct names_table *table, struct memory_pool *pool)
{
    struct names_slots *old = load_relaxed(&table->slots), *slots;
    size_t count = FIRST_SLOTS;

    if (old && table->used < old->count / 2)
        return 0;
    while (old && count / 4 < entries_in(old))
        count *= 2;
    slots = memory_pool_zalloc(pool, 1, sizeof(*slots) + count * sizeof(*slots->slot));
    if (!slots)
        return -ENOMEM;
    slots->count = count;
    table->used = 0;
    for (size_t i = 0; old && i < old->count; i++) {
        struct names_entry *entry = entry_of(load_relaxed(&old->slot[i])), *none;

        if (!entry || entry == &removed)
            continue;
        store_relaxed(slot_of(slots, entry->key, &none), word_of(entry, entry->key));
        table->used++;
    }
    store_release(&table->slots, slots); /* what is in it before it */
    return 0;
}

void names_table_put(struct names_table *table, struct names_entry *entry)
{
    struct names_entry *old;
    _Atomic(uint64_t) *slot = slot_of(load_relaxed(&table->slots), entry->key, &old);

    table->used += !old;
    store_release(slot, word_of(entry, entry->key)); /* all that is in the record before it */
}

void names_table_remove(struct names_table *table, uintptr_t key)
{
    struct names_slots *slots = load_relaxed(&table->slots);
    struct names_entry *old = NULL;
    _Atomic(uint64_t) *slot = slots ? slot_of(slots, key, &old) : NULL;

    if (old)
        store_release(slot, word_of(&removed, key));
}
