/*
 * names/table.h - records by the runtime's id of what they are of. Every method compiled, and every allocation of a class
 * that its thread has not met lately, looks one up: an array of slots, each at most half full of them, that a reader
 * walks without a lock. Arrays that were outgrown stay in the pool: no longer together than the present one.
 *
 *                            | names_table_find | the others
 *   find at the same time    | safe (wait-free) | safe
 *   another at the same time | safe             | the caller excludes it
 */
#ifndef SHADOWTRACE_NAMES_TABLE_H
#define SHADOWTRACE_NAMES_TABLE_H

#include "base/atomics.h"
#include "base/memory.h"

/* What a record begins with; never moved or freed while the table is in use. */
struct names_entry {
    uintptr_t
        key; /* FunctionID, ClassID or ModuleID: never 0; set before the entry is in a table */
};

/*
 * A slot tells most keys apart without a look at the entry, which is a cache miss: above the address, which has 48 bits
 * in user space, lie as many of the key's hash as there is room for. 0: free.
 */
struct names_slots {
    size_t count; /* a power of two */
    _Atomic(uint64_t) slot[];
};

/* All zeros: empty. */
struct names_table {
    _Atomic(struct names_slots *) slots;
    size_t used; /* slots that are not free */
};

/* The entry with that key, or NULL. Threads: any. May run: in a hook. */
struct names_entry *names_table_find(const struct names_table *table, uintptr_t key);

/* names_table_room - memory for one more entry. Returns: 0 or -ENOMEM, then nothing has changed. */
int names_table_room(struct names_table *table, struct memory_pool *pool);

/* names_table_put - after names_table_room: in place of the entry with the same key, if there is one. */
void names_table_put(struct names_table *table, struct names_entry *entry);

void names_table_remove(struct names_table *table, uintptr_t key); /* if it is there */

#endif
