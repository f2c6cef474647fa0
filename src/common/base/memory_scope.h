/*
 * base/memory_scope.h - what is allocated by base/memory.h while a scope is open, so that all of it
 * can be given back at once. Threads: any; a lock is held for list work only.
 */
#ifndef SHADOWTRACE_BASE_MEMORY_SCOPE_H
#define SHADOWTRACE_BASE_MEMORY_SCOPE_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * memory_scope_begin - from here on it is known what has been allocated and mapped and not given
 * back. memory_scope_end - all of that is given back: for a library that leaves a process which
 * goes on. Until then memory_pages_* take a lock, for a moment, and so may not run in a hook.
 * memory_scope_forked - in a child after fork: nobody else holds that lock any more.
 * Returns: 0 or -ENOMEM. Threads: one, before the first allocation; the last one that is left.
 */
int memory_scope_begin(void);
void memory_scope_end(void);
void memory_scope_forked(void);

/* ---- for memory.c ---- */

extern _Atomic(bool) scope_is_open;

static inline bool scope_open(void)
{
    return UNLIKELY(load_relaxed(&scope_is_open));
}

/* As malloc, calloc, realloc, strdup and free. */
void *scope_alloc(size_t size);
void *scope_zalloc(size_t count, size_t size);
void *scope_realloc(void *block, size_t size);
char *scope_strdup(const char *text);
void scope_free(void *block);

/* Pages that were mapped. Returns: whether there was memory to keep them in mind. */
bool scope_mapped(void *pages, size_t size);
void scope_moved(const void *from, void *to, size_t size);
void scope_unmapped(const void *pages, size_t size); /* all of what was mapped, or its end */

#endif
