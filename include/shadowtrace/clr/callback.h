/*
 * clr/callback.h - ICorProfilerCallback to ICorProfilerCallback11: what the profiler implements.
 *
 * Source: corprof.idl of dotnet/runtime, facts only. Holds no state.
 *
 * Last slot of each version: 71 (1), 79 (2), 82 (3), 88 (4), 89 (5), 90 (6), 91 (7), 93 (8), 94
 * (9), 96 (10), 97 (11).
 */
#ifndef SHADOWTRACE_CLR_CALLBACK_H
#define SHADOWTRACE_CLR_CALLBACK_H

#include <shadowtrace/clr/types.h>

struct clr_assembly_reference_provider; /* info.h */
struct clr_function_control;            /* info.h */
struct clr_unknown;                     /* unknown.h */

/* Slots in the vtable of ICorProfilerCallback11, IUnknown included. */
#define CLR_CALLBACK_SLOTS 98

struct clr_callback;

/*
 * The whole vtable of ICorProfilerCallback11; version N is the slots up to its own. No slot may be
 * NULL up to the highest version that query_interface admits to. A slot nobody needs returns S_OK,
 * and those with an out value write it: jit_cached_function_search_started, jit_inlining,
 * load_as_notification_only.
 */
struct clr_callback_vtbl {
    CLR_UNKNOWN_SLOTS(clr_callback);

