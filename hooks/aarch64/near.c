/*
 * hooks/aarch64/near.c - where a thread's words lie is known only when the library is loaded.
 *
 * The hooks have one form, which loads the distance from the thread pointer. The library reads it
 * by the initial-exec model: so the dynamic linker has to place the library's thread-local data in
 * static TLS, where the distance is the same in every thread. glibc has about 1.6 KB for that; of
 * these, data that needs no static TLS may use up 512 bytes, and .NET 9 does. musl has none, and
 * refuses to load the library.
 * Source: ELF for the Arm 64-bit Architecture (AAELF64), "Thread-local storage"; glibc's
 * sysdeps/aarch64/dl-machine.h (R_AARCH64_TLS_TPREL, CHECK_STATIC_TLS), elf/dl-tls.c.
 */
#include "hooks/elt.h"

#include "stack/stack_hot.h"

intptr_t hook_words_distance;

static intptr_t words_distance(void)
{
    intptr_t distance;

    __asm__("adrp %0, :gottprel:stack_words\n\t"
            "ldr %0, [%0, #:gottprel_lo12:stack_words]"
            : "=r"(distance));
    return distance;
}

/* C reaches the words by a TLS descriptor: at the same place. */
bool hooks_safe(void)
{
    return (uintptr_t)__builtin_thread_pointer() + (uintptr_t)words_distance() ==
           (uintptr_t)&stack_words;
}

const struct elt3_hooks *hooks_elt3(void)
{
    static const struct elt3_hooks far = {hook_enter3_far, hook_leave3_far, elt3_pair_far};

    hook_words_distance = words_distance();
    return &far;
}
