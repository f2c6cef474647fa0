/*
 * select/corelib.h - allocations that .NET 10 and later do not report: boxes, combined delegates
 * and continuations come from managed code that calls RuntimeTypeHandle.InternalAllocNoChecks,
 * whose fast path does not test for a profiler. As CoreLib is loaded, that method's IL is replaced
 * by one that always takes the slow path, which reports.
 *
 * Only a body of exactly the known shape is touched. Elsewhere, and on 8 and 9, there is no such
 * method. Nor is it touched where the runtime samples: an object to be sampled does not fit where
 * the fast path looks for room.
 */
#ifndef SHADOWTRACE_SELECT_CORELIB_H
#define SHADOWTRACE_SELECT_CORELIB_H

#include "metadata/metadata.h"

enum corelib_state {
    CORELIB_UNNEEDED, /* no such method: all is reported anyway, or CoreLib is not loaded yet */
    CORELIB_PATCHED,
    CORELIB_UNKNOWN, /* of another shape: not all boxes and combined delegates are reported */
};

#define CORELIB_TOKENS 48

struct corelib {
    uintptr_t module_id; /* CoreLib's; 0 before it is loaded */
    enum corelib_state state;
    uint32_t tokens[CORELIB_TOKENS]; /* the method, and those into whose precompiled code it may
                                        have been copied */
    uint32_t count;
    _Atomic(uint64_t) missing; /* calls of the method in CoreLib's image that are in none of them */
};

/*
 * From ModuleLoadFinished, for every module until CoreLib was seen. precompiled: its precompiled
 * code is used, so that every caller has to be known.
 */
void corelib_loaded(struct corelib *corelib, struct clr_info *info, uintptr_t module_id,
                    bool precompiled);

/* Must the precompiled code of this method be refused? */
bool corelib_refuses(const struct corelib *corelib, uintptr_t module_id, uint32_t token);

#endif