    /* ICorProfilerCallback: slots 3 to 71 */
    hresult (*initialize)(struct clr_callback *self, struct clr_unknown *info);
    hresult (*shutdown)(struct clr_callback *self);
    hresult (*app_domain_creation_started)(struct clr_callback *self, uintptr_t app_domain_id);
    hresult (*app_domain_creation_finished)(struct clr_callback *self, uintptr_t app_domain_id,
                                            hresult status);
    hresult (*app_domain_shutdown_started)(struct clr_callback *self, uintptr_t app_domain_id);
    hresult (*app_domain_shutdown_finished)(struct clr_callback *self, uintptr_t app_domain_id,
                                            hresult status);
    hresult (*assembly_load_started)(struct clr_callback *self, uintptr_t assembly_id);
    hresult (*assembly_load_finished)(struct clr_callback *self, uintptr_t assembly_id,
                                      hresult status);
    hresult (*assembly_unload_started)(struct clr_callback *self, uintptr_t assembly_id);
    hresult (*assembly_unload_finished)(struct clr_callback *self, uintptr_t assembly_id,
                                        hresult status);
    hresult (*module_load_started)(struct clr_callback *self, uintptr_t module_id);
    hresult (*module_load_finished)(struct clr_callback *self, uintptr_t module_id, hresult status);
    hresult (*module_unload_started)(struct clr_callback *self, uintptr_t module_id);
    hresult (*module_unload_finished)(struct clr_callback *self, uintptr_t module_id,
                                      hresult status);
    hresult (*module_attached_to_assembly)(struct clr_callback *self, uintptr_t module_id,
                                           uintptr_t assembly_id);
    hresult (*class_load_started)(struct clr_callback *self, uintptr_t class_id);
    hresult (*class_load_finished)(struct clr_callback *self, uintptr_t class_id, hresult status);
    hresult (*class_unload_started)(struct clr_callback *self, uintptr_t class_id);
    hresult (*class_unload_finished)(struct clr_callback *self, uintptr_t class_id, hresult status);
    hresult (*function_unload_started)(struct clr_callback *self, uintptr_t function_id);
    hresult (*jit_compilation_started)(struct clr_callback *self, uintptr_t function_id,
                                       int32_t is_safe_to_block);
    hresult (*jit_compilation_finished)(struct clr_callback *self, uintptr_t function_id,
                                        hresult status, int32_t is_safe_to_block);
    hresult (*jit_cached_function_search_started)(struct clr_callback *self, uintptr_t function_id,
                                                  int32_t *use_cached_function);
    hresult (*jit_cached_function_search_finished)(struct clr_callback *self, uintptr_t function_id,
                                                   int32_t result);
    hresult (*jit_function_pitched)(struct clr_callback *self, uintptr_t function_id);
    hresult (*jit_inlining)(struct clr_callback *self, uintptr_t caller_id, uintptr_t callee_id,
                            int32_t *should_inline);
    hresult (*thread_created)(struct clr_callback *self, uintptr_t thread_id);
    hresult (*thread_destroyed)(struct clr_callback *self, uintptr_t thread_id);
    hresult (*thread_assigned_to_os_thread)(struct clr_callback *self, uintptr_t managed_thread_id,
                                            uint32_t os_thread_id);
    hresult (*remoting_client_invocation_started)(struct clr_callback *self);
    hresult (*remoting_client_sending_message)(struct clr_callback *self,
                                               const struct clr_guid *cookie, int32_t is_async);
    hresult (*remoting_client_receiving_reply)(struct clr_callback *self,
                                               const struct clr_guid *cookie, int32_t is_async);
    hresult (*remoting_client_invocation_finished)(struct clr_callback *self);
    hresult (*remoting_server_receiving_message)(struct clr_callback *self,
                                                 const struct clr_guid *cookie, int32_t is_async);
    hresult (*remoting_server_invocation_started)(struct clr_callback *self);
    hresult (*remoting_server_invocation_returned)(struct clr_callback *self);
    hresult (*remoting_server_sending_reply)(struct clr_callback *self,
                                             const struct clr_guid *cookie, int32_t is_async);
    hresult (*unmanaged_to_managed_transition)(struct clr_callback *self, uintptr_t function_id,
                                               int32_t reason);
    hresult (*managed_to_unmanaged_transition)(struct clr_callback *self, uintptr_t function_id,
                                               int32_t reason);
    hresult (*runtime_suspend_started)(struct clr_callback *self, int32_t suspend_reason);
    hresult (*runtime_suspend_finished)(struct clr_callback *self);
    hresult (*runtime_suspend_aborted)(struct clr_callback *self);
    hresult (*runtime_resume_started)(struct clr_callback *self);
    hresult (*runtime_resume_finished)(struct clr_callback *self);
    hresult (*runtime_thread_suspended)(struct clr_callback *self, uintptr_t thread_id);
    hresult (*runtime_thread_resumed)(struct clr_callback *self, uintptr_t thread_id);
    hresult (*moved_references)(struct clr_callback *self, uint32_t ranges,
                                const uintptr_t *old_starts, const uintptr_t *new_starts,
                                const uint32_t *lengths);
    hresult (*object_allocated)(struct clr_callback *self, uintptr_t object_id, uintptr_t class_id);
    hresult (*objects_allocated_by_class)(struct clr_callback *self, uint32_t class_count,
                                          const uintptr_t *class_ids,
                                          const uint32_t *object_counts);
    hresult (*object_references)(struct clr_callback *self, uintptr_t object_id, uintptr_t class_id,
                                 uint32_t count, const uintptr_t *object_ref_ids);
    hresult (*root_references)(struct clr_callback *self, uint32_t count,
                               const uintptr_t *root_ref_ids);
    hresult (*exception_thrown)(struct clr_callback *self, uintptr_t thrown_object_id);
    hresult (*exception_search_function_enter)(struct clr_callback *self, uintptr_t function_id);
    hresult (*exception_search_function_leave)(struct clr_callback *self);
    hresult (*exception_search_filter_enter)(struct clr_callback *self, uintptr_t function_id);
    hresult (*exception_search_filter_leave)(struct clr_callback *self);
    hresult (*exception_search_catcher_found)(struct clr_callback *self, uintptr_t function_id);
    hresult (*exception_os_handler_enter)(struct clr_callback *self, uintptr_t unused);
    hresult (*exception_os_handler_leave)(struct clr_callback *self, uintptr_t unused);
    hresult (*exception_unwind_function_enter)(struct clr_callback *self, uintptr_t function_id);
    hresult (*exception_unwind_function_leave)(struct clr_callback *self);
    hresult (*exception_unwind_finally_enter)(struct clr_callback *self, uintptr_t function_id);
    hresult (*exception_unwind_finally_leave)(struct clr_callback *self);
    hresult (*exception_catcher_enter)(struct clr_callback *self, uintptr_t function_id,
                                       uintptr_t object_id);
    hresult (*exception_catcher_leave)(struct clr_callback *self);
    hresult (*com_classic_vtable_created)(struct clr_callback *self, uintptr_t wrapped_class_id,
                                          const struct clr_guid *implemented_iid, void *vtable,
                                          uint32_t slots);
    hresult (*com_classic_vtable_destroyed)(struct clr_callback *self, uintptr_t wrapped_class_id,
                                            const struct clr_guid *implemented_iid, void *vtable);
    hresult (*exception_clr_catcher_found)(struct clr_callback *self);
    hresult (*exception_clr_catcher_execute)(struct clr_callback *self);

