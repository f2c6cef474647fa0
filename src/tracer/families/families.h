/*
 * families/families.h - events beside allocations (--events): what the runtime's other callbacks tell, each with the
 * stack on which it happened. A callback makes one event of its family and posts it into its thread's ring; what is
 * lost is counted by family and reason.
 *
 * All callbacks here: on the thread that the runtime calls, from the callback of the same name; may wait for ring
 * space as event_post does. A family that is not recorded costs one test.
 */
#ifndef SHADOWTRACE_FAMILIES_FAMILIES_H
#define SHADOWTRACE_FAMILIES_FAMILIES_H

#include "event/event.h"
#include "names/names.h"
#include "options/options.h"

struct families;

struct families_config {
    struct clr_info *info; /* borrowed, as are the rest */
    int info_version;
    struct names *names;
    struct event_hub *hub;
    const struct options *options;
    bool two_pass_native; /* .NET 8: exceptions are dispatched by the runtime's native engine */
    struct event_ring *(*ring)(void *context); /* the calling thread's, made if need be; or NULL */
    uint32_t (*node)(void *context); /* of the calling thread's stack; 0: empty, or none is kept */
    void *context;
};

int families_new(const struct families_config *config, struct families **out); /* 0 or -ENOMEM */

/* Bits of the event mask that the families in `options` need, and no others. */
void families_mask(const struct options *options, uint32_t *low, uint32_t *high);

/* The thread of this ring ends: what is open is closed, the rest freed. Before event_ring_close(). */
void families_thread_ended(struct families *f, struct event_ring *ring);

/* gc */
void families_gc_started(struct families *f, int32_t generations, const int32_t *collected,
                         int32_t reason);
void families_gc_finished(struct families *f);

/* finalizers; object is not moved while this runs */
void families_finalizer_queued(struct families *f, uint32_t flags, uintptr_t object);

/* suspend */
void families_suspend_started(struct families *f, int32_t reason);
void families_suspend_finished(struct families *f);
void families_suspend_aborted(struct families *f);
void families_resume_started(struct families *f);
void families_resume_finished(struct families *f);

/* jit; dynamic: a method without metadata */
void families_jit_started(struct families *f, uintptr_t function);
void families_jit_finished(struct families *f, uintptr_t function, hresult status, bool dynamic);
void families_rejit_finished(struct families *f, uintptr_t function, uintptr_t rejit,
                             hresult status);
void families_dynamic_unloaded(struct families *f, uintptr_t function);

/* modules: before and after the runtime is done */
void families_module_loaded(struct families *f, uintptr_t module, hresult status);
void families_module_unloading(struct families *f, uintptr_t module);
void families_assembly_loaded(struct families *f, uintptr_t assembly, hresult status);
void families_assembly_unloading(struct families *f, uintptr_t assembly);
void families_domain_created(struct families *f, uintptr_t domain, hresult status);

/* classes */
void families_class_loaded(struct families *f, uintptr_t class_id, hresult status);
void families_class_unloading(struct families *f, uintptr_t class_id);

/* threads */
void families_thread_created(struct families *f, uintptr_t thread);
void families_thread_assigned(struct families *f, uintptr_t thread, uint32_t os);
void families_thread_named(struct families *f, uintptr_t thread, const char *name);
void families_thread_destroyed(struct families *f, uintptr_t thread);

/* transitions */
void families_transition(struct families *f, uintptr_t function, bool to_native, int32_t reason);

/* exceptions; after the shadow stack has been told, but for filter_enter; sp: of the handling frame, 0 not known */
void families_exception_thrown(struct families *f, uintptr_t object);
void families_exception_search(struct families *f, uintptr_t function);
void families_exception_filter_enter(struct families *f, uintptr_t function);
void families_exception_filter_leave(struct families *f);
void families_exception_catcher_found(struct families *f);
void families_exception_unwind(struct families *f);
void families_exception_finally_enter(struct families *f, uintptr_t function, uintptr_t sp);
void families_exception_finally_leave(struct families *f);
void families_exception_caught(struct families *f, uintptr_t function, uintptr_t sp);

#endif
