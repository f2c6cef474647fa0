/*
 * alloc/site.h - the allocating instruction in the youngest frame.
 *
 * From the callback the frame-pointer chain leads through the runtime to the first frame whose
 * saved frame pointer is the allocating method's. If that frame returns into jitted code, there it
 * is. If it returns into the runtime (since .NET 10: an allocation helper in assembly), the address
 * lies above at a distance that is constant for the helper: calibrated once per helper from a
 * snapshot. If code without hooks that has a frame lies between, the chain is walked once more, for
 * where the runtime returns to.
 */
#ifndef SHADOWTRACE_ALLOC_SITE_H
#define SHADOWTRACE_ALLOC_SITE_H

#include "base/atomics.h"
#include "check/check.h"
#include "code/code.h"
#include "metadata/metadata.h"

#include <stdbool.h>

#define SITE_HELPERS 64 /* a power of two; four are known */
#define SITE_REACH \
    1024 /* bytes above the helper's frame that are searched for the address when calibrating */

struct site_table {
    uintptr_t native_low, native_high; /* the runtime's image */
    bool by_helper;      /* compiled code calls helpers in assembly: .NET 10 and later */
    struct check *check; /* calibrates a helper: check_leaf() */
    struct metadata *metadata;
    struct {
        _Atomic(uintptr_t) helper;  /* return address into the helper; 0: free */
        _Atomic(uint32_t) distance; /* words; 0: not calibrated (yet) */
        _Atomic(uint32_t) probes;   /* snapshots taken for it */
    } entry[SITE_HELPERS];
};

struct site_places {
    struct code_place call; /* what the last frame before the method's returns to */
    bool fault;             /* it is no return: the processor raised an exception at call.ip */
    /* ip: where the runtime returns to, if there may be code between it and the method; else 0 */
    struct code_place first;
};

/* The youngest frame of the shadow stack. */
struct site_frame {
    const struct metadata_method *method;
    /* Saved 16 bytes below; after on-stack replacement the frame pointer is another, lower one. */
    struct frame_at at;
    /* A filter of the method allocates, on the method's frame pointer, from a younger place. */
    bool in_filter;
};

/*
 * site_find - the return address of the allocating call.
 * Returns: whether it is known, in *out.
 * Threads: the allocating one. May run: in ObjectAllocated only.
 */
bool site_find(struct site_table *table, const struct site_frame *of, struct site_places *out);

static inline bool site_native(const struct site_table *table, uintptr_t address)
{
    return address >= table->native_low && address < table->native_high;
}

/*
 * site_signalled - of one CPU: did a signal come where `frame`, the innermost one whose saved frame
 * pointer is the method's (`target`), returns to? `before` is the frame below it, or NULL.
 * Returns: then *ip is where.
 */
bool site_signalled(const struct site_table *table, const uintptr_t *frame, const uintptr_t *before,
                    uintptr_t target, uintptr_t *ip);

#endif
