/*
 * clr/layout.h - where the CLR's ABI has each method of a vtable and each member of a structure, proved by the compiler
 * of the including file. Source: corprof.idl and corhdr.h of dotnet/runtime.
 */
#ifndef TESTS_CLR_LAYOUT_H
#define TESTS_CLR_LAYOUT_H

#include <stddef.h>

#include <shadowtrace/clr/types.h>
#include <shadowtrace/clr/unknown.h>
#include <shadowtrace/clr/hooks.h>
#include <shadowtrace/clr/structs.h>
#include <shadowtrace/clr/dispenser.h>
#include <shadowtrace/clr/callback.h>
#include <shadowtrace/clr/info.h>
#include <shadowtrace/clr/metadata.h>

#define CLR_SLOT(table, method, slot) \
    static_assert(offsetof(struct table, method) == (slot) * sizeof(void *), #method)

/* <shadowtrace/clr/types.h> */
static_assert(offsetof(struct clr_guid, data2) == 4, "GUID");
static_assert(offsetof(struct clr_guid, data3) == 6, "GUID");
static_assert(offsetof(struct clr_guid, data4) == 8, "GUID");
static_assert(sizeof(struct clr_guid) == 16, "GUID");

/* <shadowtrace/clr/unknown.h> */
CLR_SLOT(clr_unknown_vtbl, query_interface, 0);
CLR_SLOT(clr_unknown_vtbl, add_ref, 1);
CLR_SLOT(clr_unknown_vtbl, release, 2);
static_assert(sizeof(struct clr_unknown_vtbl) == 3 * sizeof(void *), "IUnknown");
CLR_SLOT(clr_class_factory_vtbl, query_interface, 0);
CLR_SLOT(clr_class_factory_vtbl, add_ref, 1);
CLR_SLOT(clr_class_factory_vtbl, release, 2);
CLR_SLOT(clr_class_factory_vtbl, create_instance, 3);
CLR_SLOT(clr_class_factory_vtbl, lock_server, 4);
static_assert(sizeof(struct clr_class_factory_vtbl) == 5 * sizeof(void *), "IClassFactory");

/* <shadowtrace/clr/structs.h> */
static_assert(offsetof(struct clr_os_info, platform_id) == 0, "OSINFO");
static_assert(offsetof(struct clr_os_info, major_version) == 4, "OSINFO");
static_assert(offsetof(struct clr_os_info, minor_version) == 8, "OSINFO");
static_assert(sizeof(struct clr_os_info) == 12, "OSINFO");
static_assert(_Alignof(struct clr_os_info) == 4, "OSINFO");
static_assert(offsetof(struct clr_assembly_metadata, major_version) == 0, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, minor_version) == 2, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, build_number) == 4, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, revision_number) == 6, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, locale) == 8, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, locale_length) == 16, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, processors) == 24, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, processor_count) == 32, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, os) == 40, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_assembly_metadata, os_count) == 48, "ASSEMBLYMETADATA");
static_assert(sizeof(struct clr_assembly_metadata) == 56, "ASSEMBLYMETADATA");
static_assert(_Alignof(struct clr_assembly_metadata) == 8, "ASSEMBLYMETADATA");
static_assert(offsetof(struct clr_il_map, old_offset) == 0, "COR_IL_MAP");
static_assert(offsetof(struct clr_il_map, new_offset) == 4, "COR_IL_MAP");
static_assert(offsetof(struct clr_il_map, accurate) == 8, "COR_IL_MAP");
static_assert(sizeof(struct clr_il_map) == 12, "COR_IL_MAP");
static_assert(_Alignof(struct clr_il_map) == 4, "COR_IL_MAP");
static_assert(offsetof(struct clr_debug_il_to_native_map, il_offset) == 0,
              "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(offsetof(struct clr_debug_il_to_native_map, native_start_offset) == 4,
              "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(offsetof(struct clr_debug_il_to_native_map, native_end_offset) == 8,
              "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(sizeof(struct clr_debug_il_to_native_map) == 12, "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(_Alignof(struct clr_debug_il_to_native_map) == 4, "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(offsetof(struct clr_field_offset, field) == 0, "COR_FIELD_OFFSET");
static_assert(offsetof(struct clr_field_offset, offset) == 4, "COR_FIELD_OFFSET");
static_assert(sizeof(struct clr_field_offset) == 8, "COR_FIELD_OFFSET");
static_assert(_Alignof(struct clr_field_offset) == 4, "COR_FIELD_OFFSET");
static_assert(offsetof(struct clr_function_argument_range, start_address) == 0,
              "COR_PRF_FUNCTION_ARGUMENT_RANGE");
static_assert(offsetof(struct clr_function_argument_range, length) == 8,
              "COR_PRF_FUNCTION_ARGUMENT_RANGE");
static_assert(sizeof(struct clr_function_argument_range) == 16, "COR_PRF_FUNCTION_ARGUMENT_RANGE");
static_assert(_Alignof(struct clr_function_argument_range) == 8, "COR_PRF_FUNCTION_ARGUMENT_RANGE");
static_assert(offsetof(struct clr_function_argument_info, num_ranges) == 0,
              "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(offsetof(struct clr_function_argument_info, total_argument_size) == 4,
              "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(offsetof(struct clr_function_argument_info, ranges) == 8,
              "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(sizeof(struct clr_function_argument_info) == 24, "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(_Alignof(struct clr_function_argument_info) == 8, "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(offsetof(struct clr_code_info, start_address) == 0, "COR_PRF_CODE_INFO");
static_assert(offsetof(struct clr_code_info, size) == 8, "COR_PRF_CODE_INFO");
static_assert(sizeof(struct clr_code_info) == 16, "COR_PRF_CODE_INFO");
static_assert(_Alignof(struct clr_code_info) == 8, "COR_PRF_CODE_INFO");
static_assert(offsetof(struct clr_function, function_id) == 0, "COR_PRF_FUNCTION");
static_assert(offsetof(struct clr_function, rejit_id) == 8, "COR_PRF_FUNCTION");
static_assert(sizeof(struct clr_function) == 16, "COR_PRF_FUNCTION");
static_assert(_Alignof(struct clr_function) == 8, "COR_PRF_FUNCTION");
static_assert(offsetof(struct clr_assembly_reference_info, public_key_or_token) == 0,
              "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(offsetof(struct clr_assembly_reference_info, public_key_or_token_size) == 8,
              "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(offsetof(struct clr_assembly_reference_info, name) == 16,
              "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(offsetof(struct clr_assembly_reference_info, metadata) == 24,
              "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(offsetof(struct clr_assembly_reference_info, hash_value) == 32,
              "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(offsetof(struct clr_assembly_reference_info, hash_value_size) == 40,
              "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(offsetof(struct clr_assembly_reference_info, flags) == 44,
              "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(sizeof(struct clr_assembly_reference_info) == 48, "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(_Alignof(struct clr_assembly_reference_info) == 8, "COR_PRF_ASSEMBLY_REFERENCE_INFO");
static_assert(offsetof(struct clr_method, module_id) == 0, "COR_PRF_METHOD");
static_assert(offsetof(struct clr_method, method_id) == 8, "COR_PRF_METHOD");
static_assert(sizeof(struct clr_method) == 16, "COR_PRF_METHOD");
static_assert(_Alignof(struct clr_method) == 8, "COR_PRF_METHOD");
static_assert(offsetof(struct clr_event_pipe_provider_config, provider_name) == 0,
              "COR_PRF_EVENTPIPE_PROVIDER_CONFIG");
static_assert(offsetof(struct clr_event_pipe_provider_config, keywords) == 8,
              "COR_PRF_EVENTPIPE_PROVIDER_CONFIG");
static_assert(offsetof(struct clr_event_pipe_provider_config, logging_level) == 16,
              "COR_PRF_EVENTPIPE_PROVIDER_CONFIG");
static_assert(offsetof(struct clr_event_pipe_provider_config, filter_data) == 24,
              "COR_PRF_EVENTPIPE_PROVIDER_CONFIG");
static_assert(sizeof(struct clr_event_pipe_provider_config) == 32,
              "COR_PRF_EVENTPIPE_PROVIDER_CONFIG");
static_assert(_Alignof(struct clr_event_pipe_provider_config) == 8,
              "COR_PRF_EVENTPIPE_PROVIDER_CONFIG");
static_assert(offsetof(struct clr_event_pipe_param_desc, type) == 0,
              "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(offsetof(struct clr_event_pipe_param_desc, element_type) == 4,
              "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(offsetof(struct clr_event_pipe_param_desc, name) == 8,
              "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(sizeof(struct clr_event_pipe_param_desc) == 16, "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(_Alignof(struct clr_event_pipe_param_desc) == 8, "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(offsetof(struct clr_event_data, ptr) == 0, "COR_PRF_EVENT_DATA");
static_assert(offsetof(struct clr_event_data, size) == 8, "COR_PRF_EVENT_DATA");
static_assert(offsetof(struct clr_event_data, reserved) == 12, "COR_PRF_EVENT_DATA");
static_assert(sizeof(struct clr_event_data) == 16, "COR_PRF_EVENT_DATA");
static_assert(_Alignof(struct clr_event_data) == 8, "COR_PRF_EVENT_DATA");
static_assert(offsetof(struct clr_filter_data, ptr) == 0, "COR_PRF_FILTER_DATA");
static_assert(offsetof(struct clr_filter_data, size) == 8, "COR_PRF_FILTER_DATA");
static_assert(offsetof(struct clr_filter_data, type) == 12, "COR_PRF_FILTER_DATA");
static_assert(sizeof(struct clr_filter_data) == 16, "COR_PRF_FILTER_DATA");
static_assert(_Alignof(struct clr_filter_data) == 8, "COR_PRF_FILTER_DATA");
static_assert(offsetof(struct clr_gc_generation_range, generation) == 0,
              "COR_PRF_GC_GENERATION_RANGE");
static_assert(offsetof(struct clr_gc_generation_range, range_start) == 8,
              "COR_PRF_GC_GENERATION_RANGE");
static_assert(offsetof(struct clr_gc_generation_range, range_length) == 16,
              "COR_PRF_GC_GENERATION_RANGE");
static_assert(offsetof(struct clr_gc_generation_range, range_length_reserved) == 24,
              "COR_PRF_GC_GENERATION_RANGE");
static_assert(sizeof(struct clr_gc_generation_range) == 32, "COR_PRF_GC_GENERATION_RANGE");
static_assert(_Alignof(struct clr_gc_generation_range) == 8, "COR_PRF_GC_GENERATION_RANGE");
static_assert(offsetof(struct clr_nongc_heap_range, range_start) == 0, "COR_PRF_NONGC_HEAP_RANGE");
static_assert(offsetof(struct clr_nongc_heap_range, range_length) == 8, "COR_PRF_NONGC_HEAP_RANGE");
static_assert(offsetof(struct clr_nongc_heap_range, range_length_reserved) == 16,
              "COR_PRF_NONGC_HEAP_RANGE");
static_assert(sizeof(struct clr_nongc_heap_range) == 24, "COR_PRF_NONGC_HEAP_RANGE");
static_assert(_Alignof(struct clr_nongc_heap_range) == 8, "COR_PRF_NONGC_HEAP_RANGE");
static_assert(offsetof(struct clr_ex_clause_info, clause_type) == 0, "COR_PRF_EX_CLAUSE_INFO");
static_assert(offsetof(struct clr_ex_clause_info, program_counter) == 8, "COR_PRF_EX_CLAUSE_INFO");
static_assert(offsetof(struct clr_ex_clause_info, frame_pointer) == 16, "COR_PRF_EX_CLAUSE_INFO");
static_assert(offsetof(struct clr_ex_clause_info, shadow_stack_pointer) == 24,
              "COR_PRF_EX_CLAUSE_INFO");
static_assert(sizeof(struct clr_ex_clause_info) == 32, "COR_PRF_EX_CLAUSE_INFO");
static_assert(_Alignof(struct clr_ex_clause_info) == 8, "COR_PRF_EX_CLAUSE_INFO");
static_assert(offsetof(struct clr_context_amd64, p1_home) == 0, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, p2_home) == 8, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, p3_home) == 16, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, p4_home) == 24, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, p5_home) == 32, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, p6_home) == 40, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, context_flags) == 48, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, mxcsr) == 52, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, seg_cs) == 56, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, seg_ds) == 58, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, seg_es) == 60, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, seg_fs) == 62, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, seg_gs) == 64, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, seg_ss) == 66, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, eflags) == 68, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, dr0) == 72, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, dr1) == 80, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, dr2) == 88, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, dr3) == 96, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, dr6) == 104, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, dr7) == 112, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rax) == 120, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rcx) == 128, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rdx) == 136, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rbx) == 144, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rsp) == 152, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rbp) == 160, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rsi) == 168, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rdi) == 176, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r8) == 184, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r9) == 192, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r10) == 200, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r11) == 208, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r12) == 216, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r13) == 224, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r14) == 232, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, r15) == 240, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, rip) == 248, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, flt_save) == 256, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, vector_register) == 768, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, vector_control) == 1184, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, debug_control) == 1192, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, last_branch_to_rip) == 1200, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, last_branch_from_rip) == 1208, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, last_exception_to_rip) == 1216, "CONTEXT");
static_assert(offsetof(struct clr_context_amd64, last_exception_from_rip) == 1224, "CONTEXT");
static_assert(sizeof(struct clr_context_amd64) == 1232, "CONTEXT, common part");
static_assert(offsetof(struct clr_context_arm64, context_flags) == 0, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, cpsr) == 4, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, x) == 8, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, fp) == 240, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, lr) == 248, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, sp) == 256, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, pc) == 264, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, v) == 272, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, fpcr) == 784, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, fpsr) == 788, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, bcr) == 792, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, bvr) == 824, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, wcr) == 888, "CONTEXT");
static_assert(offsetof(struct clr_context_arm64, wvr) == 896, "CONTEXT");
static_assert(sizeof(struct clr_context_arm64) == 912, "CONTEXT, common part");