    /* ICorProfilerCallback2: slots 72 to 79 */
    hresult (*thread_name_changed)(struct clr_callback *self, uintptr_t thread_id,
                                   uint32_t name_length, const clr_wchar *name);
    hresult (*garbage_collection_started)(struct clr_callback *self, int32_t generations,
                                          const int32_t *generation_collected, int32_t reason);
    hresult (*surviving_references)(struct clr_callback *self, uint32_t ranges,
                                    const uintptr_t *starts, const uint32_t *lengths);
    hresult (*garbage_collection_finished)(struct clr_callback *self);
    hresult (*finalizeable_object_queued)(struct clr_callback *self, uint32_t finalizer_flags,
                                          uintptr_t object_id);
    hresult (*root_references2)(struct clr_callback *self, uint32_t count,
                                const uintptr_t *root_ref_ids, const int32_t *root_kinds,
                                const int32_t *root_flags, const uintptr_t *root_ids);
    hresult (*handle_created)(struct clr_callback *self, uintptr_t handle_id,
                              uintptr_t initial_object_id);
    hresult (*handle_destroyed)(struct clr_callback *self, uintptr_t handle_id);

    /* ICorProfilerCallback3: slots 80 to 82 */
    hresult (*initialize_for_attach)(struct clr_callback *self, struct clr_unknown *info,
                                     void *client_data, uint32_t client_data_size);
    hresult (*profiler_attach_complete)(struct clr_callback *self);
    hresult (*profiler_detach_succeeded)(struct clr_callback *self);

    /* ICorProfilerCallback4: slots 83 to 88 */
    hresult (*rejit_compilation_started)(struct clr_callback *self, uintptr_t function_id,
                                         uintptr_t rejit_id, int32_t is_safe_to_block);
    hresult (*get_rejit_parameters)(struct clr_callback *self, uintptr_t module_id,
                                    uint32_t method_id,
                                    struct clr_function_control *function_control);
    hresult (*rejit_compilation_finished)(struct clr_callback *self, uintptr_t function_id,
                                          uintptr_t rejit_id, hresult status,
                                          int32_t is_safe_to_block);
    hresult (*rejit_error)(struct clr_callback *self, uintptr_t module_id, uint32_t method_id,
                           uintptr_t function_id, hresult status);
    hresult (*moved_references2)(struct clr_callback *self, uint32_t ranges,
                                 const uintptr_t *old_starts, const uintptr_t *new_starts,
                                 const size_t *lengths);
    hresult (*surviving_references2)(struct clr_callback *self, uint32_t ranges,
                                     const uintptr_t *starts, const size_t *lengths);

    /* ICorProfilerCallback5: slot 89 */
    hresult (*conditional_weak_table_element_references)(struct clr_callback *self, uint32_t count,
                                                         const uintptr_t *key_ref_ids,
                                                         const uintptr_t *value_ref_ids,
                                                         const uintptr_t *root_ids);

    /* ICorProfilerCallback6: slot 90 */
    hresult (*get_assembly_references)(struct clr_callback *self, const clr_wchar *assembly_path,
                                       struct clr_assembly_reference_provider *provider);

    /* ICorProfilerCallback7: slot 91 */
    hresult (*module_in_memory_symbols_updated)(struct clr_callback *self, uintptr_t module_id);

    /* ICorProfilerCallback8: slots 92 to 93 */
    hresult (*dynamic_method_jit_compilation_started)(struct clr_callback *self,
                                                      uintptr_t function_id,
                                                      int32_t is_safe_to_block,
                                                      const uint8_t *il_header,
                                                      uint32_t il_header_size);
    hresult (*dynamic_method_jit_compilation_finished)(struct clr_callback *self,
                                                       uintptr_t function_id, hresult status,
                                                       int32_t is_safe_to_block);

    /* ICorProfilerCallback9: slot 94 */
    hresult (*dynamic_method_unloaded)(struct clr_callback *self, uintptr_t function_id);

    /* ICorProfilerCallback10: slots 95 to 96 */
    hresult (*event_pipe_event_delivered)(struct clr_callback *self, uintptr_t provider,
                                          uint32_t event_id, uint32_t event_version,
                                          uint32_t metadata_blob_size, const uint8_t *metadata_blob,
                                          uint32_t event_data_size, const uint8_t *event_data,
                                          const struct clr_guid *activity_id,
                                          const struct clr_guid *related_activity_id,
                                          uintptr_t event_thread, uint32_t frame_count,
                                          const uintptr_t *stack_frames);
    hresult (*event_pipe_provider_created)(struct clr_callback *self, uintptr_t provider);

    /* ICorProfilerCallback11: slot 97 */
    hresult (*load_as_notification_only)(struct clr_callback *self, int32_t *notification_only);
};

struct clr_callback {
    const struct clr_callback_vtbl *vtbl;
};

#endif
