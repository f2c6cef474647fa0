/*
 * thread/machine.h - what the machine's stack of the calling thread holds between a callback and a
 * frame of its shadow stack, by the chain of frame pointers: jitted code and the runtime's native
 * code keep it.
 */
#ifndef SHADOWTRACE_THREAD_MACHINE_H
#define SHADOWTRACE_THREAD_MACHINE_H

#include "clr/runtime.h"
#include "metadata/metadata.h"
#include "stack/stack.h"

/* Once, before any other. Both are borrowed. */
void machine_start(const struct clr_runtime *runtime, struct metadata *metadata);

/*
 * FunctionID of the code that holds ip, which runs or ran there: see machine_is_nameless() for any
 * other word. 0: none that has metadata. May run: in callbacks.
 */
uintptr_t machine_function_at(uintptr_t ip);

/* stack_config.stub_returns_to. May run: in callbacks; some system calls. */
uintptr_t machine_stub_returns_to(const uintptr_t *frame);

/*
 * May a word from the stack be a return address? The runtime must not be asked about any other: in
 * a precompiled image it looks for the nearest method before the address that it has prepared, and
 * reads past its table if it finds none (ReadyToRunJitManager::JitCodeToMethodInfo; seen on 8).
 * May run: in callbacks; a system call.
 */
bool machine_may_return_to(uintptr_t word);

/*
 * Is it a return address in jitted code of no method? Any word that lies on the stack may be asked
 * about. May run: in callbacks; some system calls.
 */
bool machine_is_nameless(uintptr_t word);

/* The members of struct stack_config. May run: in callbacks; machine_runs anywhere. */
bool machine_left(const struct frame *of);
bool machine_unhooked(uintptr_t since, const struct frame *frame, struct stack_place *out);
bool machine_runs(const struct stack_place *place);

#endif
