/* profiler/complete.h - a shadow stack as a callback is to see it. */
#ifndef SHADOWTRACE_PROFILER_COMPLETE_H
#define SHADOWTRACE_PROFILER_COMPLETE_H

#include "profiler/internal.h"

void complete_stack_slow(struct profiler *p); /* its other half */

/*
 * complete_stack - for a callback that shows or changes the calling thread's stack: corrects the
 * frame that a hook has not reported yet, or reported too early. This happens if an abort is thrown
 * inside the runtime's wrapper of ELT2 hooks, on .NET 8 and 9. Also drops frames of suspended
 * methods, which no hook reports (stack_drop_suspended).
 */
static inline void complete_stack(struct profiler *p)
{
    if (UNLIKELY(load_relaxed(&p->selection.async) ||
                 (p->runtime.major < 10 && options_elt2(&p->options))))
        complete_stack_slow(p);
}

#endif
