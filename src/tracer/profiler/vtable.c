/*
 * profiler/vtable.c - ICorProfilerCallback11, slot by slot: one line for what we use, a typed no-op for the rest.
 */
#include "profiler/profiler.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/com.h"

#include "clr/utf16.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

#pragma GCC diagnostic ignored \
    "-Wunused-parameter" /* a slot's parameters are the interface's, used or not */

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
    return profiler_initialize(profiler_of(self), info);
}

static hresult on_shutdown(struct clr_callback *self)
{
    profiler_shutdown(profiler_of(self));
    return S_OK;
}

static hresult on_module_unload_finished(struct clr_callback *self, uintptr_t module_id,
                                         hresult status)
{
    metadata_module_unloaded(profiler_of(self)->metadata, module_id);
    return S_OK;
}

static hresult on_module_unload_started(struct clr_callback *self, uintptr_t module_id)
{
    events_module_unloading(profiler_of(self)->events, module_id);
    return S_OK;
}

static hresult on_assembly_load_finished(struct clr_callback *self, uintptr_t assembly_id,
                                         hresult status)
{
    events_assembly_loaded(profiler_of(self)->events, assembly_id, status);
    return S_OK;
}

static hresult on_assembly_unload_started(struct clr_callback *self, uintptr_t assembly_id)
{
    events_assembly_unloading(profiler_of(self)->events, assembly_id);
    return S_OK;
}

static hresult on_app_domain_creation_finished(struct clr_callback *self, uintptr_t app_domain_id,
                                               hresult status)
{
    events_domain_created(profiler_of(self)->events, app_domain_id, status);
    return S_OK;
}

static hresult on_class_load_finished(struct clr_callback *self, uintptr_t class_id, hresult status)
{
    events_class_loaded(profiler_of(self)->events, class_id, status);
    return S_OK;
}

static hresult on_class_unload_started(struct clr_callback *self, uintptr_t class_id)
{
    events_class_unloading(profiler_of(self)->events, class_id);
    return S_OK;
}

static hresult on_jit_cached_function_search_started(struct clr_callback *self,
                                                     uintptr_t function_id,
                                                     int32_t *use_cached_function)
{
    *use_cached_function = profiler_use_precompiled(profiler_of(self), function_id);
    return S_OK;
}

static hresult on_module_load_started(struct clr_callback *self, uintptr_t module_id)
{
    selection_load_started(&profiler_of(self)->selection);
    return S_OK;
}

