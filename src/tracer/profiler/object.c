/*
 * The object that the runtime holds: IUnknown, ICorProfilerCallback11 and its class factory. A
 * slot is one line that hands the fact to the room that owns it; the slots that are not in SLOTS
 * do nothing, and say S_OK.
 */
#include "profiler/object.h"

#include "profiler/profiler.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/com.h"
#include "clr/utf16.h"
#include "hooks/elt.h"
#include "profiler/attach.h"
#include "profiler/complete.h"
#include "profiler/modules.h"
#include "profiler/unframed.h"
#include "select/mapper.h"
#include "thread/machine.h"
#include "thread/thread.h"
#include "values/values.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/guids.h>

/* A slot's parameters are the interface's, used or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define STARTED_MODULES 3 /* CoreLib, the program, and the first that Main needs */

typedef hresult (*slot)(void); /* one of clr_callback_vtbl, of whatever type */
static const slot recording[CLR_CALLBACK_SLOTS];

static struct profiler *profiler_of(struct clr_callback *self)
{
    return container_of(self, struct profiler, base);
}

static hresult on_query_interface(struct clr_callback *self, const struct clr_guid *riid,
                                  void **object)
{
    if (!object)
        return E_POINTER;
    *object = NULL;
    if (!riid || clr_callback_version(riid) < 0)
        return E_NOINTERFACE;
    add_relaxed(&profiler_of(self)->references, 1);
    *object = self;
    return S_OK;
}

static uint32_t on_add_ref(struct clr_callback *self)
{
    return add_relaxed(&profiler_of(self)->references, 1) + 1;
}

/* The object is static: the count is kept for form's sake. */
static uint32_t on_release(struct clr_callback *self)
{
    return add_relaxed(&profiler_of(self)->references, (uint32_t)-1) - 1;
}

static hresult on_initialize(struct clr_callback *self, struct clr_unknown *info)
{
    hresult result = profiler_initialize(profiler_of(self), info);

    if (result == S_OK)
        self->vtbl = (const void *)recording;
    return result;
}

static const slot leaving[CLR_CALLBACK_SLOTS];

static hresult on_initialize_for_attach(struct clr_callback *self, struct clr_unknown *info,
                                        void *client_data, uint32_t client_data_size)
{
    hresult result = attach_begin(profiler_of(self), info, client_data, client_data_size);

    if (result == S_OK)
        self->vtbl = (const void *)(profiler_of(self)->recording ? recording : leaving);
    return result;
}

static hresult on_shutdown(struct clr_callback *self)
{
    if (profiler_of(self)->samples)
        samples_unbegun(profiler_of(self)->samples);
    profiler_shutdown(profiler_of(self));
    return S_OK;
}

#define SELF struct clr_callback *self
#define FORWARD(name, parameters, call) \
    static hresult on_##name parameters \
    { \
        struct profiler *p = profiler_of(self); \
        call; \
        return S_OK; \
    }

/* clang-format off */
FORWARD(profiler_attach_complete, (SELF),
        attach_completed(p))
FORWARD(profiler_detach_succeeded, (SELF),
        attach_ended(p))
FORWARD(module_unload_finished, (SELF, uintptr_t module_id, hresult status),
        if (p->walk)
            walk_module_unloaded(p->walk, module_id);
        metadata_module_unloaded(p->metadata, module_id))
FORWARD(module_unload_started, (SELF, uintptr_t module_id),
        modules_gone(p, module_id);
        events_load(p->events, EVENTS_MODULE, module_id, false, S_OK))
FORWARD(assembly_load_finished, (SELF, uintptr_t assembly_id, hresult status),
        events_load(p->events, EVENTS_ASSEMBLY, assembly_id, true, status))
FORWARD(assembly_unload_started, (SELF, uintptr_t assembly_id),
        events_load(p->events, EVENTS_ASSEMBLY, assembly_id, false, S_OK))
FORWARD(app_domain_creation_finished, (SELF, uintptr_t app_domain_id, hresult status),
        events_load(p->events, EVENTS_DOMAIN, app_domain_id, true, status))
FORWARD(class_load_finished, (SELF, uintptr_t class_id, hresult status),
        events_class_load(p->events, class_id, true, status))
