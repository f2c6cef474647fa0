/*
 * check/leaving.h - proof that a thread was stopped behind the Leave or Tailcall hook of its
 * youngest frame.
 */
#ifndef SHADOWTRACE_CHECK_LEAVING_H
#define SHADOWTRACE_CHECK_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * leaving_behind_hook - is `ip`, in jitted code, shortly behind a call that was handed `id` as
 * first argument? The hooks of Leave and Tailcall are: with their client id (ELT3) or the
 * FunctionID (ELT2), as a constant in the code.
 * Threads: any. The code is read by a system call: what is not mapped is no proof.
 */
bool leaving_behind_hook(uintptr_t ip, uintptr_t client_id, uintptr_t function_id);

/* The same on `size` bytes of code that end where execution stands. */
bool leaving_code_behind_hook(const uint8_t *code, unsigned size, uintptr_t id);

#endif
