/*
 * clr/info.h - ICorProfilerInfo to ICorProfilerInfo15: what the runtime answers, and the
 * enumerators and small interfaces it hands out.
 *
 * Source: corprof.idl of dotnet/runtime, facts only. Holds no state.
 *
 * Last slot of each version: 35 (1), 56 (2), 70 (3), 80 (4), 82 (5), 83 (6), 86 (7), 89 (8), 92
 * (9), 98 (10), 100 (11), 107 (12), 110 (13), 113 (14), 114 (15).
 */
#ifndef SHADOWTRACE_CLR_INFO_H
#define SHADOWTRACE_CLR_INFO_H

#include <shadowtrace/clr/hooks.h>
#include <shadowtrace/clr/structs.h>
#include <shadowtrace/clr/types.h>
#include <shadowtrace/clr/unknown.h>

#define CLR_INFO_SLOTS 115

/* Enumerators: slots 3 to 7; next returns S_FALSE when it fetched fewer than asked. */
#define CLR_ENUMERATOR(name, element) \
    struct name; \
    struct name##_vtbl { \
        CLR_UNKNOWN_SLOTS(name); \
        hresult (*skip)(struct name * self, uint32_t count); \
        hresult (*reset)(struct name * self); \
        hresult (*clone)(struct name * self, struct name **enumerator); \
        hresult (*get_count)(struct name * self, uint32_t *count); \
        hresult (*next)(struct name * self, uint32_t count, element *elements, uint32_t *fetched); \
    }; \
    struct name { \
        const struct name##_vtbl *vtbl; \
    }

CLR_ENUMERATOR(clr_function_enum, struct clr_function); /* ICorProfilerFunctionEnum */
CLR_ENUMERATOR(clr_method_enum, struct clr_method);     /* ICorProfilerMethodEnum */
CLR_ENUMERATOR(clr_module_enum, uintptr_t);             /* ICorProfilerModuleEnum */
CLR_ENUMERATOR(clr_object_enum, uintptr_t);             /* ICorProfilerObjectEnum */
CLR_ENUMERATOR(clr_thread_enum, uintptr_t);             /* ICorProfilerThreadEnum */

struct clr_function_control;

/* ICorProfilerFunctionControl: the argument of get_rejit_parameters. */
struct clr_function_control_vtbl {
    CLR_UNKNOWN_SLOTS(clr_function_control);

    /* ICorProfilerFunctionControl: slots 3 to 5 */
    hresult (*set_codegen_flags)(struct clr_function_control *self, uint32_t flags);
    hresult (*set_il_function_body)(struct clr_function_control *self,
                                    uint32_t new_il_method_header_size,
                                    const uint8_t *new_il_method_header);
    hresult (*set_il_instrumented_code_map)(struct clr_function_control *self, uint32_t map_count,
                                            const struct clr_il_map *map);
};

struct clr_function_control {
    const struct clr_function_control_vtbl *vtbl;
};

struct clr_assembly_reference_provider;

/* ICorProfilerAssemblyReferenceProvider: the argument of get_assembly_references. */
struct clr_assembly_reference_provider_vtbl {
    /* IUnknown: slots 0 to 2 */
    hresult (*query_interface)(struct clr_assembly_reference_provider *self,
                               const struct clr_guid *riid, void **object);
    uint32_t (*add_ref)(struct clr_assembly_reference_provider *self);
    uint32_t (*release)(struct clr_assembly_reference_provider *self);

    /* ICorProfilerAssemblyReferenceProvider: slot 3 */
    hresult (*add_assembly_reference)(struct clr_assembly_reference_provider *self,
                                      const struct clr_assembly_reference_info *info);
};

struct clr_assembly_reference_provider {
    const struct clr_assembly_reference_provider_vtbl *vtbl;
};

struct clr_method_malloc;

/* IMethodMalloc: memory for a new IL body. */
struct clr_method_malloc_vtbl {
    CLR_UNKNOWN_SLOTS(clr_method_malloc);