FORWARD(class_unload_started, (SELF, uintptr_t class_id),
        events_class_load(p->events, class_id, false, S_OK))
FORWARD(module_load_started, (SELF, uintptr_t module_id),
        selection_load_started(&p->selection))
FORWARD(dynamic_method_jit_compilation_started,
        (SELF, uintptr_t function_id, int32_t is_safe_to_block, const uint8_t *il_header,
         uint32_t il_header_size),
        selection_dynamic_started();
        events_jit_started(p->events, function_id))
FORWARD(dynamic_method_jit_compilation_finished,
        (SELF, uintptr_t function_id, hresult status, int32_t is_safe_to_block),
        selection_dynamic_finished();
        events_jit_finished(p->events, function_id, status, true))
FORWARD(dynamic_method_unloaded, (SELF, uintptr_t function_id),
        if (p->walk)
            walk_code_unloaded(p->walk);
        events_dynamic_unloaded(p->events))
FORWARD(unmanaged_to_managed_transition, (SELF, uintptr_t function_id, int32_t reason),
        events_transition(p->events, function_id, false, reason))
FORWARD(managed_to_unmanaged_transition, (SELF, uintptr_t function_id, int32_t reason),
        events_transition(p->events, function_id, true, reason))
FORWARD(runtime_suspend_started, (SELF, int32_t suspend_reason),
        events_suspend_started(p->events, suspend_reason))
FORWARD(runtime_suspend_aborted, (SELF),
        events_suspend_aborted(p->events))
FORWARD(runtime_resume_started, (SELF),
        events_resume_started(p->events))
FORWARD(runtime_resume_finished, (SELF),
        events_resume_finished(p->events))
FORWARD(finalizeable_object_queued, (SELF, uint32_t finalizer_flags, uintptr_t object_id),
        events_finalizer_queued(p->events, finalizer_flags, object_id))
/* clang-format on */

static hresult on_runtime_suspend_finished(struct clr_callback *self)
{
    struct profiler *p = profiler_of(self);

    if (p->samples)
        samples_stopped(p->samples);
    events_suspend_finished(p->events);
    return S_OK;
}

static hresult on_jit_cached_function_search_started(struct clr_callback *self,
                                                     uintptr_t function_id,
                                                     int32_t *use_cached_function)
{
    *use_cached_function = mapper_accepts_precompiled(&profiler_of(self)->selection,
                                                      &profiler_of(self)->corelib, function_id);
    return S_OK;
}

/* The runtime starts with CoreLib and the program; it loads another one when it compiles Main. */
static void started_by_modules(struct profiler *p)
{
    if (p->samples && load_relaxed(&p->modules) < STARTED_MODULES &&
        add_relaxed(&p->modules, 1) + 1 == STARTED_MODULES)
        samples_ready(p->samples);
}

static hresult on_module_load_finished(struct clr_callback *self, uintptr_t module_id,
                                       hresult status)
{
    modules_meet(profiler_of(self), module_id);
    started_by_modules(profiler_of(self));
    selection_load_finished(&profiler_of(self)->selection);
    events_load(profiler_of(self)->events, EVENTS_MODULE, module_id, true, status);
    return S_OK;
}

static hresult on_jit_compilation_started(struct clr_callback *self, uintptr_t function_id,
                                          int32_t is_safe_to_block)
{
    selection_compile_started(&profiler_of(self)->selection, function_id);
    events_jit_started(profiler_of(self)->events, function_id);
    return S_OK;
}

static hresult on_jit_compilation_finished(struct clr_callback *self, uintptr_t function_id,
                                           hresult status, int32_t is_safe_to_block)
{
    selection_compile_finished(&profiler_of(self)->selection, function_id);
    events_jit_finished(profiler_of(self)->events, function_id, status, false);
    return S_OK;
}

static hresult on_rejit_compilation_started(struct clr_callback *self, uintptr_t function_id,
                                            uintptr_t rejit_id, int32_t is_safe_to_block)
{
    selection_compile_started(&profiler_of(self)->selection, function_id);
    events_jit_started(profiler_of(self)->events, function_id);
    return S_OK;
}

