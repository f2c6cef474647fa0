/*
 * profiler/attach.h - recording in a process that is already running, and detaching.
 *
 * After the detach, the runtime unloads this library while the program runs on. By then no tracer
 * thread runs, no code of the tracer is called at the end of a thread, and all memory, descriptors
 * and references to the runtime's objects are released. A profiler that refuses to be attached
 * stays loaded for good; so this one accepts, reports why it records nothing, and detaches.
 */
#ifndef SHADOWTRACE_PROFILER_ATTACH_H
#define SHADOWTRACE_PROFILER_ATTACH_H

#include "profiler/internal.h"

#define ATTACH_LIMIT 65536u /* bytes of options */

/*
 * attach_begin - InitializeForAttach: data is the text of the options, as SHADOWTRACE_OPTIONS has
 * it. Returns: S_OK; then p->recording tells whether it records, or is to leave.
 */
hresult attach_begin(struct profiler *p, struct clr_unknown *info, const void *data, uint32_t size);

/* ProfilerAttachComplete: modules that were loaded before are met, and samples begin. */
void attach_completed(struct profiler *p);

/* ThreadDestroyed. */
void attach_thread_destroyed(struct profiler *p, uintptr_t thread_id);

/* ProfilerDetachSucceeded: nobody is in a callback any more, and the library is unloaded next. */
void attach_ended(struct profiler *p);

#endif