static hresult on_module_load_finished(struct clr_callback *self, uintptr_t module_id,
                                       hresult status)
{
    corelib_loaded(&profiler_of(self)->corelib, profiler_of(self)->info, module_id);
    if (profiler_of(self)->values || profiler_of(self)->options.exact_generics)
        metadata_module_met(profiler_of(self)->metadata, module_id);
    selection_load_finished(&profiler_of(self)->selection);
    events_module_loaded(profiler_of(self)->events, module_id, status);
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

static hresult on_dynamic_method_jit_compilation_started(struct clr_callback *self,
                                                         uintptr_t function_id,
                                                         int32_t is_safe_to_block,
                                                         const uint8_t *il_header,
                                                         uint32_t il_header_size)
{
    events_jit_started(profiler_of(self)->events, function_id);
    return S_OK;
}

static hresult on_dynamic_method_jit_compilation_finished(struct clr_callback *self,
                                                          uintptr_t function_id, hresult status,
                                                          int32_t is_safe_to_block)
{
    events_jit_finished(profiler_of(self)->events, function_id, status, true);
    return S_OK;
}

static hresult on_dynamic_method_unloaded(struct clr_callback *self, uintptr_t function_id)
{
    events_dynamic_unloaded(profiler_of(self)->events, function_id);
    return S_OK;
}

static hresult on_unmanaged_to_managed_transition(struct clr_callback *self, uintptr_t function_id,
                                                  int32_t reason)
{
    events_transition(profiler_of(self)->events, function_id, false, reason);
    return S_OK;
}

static hresult on_managed_to_unmanaged_transition(struct clr_callback *self, uintptr_t function_id,
                                                  int32_t reason)
{
    events_transition(profiler_of(self)->events, function_id, true, reason);
    return S_OK;
}

static hresult on_runtime_suspend_started(struct clr_callback *self, int32_t suspend_reason)
{
    events_suspend_started(profiler_of(self)->events, suspend_reason);
    return S_OK;
}

static hresult on_runtime_suspend_finished(struct clr_callback *self)
{
    events_suspend_finished(profiler_of(self)->events);
    return S_OK;
}

static hresult on_runtime_suspend_aborted(struct clr_callback *self)
{
    events_suspend_aborted(profiler_of(self)->events);
    return S_OK;
}

static hresult on_runtime_resume_started(struct clr_callback *self)
{
    events_resume_started(profiler_of(self)->events);
    return S_OK;
}

static hresult on_runtime_resume_finished(struct clr_callback *self)
{
    events_resume_finished(profiler_of(self)->events);
    return S_OK;
}

static hresult on_finalizeable_object_queued(struct clr_callback *self, uint32_t finalizer_flags,
                                             uintptr_t object_id)
{
    events_finalizer_queued(profiler_of(self)->events, finalizer_flags, object_id);
    return S_OK;
}

static hresult on_jit_inlining(struct clr_callback *self, uintptr_t caller_id, uintptr_t callee_id,
                               int32_t *should_inline)
{
    *should_inline = 1;
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
    return S_OK;
}

static hresult on_thread_created(struct clr_callback *self, uintptr_t thread_id)
{
    struct profiler *p = profiler_of(self);

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

    profiler_complete_stack(p);
    if (options_records(&p->options, OPTIONS_ALLOC))
        alloc_record(p->alloc, object_id, class_id);
    else
        alloc_meet(p->alloc, object_id, class_id);
    return S_OK;
}

static hresult on_garbage_collection_started(struct clr_callback *self, int32_t generations,
                                             const int32_t *generation_collected, int32_t reason)
{
    add_relaxed(&profiler_of(self)->collections, 1);
    alloc_heap_changed(profiler_of(self)->alloc);
    values_collection_started();
    events_gc_started(profiler_of(self)->events, generations, generation_collected, reason);
    return S_OK;
}

static hresult on_garbage_collection_finished(struct clr_callback *self)
{
    alloc_heap_changed(profiler_of(self)->alloc);
    values_collection_finished();
    events_gc_finished(profiler_of(self)->events);
    return S_OK;
}

/* SP of the frame whose handler is about to run, or 0 when the runtime does not say. */
static uintptr_t handler_sp(struct profiler *p)
{
    struct clr_ex_clause_info clause = {0};

    return p->info->vtbl->get_notified_exception_clause_info(p->info, &clause) == S_OK
               ? clause.frame_pointer
               : 0;
}

static hresult on_exception_thrown(struct clr_callback *self, uintptr_t thrown_object_id)
{
    profiler_complete_stack(profiler_of(self));
    stack_exception_thrown();
    events_exception_thrown(profiler_of(self)->events, thrown_object_id);
    unframed_thrown(profiler_of(self));
    return S_OK;
}

static hresult on_exception_search_function_enter(struct clr_callback *self, uintptr_t function_id)
{
    stack_search_function_enter(function_id);
    events_exception_search(profiler_of(self)->events, function_id);
    return S_OK;
}

static hresult on_exception_search_filter_enter(struct clr_callback *self, uintptr_t function_id)
{
    events_exception_filter_enter(profiler_of(self)->events, function_id);
    stack_search_filter_enter(function_id);
    return S_OK;
}

static hresult on_exception_search_filter_leave(struct clr_callback *self)
{
    stack_search_filter_leave();
    events_exception_filter_leave(profiler_of(self)->events);
    return S_OK;
}

static hresult on_exception_search_catcher_found(struct clr_callback *self, uintptr_t function_id)
{
    stack_search_catcher_found();
    events_exception_catcher_found(profiler_of(self)->events);
    return S_OK;
}

static hresult on_exception_unwind_function_enter(struct clr_callback *self, uintptr_t function_id)
{
    stack_unwind_function_enter(function_id);
    events_exception_unwind(profiler_of(self)->events);
    return S_OK;
}

static hresult on_exception_unwind_function_leave(struct clr_callback *self)
{
    stack_unwind_function_leave();
    events_exception_unwind(profiler_of(self)->events);
    return S_OK;
}

static hresult on_exception_unwind_finally_enter(struct clr_callback *self, uintptr_t function_id)
{
    uintptr_t sp = handler_sp(profiler_of(self));

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

    stack_catcher_enter(function_id, sp);
    events_exception_caught(profiler_of(self)->events, function_id, sp);
    return S_OK;
}

#define IGNORE(name, parameters) \
    static hresult on_##name parameters \
    { \
        return S_OK; \
    }

/* clang-format off */
IGNORE(app_domain_creation_started, (struct clr_callback *self, uintptr_t app_domain_id))
IGNORE(app_domain_shutdown_started, (struct clr_callback *self, uintptr_t app_domain_id))
IGNORE(app_domain_shutdown_finished,
       (struct clr_callback *self, uintptr_t app_domain_id, hresult status))
IGNORE(assembly_load_started, (struct clr_callback *self, uintptr_t assembly_id))
IGNORE(assembly_unload_finished, (struct clr_callback *self, uintptr_t assembly_id, hresult status))
IGNORE(module_attached_to_assembly,
       (struct clr_callback *self, uintptr_t module_id, uintptr_t assembly_id))
IGNORE(class_load_started, (struct clr_callback *self, uintptr_t class_id))
IGNORE(class_unload_finished, (struct clr_callback *self, uintptr_t class_id, hresult status))
IGNORE(function_unload_started, (struct clr_callback *self, uintptr_t function_id))
IGNORE(jit_cached_function_search_finished,
       (struct clr_callback *self, uintptr_t function_id, int32_t result))
IGNORE(jit_function_pitched, (struct clr_callback *self, uintptr_t function_id))
IGNORE(remoting_client_invocation_started, (struct clr_callback *self))
IGNORE(remoting_client_sending_message,
       (struct clr_callback *self, const struct clr_guid *cookie, int32_t is_async))
IGNORE(remoting_client_receiving_reply,
       (struct clr_callback *self, const struct clr_guid *cookie, int32_t is_async))
IGNORE(remoting_client_invocation_finished, (struct clr_callback *self))
IGNORE(remoting_server_receiving_message,
       (struct clr_callback *self, const struct clr_guid *cookie, int32_t is_async))
IGNORE(remoting_server_invocation_started, (struct clr_callback *self))
IGNORE(remoting_server_invocation_returned, (struct clr_callback *self))
IGNORE(remoting_server_sending_reply,
       (struct clr_callback *self, const struct clr_guid *cookie, int32_t is_async))
IGNORE(runtime_thread_suspended, (struct clr_callback *self, uintptr_t thread_id))
IGNORE(runtime_thread_resumed, (struct clr_callback *self, uintptr_t thread_id))
IGNORE(moved_references,
       (struct clr_callback *self, uint32_t ranges, const uintptr_t *old_starts,
        const uintptr_t *new_starts, const uint32_t *lengths))
IGNORE(objects_allocated_by_class,
       (struct clr_callback *self, uint32_t class_count, const uintptr_t *class_ids,
        const uint32_t *object_counts))
IGNORE(object_references,
       (struct clr_callback *self, uintptr_t object_id, uintptr_t class_id, uint32_t count,
        const uintptr_t *object_ref_ids))
IGNORE(root_references, (struct clr_callback *self, uint32_t count, const uintptr_t *root_ref_ids))
IGNORE(exception_search_function_leave, (struct clr_callback *self))
IGNORE(exception_os_handler_enter, (struct clr_callback *self, uintptr_t unused))
IGNORE(exception_os_handler_leave, (struct clr_callback *self, uintptr_t unused))
IGNORE(exception_catcher_leave, (struct clr_callback *self))
IGNORE(com_classic_vtable_created,
       (struct clr_callback *self, uintptr_t wrapped_class_id,
        const struct clr_guid *implemented_iid, void *vtable, uint32_t slots))
IGNORE(com_classic_vtable_destroyed,
       (struct clr_callback *self, uintptr_t wrapped_class_id,
        const struct clr_guid *implemented_iid, void *vtable))
IGNORE(exception_clr_catcher_found, (struct clr_callback *self))
IGNORE(exception_clr_catcher_execute, (struct clr_callback *self))
IGNORE(surviving_references,
       (struct clr_callback *self, uint32_t ranges, const uintptr_t *starts,
        const uint32_t *lengths))
IGNORE(root_references2,
       (struct clr_callback *self, uint32_t count, const uintptr_t *root_ref_ids,
        const int32_t *root_kinds, const int32_t *root_flags, const uintptr_t *root_ids))
IGNORE(handle_created,
       (struct clr_callback *self, uintptr_t handle_id, uintptr_t initial_object_id))
IGNORE(handle_destroyed, (struct clr_callback *self, uintptr_t handle_id))
IGNORE(initialize_for_attach,
       (struct clr_callback *self, struct clr_unknown *info, void *client_data,
        uint32_t client_data_size))
IGNORE(profiler_attach_complete, (struct clr_callback *self))
IGNORE(profiler_detach_succeeded, (struct clr_callback *self))
IGNORE(get_rejit_parameters,
       (struct clr_callback *self, uintptr_t module_id, uint32_t method_id,
        struct clr_function_control *function_control))
IGNORE(rejit_error,
       (struct clr_callback *self, uintptr_t module_id, uint32_t method_id,
        uintptr_t function_id, hresult status))
IGNORE(moved_references2,
       (struct clr_callback *self, uint32_t ranges, const uintptr_t *old_starts,
        const uintptr_t *new_starts, const size_t *lengths))
IGNORE(surviving_references2,
       (struct clr_callback *self, uint32_t ranges, const uintptr_t *starts,
        const size_t *lengths))
IGNORE(conditional_weak_table_element_references,
       (struct clr_callback *self, uint32_t count, const uintptr_t *key_ref_ids,
        const uintptr_t *value_ref_ids, const uintptr_t *root_ids))
IGNORE(get_assembly_references,
       (struct clr_callback *self, const clr_wchar *assembly_path,
        struct clr_assembly_reference_provider *provider))
IGNORE(module_in_memory_symbols_updated, (struct clr_callback *self, uintptr_t module_id))
IGNORE(event_pipe_event_delivered,
       (struct clr_callback *self, uintptr_t provider, uint32_t event_id,
        uint32_t event_version, uint32_t metadata_blob_size, const uint8_t *metadata_blob,
        uint32_t event_data_size, const uint8_t *event_data, const struct clr_guid *activity_id,
        const struct clr_guid *related_activity_id, uintptr_t event_thread,
        uint32_t frame_count, const uintptr_t *stack_frames))
IGNORE(event_pipe_provider_created, (struct clr_callback *self, uintptr_t provider))
/* clang-format on */

const struct clr_callback_vtbl profiler_vtbl = {
    /* IUnknown: slots 0 to 2 */
    .query_interface = on_query_interface,
    .add_ref = on_add_ref,
    .release = on_release,
    /* ICorProfilerCallback: slots 3 to 71 */
    .initialize = on_initialize,
    .shutdown = on_shutdown,
    .app_domain_creation_started = on_app_domain_creation_started,
    .app_domain_creation_finished = on_app_domain_creation_finished,
    .app_domain_shutdown_started = on_app_domain_shutdown_started,
    .app_domain_shutdown_finished = on_app_domain_shutdown_finished,
    .assembly_load_started = on_assembly_load_started,
    .assembly_load_finished = on_assembly_load_finished,
    .assembly_unload_started = on_assembly_unload_started,
    .assembly_unload_finished = on_assembly_unload_finished,
    .module_load_started = on_module_load_started,
    .module_load_finished = on_module_load_finished,
    .module_unload_started = on_module_unload_started,
    .module_unload_finished = on_module_unload_finished,
    .module_attached_to_assembly = on_module_attached_to_assembly,
    .class_load_started = on_class_load_started,
    .class_load_finished = on_class_load_finished,
    .class_unload_started = on_class_unload_started,
    .class_unload_finished = on_class_unload_finished,
    .function_unload_started = on_function_unload_started,
    .jit_compilation_started = on_jit_compilation_started,
    .jit_compilation_finished = on_jit_compilation_finished,
    .jit_cached_function_search_started = on_jit_cached_function_search_started,
    .jit_cached_function_search_finished = on_jit_cached_function_search_finished,
    .jit_function_pitched = on_jit_function_pitched,
    .jit_inlining = on_jit_inlining,
    .thread_created = on_thread_created,
    .thread_destroyed = on_thread_destroyed,
    .thread_assigned_to_os_thread = on_thread_assigned_to_os_thread,
    .remoting_client_invocation_started = on_remoting_client_invocation_started,
    .remoting_client_sending_message = on_remoting_client_sending_message,
    .remoting_client_receiving_reply = on_remoting_client_receiving_reply,
    .remoting_client_invocation_finished = on_remoting_client_invocation_finished,
    .remoting_server_receiving_message = on_remoting_server_receiving_message,
    .remoting_server_invocation_started = on_remoting_server_invocation_started,
    .remoting_server_invocation_returned = on_remoting_server_invocation_returned,
    .remoting_server_sending_reply = on_remoting_server_sending_reply,
    .unmanaged_to_managed_transition = on_unmanaged_to_managed_transition,
    .managed_to_unmanaged_transition = on_managed_to_unmanaged_transition,
    .runtime_suspend_started = on_runtime_suspend_started,
    .runtime_suspend_finished = on_runtime_suspend_finished,
    .runtime_suspend_aborted = on_runtime_suspend_aborted,
    .runtime_resume_started = on_runtime_resume_started,
    .runtime_resume_finished = on_runtime_resume_finished,
    .runtime_thread_suspended = on_runtime_thread_suspended,
    .runtime_thread_resumed = on_runtime_thread_resumed,
    .moved_references = on_moved_references,
    .object_allocated = on_object_allocated,
    .objects_allocated_by_class = on_objects_allocated_by_class,
    .object_references = on_object_references,
    .root_references = on_root_references,
    .exception_thrown = on_exception_thrown,
    .exception_search_function_enter = on_exception_search_function_enter,
    .exception_search_function_leave = on_exception_search_function_leave,
    .exception_search_filter_enter = on_exception_search_filter_enter,
    .exception_search_filter_leave = on_exception_search_filter_leave,
    .exception_search_catcher_found = on_exception_search_catcher_found,
    .exception_os_handler_enter = on_exception_os_handler_enter,
    .exception_os_handler_leave = on_exception_os_handler_leave,
    .exception_unwind_function_enter = on_exception_unwind_function_enter,
    .exception_unwind_function_leave = on_exception_unwind_function_leave,
    .exception_unwind_finally_enter = on_exception_unwind_finally_enter,
    .exception_unwind_finally_leave = on_exception_unwind_finally_leave,
    .exception_catcher_enter = on_exception_catcher_enter,
    .exception_catcher_leave = on_exception_catcher_leave,
    .com_classic_vtable_created = on_com_classic_vtable_created,
    .com_classic_vtable_destroyed = on_com_classic_vtable_destroyed,
    .exception_clr_catcher_found = on_exception_clr_catcher_found,
    .exception_clr_catcher_execute = on_exception_clr_catcher_execute,
    /* ICorProfilerCallback2: slots 72 to 79 */
    .thread_name_changed = on_thread_name_changed,
    .garbage_collection_started = on_garbage_collection_started,
    .surviving_references = on_surviving_references,
    .garbage_collection_finished = on_garbage_collection_finished,
    .finalizeable_object_queued = on_finalizeable_object_queued,
    .root_references2 = on_root_references2,
    .handle_created = on_handle_created,
    .handle_destroyed = on_handle_destroyed,
    /* ICorProfilerCallback3: slots 80 to 82 */
    .initialize_for_attach = on_initialize_for_attach,
    .profiler_attach_complete = on_profiler_attach_complete,
    .profiler_detach_succeeded = on_profiler_detach_succeeded,
    /* ICorProfilerCallback4: slots 83 to 88 */
    .rejit_compilation_started = on_rejit_compilation_started,
    .get_rejit_parameters = on_get_rejit_parameters,
    .rejit_compilation_finished = on_rejit_compilation_finished,
    .rejit_error = on_rejit_error,
    .moved_references2 = on_moved_references2,
    .surviving_references2 = on_surviving_references2,
    /* ICorProfilerCallback5: slot 89 */
    .conditional_weak_table_element_references = on_conditional_weak_table_element_references,
    /* ICorProfilerCallback6: slot 90 */
    .get_assembly_references = on_get_assembly_references,
    /* ICorProfilerCallback7: slot 91 */
    .module_in_memory_symbols_updated = on_module_in_memory_symbols_updated,
    /* ICorProfilerCallback8: slots 92 to 93 */
    .dynamic_method_jit_compilation_started = on_dynamic_method_jit_compilation_started,
    .dynamic_method_jit_compilation_finished = on_dynamic_method_jit_compilation_finished,
    /* ICorProfilerCallback9: slot 94 */
    .dynamic_method_unloaded = on_dynamic_method_unloaded,
    /* ICorProfilerCallback10: slots 95 to 96 */
    .event_pipe_event_delivered = on_event_pipe_event_delivered,
    .event_pipe_provider_created = on_event_pipe_provider_created,
    /* ICorProfilerCallback11: slot 97 */
    .load_as_notification_only = on_load_as_notification_only,
};

/* The caller, as everywhere on this CPU, takes its own arguments away again: one function does for every slot. */
static hresult idle(void)
{
    return S_OK;
}

const struct clr_callback_vtbl *profiler_vtbl_idle(void)
{
    static union {
        struct clr_callback_vtbl vtbl;
        hresult (*slot[sizeof(struct clr_callback_vtbl) / sizeof(void *)])(void);
    } table;

    for (size_t i = 0; i < COUNT_OF(table.slot); i++)
        table.slot[i] = idle;
    table.vtbl.query_interface = on_query_interface;
    table.vtbl.add_ref = on_add_ref;
    table.vtbl.release = on_release;
    table.vtbl.initialize = on_initialize;
    return &table.vtbl;
}
