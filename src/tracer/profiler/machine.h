/*
 * profiler/machine.h - what the machine's stack of the calling thread holds between a callback and a frame of its shadow
 * stack, by the chain of frame pointers: jitted code and the runtime's native code keep it. For struct stack_config;
 * `context` is the profiler.
 */
#ifndef SHADOWTRACE_PROFILER_MACHINE_H
#define SHADOWTRACE_PROFILER_MACHINE_H

#include "stack/stack.h"

/* FunctionID of the code that holds ip; 0: none that has metadata. May run: in callbacks. */
uintptr_t machine_function_at(void *context, uintptr_t ip);

/* A member of struct alloc_config. May run: in callbacks. */
bool machine_is_nameless(void *context, uintptr_t ip);

/* The members of struct stack_config. May run: in callbacks; machine_runs anywhere. */
bool machine_left(void *context, uintptr_t sp);
bool machine_unhooked(void *context, uintptr_t since, const struct frame *frame,
                      struct stack_place *out);
bool machine_runs(const struct stack_place *place);

#endif
