/*
 * alloc/site.h - the allocating instruction in the youngest frame.
 *
 * From the callback the frame-pointer chain leads through the runtime to the first frame whose saved frame pointer is
 * the allocating method's. If that frame returns into jitted code, there it is. If it returns into the runtime (since
 * .NET 10: an allocation helper in assembly), the address lies at a distance above that is constant for the helper:
 * learned once per helper from a snapshot, which is never asked again.
 */
#ifndef SHADOWTRACE_ALLOC_SITE_H
#define SHADOWTRACE_ALLOC_SITE_H

#include "base/atomics.h"

#include <stdbool.h>

#define SITE_HELPERS 64 /* a power of two; four are known */
#define SITE_REACH \
    1024 /* bytes above the helper's frame that are searched for the address when learning */

struct site_table {
    uintptr_t native_low, native_high; /* the runtime's image */
    struct {
        _Atomic(uintptr_t) helper;  /* return address into the helper; 0: free */
        _Atomic(uint32_t) distance; /* bytes; 0: not learned (yet) */
    } entry[SITE_HELPERS];
    _Atomic(uint32_t) lessons; /* snapshots taken to learn */
    _Atomic(uint64_t) unknown; /* allocations whose instruction was not found */
};

/* Asks a snapshot for the youngest frame of the calling thread. Returns its instruction, or 0. */
typedef uintptr_t site_teacher(void *context);

/*
 * site_find - the return address of the allocating call.
 * caller_sp: the youngest frame's. Its frame pointer is saved 16 bytes below; after on-stack replacement the method has
 *            another one, somewhat lower.
 * in_filter: a filter of that method allocates: it uses the method's frame pointer, from a younger place.
 * Returns:   the address, or 0 (counted).
 * Threads: the allocating one. May run: in ObjectAllocated only.
 */
uintptr_t site_find(struct site_table *table, uintptr_t caller_sp, bool in_filter,
                    site_teacher *teacher, void *context);

#endif
