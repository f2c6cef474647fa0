/*
 * hooks/calls_hot.c - the fast halves of the hooks of traced calls. Compiled with
 * -mgeneral-regs-only (Makefile): the stubs save no vector register around them. They call nothing.
 */
#include "hooks/calls_inline.h"

bool calls_enter(uintptr_t method, struct frame_at at)
{
    struct stack *s = stack_self;
    struct frame *top = stack_words.top;

    if (UNLIKELY(top >= stack_words.limit || load_relaxed(&top[-1].sp) <= at.sp || !s->calls ||
                 !clock_uses_tsc))
        return false;
    stack_enter_at(method, at);
    calls_entered(s, s->calls, top, 0);
    return true;
}

bool calls_leave(uintptr_t method, uintptr_t sp, uint32_t what)
{
    struct stack *s = stack_self;
    struct frame *top = stack_words.top;

    if (UNLIKELY(load_relaxed(&top[-1].sp) != sp || !s->calls || !clock_uses_tsc))
        return false;
    calls_leaving(s, s->calls, top - 1, (enum event_call)what, 0, 0);
    stack_leave(method, sp);
    return true;
}
