/*
 * clr/allocated.h - how many bytes the program has allocated so far, as GC.GetTotalAllocatedBytes
 * says. No profiling interface and no event has that figure. The runtime finds its own functions
 * for managed code by name, in tables of constants; these are found in the same way, so that no
 * offset and no layout but that of a table's row is assumed.
 */
#ifndef SHADOWTRACE_CLR_ALLOCATED_H
#define SHADOWTRACE_CLR_ALLOCATED_H

#include "clr/runtime.h"

#define CLR_ALLOCATED_UNKNOWN UINT64_MAX

/* All NULL: not found, or a runtime that nobody has tried this on. */
struct clr_allocated {
    struct clr_info *info;
    int64_t (*exact)(void);        /* GCInterface_GetTotalAllocatedBytesPrecise; .NET 9 and later */
    int64_t (*thread)(void);       /* GetAllocatedBytesForCurrentThread */
    int64_t (*handed)(uint8_t no); /* whole blocks that threads allocate from; no: not exactly */
};

/* clr_allocated_find - in the image with runtime->low. Threads: any; makes no runtime call. */
void clr_allocated_find(const struct clr_runtime *runtime, struct clr_allocated *out);

/*
 * clr_allocated_exact - stops the runtime for the time of reading; RuntimeSuspendFinished is called
 * on this thread meanwhile. Returns: bytes, or CLR_ALLOCATED_UNKNOWN.
 * Threads: one that the runtime knows, in preemptive mode; for others it is unknown.
 */
uint64_t clr_allocated_exact(const struct clr_allocated *a);

/*
 * clr_allocated_thread - of the calling thread. Returns: bytes, or CLR_ALLOCATED_UNKNOWN. Threads:
 * one that the runtime knows. May run: while no collection can.
 */
uint64_t clr_allocated_thread(const struct clr_allocated *a);

/*
 * clr_allocated_most - that and what is left of the blocks of all threads, at most 8 KB each: exact
 * plus the rest while all threads are stopped. Returns: bytes, or CLR_ALLOCATED_UNKNOWN. Threads:
 * any; reads a few counters.
 */
uint64_t clr_allocated_most(const struct clr_allocated *a);

#endif