static hresult on_rejit_compilation_finished(struct clr_callback *self, uintptr_t function_id,
                                             uintptr_t rejit_id, hresult status,
                                             int32_t is_safe_to_block)
{
    selection_compile_finished(&profiler_of(self)->selection, function_id);
    events_rejit_finished(profiler_of(self)->events, function_id, rejit_id, status);
    return S_OK;
}

static hresult on_jit_inlining(struct clr_callback *self, uintptr_t caller_id, uintptr_t callee_id,
                               int32_t *should_inline)
{
    *should_inline = selection_may_inline(&profiler_of(self)->selection, callee_id);
    return S_OK;
}

static hresult on_load_as_notification_only(struct clr_callback *self, int32_t *notification_only)
{
    *notification_only = 0;
    return S_OK;
}

static void post_name(struct profiler *p, struct event_name *name)
{
    struct event event = {.ticks = clock_ticks(),
                          .subject = (uintptr_t)name,
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_THREAD_NAME)};
    struct event_ring *ring = name ? thread_ring() : NULL;

    if (!ring || event_post(ring, &event))
        memory_free(name);
}

static hresult on_thread_assigned_to_os_thread(struct clr_callback *self,
                                               uintptr_t managed_thread_id, uint32_t os_thread_id)
{
    struct profiler *p = profiler_of(self);

    post_name(p, thread_names_assigned(&p->thread_names, managed_thread_id, os_thread_id));
    events_thread_assigned(p->events, managed_thread_id, os_thread_id);
    return S_OK;
}

static hresult on_thread_destroyed(struct clr_callback *self, uintptr_t thread_id)
{
    struct profiler *p = profiler_of(self);

    thread_names_destroyed(&p->thread_names, thread_id);
    events_thread_destroyed(p->events, thread_id);
    if (p->check_threads)
        check_threads_destroyed(p->check_threads, thread_id);
    if (p->walker)
        check_threads_destroyed(p->walker, thread_id);
    if (p->attached)
        attach_thread_destroyed(p, thread_id);
    return S_OK;
}

static hresult on_thread_created(struct clr_callback *self, uintptr_t thread_id)
{
    struct profiler *p = profiler_of(self);

    if (p->heap)
        heap_start(p->heap);
    if (p->samples)
        samples_start(p->samples);
    if (p->check_threads)
        check_threads_created(p->check_threads, thread_id);
    if (p->walker)
        check_threads_created(p->walker, thread_id);
    events_thread_created(p->events, thread_id);
    return S_OK;
}

static hresult on_thread_name_changed(struct clr_callback *self, uintptr_t thread_id,
                                      uint32_t name_length, const clr_wchar *name)
{
    struct profiler *p = profiler_of(self);
    size_t size = CLR_UTF8_SIZE(name_length);
    char *text = memory_alloc(size);

    if (!text)
        return S_OK;
    clr_utf16_to_utf8(text, size, name, name ? name_length : 0);
    post_name(p, thread_names_given(&p->thread_names, thread_id, text));
    events_thread_named(p->events, thread_id, text);
    memory_free(text);
    return S_OK;
}

static hresult on_object_allocated(struct clr_callback *self, uintptr_t object_id,
                                   uintptr_t class_id)
{
    struct profiler *p = profiler_of(self);

    complete_stack(p);
    if (UNLIKELY(rich_caused(&p->rich)) && !p->options.live) { /* else they are in the heap, too */
        rich_leave_out(&p->rich, object_id);
        alloc_meet(p->alloc, object_id, class_id);
    } else if (options_records(&p->options, OPTIONS_ALLOC)) {
        alloc_record(p->alloc, object_id, class_id);
    } else {
        alloc_meet(p->alloc, object_id, class_id);
    }
    return S_OK;
}

static uint32_t deepest(int32_t generations, const int32_t *collected)
{
    uint32_t depth = 0;

    for (int32_t i = 0; i < generations && i <= 2; i++)
        depth = collected[i] ? (uint32_t)i : depth;
    return depth;
}