    /* IMethodMalloc: slot 3 */
    void *(*alloc)(struct clr_method_malloc *self, uint32_t size);
};

struct clr_method_malloc {
    const struct clr_method_malloc_vtbl *vtbl;
};

struct clr_info;

/*
 * The whole vtable of ICorProfilerInfo15. A runtime's object may be older: call only slots of the
 * version query_interface granted. An out pointer marked so in the IDL may mostly be NULL if the
 * value is not wanted.
 */
struct clr_info_vtbl {
    CLR_UNKNOWN_SLOTS(clr_info);

    /* ICorProfilerInfo: slots 3 to 35 */
    hresult (*get_class_from_object)(struct clr_info *self, uintptr_t object_id,
                                     uintptr_t *class_id);
    hresult (*get_class_from_token)(struct clr_info *self, uintptr_t module_id, uint32_t type_def,
                                    uintptr_t *class_id);
    hresult (*get_code_info)(struct clr_info *self, uintptr_t function_id, const uint8_t **start,
                             uint32_t *size);
    hresult (*get_event_mask)(struct clr_info *self, uint32_t *events);
    hresult (*get_function_from_ip)(struct clr_info *self, const uint8_t *ip,
                                    uintptr_t *function_id);
    hresult (*get_function_from_token)(struct clr_info *self, uintptr_t module_id, uint32_t token,
                                       uintptr_t *function_id);
    hresult (*get_handle_from_thread)(struct clr_info *self, uintptr_t thread_id, void **handle);
    hresult (*get_object_size)(struct clr_info *self, uintptr_t object_id, uint32_t *size);
    hresult (*is_array_class)(struct clr_info *self, uintptr_t class_id, uint32_t *base_elem_type,
                              uintptr_t *base_class_id, uint32_t *rank);
    hresult (*get_thread_info)(struct clr_info *self, uintptr_t thread_id, uint32_t *os_thread_id);
    hresult (*get_current_thread_id)(struct clr_info *self, uintptr_t *thread_id);
    hresult (*get_class_id_info)(struct clr_info *self, uintptr_t class_id, uintptr_t *module_id,
                                 uint32_t *type_def_token);
    hresult (*get_function_info)(struct clr_info *self, uintptr_t function_id, uintptr_t *class_id,
                                 uintptr_t *module_id, uint32_t *token);
    hresult (*set_event_mask)(struct clr_info *self, uint32_t events);
    hresult (*set_enter_leave_function_hooks)(struct clr_info *self, clr_function_enter *enter,
                                              clr_function_leave *leave,
                                              clr_function_tailcall *tailcall);
    hresult (*set_function_id_mapper)(struct clr_info *self, clr_function_id_mapper *mapper);
    hresult (*get_token_and_metadata_from_function)(struct clr_info *self, uintptr_t function_id,
                                                    const struct clr_guid *riid,
                                                    struct clr_unknown **import, uint32_t *token);
    hresult (*get_module_info)(struct clr_info *self, uintptr_t module_id,
                               const uint8_t **base_address, uint32_t name_max,
                               uint32_t *name_length, clr_wchar *name, uintptr_t *assembly_id);
    hresult (*get_module_metadata)(struct clr_info *self, uintptr_t module_id, uint32_t open_flags,
                                   const struct clr_guid *riid, struct clr_unknown **out);
    hresult (*get_il_function_body)(struct clr_info *self, uintptr_t module_id, uint32_t method_id,
                                    const uint8_t **method_header, uint32_t *method_size);
    hresult (*get_il_function_body_allocator)(struct clr_info *self, uintptr_t module_id,
                                              struct clr_method_malloc **allocator);
    hresult (*set_il_function_body)(struct clr_info *self, uintptr_t module_id, uint32_t method_id,
                                    const uint8_t *new_il_method_header);
    hresult (*get_app_domain_info)(struct clr_info *self, uintptr_t app_domain_id,
                                   uint32_t name_max, uint32_t *name_length, clr_wchar *name,
                                   uintptr_t *process_id);
    hresult (*get_assembly_info)(struct clr_info *self, uintptr_t assembly_id, uint32_t name_max,
                                 uint32_t *name_length, clr_wchar *name, uintptr_t *app_domain_id,
                                 uintptr_t *module_id);
    hresult (*set_function_rejit)(struct clr_info *self, uintptr_t function_id);
    hresult (*force_gc)(struct clr_info *self);
    hresult (*set_il_instrumented_code_map)(struct clr_info *self, uintptr_t function_id,
                                            int32_t start_jit, uint32_t map_count,
                                            const struct clr_il_map *map);
    hresult (*get_inproc_inspection_interface)(struct clr_info *self,
                                               struct clr_unknown **interface);
    hresult (*get_inproc_inspection_this_thread)(struct clr_info *self,
                                                 struct clr_unknown **interface);
    hresult (*get_thread_context)(struct clr_info *self, uintptr_t thread_id,
                                  uintptr_t *context_id);
    hresult (*begin_inproc_debugging)(struct clr_info *self, int32_t this_thread_only,
                                      uint32_t *profiler_context);
    hresult (*end_inproc_debugging)(struct clr_info *self, uint32_t profiler_context);
    hresult (*get_il_to_native_mapping)(struct clr_info *self, uintptr_t function_id,
                                        uint32_t map_max, uint32_t *map_count,
                                        struct clr_debug_il_to_native_map *map);

