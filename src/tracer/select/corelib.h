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

#include "clr/runtime.h"

#include <stdbool.h>

struct corelib {
    uintptr_t module_id; /* CoreLib's; 0 before it is loaded */
    uint32_t tokens[64]; /* the method, and those whose precompiled code has a copy of it */
    uint32_t count;
    bool partial;         /* there may be more of these */
    _Atomic(bool) copies; /* and there is precompiled code */
    /* What of this could not be done: some boxes, delegates and continuations are not reported. */
    _Atomic(uint64_t) unpatched;
};

/*
 * corelib_loaded - from ModuleLoadFinished, for every module until CoreLib was seen. Where .NET is
 * new enough to have that method and it is not there, its fast path has another place: `unpatched`.
 */
void corelib_loaded(struct corelib *corelib, const struct clr_runtime *runtime,
                    uintptr_t module_id);

/* Must the precompiled code of this method be refused? Asked only of methods that have some. */
bool corelib_refuses(struct corelib *corelib, uintptr_t module_id, uint32_t token);

#endif