static hresult on_garbage_collection_started(struct clr_callback *self, int32_t generations,
                                             const int32_t *generation_collected, int32_t reason)
{
    uint32_t number = add_relaxed(&profiler_of(self)->collections, 1) + 1;

    collect_begun(profiler_of(self)->collect, number,
                  generations > COR_PRF_GC_GEN_2 && generation_collected[COR_PRF_GC_GEN_2]);
    alloc_heap_changed(profiler_of(self)->alloc);
    if (profiler_of(self)->heap)
        heap_collection_started(profiler_of(self)->heap,
                                deepest(generations, generation_collected));
    if (profiler_of(self)->alive)
        alive_collection_started(profiler_of(self)->alive,
                                 deepest(generations, generation_collected));
    if (profiler_of(self)->samples && samples_hurry(profiler_of(self)->samples))
        metadata_hurry(profiler_of(self)->metadata);
    values_collection_started();
    events_gc_started(profiler_of(self)->events, generations, generation_collected, reason);
    return S_OK;
}

static hresult on_garbage_collection_finished(struct clr_callback *self)
{
    alloc_heap_changed(profiler_of(self)->alloc);
    if (profiler_of(self)->heap)
        heap_collection_finished(profiler_of(self)->heap);
    if (profiler_of(self)->alive)
        alive_collection_finished(profiler_of(self)->alive);
    values_collection_finished();
    events_gc_finished(profiler_of(self)->events);
    collect_finished(profiler_of(self)->collect);
    return S_OK;
}

static hresult on_event_pipe_provider_created(struct clr_callback *self, uintptr_t provider)
{
    rich_provider_created(&profiler_of(self)->rich, provider);
    return S_OK;
}

static hresult
on_event_pipe_event_delivered(struct clr_callback *self, uintptr_t provider, uint32_t event_id,
                              uint32_t event_version, uint32_t metadata_blob_size,
                              const uint8_t *metadata_blob, uint32_t event_data_size,
                              const uint8_t *event_data, const struct clr_guid *activity_id,
                              const struct clr_guid *related_activity_id, uintptr_t event_thread,
                              uint32_t frame_count, const uintptr_t *stack_frames)
{
    const struct session_event event = {event_id, event_version, event_data_size, event_data};

    if (!rich_delivered(&profiler_of(self)->rich, provider, event_id, event_data, event_data_size))
        session_delivered(&profiler_of(self)->session, &event);
    return S_OK;
}

/*
 * COR_PRF_MONITOR_GC, which finalizers need, has each collection walk the whole heap, even one of
 * generation 0, to tell which object refers to which: a failure at the first object ends the walk,
 * unless the heap is being dumped, or compared with the table of live objects.
 */
static hresult on_object_references(struct clr_callback *self, uintptr_t object_id,
                                    uintptr_t class_id, uint32_t count,
                                    const uintptr_t *object_ref_ids)
{
    struct profiler *p = profiler_of(self);
    bool dumped = graph_object(p->graph, object_id, class_id, count, object_ref_ids);
    bool compared = p->heap && heap_referred(p->heap, object_id, class_id);

    return dumped || compared ? S_OK : E_FAIL;
}

static hresult on_moved_references2(struct clr_callback *self, uint32_t ranges,
                                    const uintptr_t *old_starts, const uintptr_t *new_starts,
                                    const size_t *lengths)
{
    if (profiler_of(self)->heap)
        heap_moved(profiler_of(self)->heap, ranges, old_starts, new_starts, lengths);
    return S_OK;
}

static hresult on_surviving_references2(struct clr_callback *self, uint32_t ranges,
                                        const uintptr_t *starts, const size_t *lengths)
{
    if (profiler_of(self)->heap)
        heap_moved(profiler_of(self)->heap, ranges, starts, starts, lengths);
    return S_OK;
}

static hresult on_root_references2(struct clr_callback *self, uint32_t count,
                                   const uintptr_t *root_ref_ids, const int32_t *root_kinds,
                                   const int32_t *root_flags, const uintptr_t *root_ids)
{
    graph_roots(profiler_of(self)->graph, count, root_ref_ids, root_kinds, root_flags, root_ids);
    return S_OK;
}

static hresult on_conditional_weak_table_element_references(struct clr_callback *self,
                                                            uint32_t count,
                                                            const uintptr_t *key_ref_ids,
                                                            const uintptr_t *value_ref_ids,
                                                            const uintptr_t *root_ids)
{
    graph_pairs(profiler_of(self)->graph, count, key_ref_ids, value_ref_ids);
    return S_OK;
}

