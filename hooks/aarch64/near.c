/*
 * hooks/aarch64/near.c - where a thread's words lie is known only when the library is loaded.
 *
 * The library accesses its thread-local data by TLS descriptors, which the dynamic linker resolves
 * in one of two ways. In static TLS the data is at the same distance from the thread pointer in
 * every thread, and the second word of the descriptor holds it: there the hooks have one form,
 * which loads the distance. Dynamic TLS (musl; glibc when its surplus is used up) is unsupported.
 * Source: ELF for the Arm 64-bit Architecture (AAELF64), "Thread-local storage".
 */
#include "hooks/elt.h"

#include "stack/stack_hot.h"

intptr_t hook_words_distance;

static intptr_t words_distance(void)
{
    intptr_t words = (intptr_t)&stack_words;

    __asm__("" : "+r"(words)); /* no relocation expresses this difference */
    return words - (intptr_t)__builtin_thread_pointer();
}

/*
 * A linker that knows the distance replaces these instructions by ones that load it: in a program.
 * They are the beginning of the sequence that a compiler makes, for the linker to know them.
 */
static intptr_t words_descriptor(void)
{
    register intptr_t descriptor __asm__("x0");

    __asm__("adrp x0, :tlsdesc:stack_words\n\t"
            "ldr x1, [x0, #:tlsdesc_lo12:stack_words]\n\t"
            "add x0, x0, #:tlsdesc_lo12:stack_words"
            : "=r"(descriptor)
            :
            : "x1");
    return descriptor;
}

bool hooks_safe(void)
{
    intptr_t distance = words_distance(), descriptor = words_descriptor();

    return descriptor == distance || ((const intptr_t *)descriptor)[1] == distance;
}

const struct elt3_hooks *hooks_elt3(void)
{
    static const struct elt3_hooks far = {hook_enter3_far, hook_leave3_far, elt3_pair_far};

    hook_words_distance = words_distance();
    return &far;
}
