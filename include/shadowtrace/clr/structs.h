/*
 * clr/structs.h - the structures that cross the profiling interface, with their offsets proven.
 *
 * Source: corprof.idl of dotnet/runtime and pal.h for CONTEXT, facts only. Holds no state.
 */
#ifndef SHADOWTRACE_CLR_STRUCTS_H
#define SHADOWTRACE_CLR_STRUCTS_H

#include <shadowtrace/clr/types.h>

/* OSINFO */
struct clr_os_info {
    uint32_t platform_id;
    uint32_t major_version;
    uint32_t minor_version;
};

static_assert(offsetof(struct clr_os_info, platform_id) == 0, "OSINFO");
static_assert(offsetof(struct clr_os_info, major_version) == 4, "OSINFO");
static_assert(offsetof(struct clr_os_info, minor_version) == 8, "OSINFO");
static_assert(sizeof(struct clr_os_info) == 12, "OSINFO");
static_assert(_Alignof(struct clr_os_info) == 4, "OSINFO");

/* ASSEMBLYMETADATA; locale_length in UTF-16 units */
struct clr_assembly_metadata {
    uint16_t major_version;
    uint16_t minor_version;
    uint16_t build_number;
    uint16_t revision_number;
    clr_wchar *locale;
    uint32_t locale_length;
    uint32_t *processors;
    uint32_t processor_count;
    struct clr_os_info *os;
    uint32_t os_count;
};

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

/* COR_IL_MAP */
struct clr_il_map {
    uint32_t old_offset;
    uint32_t new_offset;
    int32_t accurate;
};

static_assert(offsetof(struct clr_il_map, old_offset) == 0, "COR_IL_MAP");
static_assert(offsetof(struct clr_il_map, new_offset) == 4, "COR_IL_MAP");
static_assert(offsetof(struct clr_il_map, accurate) == 8, "COR_IL_MAP");
static_assert(sizeof(struct clr_il_map) == 12, "COR_IL_MAP");
static_assert(_Alignof(struct clr_il_map) == 4, "COR_IL_MAP");

/* COR_DEBUG_IL_TO_NATIVE_MAP */
struct clr_debug_il_to_native_map {
    uint32_t il_offset;
    uint32_t native_start_offset;
    uint32_t native_end_offset;
};