    /* ICorProfilerInfo2: slots 36 to 56 */
    hresult (*do_stack_snapshot)(struct clr_info *self, uintptr_t thread,
                                 clr_stack_snapshot_callback *callback, uint32_t info_flags,
                                 void *client_data, const uint8_t *context, uint32_t context_size);
    hresult (*set_enter_leave_function_hooks2)(struct clr_info *self, clr_function_enter2 *enter,
                                               clr_function_leave2 *leave,
                                               clr_function_tailcall2 *tailcall);
    hresult (*get_function_info2)(struct clr_info *self, uintptr_t function_id,
                                  uintptr_t frame_info, uintptr_t *class_id, uintptr_t *module_id,
                                  uint32_t *token, uint32_t type_args_max,
                                  uint32_t *type_args_count, uintptr_t *type_args);
    hresult (*get_string_layout)(struct clr_info *self, uint32_t *buffer_length_offset,
                                 uint32_t *string_length_offset, uint32_t *buffer_offset);
    hresult (*get_class_layout)(struct clr_info *self, uintptr_t class_id,
                                struct clr_field_offset *field_offset, uint32_t field_offset_max,
                                uint32_t *field_offset_count, uint32_t *class_size);
    hresult (*get_class_id_info2)(struct clr_info *self, uintptr_t class_id, uintptr_t *module_id,
                                  uint32_t *type_def_token, uintptr_t *parent_class_id,
                                  uint32_t type_args_max, uint32_t *type_args_count,
                                  uintptr_t *type_args);
    hresult (*get_code_info2)(struct clr_info *self, uintptr_t function_id, uint32_t code_infos_max,
                              uint32_t *code_infos_count, struct clr_code_info *code_infos);
    hresult (*get_class_from_token_and_type_args)(struct clr_info *self, uintptr_t module_id,
                                                  uint32_t type_def, uint32_t type_args_count,
                                                  const uintptr_t *type_args, uintptr_t *class_id);
    hresult (*get_function_from_token_and_type_args)(struct clr_info *self, uintptr_t module_id,
                                                     uint32_t func_def, uintptr_t class_id,
                                                     uint32_t type_args_count,
                                                     const uintptr_t *type_args,
                                                     uintptr_t *function_id);
    hresult (*enum_module_frozen_objects)(struct clr_info *self, uintptr_t module_id,
                                          struct clr_object_enum **enumerator);
    hresult (*get_array_object_info)(struct clr_info *self, uintptr_t object_id,
                                     uint32_t dimensions, uint32_t *dimension_sizes,
                                     int32_t *dimension_lower_bounds, uint8_t **data);
    hresult (*get_box_class_layout)(struct clr_info *self, uintptr_t class_id,
                                    uint32_t *buffer_offset);
    hresult (*get_thread_app_domain)(struct clr_info *self, uintptr_t thread_id,
                                     uintptr_t *app_domain_id);
    hresult (*get_rva_static_address)(struct clr_info *self, uintptr_t class_id,
                                      uint32_t field_token, void **address);
    hresult (*get_app_domain_static_address)(struct clr_info *self, uintptr_t class_id,
                                             uint32_t field_token, uintptr_t app_domain_id,
                                             void **address);
    hresult (*get_thread_static_address)(struct clr_info *self, uintptr_t class_id,
                                         uint32_t field_token, uintptr_t thread_id, void **address);
    hresult (*get_context_static_address)(struct clr_info *self, uintptr_t class_id,
                                          uint32_t field_token, uintptr_t context_id,
                                          void **address);
    hresult (*get_static_field_info)(struct clr_info *self, uintptr_t class_id,
                                     uint32_t field_token, int32_t *field_info);
    hresult (*get_generation_bounds)(struct clr_info *self, uint32_t ranges_max,
                                     uint32_t *ranges_count,
                                     struct clr_gc_generation_range *ranges);
    hresult (*get_object_generation)(struct clr_info *self, uintptr_t object_id,
                                     struct clr_gc_generation_range *range);
    hresult (*get_notified_exception_clause_info)(struct clr_info *self,
                                                  struct clr_ex_clause_info *info);

