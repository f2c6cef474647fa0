/*
 * profiler/unframed.h - exceptions that the runtime throws where no managed code is on the stack: there is no Main, the type
 * of Main cannot be loaded, ... Telling a profiler of the frames that the search passes, .NET 10 then reads one that is not
 * there, and the program dies of a fault instead of its message. Asked for exceptions in general, it says first that
 * one was thrown; there the flag is lowered for this one.
 */
#ifndef SHADOWTRACE_PROFILER_UNFRAMED_H
#define SHADOWTRACE_PROFILER_UNFRAMED_H

#include "base/atomics.h"

#include <stdint.h>

struct profiler;

struct unframed {
    _Atomic(uintptr_t) thread; /* for which COR_PRF_MONITOR_EXCEPTIONS is down; 0: it is not */
    _Atomic(uint64_t) since_ns;
};

/* In ExceptionThrown, after the stack was told. */
void unframed_thrown(struct profiler *p);

/*
 * The flag goes up again. The exception is nobody's to handle: what its thread compiles next runs because of it (a handler
 * of UnhandledException); where it does not come to that, the resolver does it.
 */
void unframed_compiles(struct profiler *p);
void unframed_rest(struct profiler *p, uint64_t now_ns);

#endif
