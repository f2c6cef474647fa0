/*
 * hooks/x86_64/wrapper.h - the runtime's wrapper of ELT2 on the stack: ProfileEnter (C++, with a
 * frame pointer) and its naked stub, which keeps the method's rbp. So the frame record of
 * ProfileEnter leads to the method's. Above it lies the stub's PROFILE_PLATFORM_SPECIFIC_DATA:
 * function, rbp, probe's SP, ip.
 */
#ifndef SHADOWTRACE_HOOKS_WRAPPER_H
#define SHADOWTRACE_HOOKS_WRAPPER_H

#include "stack/stack.h"

/* Where the method's frame is. `wrapper`: the frame record of ProfileEnter. */
static inline struct frame_at wrapper_method(const uintptr_t *wrapper)
{
    return frame_at(wrapper[0] + 2 * sizeof(uintptr_t));
}

/* Could that be so? The frames rise. */
static inline bool wrapper_looks_right(const uintptr_t *wrapper)
{
    return wrapper[0] > (uintptr_t)wrapper && wrapper[0] % sizeof(uintptr_t) == 0;
}

/* The address behind the method's call of the stub; 0: what the stub keeps is not there. */
static inline uintptr_t wrapper_ip(const uintptr_t *wrapper)
{
    return wrapper[3] == wrapper[0] ? wrapper[5] : 0;
}

#endif
