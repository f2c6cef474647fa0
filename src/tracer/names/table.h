/*
 * names/table.h - records by the runtime's id of what they are of. Every method compiled, and every allocation of a class
 * that its thread has not met lately, looks one up: an array of slots, each at most half full of them while there is
 * memory, that a reader walks without a lock. liburcu's hash tables abort the program when memory runs out; these refuse.
 *
 *                            | names_table_find | the others
 *   find at the same time    | safe (wait-free) | safe
 *   another at the same time | safe             | the caller excludes it
 *
 * Entries are not the table's: who frees one that was
 * removed or replaced waits for a grace period (rcu/grace.h) before.
 */
#ifndef SHADOWTRACE_NAMES_TABLE_H
#define SHADOWTRACE_NAMES_TABLE_H

#include "base/atomics.h"

#include <stdbool.h>

/* What a record begins with; it does not move while it is in the table. */
struct names_entry {
    uintptr_t
        key; /* FunctionID, ClassID or ModuleID: never 0; set before the entry is in a table */
};

struct names_slots;
struct names_table {
    _Atomic(struct names_slots *) slots;
    struct names_slots *outgrown;
    size_t used; /* slots that are not free */
};

/* names_table_init - empty. Returns: 0 or -ENOMEM. */
int names_table_init(struct names_table *table);
void names_table_fini(struct names_table *table); /* the entries stay; all zeros will do, too */

/*
 * names_table_find - the entry with that key, or NULL. It may be removed the next moment: the caller is in a section.
 * Threads: any. May run: in a hook.
 */
struct names_entry *names_table_find(const struct names_table *table, uintptr_t key);

/* names_table_room - a slot for one more entry. Returns: 0 or -ENOMEM, then nothing has changed. */
int names_table_room(struct names_table *table);

/* names_table_put - after names_table_room: in place of the entry with the same key, if there is one. */
void names_table_put(struct names_table *table, struct names_entry *entry);

void names_table_remove(struct names_table *table, uintptr_t key); /* if it is there */

/*
 * names_table_outgrown - takes the arrays that were outgrown. names_slots_free gives them back, once a grace period has
 * passed. Returns: them, or NULL.
 */
struct names_slots *names_table_outgrown(struct names_table *table);
void names_slots_free(struct names_slots *slots);

#endif
