/* profiler/complete.h - a shadow stack as a callback is to see it. */
#ifndef SHADOWTRACE_PROFILER_COMPLETE_H
#define SHADOWTRACE_PROFILER_COMPLETE_H

#include "profiler/internal.h"

/*
 * complete_stack - in a callback that shows or changes the calling thread's stack: the frame that a
 * hook has not told of yet, or told of too early. So it is where an abort is thrown inside the
 * runtime's wrapper of ELT2 hooks, on .NET 8 and 9. And frames that no hook will tell of, of
 * suspended methods (stack_drop_suspended).
 */
void complete_stack(struct profiler *p);

#endif