/* <shadowtrace/clr/callback.h> */
CLR_SLOT(clr_callback_vtbl, query_interface, 0);
CLR_SLOT(clr_callback_vtbl, add_ref, 1);
CLR_SLOT(clr_callback_vtbl, release, 2);
CLR_SLOT(clr_callback_vtbl, initialize, 3);
CLR_SLOT(clr_callback_vtbl, shutdown, 4);
CLR_SLOT(clr_callback_vtbl, app_domain_creation_started, 5);
CLR_SLOT(clr_callback_vtbl, app_domain_creation_finished, 6);
CLR_SLOT(clr_callback_vtbl, app_domain_shutdown_started, 7);
CLR_SLOT(clr_callback_vtbl, app_domain_shutdown_finished, 8);
CLR_SLOT(clr_callback_vtbl, assembly_load_started, 9);
CLR_SLOT(clr_callback_vtbl, assembly_load_finished, 10);
CLR_SLOT(clr_callback_vtbl, assembly_unload_started, 11);
CLR_SLOT(clr_callback_vtbl, assembly_unload_finished, 12);
CLR_SLOT(clr_callback_vtbl, module_load_started, 13);
CLR_SLOT(clr_callback_vtbl, module_load_finished, 14);
CLR_SLOT(clr_callback_vtbl, module_unload_started, 15);
CLR_SLOT(clr_callback_vtbl, module_unload_finished, 16);
CLR_SLOT(clr_callback_vtbl, module_attached_to_assembly, 17);
CLR_SLOT(clr_callback_vtbl, class_load_started, 18);
CLR_SLOT(clr_callback_vtbl, class_load_finished, 19);
CLR_SLOT(clr_callback_vtbl, class_unload_started, 20);
CLR_SLOT(clr_callback_vtbl, class_unload_finished, 21);
CLR_SLOT(clr_callback_vtbl, function_unload_started, 22);
CLR_SLOT(clr_callback_vtbl, jit_compilation_started, 23);
CLR_SLOT(clr_callback_vtbl, jit_compilation_finished, 24);
CLR_SLOT(clr_callback_vtbl, jit_cached_function_search_started, 25);
CLR_SLOT(clr_callback_vtbl, jit_cached_function_search_finished, 26);
CLR_SLOT(clr_callback_vtbl, jit_function_pitched, 27);
CLR_SLOT(clr_callback_vtbl, jit_inlining, 28);
CLR_SLOT(clr_callback_vtbl, thread_created, 29);
CLR_SLOT(clr_callback_vtbl, thread_destroyed, 30);
CLR_SLOT(clr_callback_vtbl, thread_assigned_to_os_thread, 31);
CLR_SLOT(clr_callback_vtbl, remoting_client_invocation_started, 32);
CLR_SLOT(clr_callback_vtbl, remoting_client_sending_message, 33);
CLR_SLOT(clr_callback_vtbl, remoting_client_receiving_reply, 34);
CLR_SLOT(clr_callback_vtbl, remoting_client_invocation_finished, 35);
CLR_SLOT(clr_callback_vtbl, remoting_server_receiving_message, 36);
CLR_SLOT(clr_callback_vtbl, remoting_server_invocation_started, 37);
CLR_SLOT(clr_callback_vtbl, remoting_server_invocation_returned, 38);
CLR_SLOT(clr_callback_vtbl, remoting_server_sending_reply, 39);
CLR_SLOT(clr_callback_vtbl, unmanaged_to_managed_transition, 40);
CLR_SLOT(clr_callback_vtbl, managed_to_unmanaged_transition, 41);
CLR_SLOT(clr_callback_vtbl, runtime_suspend_started, 42);
CLR_SLOT(clr_callback_vtbl, runtime_suspend_finished, 43);
CLR_SLOT(clr_callback_vtbl, runtime_suspend_aborted, 44);
CLR_SLOT(clr_callback_vtbl, runtime_resume_started, 45);
CLR_SLOT(clr_callback_vtbl, runtime_resume_finished, 46);
CLR_SLOT(clr_callback_vtbl, runtime_thread_suspended, 47);
CLR_SLOT(clr_callback_vtbl, runtime_thread_resumed, 48);
CLR_SLOT(clr_callback_vtbl, moved_references, 49);
CLR_SLOT(clr_callback_vtbl, object_allocated, 50);
CLR_SLOT(clr_callback_vtbl, objects_allocated_by_class, 51);
CLR_SLOT(clr_callback_vtbl, object_references, 52);
CLR_SLOT(clr_callback_vtbl, root_references, 53);
CLR_SLOT(clr_callback_vtbl, exception_thrown, 54);
CLR_SLOT(clr_callback_vtbl, exception_search_function_enter, 55);
CLR_SLOT(clr_callback_vtbl, exception_search_function_leave, 56);
CLR_SLOT(clr_callback_vtbl, exception_search_filter_enter, 57);
CLR_SLOT(clr_callback_vtbl, exception_search_filter_leave, 58);
CLR_SLOT(clr_callback_vtbl, exception_search_catcher_found, 59);
CLR_SLOT(clr_callback_vtbl, exception_os_handler_enter, 60);
CLR_SLOT(clr_callback_vtbl, exception_os_handler_leave, 61);
CLR_SLOT(clr_callback_vtbl, exception_unwind_function_enter, 62);
CLR_SLOT(clr_callback_vtbl, exception_unwind_function_leave, 63);
CLR_SLOT(clr_callback_vtbl, exception_unwind_finally_enter, 64);
CLR_SLOT(clr_callback_vtbl, exception_unwind_finally_leave, 65);
CLR_SLOT(clr_callback_vtbl, exception_catcher_enter, 66);
CLR_SLOT(clr_callback_vtbl, exception_catcher_leave, 67);
CLR_SLOT(clr_callback_vtbl, com_classic_vtable_created, 68);
CLR_SLOT(clr_callback_vtbl, com_classic_vtable_destroyed, 69);
CLR_SLOT(clr_callback_vtbl, exception_clr_catcher_found, 70);
CLR_SLOT(clr_callback_vtbl, exception_clr_catcher_execute, 71);
CLR_SLOT(clr_callback_vtbl, thread_name_changed, 72);
CLR_SLOT(clr_callback_vtbl, garbage_collection_started, 73);
CLR_SLOT(clr_callback_vtbl, surviving_references, 74);
CLR_SLOT(clr_callback_vtbl, garbage_collection_finished, 75);
CLR_SLOT(clr_callback_vtbl, finalizeable_object_queued, 76);
CLR_SLOT(clr_callback_vtbl, root_references2, 77);
CLR_SLOT(clr_callback_vtbl, handle_created, 78);
CLR_SLOT(clr_callback_vtbl, handle_destroyed, 79);
CLR_SLOT(clr_callback_vtbl, initialize_for_attach, 80);
CLR_SLOT(clr_callback_vtbl, profiler_attach_complete, 81);
CLR_SLOT(clr_callback_vtbl, profiler_detach_succeeded, 82);
CLR_SLOT(clr_callback_vtbl, rejit_compilation_started, 83);
CLR_SLOT(clr_callback_vtbl, get_rejit_parameters, 84);
CLR_SLOT(clr_callback_vtbl, rejit_compilation_finished, 85);
CLR_SLOT(clr_callback_vtbl, rejit_error, 86);
CLR_SLOT(clr_callback_vtbl, moved_references2, 87);
CLR_SLOT(clr_callback_vtbl, surviving_references2, 88);
CLR_SLOT(clr_callback_vtbl, conditional_weak_table_element_references, 89);
CLR_SLOT(clr_callback_vtbl, get_assembly_references, 90);
CLR_SLOT(clr_callback_vtbl, module_in_memory_symbols_updated, 91);
CLR_SLOT(clr_callback_vtbl, dynamic_method_jit_compilation_started, 92);
CLR_SLOT(clr_callback_vtbl, dynamic_method_jit_compilation_finished, 93);
CLR_SLOT(clr_callback_vtbl, dynamic_method_unloaded, 94);
CLR_SLOT(clr_callback_vtbl, event_pipe_event_delivered, 95);
CLR_SLOT(clr_callback_vtbl, event_pipe_provider_created, 96);
CLR_SLOT(clr_callback_vtbl, load_as_notification_only, 97);
static_assert(sizeof(struct clr_callback_vtbl) == 98 * sizeof(void *), "ICorProfilerCallback11");