    /* ICorProfilerInfo3: slots 57 to 70 */
    hresult (*enum_jited_functions)(struct clr_info *self, struct clr_function_enum **enumerator);
    hresult (*request_profiler_detach)(struct clr_info *self, uint32_t expected_ms);
    hresult (*set_function_id_mapper2)(struct clr_info *self, clr_function_id_mapper2 *mapper,
                                       void *client_data);
    hresult (*get_string_layout2)(struct clr_info *self, uint32_t *string_length_offset,
                                  uint32_t *buffer_offset);
    hresult (*set_enter_leave_function_hooks3)(struct clr_info *self, clr_function_enter3 *enter,
                                               clr_function_leave3 *leave,
                                               clr_function_tailcall3 *tailcall);
    hresult (*set_enter_leave_function_hooks3_with_info)(
        struct clr_info *self, clr_function_enter3_with_info *enter,
        clr_function_leave3_with_info *leave, clr_function_tailcall3_with_info *tailcall);
    hresult (*get_function_enter3_info)(struct clr_info *self, uintptr_t function_id,
                                        uintptr_t elt_info, uintptr_t *frame_info,
                                        uint32_t *argument_info_size,
                                        struct clr_function_argument_info *argument_info);
    hresult (*get_function_leave3_info)(struct clr_info *self, uintptr_t function_id,
                                        uintptr_t elt_info, uintptr_t *frame_info,
                                        struct clr_function_argument_range *retval_range);
    hresult (*get_function_tailcall3_info)(struct clr_info *self, uintptr_t function_id,
                                           uintptr_t elt_info, uintptr_t *frame_info);
    hresult (*enum_modules)(struct clr_info *self, struct clr_module_enum **enumerator);
    hresult (*get_runtime_information)(struct clr_info *self, uint16_t *clr_instance_id,
                                       int32_t *runtime_type, uint16_t *major_version,
                                       uint16_t *minor_version, uint16_t *build_number,
                                       uint16_t *qfe_version, uint32_t version_string_max,
                                       uint32_t *version_string_length, clr_wchar *version_string);
    hresult (*get_thread_static_address2)(struct clr_info *self, uintptr_t class_id,
                                          uint32_t field_token, uintptr_t app_domain_id,
                                          uintptr_t thread_id, void **address);
    hresult (*get_app_domains_containing_module)(struct clr_info *self, uintptr_t module_id,
                                                 uint32_t app_domain_ids_max,
                                                 uint32_t *app_domain_ids_count,
                                                 uintptr_t *app_domain_ids);
    hresult (*get_module_info2)(struct clr_info *self, uintptr_t module_id,
                                const uint8_t **base_address, uint32_t name_max,
                                uint32_t *name_length, clr_wchar *name, uintptr_t *assembly_id,
                                uint32_t *module_flags);

