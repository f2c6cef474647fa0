#include "metadata/table.h"

#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>

#define FIRST_SLOTS  256
#define ADDRESS_BITS 48

/*
 * A slot distinguishes most keys without reading the entry, a cache miss: above the address (48
 * bits in user space) lie bits of the key's hash. 0: free.
 */
struct metadata_slots {
    size_t count;                 /* a power of two */
    struct metadata_slots *older; /* outgrown before this one */
    _Atomic(uint64_t) slot[];
};

static struct metadata_entry removed; /* a removed entry: others with its hash may follow */

static struct metadata_entry *entry_of(uint64_t slot)
{
    return (struct metadata_entry *)(uintptr_t)(slot & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

static size_t size_of(size_t count)
{
    return sizeof(struct metadata_slots) + count * sizeof(uint64_t);
}

static struct metadata_slots *slots_new(size_t count)
{
    struct metadata_slots *slots = memory_pages_map(size_of(count));

    if (!slots)
        return NULL;
    memory_pages_fill(slots, size_of(count)); /* all over, and read first */
    slots->count = count;
    return slots;
}

/* The slot of a key, or the free one for it; *found is the entry, NULL for a free one. */
static _Atomic(uint64_t) *slot_of(struct metadata_slots *slots, uintptr_t key,
                                  struct metadata_entry **found)
{
    uint64_t hash = hash_word(key), word;
    size_t at = (size_t)(hash >> 32);

    for (;; at++) {
        _Atomic(uint64_t) *slot = &slots->slot[at & (slots->count - 1)];

        word = load_acquire(slot); /* pairs with the releases below */
        *found = entry_of(word);
        if (!word || (word >> ADDRESS_BITS == (hash & UINT16_MAX) && (*found)->key == key))
            return slot;
    }
}

struct metadata_entry *metadata_table_find(const struct metadata_table *table, uintptr_t key)
{
    struct metadata_entry *found = NULL;

    if (key)
        slot_of(load_acquire(&table->slots), key, &found);
    return found;
}

static uint64_t word_of(const struct metadata_entry *entry, uintptr_t key)
{
    return (uintptr_t)entry | hash_word(key) << ADDRESS_BITS;
}

static size_t entries_in(const struct metadata_slots *slots)
{
    size_t entries = 0;

    for (size_t i = 0; i < slots->count; i++) {
        uint64_t word = load_relaxed(&slots->slot[i]);

        entries += word && entry_of(word) != &removed;
    }
    return entries;
}

/* What is in `old` into another array, at most a quarter full. Returns: 0 or -ENOMEM. */
static int move(struct metadata_table *table, struct metadata_slots *old)
{
    size_t count = FIRST_SLOTS, entries = entries_in(old);
    struct metadata_slots *slots;

    while (count / 4 < entries)
        count *= 2;
    slots = slots_new(count);
    if (!slots)
        return -ENOMEM;
    table->used = 0;
    for (size_t i = 0; i < old->count; i++) {
        struct metadata_entry *entry = entry_of(load_relaxed(&old->slot[i])), *none;

        if (!entry || entry == &removed)
            continue;
        store_relaxed(slot_of(slots, entry->key, &none), word_of(entry, entry->key));
        table->used++;
    }
    store_release(&table->slots, slots); /* what is in it before it */
    old->older = table->outgrown;
    table->outgrown = old;
    return 0;
}

int metadata_table_room(struct metadata_table *table)
{
    struct metadata_slots *slots = load_relaxed(&table->slots);

    if (table->used < slots->count / 2 || !move(table, slots))
        return 0;
    return table->used < slots->count / 8 * 7 ? 0 : -ENOMEM; /* slower, but there is room */
}

void metadata_table_put(struct metadata_table *table, struct metadata_entry *entry)
{
    struct metadata_entry *old;
    _Atomic(uint64_t) *slot = slot_of(load_relaxed(&table->slots), entry->key, &old);

    table->used += !old;
    store_release(slot, word_of(entry, entry->key)); /* all that is in the record before it */
}

void metadata_table_remove(struct metadata_table *table, uintptr_t key)
{
    struct metadata_entry *old = NULL;
    _Atomic(uint64_t) *slot = slot_of(load_relaxed(&table->slots), key, &old);

    if (old)
        store_release(slot, word_of(&removed, key));
}

struct metadata_slots *metadata_table_outgrown(struct metadata_table *table)
{
    struct metadata_slots *slots = table->outgrown;

    table->outgrown = NULL;
    return slots;
}

void metadata_slots_free(struct metadata_slots *slots)
{
    while (slots) {
        struct metadata_slots *older = slots->older;

        memory_pages_unmap(slots, size_of(slots->count));
        slots = older;
    }
}

int metadata_table_init(struct metadata_table *table)
{
    struct metadata_slots *slots = slots_new(FIRST_SLOTS);

    *table = (struct metadata_table){.used = 0};
    store_relaxed(&table->slots, slots);
    return slots ? 0 : -ENOMEM;
}

void metadata_table_fini(struct metadata_table *table)
{
    metadata_slots_free(table->outgrown);
    metadata_slots_free(load_relaxed(&table->slots));
    *table = (struct metadata_table){.used = 0};
}