/* <shadowtrace/clr/info.h> */
CLR_SLOT(clr_function_enum_vtbl, query_interface, 0);
CLR_SLOT(clr_function_enum_vtbl, add_ref, 1);
CLR_SLOT(clr_function_enum_vtbl, release, 2);
CLR_SLOT(clr_function_enum_vtbl, skip, 3);
CLR_SLOT(clr_function_enum_vtbl, reset, 4);
CLR_SLOT(clr_function_enum_vtbl, clone, 5);
CLR_SLOT(clr_function_enum_vtbl, get_count, 6);
CLR_SLOT(clr_function_enum_vtbl, next, 7);
static_assert(sizeof(struct clr_function_enum_vtbl) == 8 * sizeof(void *),
              "ICorProfilerFunctionEnum");
CLR_SLOT(clr_method_enum_vtbl, query_interface, 0);
CLR_SLOT(clr_method_enum_vtbl, add_ref, 1);
CLR_SLOT(clr_method_enum_vtbl, release, 2);
CLR_SLOT(clr_method_enum_vtbl, skip, 3);
CLR_SLOT(clr_method_enum_vtbl, reset, 4);
CLR_SLOT(clr_method_enum_vtbl, clone, 5);
CLR_SLOT(clr_method_enum_vtbl, get_count, 6);
CLR_SLOT(clr_method_enum_vtbl, next, 7);
static_assert(sizeof(struct clr_method_enum_vtbl) == 8 * sizeof(void *), "ICorProfilerMethodEnum");
CLR_SLOT(clr_module_enum_vtbl, query_interface, 0);
CLR_SLOT(clr_module_enum_vtbl, add_ref, 1);
CLR_SLOT(clr_module_enum_vtbl, release, 2);
CLR_SLOT(clr_module_enum_vtbl, skip, 3);
CLR_SLOT(clr_module_enum_vtbl, reset, 4);
CLR_SLOT(clr_module_enum_vtbl, clone, 5);
CLR_SLOT(clr_module_enum_vtbl, get_count, 6);
CLR_SLOT(clr_module_enum_vtbl, next, 7);
static_assert(sizeof(struct clr_module_enum_vtbl) == 8 * sizeof(void *), "ICorProfilerModuleEnum");
CLR_SLOT(clr_object_enum_vtbl, query_interface, 0);
CLR_SLOT(clr_object_enum_vtbl, add_ref, 1);
CLR_SLOT(clr_object_enum_vtbl, release, 2);
CLR_SLOT(clr_object_enum_vtbl, skip, 3);
CLR_SLOT(clr_object_enum_vtbl, reset, 4);
CLR_SLOT(clr_object_enum_vtbl, clone, 5);
CLR_SLOT(clr_object_enum_vtbl, get_count, 6);
CLR_SLOT(clr_object_enum_vtbl, next, 7);
static_assert(sizeof(struct clr_object_enum_vtbl) == 8 * sizeof(void *), "ICorProfilerObjectEnum");
CLR_SLOT(clr_thread_enum_vtbl, query_interface, 0);
CLR_SLOT(clr_thread_enum_vtbl, add_ref, 1);
CLR_SLOT(clr_thread_enum_vtbl, release, 2);
CLR_SLOT(clr_thread_enum_vtbl, skip, 3);
CLR_SLOT(clr_thread_enum_vtbl, reset, 4);
CLR_SLOT(clr_thread_enum_vtbl, clone, 5);
CLR_SLOT(clr_thread_enum_vtbl, get_count, 6);
CLR_SLOT(clr_thread_enum_vtbl, next, 7);
static_assert(sizeof(struct clr_thread_enum_vtbl) == 8 * sizeof(void *), "ICorProfilerThreadEnum");
CLR_SLOT(clr_function_control_vtbl, query_interface, 0);
CLR_SLOT(clr_function_control_vtbl, add_ref, 1);
CLR_SLOT(clr_function_control_vtbl, release, 2);
CLR_SLOT(clr_function_control_vtbl, set_codegen_flags, 3);
CLR_SLOT(clr_function_control_vtbl, set_il_function_body, 4);
CLR_SLOT(clr_function_control_vtbl, set_il_instrumented_code_map, 5);
static_assert(sizeof(struct clr_function_control_vtbl) == 6 * sizeof(void *),
              "ICorProfilerFunctionControl");
