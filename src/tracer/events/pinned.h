/*
 * events/pinned.h - exceptions that are pinned while a handler for them is searched.
 *
 * .NET 9 and 10 keep the exception that they hand to a filter in a plain pointer while they call
 * ExceptionSearchFilterEnter, in which a collection may run (CallFilterFunclet in
 * vm/exceptionhandling.cpp, GCX_PREEMP in vm/eetoprofinterfacewrapper.inl of dotnet/runtime). If
 * the collection moves the exception, the filter has a pointer to other memory: it answers wrongly,
 * or the process dies. A pinned object does not move.
 *
 * A pin ends when the search found a handler, when the filter ends in which the exception was
 * thrown, or when the thread throws again from an older frame. Costs a throw two calls of the
 * runtime, and nothing else.
 */
#ifndef SHADOWTRACE_EVENTS_PINNED_H
#define SHADOWTRACE_EVENTS_PINNED_H

#include "clr/runtime.h"
#include "stack/stack.h"

#define PINNED_MOST 512 /* at a time, in all threads; more are not pinned */

/* pinned_start - once, before the callbacks. runtime: borrowed. */
void pinned_start(const struct clr_runtime *runtime);

/*
 * In the callbacks of these names, before anything that lets a collection run.
 * Threads: the one that throws.
 */
void pinned_thrown(uintptr_t object);
void pinned_filter_enter(void);
void pinned_filter_leave(void);
void pinned_found(void); /* ExceptionSearchCatcherFound */

/* The thread of this stack ends. Before thread_ended(). */
void pinned_thread_ended(struct stack *stack);

/* No exception is pinned from here on. Before the runtime is left. Threads: any. */
void pinned_stop(void);

#endif
