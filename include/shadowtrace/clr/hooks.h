/*
 * clr/hooks.h - the types of the functions a profiler hands to the runtime.
 *
 * Source: corprof.idl of dotnet/runtime, facts only. Holds no state.
 *
 * They are function types, not pointers: declare a hook with its type, pass it as
 * `clr_function_enter2 *`.
 */
#ifndef SHADOWTRACE_CLR_HOOKS_H
#define SHADOWTRACE_CLR_HOOKS_H

#include <shadowtrace/clr/structs.h>
#include <shadowtrace/clr/types.h>

/*
 * Asked before a function is compiled: returns the client id its hooks will get and writes
 * *hook_function: 0 leaves the function without hooks.
 */
typedef uintptr_t clr_function_id_mapper(uintptr_t function_id, int32_t *hook_function);
typedef uintptr_t clr_function_id_mapper2(uintptr_t function_id, void *client_data,
                                          int32_t *hook_function);

/* The first generation of hooks. */
typedef void clr_function_enter(uintptr_t function_id);
typedef void clr_function_leave(uintptr_t function_id);
typedef void clr_function_tailcall(uintptr_t function_id);

/*
 * The second generation of hooks, ordinary C functions called through a thunk of the runtime.
 * frame_info and the last argument are valid only with COR_PRF_ENABLE_FRAME_INFO, _FUNCTION_ARGS,
 * _FUNCTION_RETVAL.
 */
typedef void clr_function_enter2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                                 const struct clr_function_argument_info *argument_info);
typedef void clr_function_leave2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                                 const struct clr_function_argument_range *retval_range);
typedef void clr_function_tailcall2(uintptr_t function_id, uintptr_t client_data,
                                    uintptr_t frame_info);

/*
 * The third generation, fast form: called straight from jitted code under a special register
 * contract, so these three are written in assembly and the C type only names the address.
 */
typedef void clr_function_enter3(uintptr_t id);
typedef void clr_function_leave3(uintptr_t id);
typedef void clr_function_tailcall3(uintptr_t id);

/* The third generation, slow form: elt_info is for get_function_enter3_info and its like. */
typedef void clr_function_enter3_with_info(uintptr_t id, uintptr_t elt_info);
typedef void clr_function_leave3_with_info(uintptr_t id, uintptr_t elt_info);
typedef void clr_function_tailcall3_with_info(uintptr_t id, uintptr_t elt_info);

/*
 * One frame of do_stack_snapshot, youngest first; function_id 0 is a run of native frames. Anything
 * but S_OK ends the walk.
 */
typedef hresult clr_stack_snapshot_callback(uintptr_t function_id, uintptr_t ip,
                                            uintptr_t frame_info, uint32_t context_size,
                                            const uint8_t *context, void *client_data);

/* One reference held by root (enumerate_object_references); 0 ends the enumeration. */
typedef int32_t clr_object_reference_callback(uintptr_t root, const uintptr_t *reference,
                                              void *client_data);

/* A session switched a provider made by event_pipe_create_provider2. */
typedef void clr_event_pipe_provider_callback(const uint8_t *source_id, uint32_t is_enabled,
                                              uint8_t level, uint64_t match_any_keywords,
                                              uint64_t match_all_keywords,
                                              const struct clr_filter_data *filter_data,
                                              void *callback_data);

/* One object of the GC heap (enumerate_gc_heap_objects); 0 ends the enumeration. */
typedef int32_t clr_object_callback(uintptr_t object, void *callback_state);

#endif
