/*
 * profiler/unframed.h - exceptions that the runtime throws where no managed code is on the stack:
 * there is no Main, its type cannot be loaded, ... .NET 10 tells a profiler of the frames that the
 * search passes, reads one that is not there, and the program dies of a fault instead of its
 * message. Before that it says that an exception was thrown: there COR_PRF_MONITOR_EXCEPTIONS is
 * lowered for this one.
 */
#ifndef SHADOWTRACE_PROFILER_UNFRAMED_H
#define SHADOWTRACE_PROFILER_UNFRAMED_H

#include "profiler/internal.h"

/* In ExceptionThrown, after the stack was told. */
void unframed_thrown(struct profiler *p);

/*
 * The flag goes up again. Nobody handles the exception: what its thread compiles next runs because
 * of it (a handler of UnhandledException); where it does not come to that, the resolver does it.
 */
void unframed_compiles(struct profiler *p);
void unframed_poll(struct profiler *p, uint64_t now_ns);

#endif
