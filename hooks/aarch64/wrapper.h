/*
 * hooks/aarch64/wrapper.h - the runtime's wrapper of ELT2 on the stack: ProfileEnter (C++) and its
 * naked stub, whose frame record is the start of its PROFILE_PLATFORM_SPECIFIC_DATA. That holds the
 * method's frame pointer, the address behind its call of the stub, and its caller's SP.
 * Source: dotnet/runtime src/coreclr/vm/arm64/profiler.cpp, asmhelpers.S (GenerateProfileHelper).
 */
#ifndef SHADOWTRACE_HOOKS_WRAPPER_H
#define SHADOWTRACE_HOOKS_WRAPPER_H

#include "stack/stack.h"

/* In words from its beginning. */
enum { DATA_FP = 0, DATA_PC = 1, DATA_PROBE_SP = 28, DATA_PROFILED_SP = 29 };

/* Where the method's frame is. `wrapper`: the frame record of ProfileEnter. */
static inline struct frame_at wrapper_method(const uintptr_t *wrapper)
{
    const uintptr_t *data = (const uintptr_t *)wrapper[0];

    return (struct frame_at){data[DATA_PROFILED_SP], data[DATA_FP]};
}

/* Could that be so? The stub is called from the method's frame, and its data lies below that. */
static inline bool wrapper_looks_right(const uintptr_t *wrapper)
{
    const uintptr_t *data = (const uintptr_t *)wrapper[0];

    return data > wrapper && (uintptr_t)data % sizeof(*data) == 0 &&
           data[DATA_PROBE_SP] > (uintptr_t)(data + DATA_PROFILED_SP) &&
           data[DATA_FP] >= data[DATA_PROBE_SP] && data[DATA_PROFILED_SP] > data[DATA_FP];
}

/* The address behind the method's call of the stub. */
static inline uintptr_t wrapper_ip(const uintptr_t *wrapper)
{
    return ((const uintptr_t *)wrapper[0])[DATA_PC];
}

#endif