    /* ICorProfilerInfo4: slots 71 to 80 */
    hresult (*enum_threads)(struct clr_info *self, struct clr_thread_enum **enumerator);
    hresult (*initialize_current_thread)(struct clr_info *self);
    hresult (*request_rejit)(struct clr_info *self, uint32_t count, const uintptr_t *module_ids,
                             const uint32_t *method_ids);
    hresult (*request_revert)(struct clr_info *self, uint32_t count, const uintptr_t *module_ids,
                              const uint32_t *method_ids, hresult *status);
    hresult (*get_code_info3)(struct clr_info *self, uintptr_t function_id, uintptr_t rejit_id,
                              uint32_t code_infos_max, uint32_t *code_infos_count,
                              struct clr_code_info *code_infos);
    hresult (*get_function_from_ip2)(struct clr_info *self, const uint8_t *ip,
                                     uintptr_t *function_id, uintptr_t *rejit_id);
    hresult (*get_rejit_ids)(struct clr_info *self, uintptr_t function_id, uint32_t rejit_ids_max,
                             uint32_t *rejit_ids_count, uintptr_t *rejit_ids);
    hresult (*get_il_to_native_mapping2)(struct clr_info *self, uintptr_t function_id,
                                         uintptr_t rejit_id, uint32_t map_max, uint32_t *map_count,
                                         struct clr_debug_il_to_native_map *map);
    hresult (*enum_jited_functions2)(struct clr_info *self, struct clr_function_enum **enumerator);
    hresult (*get_object_size2)(struct clr_info *self, uintptr_t object_id, size_t *size);

    /* ICorProfilerInfo5: slots 81 to 82 */
    hresult (*get_event_mask2)(struct clr_info *self, uint32_t *events_low, uint32_t *events_high);
    hresult (*set_event_mask2)(struct clr_info *self, uint32_t events_low, uint32_t events_high);

    /* ICorProfilerInfo6: slot 83 */
    hresult (*enum_ngen_module_methods_inlining_this_method)(
        struct clr_info *self, uintptr_t inliners_module_id, uintptr_t inlinee_module_id,
        uint32_t inlinee_method_id, int32_t *incomplete_data, struct clr_method_enum **enumerator);

    /* ICorProfilerInfo7: slots 84 to 86 */
    hresult (*apply_metadata)(struct clr_info *self, uintptr_t module_id);
    hresult (*get_in_memory_symbols_length)(struct clr_info *self, uintptr_t module_id,
                                            uint32_t *size);
    hresult (*read_in_memory_symbols)(struct clr_info *self, uintptr_t module_id, uint32_t offset,
                                      uint8_t *symbol_bytes, uint32_t symbol_bytes_max,
                                      uint32_t *size);

    /* ICorProfilerInfo8: slots 87 to 89 */
    hresult (*is_function_dynamic)(struct clr_info *self, uintptr_t function_id,
                                   int32_t *is_dynamic);
    hresult (*get_function_from_ip3)(struct clr_info *self, const uint8_t *ip,
                                     uintptr_t *function_id, uintptr_t *rejit_id);
    hresult (*get_dynamic_function_info)(struct clr_info *self, uintptr_t function_id,
                                         uintptr_t *module_id, const uint8_t **signature,
                                         uint32_t *signature_size, uint32_t name_max,
                                         uint32_t *name_length, clr_wchar *name);

    /* ICorProfilerInfo9: slots 90 to 92 */
    hresult (*get_native_code_start_addresses)(struct clr_info *self, uintptr_t function_id,
                                               uintptr_t rejit_id, uint32_t addresses_max,
                                               uint32_t *addresses_count, uintptr_t *addresses);
    hresult (*get_il_to_native_mapping3)(struct clr_info *self, uintptr_t code_start,
                                         uint32_t map_max, uint32_t *map_count,
                                         struct clr_debug_il_to_native_map *map);
    hresult (*get_code_info4)(struct clr_info *self, uintptr_t code_start, uint32_t code_infos_max,
                              uint32_t *code_infos_count, struct clr_code_info *code_infos);

