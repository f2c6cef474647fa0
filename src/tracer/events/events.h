/*
 * events/events.h - events beside allocations (--events): what the runtime's other callbacks tell,
 * each with the stack on which it happened. A callback makes one event of its family and posts it
 * into its thread's ring; what is lost is counted by family and reason.
 *
 * All callbacks here: on the thread that the runtime calls, from the callback of the same name;
 * may wait for ring space as event_post does. A family that is not recorded costs one test.
 */
#ifndef SHADOWTRACE_EVENTS_EVENTS_H
#define SHADOWTRACE_EVENTS_EVENTS_H

#include "clr/runtime.h"
#include "event/event.h"
#include "metadata/metadata.h"
#include "options/options.h"
#include "stack/stack.h"

struct events;

struct events_config {
    const struct clr_runtime *runtime; /* borrowed, as is all below */
    struct metadata *metadata;
    struct event_hub *hub;
    const struct options *options;
};

struct events *events_new(const struct events_config *config); /* NULL: no memory */

/* Bits of the event mask that the families in `options` need, and no others. */
void events_mask(const struct options *options, uint32_t *low, uint32_t *high);

/* The thread of this stack ends: what is open is closed, the rest freed. Before thread_ended(). */
void events_thread_ended(struct events *ev, struct stack *stack);

/* gc */
void events_gc_started(struct events *ev, int32_t generations, const int32_t *collected,
                       int32_t reason);
void events_gc_finished(struct events *ev);

/* finalizers; object is not moved while this runs */
void events_finalizer_queued(struct events *ev, uint32_t flags, uintptr_t object);

/* suspend */
void events_suspend_started(struct events *ev, int32_t reason);
void events_suspend_finished(struct events *ev);
void events_suspend_aborted(struct events *ev);
void events_resume_started(struct events *ev);
void events_resume_finished(struct events *ev);

/* jit; dynamic: a method without metadata */
void events_jit_started(struct events *ev, uintptr_t function);
void events_jit_finished(struct events *ev, uintptr_t function, hresult status, bool dynamic);
void events_rejit_finished(struct events *ev, uintptr_t function, uintptr_t rejit, hresult status);
void events_dynamic_unloaded(struct events *ev);

/* modules; loaded: the runtime is done, else it has yet to unload it */
enum events_thing { EVENTS_MODULE, EVENTS_ASSEMBLY, EVENTS_DOMAIN };
void events_load(struct events *ev, enum events_thing thing, uintptr_t id, bool loaded,
                 hresult status);

/* classes */
void events_class_load(struct events *ev, uintptr_t class_id, bool loaded, hresult status);

/* threads */
void events_thread_created(struct events *ev, uintptr_t thread);
void events_thread_assigned(struct events *ev, uintptr_t thread, uint32_t os);
void events_thread_named(struct events *ev, uintptr_t thread, const char *name);
void events_thread_destroyed(struct events *ev, uintptr_t thread);

/* transitions */
void events_transition(struct events *ev, uintptr_t function, bool to_native, int32_t reason);

/* exceptions; after the stack was told, but for filter_enter; sp: the handling frame's, or 0 */
void events_exception_thrown(struct events *ev, uintptr_t object);
void events_exception_search(struct events *ev, uintptr_t function);
void events_exception_filter_enter(struct events *ev, uintptr_t function);
void events_exception_filter_leave(struct events *ev);
void events_exception_catcher_found(struct events *ev);
void events_exception_unwind(struct events *ev);
void events_exception_finally_enter(struct events *ev, uintptr_t function, uintptr_t sp);
void events_exception_finally_leave(struct events *ev);
void events_exception_caught(struct events *ev, uintptr_t function, uintptr_t sp);

#endif
