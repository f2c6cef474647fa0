/*
 * metadata/table.h - records by the runtime's id. Every method compiled, and every allocation of a
 * class that its thread has not met lately, looks one up: an array of slots, at most half full
 * while there is memory, that a reader walks without a lock. liburcu's hash tables abort the
 * program when memory runs out; these refuse.
 *
 *                            | metadata_table_find | the others
 *   find at the same time    | safe (wait-free) | safe
 *   another at the same time | safe             | the caller excludes it
 *
 * The table does not own entries: before freeing a removed one, wait for a grace period
 * (rcu/grace.h).
 */
#ifndef SHADOWTRACE_METADATA_TABLE_H
#define SHADOWTRACE_METADATA_TABLE_H

#include "base/atomics.h"

#include <stdbool.h>

/*
 * What a record begins with; it does not move while it is in the table. What was unloaded is freed
 * in steps, see metadata_retire(): retired, it is in no table; then it waits on a list of its kind
 * to become another record. Memory of records keeps its kind and number.
 */
struct metadata_entry {
    uintptr_t key;        /* the runtime's id; 0: in no table. Set before the entry is in one */
    uint32_t number;      /* place in metadata_records; 0: none yet */
    bool retired;         /* the resolver's */
    _Atomic(bool) listed; /* it is a record; release: all else in it is set */
};

struct metadata_slots;
struct metadata_table {
    _Atomic(struct metadata_slots *) slots;
    struct metadata_slots *outgrown;
    size_t used; /* slots that are not free */
};

/* metadata_table_init - empty. Returns: 0 or -ENOMEM. */
int metadata_table_init(struct metadata_table *table);
void metadata_table_fini(
    struct metadata_table *table); /* the entries stay; all zeros will do, too */

/*
 * metadata_table_find - the entry with that key, or NULL. It may be removed at any moment: the
 * caller is in an RCU section.
 * Threads: any. May run: in a hook.
 */
struct metadata_entry *metadata_table_find(const struct metadata_table *table, uintptr_t key);

/* metadata_table_room - a slot for one more entry. Returns: 0, or -ENOMEM and nothing changed. */
int metadata_table_room(struct metadata_table *table);

/* metadata_table_put - after metadata_table_room; replaces an entry with the same key. */
void metadata_table_put(struct metadata_table *table, struct metadata_entry *entry);

void metadata_table_remove(struct metadata_table *table, uintptr_t key); /* if it is there */

/*
 * metadata_table_outgrown - takes the arrays that were outgrown, or NULL; for
 * metadata_slots_free(), a grace period later.
 */
struct metadata_slots *metadata_table_outgrown(struct metadata_table *table);
void metadata_slots_free(struct metadata_slots *slots);

#endif