    /* ICorProfilerInfo10: slots 93 to 98 */
    hresult (*enumerate_object_references)(struct clr_info *self, uintptr_t object_id,
                                           clr_object_reference_callback *callback,
                                           void *client_data);
    hresult (*is_frozen_object)(struct clr_info *self, uintptr_t object_id, int32_t *frozen);
    hresult (*get_loh_object_size_threshold)(struct clr_info *self, uint32_t *threshold);
    hresult (*request_rejit_with_inliners)(struct clr_info *self, uint32_t rejit_flags,
                                           uint32_t count, const uintptr_t *module_ids,
                                           const uint32_t *method_ids);
    hresult (*suspend_runtime)(struct clr_info *self);
    hresult (*resume_runtime)(struct clr_info *self);

    /* ICorProfilerInfo11: slots 99 to 100 */
    hresult (*get_environment_variable)(struct clr_info *self, const clr_wchar *name,
                                        uint32_t value_max, uint32_t *value_length,
                                        clr_wchar *value);
    hresult (*set_environment_variable)(struct clr_info *self, const clr_wchar *name,
                                        const clr_wchar *value);

    /* ICorProfilerInfo12: slots 101 to 107 */
    hresult (*event_pipe_start_session)(struct clr_info *self, uint32_t config_count,
                                        const struct clr_event_pipe_provider_config *configs,
                                        int32_t request_rundown, uint64_t *session);
    hresult (*event_pipe_add_provider_to_session)(struct clr_info *self, uint64_t session,
                                                  struct clr_event_pipe_provider_config config);
    hresult (*event_pipe_stop_session)(struct clr_info *self, uint64_t session);
    hresult (*event_pipe_create_provider)(struct clr_info *self, const clr_wchar *provider_name,
                                          uintptr_t *provider);
    hresult (*event_pipe_get_provider_info)(struct clr_info *self, uintptr_t provider,
                                            uint32_t name_max, uint32_t *name_length,
                                            clr_wchar *provider_name);
    hresult (*event_pipe_define_event)(struct clr_info *self, uintptr_t provider,
                                       const clr_wchar *event_name, uint32_t event_id,
                                       uint64_t keywords, uint32_t event_version, uint32_t level,
                                       uint8_t opcode, int32_t need_stack, uint32_t param_count,
                                       const struct clr_event_pipe_param_desc *params,
                                       uintptr_t *event);
    hresult (*event_pipe_write_event)(struct clr_info *self, uintptr_t event, uint32_t data_count,
                                      const struct clr_event_data *data,
                                      const struct clr_guid *activity_id,
                                      const struct clr_guid *related_activity_id);

    /* ICorProfilerInfo13: slots 108 to 110 */
    hresult (*create_handle)(struct clr_info *self, uintptr_t object, int32_t type, void ***handle);
    hresult (*destroy_handle)(struct clr_info *self, void **handle);
    hresult (*get_object_id_from_handle)(struct clr_info *self, void **handle, uintptr_t *object);

    /* ICorProfilerInfo14: slots 111 to 113 */
    hresult (*enumerate_non_gc_objects)(struct clr_info *self, struct clr_object_enum **enumerator);
    hresult (*get_non_gc_heap_bounds)(struct clr_info *self, uint32_t ranges_max,
                                      uint32_t *ranges_count, struct clr_nongc_heap_range *ranges);
    hresult (*event_pipe_create_provider2)(struct clr_info *self, const clr_wchar *provider_name,
                                           clr_event_pipe_provider_callback *callback,
                                           uintptr_t *provider);

    /* ICorProfilerInfo15: slot 114 */
    hresult (*enumerate_gc_heap_objects)(struct clr_info *self, clr_object_callback *callback,
                                         void *callback_state);
};

struct clr_info {
    const struct clr_info_vtbl *vtbl;
};

#endif
