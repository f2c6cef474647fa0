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

/* COR_IL_MAP */
struct clr_il_map {
    uint32_t old_offset;
    uint32_t new_offset;
    int32_t accurate;
};

/* COR_DEBUG_IL_TO_NATIVE_MAP */
struct clr_debug_il_to_native_map {
    uint32_t il_offset;
    uint32_t native_start_offset;
    uint32_t native_end_offset;
};

/* COR_FIELD_OFFSET; field is an mdFieldDef */
struct clr_field_offset {
    uint32_t field;
    uint32_t offset;
};

/* COR_PRF_FUNCTION_ARGUMENT_RANGE */
struct clr_function_argument_range {
    uintptr_t start_address;
    uint32_t length;
};

/* COR_PRF_FUNCTION_ARGUMENT_INFO; num_ranges elements follow, one is declared */
struct clr_function_argument_info {
    uint32_t num_ranges;
    uint32_t total_argument_size;
    struct clr_function_argument_range ranges[1];
};

/* COR_PRF_CODE_INFO */
struct clr_code_info {
    uintptr_t start_address;
    size_t size;
};

/* COR_PRF_FUNCTION */
struct clr_function {
    uintptr_t function_id;
    uintptr_t rejit_id;
};

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

/* COR_PRF_METHOD */
struct clr_method {
    uintptr_t module_id;
    uint32_t method_id;
};

/* COR_PRF_EVENTPIPE_PROVIDER_CONFIG */
struct clr_event_pipe_provider_config {
    const clr_wchar *provider_name;
    uint64_t keywords;
    uint32_t logging_level;
    const clr_wchar *filter_data;
};

/* COR_PRF_EVENTPIPE_PARAM_DESC */
struct clr_event_pipe_param_desc {
    uint32_t type;
    uint32_t element_type;
    const clr_wchar *name;
};

/* COR_PRF_EVENT_DATA */
struct clr_event_data {
    uint64_t ptr;
    uint32_t size;
    uint32_t reserved;
};

/* COR_PRF_FILTER_DATA */
struct clr_filter_data {
    uint64_t ptr;
    uint32_t size;
    uint32_t type;
};

/* COR_PRF_GC_GENERATION_RANGE */
struct clr_gc_generation_range {
    int32_t generation;
    uintptr_t range_start;
    uintptr_t range_length;
    uintptr_t range_length_reserved;
};

/* COR_PRF_NONGC_HEAP_RANGE */
struct clr_nongc_heap_range {
    uintptr_t range_start;
    uintptr_t range_length;
    uintptr_t range_length_reserved;
};

/* COR_PRF_EX_CLAUSE_INFO */
struct clr_ex_clause_info {
    int32_t clause_type;
    uintptr_t program_counter;
    uintptr_t frame_pointer;
    uintptr_t shadow_stack_pointer;
};

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

/* CONTEXT on ARM64: the part common to 3.1, 7 and 9 (992 bytes there); x[0] to x[28]. */
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

#endif