static_assert(offsetof(struct clr_debug_il_to_native_map, il_offset) == 0,
              "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(offsetof(struct clr_debug_il_to_native_map, native_start_offset) == 4,
              "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(offsetof(struct clr_debug_il_to_native_map, native_end_offset) == 8,
              "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(sizeof(struct clr_debug_il_to_native_map) == 12, "COR_DEBUG_IL_TO_NATIVE_MAP");
static_assert(_Alignof(struct clr_debug_il_to_native_map) == 4, "COR_DEBUG_IL_TO_NATIVE_MAP");

/* COR_FIELD_OFFSET; field is an mdFieldDef */
struct clr_field_offset {
    uint32_t field;
    uint32_t offset;
};

static_assert(offsetof(struct clr_field_offset, field) == 0, "COR_FIELD_OFFSET");
static_assert(offsetof(struct clr_field_offset, offset) == 4, "COR_FIELD_OFFSET");
static_assert(sizeof(struct clr_field_offset) == 8, "COR_FIELD_OFFSET");
static_assert(_Alignof(struct clr_field_offset) == 4, "COR_FIELD_OFFSET");

/* COR_PRF_FUNCTION_ARGUMENT_RANGE */
struct clr_function_argument_range {
    uintptr_t start_address;
    uint32_t length;
};

static_assert(offsetof(struct clr_function_argument_range, start_address) == 0,
              "COR_PRF_FUNCTION_ARGUMENT_RANGE");
static_assert(offsetof(struct clr_function_argument_range, length) == 8,
              "COR_PRF_FUNCTION_ARGUMENT_RANGE");
static_assert(sizeof(struct clr_function_argument_range) == 16, "COR_PRF_FUNCTION_ARGUMENT_RANGE");
static_assert(_Alignof(struct clr_function_argument_range) == 8, "COR_PRF_FUNCTION_ARGUMENT_RANGE");

/* COR_PRF_FUNCTION_ARGUMENT_INFO; num_ranges elements follow, one is declared */
struct clr_function_argument_info {
    uint32_t num_ranges;
    uint32_t total_argument_size;
    struct clr_function_argument_range ranges[1];
};

static_assert(offsetof(struct clr_function_argument_info, num_ranges) == 0,
              "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(offsetof(struct clr_function_argument_info, total_argument_size) == 4,
              "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(offsetof(struct clr_function_argument_info, ranges) == 8,
              "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(sizeof(struct clr_function_argument_info) == 24, "COR_PRF_FUNCTION_ARGUMENT_INFO");
static_assert(_Alignof(struct clr_function_argument_info) == 8, "COR_PRF_FUNCTION_ARGUMENT_INFO");

/* COR_PRF_CODE_INFO */
struct clr_code_info {
    uintptr_t start_address;
    size_t size;
};

static_assert(offsetof(struct clr_code_info, start_address) == 0, "COR_PRF_CODE_INFO");
static_assert(offsetof(struct clr_code_info, size) == 8, "COR_PRF_CODE_INFO");
static_assert(sizeof(struct clr_code_info) == 16, "COR_PRF_CODE_INFO");
static_assert(_Alignof(struct clr_code_info) == 8, "COR_PRF_CODE_INFO");

/* COR_PRF_FUNCTION */
struct clr_function {
    uintptr_t function_id;
    uintptr_t rejit_id;
};

static_assert(offsetof(struct clr_function, function_id) == 0, "COR_PRF_FUNCTION");
static_assert(offsetof(struct clr_function, rejit_id) == 8, "COR_PRF_FUNCTION");
static_assert(sizeof(struct clr_function) == 16, "COR_PRF_FUNCTION");
static_assert(_Alignof(struct clr_function) == 8, "COR_PRF_FUNCTION");

/* COR_PRF_ASSEMBLY_REFERENCE_INFO */
struct clr_assembly_reference_info {
    void *public_key_or_token;
    uint32_t public_key_or_token_size;
    const clr_wchar *name;
    struct clr_assembly_metadata *metadata;
    void *hash_value;
    uint32_t hash_value_size;
    uint32_t flags;
};

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

/* COR_PRF_METHOD */
struct clr_method {
    uintptr_t module_id;
    uint32_t method_id;
};

static_assert(offsetof(struct clr_method, module_id) == 0, "COR_PRF_METHOD");
static_assert(offsetof(struct clr_method, method_id) == 8, "COR_PRF_METHOD");
static_assert(sizeof(struct clr_method) == 16, "COR_PRF_METHOD");
static_assert(_Alignof(struct clr_method) == 8, "COR_PRF_METHOD");

/* COR_PRF_EVENTPIPE_PROVIDER_CONFIG */
struct clr_event_pipe_provider_config {
    const clr_wchar *provider_name;
    uint64_t keywords;
    uint32_t logging_level;
    const clr_wchar *filter_data;
};

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

/* COR_PRF_EVENTPIPE_PARAM_DESC */
struct clr_event_pipe_param_desc {
    uint32_t type;
    uint32_t element_type;
    const clr_wchar *name;
};

static_assert(offsetof(struct clr_event_pipe_param_desc, type) == 0,
              "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(offsetof(struct clr_event_pipe_param_desc, element_type) == 4,
              "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(offsetof(struct clr_event_pipe_param_desc, name) == 8,
              "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(sizeof(struct clr_event_pipe_param_desc) == 16, "COR_PRF_EVENTPIPE_PARAM_DESC");
static_assert(_Alignof(struct clr_event_pipe_param_desc) == 8, "COR_PRF_EVENTPIPE_PARAM_DESC");

/* COR_PRF_EVENT_DATA */
struct clr_event_data {
    uint64_t ptr;
    uint32_t size;
    uint32_t reserved;
};

static_assert(offsetof(struct clr_event_data, ptr) == 0, "COR_PRF_EVENT_DATA");
static_assert(offsetof(struct clr_event_data, size) == 8, "COR_PRF_EVENT_DATA");
static_assert(offsetof(struct clr_event_data, reserved) == 12, "COR_PRF_EVENT_DATA");
static_assert(sizeof(struct clr_event_data) == 16, "COR_PRF_EVENT_DATA");
static_assert(_Alignof(struct clr_event_data) == 8, "COR_PRF_EVENT_DATA");

/* COR_PRF_FILTER_DATA */
struct clr_filter_data {
    uint64_t ptr;
    uint32_t size;
    uint32_t type;
};

static_assert(offsetof(struct clr_filter_data, ptr) == 0, "COR_PRF_FILTER_DATA");
static_assert(offsetof(struct clr_filter_data, size) == 8, "COR_PRF_FILTER_DATA");
static_assert(offsetof(struct clr_filter_data, type) == 12, "COR_PRF_FILTER_DATA");
static_assert(sizeof(struct clr_filter_data) == 16, "COR_PRF_FILTER_DATA");
static_assert(_Alignof(struct clr_filter_data) == 8, "COR_PRF_FILTER_DATA");

/* COR_PRF_GC_GENERATION_RANGE */
struct clr_gc_generation_range {
    int32_t generation;
    uintptr_t range_start;
    uintptr_t range_length;
    uintptr_t range_length_reserved;
};

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

/* COR_PRF_NONGC_HEAP_RANGE */
struct clr_nongc_heap_range {
    uintptr_t range_start;
    uintptr_t range_length;
    uintptr_t range_length_reserved;
};

static_assert(offsetof(struct clr_nongc_heap_range, range_start) == 0, "COR_PRF_NONGC_HEAP_RANGE");
static_assert(offsetof(struct clr_nongc_heap_range, range_length) == 8, "COR_PRF_NONGC_HEAP_RANGE");
static_assert(offsetof(struct clr_nongc_heap_range, range_length_reserved) == 16,
              "COR_PRF_NONGC_HEAP_RANGE");
static_assert(sizeof(struct clr_nongc_heap_range) == 24, "COR_PRF_NONGC_HEAP_RANGE");
static_assert(_Alignof(struct clr_nongc_heap_range) == 8, "COR_PRF_NONGC_HEAP_RANGE");

/* COR_PRF_EX_CLAUSE_INFO */
struct clr_ex_clause_info {
    int32_t clause_type;
    uintptr_t program_counter;
    uintptr_t frame_pointer;
    uintptr_t shadow_stack_pointer;
};

static_assert(offsetof(struct clr_ex_clause_info, clause_type) == 0, "COR_PRF_EX_CLAUSE_INFO");
static_assert(offsetof(struct clr_ex_clause_info, program_counter) == 8, "COR_PRF_EX_CLAUSE_INFO");
static_assert(offsetof(struct clr_ex_clause_info, frame_pointer) == 16, "COR_PRF_EX_CLAUSE_INFO");
static_assert(offsetof(struct clr_ex_clause_info, shadow_stack_pointer) == 24,
              "COR_PRF_EX_CLAUSE_INFO");
static_assert(sizeof(struct clr_ex_clause_info) == 32, "COR_PRF_EX_CLAUSE_INFO");
static_assert(_Alignof(struct clr_ex_clause_info) == 8, "COR_PRF_EX_CLAUSE_INFO");

/*
 * The buffer to offer for a CONTEXT: its size depends on the runtime (x86-64: 1232 bytes in
 * 3.1 and 7, 3104 in 9, 3232 in 10), so never
 * hard-code it. Zeroed, aligned to 16.
 */
#define CLR_CONTEXT_BUFFER 4096

/*
 * CONTEXT on x86-64: the part that is the same in every runtime from 3.1 to 10. The runtime's own
 * is longer (CLR_CONTEXT_BUFFER): use this through a pointer, never copy it by its size.
 */
struct clr_context_amd64 {
    _Alignas(16) uint64_t p1_home;
    uint64_t p2_home;
    uint64_t p3_home;
    uint64_t p4_home;
    uint64_t p5_home;
    uint64_t p6_home;
    uint32_t context_flags;
    uint32_t mxcsr;
    uint16_t seg_cs;
    uint16_t seg_ds;
    uint16_t seg_es;
    uint16_t seg_fs;
    uint16_t seg_gs;
    uint16_t seg_ss;
    uint32_t eflags;
    uint64_t dr0;
    uint64_t dr1;
    uint64_t dr2;
    uint64_t dr3;
    uint64_t dr6;
    uint64_t dr7;
    uint64_t rax;
    uint64_t rcx;
    uint64_t rdx;
    uint64_t rbx;
    uint64_t rsp;
    uint64_t rbp;
    uint64_t rsi;
    uint64_t rdi;
    uint64_t r8;
    uint64_t r9;
    uint64_t r10;
    uint64_t r11;
    uint64_t r12;
    uint64_t r13;
    uint64_t r14;
    uint64_t r15;
    uint64_t rip;
    uint8_t flt_save[512]; /* the FXSAVE image; xmm0 at 160, 16 bytes each */
    uint8_t vector_register[26][16];
    uint64_t vector_control;
    uint64_t debug_control;
    uint64_t last_branch_to_rip;
    uint64_t last_branch_from_rip;
    uint64_t last_exception_to_rip;
    uint64_t last_exception_from_rip;
};

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

/*
 * CONTEXT on ARM64: the part common to 3.1, 7 and 9 (992 bytes there); x[0] to x[28].
 */
struct clr_context_arm64 {
    _Alignas(16) uint32_t context_flags;
    uint32_t cpsr;
    uint64_t x[29];
    uint64_t fp;
    uint64_t lr;
    uint64_t sp;
    uint64_t pc;
    uint8_t v[32][16];
    uint32_t fpcr;
    uint32_t fpsr;
    uint32_t bcr[8];
    uint64_t bvr[8];
    uint32_t wcr[2];
    uint64_t wvr[2];
};

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

#endif