/* SP of the frame whose handler is about to run, or 0 when the runtime does not say. */
static uintptr_t handler_sp(struct profiler *p)
{
    struct clr_ex_clause_info clause = {0};

    return p->runtime.info->vtbl->get_notified_exception_clause_info(p->runtime.info, &clause) ==
                   S_OK
               ? clause.frame_pointer
               : 0;
}

static hresult on_exception_thrown(struct clr_callback *self, uintptr_t thrown_object_id)
{
    pinned_thrown(thrown_object_id);
    complete_stack(profiler_of(self));
    stack_exception_thrown();
    events_exception_thrown(profiler_of(self)->events, thrown_object_id);
    unhandled_thrown(profiler_of(self)->unhandled, thrown_object_id);
    unframed_thrown(profiler_of(self));
    return S_OK;
}

static hresult on_exception_search_function_enter(struct clr_callback *self, uintptr_t function_id)
{
    pinned_searched();
    stack_search_function_enter(function_id);
    events_exception_search(profiler_of(self)->events, function_id);
    unhandled_searched(profiler_of(self)->unhandled, function_id);
    return S_OK;
}

static hresult on_exception_search_function_leave(struct clr_callback *self)
{
    unhandled_search_leave(profiler_of(self)->unhandled);
    return S_OK;
}

static hresult on_exception_search_filter_enter(struct clr_callback *self, uintptr_t function_id)
{
    pinned_filter_enter();
    events_exception_filter_enter(profiler_of(self)->events, function_id);
    unhandled_filter_enter(profiler_of(self)->unhandled);
    if (profiler_of(self)->walk)
        walk_filter_enter(profiler_of(self)->walk, function_id);
    stack_search_filter_enter(function_id);
    return S_OK;
}

static hresult on_exception_search_filter_leave(struct clr_callback *self)
{
    pinned_searched();
    stack_search_filter_leave();
    if (profiler_of(self)->walk)
        walk_filter_leave(profiler_of(self)->walk);
    events_exception_filter_leave(profiler_of(self)->events);
    unhandled_filter_leave(profiler_of(self)->unhandled);
    return S_OK;
}

static hresult on_exception_search_catcher_found(struct clr_callback *self, uintptr_t function_id)
{
    pinned_found();
    stack_search_catcher_found();
    events_exception_catcher_found(profiler_of(self)->events);
    unhandled_found(profiler_of(self)->unhandled);
    return S_OK;
}

static hresult on_exception_unwind_function_enter(struct clr_callback *self, uintptr_t function_id)
{
    pinned_found();
    stack_unwind_function_enter(function_id);
    events_exception_unwind(profiler_of(self)->events);
    unhandled_unwind(profiler_of(self)->unhandled, function_id);
    return S_OK;
}

static hresult on_exception_unwind_function_leave(struct clr_callback *self)
{
    pinned_found();
    stack_unwind_function_leave();
    events_exception_unwind(profiler_of(self)->events);
    return S_OK;
}

static hresult on_exception_unwind_finally_enter(struct clr_callback *self, uintptr_t function_id)
{
    uintptr_t sp = handler_sp(profiler_of(self));

    pinned_found();
    stack_unwind_finally_enter(function_id, sp);
    events_exception_finally_enter(profiler_of(self)->events, function_id, sp);
    return S_OK;
}

static hresult on_exception_unwind_finally_leave(struct clr_callback *self)
{
    stack_unwind_finally_leave();
    events_exception_finally_leave(profiler_of(self)->events);
    return S_OK;
}

static hresult on_exception_catcher_enter(struct clr_callback *self, uintptr_t function_id,
                                          uintptr_t object_id)
{
    uintptr_t sp = handler_sp(profiler_of(self));

    pinned_found();
    stack_catcher_enter(function_id, sp);
    events_exception_caught(profiler_of(self)->events, function_id, sp);
    unhandled_caught(profiler_of(self)->unhandled);
    return S_OK;
}

