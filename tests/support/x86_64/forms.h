/*
 * The forms of the ELT3 hooks in a test program, whose thread-local data is static: near, far, and dtv through an
 * element of the calling thread's DTV that is made up.
 */
#ifndef SHADOWTRACE_SUPPORT_FORMS_H
#define SHADOWTRACE_SUPPORT_FORMS_H

#include "hooks/elt.h"

#include "support/test.h"

/* Of a program, the linker counts stack_words@dtpoff from the thread pointer. Call in the thread that runs the hooks. */
static inline void forms_prepare(void)
{
    static void *block;
    uintptr_t vector;

    assert_true(hooks_safe());
    assert_ptr_equal(hooks_elt3()->enter, hook_enter3_near); /* its code is written */
    block = __builtin_thread_pointer();
    __asm__("movq %%fs:8, %0" : "=r"(vector));
    hook_words_slot = (uintptr_t)&block - vector;
}

#endif