CLR_SLOT(clr_assembly_reference_provider_vtbl, query_interface, 0);
CLR_SLOT(clr_assembly_reference_provider_vtbl, add_ref, 1);
CLR_SLOT(clr_assembly_reference_provider_vtbl, release, 2);
CLR_SLOT(clr_assembly_reference_provider_vtbl, add_assembly_reference, 3);
static_assert(sizeof(struct clr_assembly_reference_provider_vtbl) == 4 * sizeof(void *),
              "ICorProfilerAssemblyReferenceProvider");
CLR_SLOT(clr_method_malloc_vtbl, query_interface, 0);
CLR_SLOT(clr_method_malloc_vtbl, add_ref, 1);
CLR_SLOT(clr_method_malloc_vtbl, release, 2);
CLR_SLOT(clr_method_malloc_vtbl, alloc, 3);
static_assert(sizeof(struct clr_method_malloc_vtbl) == 4 * sizeof(void *), "IMethodMalloc");
CLR_SLOT(clr_info_vtbl, query_interface, 0);
CLR_SLOT(clr_info_vtbl, add_ref, 1);
CLR_SLOT(clr_info_vtbl, release, 2);
CLR_SLOT(clr_info_vtbl, get_class_from_object, 3);
CLR_SLOT(clr_info_vtbl, get_class_from_token, 4);
CLR_SLOT(clr_info_vtbl, get_code_info, 5);
CLR_SLOT(clr_info_vtbl, get_event_mask, 6);
CLR_SLOT(clr_info_vtbl, get_function_from_ip, 7);
CLR_SLOT(clr_info_vtbl, get_function_from_token, 8);
CLR_SLOT(clr_info_vtbl, get_handle_from_thread, 9);
CLR_SLOT(clr_info_vtbl, get_object_size, 10);
CLR_SLOT(clr_info_vtbl, is_array_class, 11);
CLR_SLOT(clr_info_vtbl, get_thread_info, 12);
CLR_SLOT(clr_info_vtbl, get_current_thread_id, 13);
CLR_SLOT(clr_info_vtbl, get_class_id_info, 14);
CLR_SLOT(clr_info_vtbl, get_function_info, 15);
CLR_SLOT(clr_info_vtbl, set_event_mask, 16);
CLR_SLOT(clr_info_vtbl, set_enter_leave_function_hooks, 17);
CLR_SLOT(clr_info_vtbl, set_function_id_mapper, 18);
CLR_SLOT(clr_info_vtbl, get_token_and_metadata_from_function, 19);
CLR_SLOT(clr_info_vtbl, get_module_info, 20);
CLR_SLOT(clr_info_vtbl, get_module_metadata, 21);
CLR_SLOT(clr_info_vtbl, get_il_function_body, 22);
CLR_SLOT(clr_info_vtbl, get_il_function_body_allocator, 23);
CLR_SLOT(clr_info_vtbl, set_il_function_body, 24);
CLR_SLOT(clr_info_vtbl, get_app_domain_info, 25);
CLR_SLOT(clr_info_vtbl, get_assembly_info, 26);
CLR_SLOT(clr_info_vtbl, set_function_rejit, 27);
CLR_SLOT(clr_info_vtbl, force_gc, 28);
CLR_SLOT(clr_info_vtbl, set_il_instrumented_code_map, 29);
CLR_SLOT(clr_info_vtbl, get_inproc_inspection_interface, 30);
CLR_SLOT(clr_info_vtbl, get_inproc_inspection_this_thread, 31);
CLR_SLOT(clr_info_vtbl, get_thread_context, 32);
CLR_SLOT(clr_info_vtbl, begin_inproc_debugging, 33);
CLR_SLOT(clr_info_vtbl, end_inproc_debugging, 34);
CLR_SLOT(clr_info_vtbl, get_il_to_native_mapping, 35);
CLR_SLOT(clr_info_vtbl, do_stack_snapshot, 36);
CLR_SLOT(clr_info_vtbl, set_enter_leave_function_hooks2, 37);
CLR_SLOT(clr_info_vtbl, get_function_info2, 38);
CLR_SLOT(clr_info_vtbl, get_string_layout, 39);
CLR_SLOT(clr_info_vtbl, get_class_layout, 40);
CLR_SLOT(clr_info_vtbl, get_class_id_info2, 41);
CLR_SLOT(clr_info_vtbl, get_code_info2, 42);
CLR_SLOT(clr_info_vtbl, get_class_from_token_and_type_args, 43);
CLR_SLOT(clr_info_vtbl, get_function_from_token_and_type_args, 44);
CLR_SLOT(clr_info_vtbl, enum_module_frozen_objects, 45);
CLR_SLOT(clr_info_vtbl, get_array_object_info, 46);
CLR_SLOT(clr_info_vtbl, get_box_class_layout, 47);
CLR_SLOT(clr_info_vtbl, get_thread_app_domain, 48);
CLR_SLOT(clr_info_vtbl, get_rva_static_address, 49);
CLR_SLOT(clr_info_vtbl, get_app_domain_static_address, 50);
CLR_SLOT(clr_info_vtbl, get_thread_static_address, 51);
CLR_SLOT(clr_info_vtbl, get_context_static_address, 52);
CLR_SLOT(clr_info_vtbl, get_static_field_info, 53);
CLR_SLOT(clr_info_vtbl, get_generation_bounds, 54);
CLR_SLOT(clr_info_vtbl, get_object_generation, 55);
CLR_SLOT(clr_info_vtbl, get_notified_exception_clause_info, 56);
CLR_SLOT(clr_info_vtbl, enum_jited_functions, 57);
CLR_SLOT(clr_info_vtbl, request_profiler_detach, 58);
CLR_SLOT(clr_info_vtbl, set_function_id_mapper2, 59);
CLR_SLOT(clr_info_vtbl, get_string_layout2, 60);
CLR_SLOT(clr_info_vtbl, set_enter_leave_function_hooks3, 61);
CLR_SLOT(clr_info_vtbl, set_enter_leave_function_hooks3_with_info, 62);
CLR_SLOT(clr_info_vtbl, get_function_enter3_info, 63);
CLR_SLOT(clr_info_vtbl, get_function_leave3_info, 64);
CLR_SLOT(clr_info_vtbl, get_function_tailcall3_info, 65);
CLR_SLOT(clr_info_vtbl, enum_modules, 66);
CLR_SLOT(clr_info_vtbl, get_runtime_information, 67);
CLR_SLOT(clr_info_vtbl, get_thread_static_address2, 68);
CLR_SLOT(clr_info_vtbl, get_app_domains_containing_module, 69);
CLR_SLOT(clr_info_vtbl, get_module_info2, 70);
CLR_SLOT(clr_info_vtbl, enum_threads, 71);
CLR_SLOT(clr_info_vtbl, initialize_current_thread, 72);
CLR_SLOT(clr_info_vtbl, request_rejit, 73);
CLR_SLOT(clr_info_vtbl, request_revert, 74);
CLR_SLOT(clr_info_vtbl, get_code_info3, 75);
CLR_SLOT(clr_info_vtbl, get_function_from_ip2, 76);
CLR_SLOT(clr_info_vtbl, get_rejit_ids, 77);
CLR_SLOT(clr_info_vtbl, get_il_to_native_mapping2, 78);
CLR_SLOT(clr_info_vtbl, enum_jited_functions2, 79);
CLR_SLOT(clr_info_vtbl, get_object_size2, 80);
CLR_SLOT(clr_info_vtbl, get_event_mask2, 81);
CLR_SLOT(clr_info_vtbl, set_event_mask2, 82);
CLR_SLOT(clr_info_vtbl, enum_ngen_module_methods_inlining_this_method, 83);
CLR_SLOT(clr_info_vtbl, apply_metadata, 84);
CLR_SLOT(clr_info_vtbl, get_in_memory_symbols_length, 85);
CLR_SLOT(clr_info_vtbl, read_in_memory_symbols, 86);
CLR_SLOT(clr_info_vtbl, is_function_dynamic, 87);
CLR_SLOT(clr_info_vtbl, get_function_from_ip3, 88);
CLR_SLOT(clr_info_vtbl, get_dynamic_function_info, 89);
CLR_SLOT(clr_info_vtbl, get_native_code_start_addresses, 90);
CLR_SLOT(clr_info_vtbl, get_il_to_native_mapping3, 91);
CLR_SLOT(clr_info_vtbl, get_code_info4, 92);
CLR_SLOT(clr_info_vtbl, enumerate_object_references, 93);
CLR_SLOT(clr_info_vtbl, is_frozen_object, 94);
CLR_SLOT(clr_info_vtbl, get_loh_object_size_threshold, 95);
CLR_SLOT(clr_info_vtbl, request_rejit_with_inliners, 96);
CLR_SLOT(clr_info_vtbl, suspend_runtime, 97);
CLR_SLOT(clr_info_vtbl, resume_runtime, 98);
CLR_SLOT(clr_info_vtbl, get_environment_variable, 99);
CLR_SLOT(clr_info_vtbl, set_environment_variable, 100);
CLR_SLOT(clr_info_vtbl, event_pipe_start_session, 101);
CLR_SLOT(clr_info_vtbl, event_pipe_add_provider_to_session, 102);
CLR_SLOT(clr_info_vtbl, event_pipe_stop_session, 103);
CLR_SLOT(clr_info_vtbl, event_pipe_create_provider, 104);
CLR_SLOT(clr_info_vtbl, event_pipe_get_provider_info, 105);
CLR_SLOT(clr_info_vtbl, event_pipe_define_event, 106);
CLR_SLOT(clr_info_vtbl, event_pipe_write_event, 107);
CLR_SLOT(clr_info_vtbl, create_handle, 108);
CLR_SLOT(clr_info_vtbl, destroy_handle, 109);
CLR_SLOT(clr_info_vtbl, get_object_id_from_handle, 110);
CLR_SLOT(clr_info_vtbl, enumerate_non_gc_objects, 111);
CLR_SLOT(clr_info_vtbl, get_non_gc_heap_bounds, 112);
CLR_SLOT(clr_info_vtbl, event_pipe_create_provider2, 113);
CLR_SLOT(clr_info_vtbl, enumerate_gc_heap_objects, 114);
static_assert(sizeof(struct clr_info_vtbl) == 115 * sizeof(void *), "ICorProfilerInfo15");