/* Those that do something. The compiler holds each function against the type of its slot. */
/* clang-format off */
#define SLOTS(X) \
    X(query_interface) X(add_ref) X(release) X(initialize) X(shutdown) \
    X(initialize_for_attach) X(profiler_attach_complete) X(profiler_detach_succeeded) \
    X(app_domain_creation_finished) X(assembly_load_finished) X(assembly_unload_started) \
    X(module_load_started) X(module_load_finished) X(module_unload_started) \
    X(module_unload_finished) X(class_load_finished) X(class_unload_started) \
    X(jit_compilation_started) X(jit_compilation_finished) X(jit_cached_function_search_started) \
    X(jit_inlining) X(thread_created) X(thread_destroyed) X(thread_assigned_to_os_thread) \
    X(unmanaged_to_managed_transition) X(managed_to_unmanaged_transition) \
    X(runtime_suspend_started) X(runtime_suspend_finished) X(runtime_suspend_aborted) \
    X(runtime_resume_started) X(runtime_resume_finished) X(object_allocated) X(exception_thrown) \
    X(exception_search_function_enter) X(exception_search_function_leave) \
    X(exception_search_filter_enter) \
    X(exception_search_filter_leave) X(exception_search_catcher_found) \
    X(exception_unwind_function_enter) X(exception_unwind_function_leave) \
    X(exception_unwind_finally_enter) X(exception_unwind_finally_leave) \
    X(exception_catcher_enter) X(thread_name_changed) X(garbage_collection_started) \
    X(garbage_collection_finished) X(object_references) X(root_references2) \
    X(moved_references2) X(surviving_references2) \
    X(conditional_weak_table_element_references) X(finalizeable_object_queued) \
    X(rejit_compilation_started) X(rejit_compilation_finished) \
    X(dynamic_method_jit_compilation_started) X(dynamic_method_jit_compilation_finished) \
    X(dynamic_method_unloaded) X(event_pipe_event_delivered) X(event_pipe_provider_created) \
    X(load_as_notification_only)
/* clang-format on */

/* On this CPU the caller takes its arguments away again: one function does for every idle slot. */
static hresult idle(void)
{
    return S_OK;
}

/* Each function has the type of its slot. */
#define SLOT_TYPED(name) \
    static_assert( \
        __builtin_types_compatible_p(__typeof__(((struct clr_callback_vtbl *)NULL)->name), \
                                     __typeof__(&on_##name)), \
        #name);
SLOTS(SLOT_TYPED)

#define SLOT(name) [offsetof(struct clr_callback_vtbl, name) / sizeof(slot)] = (slot)on_##name,

/* The rest of a table stays idle. */
#pragma GCC diagnostic ignored "-Woverride-init"
#pragma GCC diagnostic ignored "-Wcast-function-type"
static const slot recording[CLR_CALLBACK_SLOTS] = {[0 ... CLR_CALLBACK_SLOTS - 1] = idle,
                                                   SLOTS(SLOT)};

/* What the object starts with. */
static const slot starting[CLR_CALLBACK_SLOTS] = {[0 ... CLR_CALLBACK_SLOTS - 1] = idle,
                                                  SLOT(query_interface) SLOT(add_ref) SLOT(release)
                                                      SLOT(initialize) SLOT(initialize_for_attach)};

/* It could not be attached: it leaves as soon as it may. */
static const slot leaving[CLR_CALLBACK_SLOTS] = {[0 ... CLR_CALLBACK_SLOTS - 1] = idle,
                                                 SLOT(query_interface) SLOT(add_ref) SLOT(release)
                                                     SLOT(profiler_attach_complete)
                                                         SLOT(profiler_detach_succeeded)};

/* OPTIONS_CLSID */
CLR_GUID(own_clsid, 0x7b6a1f52, 0x3c0e, 0x4e57, 0x9d, 0x35, 0x5a, 0xd0, 0xb3, 0xc5, 0xe4, 0xa1);

__attribute__((visibility("default"))) hresult
DllGetClassObject(const struct clr_guid *clsid, const struct clr_guid *iid, void **out)
{
    static struct clr_factory factory;

    if (!clsid || !clr_guid_equal(clsid, &own_clsid)) {
        if (out)
            *out = NULL;
        return CLASS_E_CLASSNOTAVAILABLE;
    }
    if (!profiler.base.vtbl)
        profiler.base.vtbl = (const void *)starting;
    clr_factory_init(&factory, &profiler.base);
    return clr_factory_get(&factory, iid, out);
}
