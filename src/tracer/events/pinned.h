/*
 * events/pinned.h - exceptions that are pinned while a handler for them is searched.
 *
 * .NET 9 and 10 keep the exception that they hand to a filter in a plain pointer while they call
 * ExceptionSearchFilterEnter, in which a collection may run (CallFilterFunclet in
 * vm/exceptionhandling.cpp, GCX_PREEMP in vm/eetoprofinterfacewrapper.inl of dotnet/runtime). If
 * the collection moves the exception, the filter has a pointer to other memory: it answers wrongly,
 * or the process dies. A pinned object does not move.
 *
 * A pin ends with the first callback after the search. Which search that was is seen by where the
 * callback lies on the stack, for not every search has a callback that says that it ended. Dynamic
 * methods have no metadata: the runtime says neither that one of them catches nor that its filter
 * is entered, only that it is left; native code ends searches, too. What is thrown and caught
 * within one dynamic method is pinned until the next callback from an older frame. Costs a throw
 * two calls of the runtime, and nothing else.
 */
#ifndef SHADOWTRACE_EVENTS_PINNED_H
#define SHADOWTRACE_EVENTS_PINNED_H

#include "clr/runtime.h"
#include "stack/stack.h"

#define PINNED_MOST 512 /* at a time, in all threads; more are not pinned */

/* pinned_start - once, before the callbacks. runtime: borrowed. */
void pinned_start(const struct clr_runtime *runtime);

/*
 * In callbacks, before anything that lets a collection run. Threads: the one that throws.
 * pinned_thrown       - an exception was thrown.
 * pinned_searched     - a handler for it is still searched, but not for those thrown inside.
 * pinned_filter_enter - the same: a filter of it is about to run.
 * pinned_found        - a handler for it is no longer searched.
 */
void pinned_thrown(uintptr_t object);
void pinned_searched(void);
void pinned_filter_enter(void);
void pinned_found(void);

/* The thread of this stack ends. Before thread_ended(). */
void pinned_thread_ended(struct stack *stack);

/*
 * No more exceptions are reported, then none is pinned, nor will be. Before the runtime is left.
 * Threads: one, that the runtime does not know.
 */
void pinned_stop(void);

#endif