/* <shadowtrace/clr/metadata.h> */
CLR_SLOT(clr_metadata_vtbl, query_interface, 0);
CLR_SLOT(clr_metadata_vtbl, add_ref, 1);
CLR_SLOT(clr_metadata_vtbl, release, 2);
CLR_SLOT(clr_metadata_vtbl, close_enum, 3);
CLR_SLOT(clr_metadata_vtbl, count_enum, 4);
CLR_SLOT(clr_metadata_vtbl, reset_enum, 5);
CLR_SLOT(clr_metadata_vtbl, enum_type_defs, 6);
CLR_SLOT(clr_metadata_vtbl, enum_interface_impls, 7);
CLR_SLOT(clr_metadata_vtbl, enum_type_refs, 8);
CLR_SLOT(clr_metadata_vtbl, find_type_def_by_name, 9);
CLR_SLOT(clr_metadata_vtbl, get_scope_props, 10);
CLR_SLOT(clr_metadata_vtbl, get_module_from_scope, 11);
CLR_SLOT(clr_metadata_vtbl, get_type_def_props, 12);
CLR_SLOT(clr_metadata_vtbl, get_interface_impl_props, 13);
CLR_SLOT(clr_metadata_vtbl, get_type_ref_props, 14);
CLR_SLOT(clr_metadata_vtbl, resolve_type_ref, 15);
CLR_SLOT(clr_metadata_vtbl, enum_members, 16);
CLR_SLOT(clr_metadata_vtbl, enum_members_with_name, 17);
CLR_SLOT(clr_metadata_vtbl, enum_methods, 18);
CLR_SLOT(clr_metadata_vtbl, enum_methods_with_name, 19);
CLR_SLOT(clr_metadata_vtbl, enum_fields, 20);
CLR_SLOT(clr_metadata_vtbl, enum_fields_with_name, 21);
CLR_SLOT(clr_metadata_vtbl, enum_params, 22);
CLR_SLOT(clr_metadata_vtbl, enum_member_refs, 23);
CLR_SLOT(clr_metadata_vtbl, enum_method_impls, 24);
CLR_SLOT(clr_metadata_vtbl, enum_permission_sets, 25);
CLR_SLOT(clr_metadata_vtbl, find_member, 26);
CLR_SLOT(clr_metadata_vtbl, find_method, 27);
CLR_SLOT(clr_metadata_vtbl, find_field, 28);
CLR_SLOT(clr_metadata_vtbl, find_member_ref, 29);
CLR_SLOT(clr_metadata_vtbl, get_method_props, 30);
CLR_SLOT(clr_metadata_vtbl, get_member_ref_props, 31);
CLR_SLOT(clr_metadata_vtbl, enum_properties, 32);
CLR_SLOT(clr_metadata_vtbl, enum_events, 33);
CLR_SLOT(clr_metadata_vtbl, get_event_props, 34);
CLR_SLOT(clr_metadata_vtbl, enum_method_semantics, 35);
CLR_SLOT(clr_metadata_vtbl, get_method_semantics, 36);
CLR_SLOT(clr_metadata_vtbl, get_class_layout, 37);
CLR_SLOT(clr_metadata_vtbl, get_field_marshal, 38);
CLR_SLOT(clr_metadata_vtbl, get_rva, 39);
CLR_SLOT(clr_metadata_vtbl, get_permission_set_props, 40);
CLR_SLOT(clr_metadata_vtbl, get_sig_from_token, 41);
CLR_SLOT(clr_metadata_vtbl, get_module_ref_props, 42);
CLR_SLOT(clr_metadata_vtbl, enum_module_refs, 43);
CLR_SLOT(clr_metadata_vtbl, get_type_spec_from_token, 44);
CLR_SLOT(clr_metadata_vtbl, get_name_from_token, 45);
CLR_SLOT(clr_metadata_vtbl, enum_unresolved_methods, 46);
CLR_SLOT(clr_metadata_vtbl, get_user_string, 47);
CLR_SLOT(clr_metadata_vtbl, get_pinvoke_map, 48);
CLR_SLOT(clr_metadata_vtbl, enum_signatures, 49);
CLR_SLOT(clr_metadata_vtbl, enum_type_specs, 50);
CLR_SLOT(clr_metadata_vtbl, enum_user_strings, 51);
CLR_SLOT(clr_metadata_vtbl, get_param_for_method_index, 52);
CLR_SLOT(clr_metadata_vtbl, enum_custom_attributes, 53);
CLR_SLOT(clr_metadata_vtbl, get_custom_attribute_props, 54);
CLR_SLOT(clr_metadata_vtbl, find_type_ref, 55);
CLR_SLOT(clr_metadata_vtbl, get_member_props, 56);
CLR_SLOT(clr_metadata_vtbl, get_field_props, 57);
CLR_SLOT(clr_metadata_vtbl, get_property_props, 58);
CLR_SLOT(clr_metadata_vtbl, get_param_props, 59);
CLR_SLOT(clr_metadata_vtbl, get_custom_attribute_by_name, 60);
CLR_SLOT(clr_metadata_vtbl, is_valid_token, 61);
CLR_SLOT(clr_metadata_vtbl, get_nested_class_props, 62);
CLR_SLOT(clr_metadata_vtbl, get_native_call_conv_from_sig, 63);
CLR_SLOT(clr_metadata_vtbl, is_global, 64);
CLR_SLOT(clr_metadata_vtbl, enum_generic_params, 65);
CLR_SLOT(clr_metadata_vtbl, get_generic_param_props, 66);
CLR_SLOT(clr_metadata_vtbl, get_method_spec_props, 67);
CLR_SLOT(clr_metadata_vtbl, enum_generic_param_constraints, 68);
CLR_SLOT(clr_metadata_vtbl, get_generic_param_constraint_props, 69);
CLR_SLOT(clr_metadata_vtbl, get_pe_kind, 70);
CLR_SLOT(clr_metadata_vtbl, get_version_string, 71);
CLR_SLOT(clr_metadata_vtbl, enum_method_specs, 72);
static_assert(sizeof(struct clr_metadata_vtbl) == 73 * sizeof(void *), "IMetaDataImport2");
CLR_SLOT(clr_metadata_assembly_vtbl, query_interface, 0);
CLR_SLOT(clr_metadata_assembly_vtbl, add_ref, 1);
CLR_SLOT(clr_metadata_assembly_vtbl, release, 2);
CLR_SLOT(clr_metadata_assembly_vtbl, get_assembly_props, 3);
CLR_SLOT(clr_metadata_assembly_vtbl, get_assembly_ref_props, 4);
CLR_SLOT(clr_metadata_assembly_vtbl, get_file_props, 5);
CLR_SLOT(clr_metadata_assembly_vtbl, get_exported_type_props, 6);
CLR_SLOT(clr_metadata_assembly_vtbl, get_manifest_resource_props, 7);
CLR_SLOT(clr_metadata_assembly_vtbl, enum_assembly_refs, 8);
CLR_SLOT(clr_metadata_assembly_vtbl, enum_files, 9);
CLR_SLOT(clr_metadata_assembly_vtbl, enum_exported_types, 10);
CLR_SLOT(clr_metadata_assembly_vtbl, enum_manifest_resources, 11);
CLR_SLOT(clr_metadata_assembly_vtbl, get_assembly_from_scope, 12);
CLR_SLOT(clr_metadata_assembly_vtbl, find_exported_type_by_name, 13);
CLR_SLOT(clr_metadata_assembly_vtbl, find_manifest_resource_by_name, 14);
CLR_SLOT(clr_metadata_assembly_vtbl, close_enum, 15);
CLR_SLOT(clr_metadata_assembly_vtbl, find_assemblies_by_name, 16);
static_assert(sizeof(struct clr_metadata_assembly_vtbl) == 17 * sizeof(void *),
              "IMetaDataAssemblyImport");

#endif
