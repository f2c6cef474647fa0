#include "names/table.h"

#include "base/memory.h"

#include <errno.h>

#define FIRST_SLOTS  256
#define ADDRESS_BITS 48

/*
 * A slot tells most keys apart without a look at the entry, which is a cache miss: above the address, which has 48 bits
 * in user space, lie as many of the key's hash as there is room for. 0: free.
 */
struct names_slots {
    size_t count;              /* a power of two */
    struct names_slots *older; /* outgrown before this one */
    _Atomic(uint64_t) slot[];
};

static struct names_entry removed; /* where one was: others with its hash may lie behind it */

static uint64_t hash_of(uintptr_t key)
{
    return key * UINT64_C(0x9e3779b97f4a7c15); /* ids are addresses: high bits of the product */
}

static struct names_entry *entry_of(uint64_t slot)
{
    return (struct names_entry *)(uintptr_t)(slot & ((UINT64_C(1) << ADDRESS_BITS) - 1));
}

static size_t size_of(size_t count)
{
    return sizeof(struct names_slots) + count * sizeof(uint64_t);
}

static struct names_slots *slots_new(size_t count)
{
    struct names_slots *slots = memory_pages_map(size_of(count));

    if (slots)
        slots->count = count;
    return slots;
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
    struct names_entry *found = NULL;

    if (key)
        slot_of(load_acquire(&table->slots), key, &found);
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

/* What is in `old` into another array, at most a quarter full. Returns: 0 or -ENOMEM. */
static int move(struct names_table *table, struct names_slots *old)
{
    size_t count = FIRST_SLOTS, entries = entries_in(old);
    struct names_slots *slots;

    while (count / 4 < entries)
        count *= 2;
    slots = slots_new(count);
    if (!slots)
        return -ENOMEM;
    table->used = 0;
    for (size_t i = 0; i < old->count; i++) {
        struct names_entry *entry = entry_of(load_relaxed(&old->slot[i])), *none;

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

int names_table_room(struct names_table *table)
{
    struct names_slots *slots = load_relaxed(&table->slots);

    if (table->used < slots->count / 2 || !move(table, slots))
        return 0;
    return table->used < slots->count / 8 * 7 ? 0 : -ENOMEM; /* slower, but there is room */
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
    struct names_entry *old = NULL;
    _Atomic(uint64_t) *slot = slot_of(load_relaxed(&table->slots), key, &old);

    if (old)
        store_release(slot, word_of(&removed, key));
}

struct names_slots *names_table_outgrown(struct names_table *table)
{
    struct names_slots *slots = table->outgrown;

    table->outgrown = NULL;
    return slots;
}

void names_slots_free(struct names_slots *slots)
{
    while (slots) {
        struct names_slots *older = slots->older;

        memory_pages_unmap(slots, size_of(slots->count));
        slots = older;
    }
}

int names_table_init(struct names_table *table)
{
    struct names_slots *slots = slots_new(FIRST_SLOTS);

    *table = (struct names_table){.used = 0};
    store_relaxed(&table->slots, slots);
    return slots ? 0 : -ENOMEM;
}

void names_table_fini(struct names_table *table)
{
    names_slots_free(table->outgrown);
    names_slots_free(load_relaxed(&table->slots));
    *table = (struct names_table){.used = 0};
}
