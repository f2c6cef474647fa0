#include "hooks/calls_inline.h"

#include "base/memory.h"
#include "thread/thread.h"

#include <errno.h>
#include <string.h>

struct calls_config calls_config;

void calls_start(const struct options *o)
{
    const uint64_t many = UINT64_C(1) << 30;

    calls_config.max_depth = o->max_depth;
    calls_config.min_ticks =
        (uint64_t)((double)o->min_duration * (double)many / (double)clock_duration_ns(many));
}

/* The calling thread's own, NULL when memory ran out: then its calls are not traced. */
static struct calls_thread *calls_of(struct stack *s)
{
    struct calls_thread *t = s->calls;
    struct thread *thread = t ? NULL : thread_of(s);

    if (!thread)
        return t;
    t = memory_pages_map(sizeof(*t));
    if (!t)
        return NULL;
    t->ring = thread->ring;
    if (calls_config.min_ticks &&
        !(t->entered = memory_pages_map(CALLS_HELD_MAX * sizeof(*t->entered)))) {
        memory_pages_unmap(t, sizeof(*t));
        return NULL;
    }
    return s->calls = t;
}

void calls_enter_slow(uintptr_t method, struct frame_at at)
{
    stack_enter_at(method, at);
    calls_pushed(0);
}

void calls_pushed(uint32_t values)
{
    int saved = errno;
    struct stack *s = stack_peek();
    struct calls_thread *t = s && stack_depth(s) ? calls_of(s) : NULL;

    /* A frame without memory is not on the stack; the top one was dealt with before. */
    if (t && !(frame_flags(&s->words->top[-1]) & (FRAME_TRACED | FRAME_HELD)))
        calls_entered(s, t, s->words->top - 1, values);
    errno = saved;
}

void calls_leave_slow(uintptr_t method, uintptr_t sp, uint32_t what, uint32_t values)
{
    struct stack *s = stack_peek();
    uint32_t at = s ? stack_depth(s) : 0;

    while (at && load_relaxed(&stack_frame(s, at - 1)->sp) < sp)
        at--;
    if (at && s->calls && load_relaxed(&stack_frame(s, at - 1)->sp) == sp) {
        stack_cut(s, at, STACK_DEAD_ON_LEAVE);
        calls_leaving(s, s->calls, stack_frame(s, at - 1), (enum event_call)what, 0, values);
    }
    stack_leave(method, sp);
}

void calls_cutting(struct stack *s, uint32_t from, uint32_t to)
{
    struct calls_thread *t = s->calls;
    uint32_t depth = stack_depth(s);
    uint64_t younger = 0;

    if (!t)
        return;
    for (uint32_t i = to; i < depth; i++)
        younger += frame_flags(stack_frame(s, i)) & FRAME_TRACED ? 1 : 0;
    for (uint32_t i = to; i-- > from;)
        calls_leaving(s, t, stack_frame(s, i), EVENT_CALL_UNWOUND, younger, 0);
    if (t->entered && to < depth && depth <= CALLS_HELD_MAX)
        memmove(t->entered + from, t->entered + to, (depth - to) * sizeof(*t->entered));
}

void calls_thread_ended(struct stack *s)
{
    struct calls_thread *t = s->calls;

    if (!t)
        return;
    calls_cutting(s, 0, stack_depth(s));
    s->calls = NULL;
    memory_pages_unmap(t->entered, CALLS_HELD_MAX * sizeof(*t->entered));
    memory_pages_unmap(t, sizeof(*t));
}
