/*
 * stack/slow.c - what the inline enter and leave of stack_hot.h leave to a call, and how the owner
 * sees its stack.
 */
#include "stack/stack_hot.h"

#include <errno.h>

/* In the first pass, and nothing waits to be cut. */
static bool searches(const struct stack *s)
{
    return s->dispatch.searching && s->dispatch.pending == STACK_NONE;
}

/* What lies at or below sp was left without notice. */
static void drop_dead(struct stack *s, uintptr_t sp)
{
    uint32_t depth = stack_depth(s);

    while (depth && load_relaxed(&stack_frame(s, depth - 1)->sp) <= sp)
        depth--;
    stack_cut(s, depth, STACK_DEAD_ON_ENTER);
    stack_normalise(s);
}

void stack_enter_slow(uintptr_t method, struct frame_at at)
{
    const struct stack_config *config = stack_config();
    uintptr_t ret;
    int saved = errno;
    struct stack *s;

    if (UNLIKELY(config->expected) && !config->expected(config->context, method, at))
        return;
    ret = ((const uintptr_t *)FRAME_RECORD(at))[1];
    s = stack_entered(at.sp);
    if (!s) {
        errno = saved;
        return;
    }
    stack_normalise(s);
    if (searches(s) && load_relaxed(&s->words->top[-1].sp) <= at.sp && RULE(RULE_STALE))
        stack_swallowed(s); /* the thrower is gone */
    if (!s->dispatch.searching && s->dispatch.pending == STACK_NONE && RULE(RULE_DEAD_ON_ENTER))
        drop_dead(s, at.sp);
    if (searches(s) && RULE(RULE_NESTED))
        stack_save(s, false); /* a FirstChanceException handler, a helper of the machinery, ... */
    /*
     * Over frames reported unwound the new one is live: a helper of the machinery, or called by a
     * handler without metadata or by native code that swallowed the exception. Settled when
     * somebody looks.
     */
    stack_push(s, method, at, ret);
    if (UNLIKELY(config->call_interval) && ++s->uncalled >= config->call_interval) {
        s->uncalled = 0;
        config->called(config->context, s);
    }
    errno = saved;
}

void stack_enter_resumable(uintptr_t method, struct frame_at at, const uintptr_t *passed)
{
    const struct stack_config *config = stack_config();
    struct stack *s;
    struct frame *top;

    method &= ~STACK_TAGS;
    stack_enter_at(method, at);
    s = stack_self;
    top = s->words->top;
    if (s == &stack_none || !config->begun || load_relaxed(&top[-1].sp) != at.sp)
        return; /* there was no memory for it */
    frame_flags_set(&top[-1],
                    frame_flags(&top[-1]) | config->begun(config->context, s, method, at.sp, passed)
                                                << FRAME_BEGUN_SHIFT);
}

/* Has no Leave of this thread found its frame? Then its Enters are all frames still. */
static bool none_has_left(const struct stack *s)
{
    uint64_t changes = load_relaxed(&s->words->state) >> STATE_DEPTH_BITS;

    return changes - load_relaxed(&s->repair_changes) == stack_depth(s);
}

/* A Leave without a frame. */
static void orphan(struct stack *s, uintptr_t method, uintptr_t sp)
{
    const struct stack_config *config = stack_config();

    stack_count(s, STACK_ORPHAN_LEAVE);
    if (LIKELY(!config->left_as_expected) || s->off || !none_has_left(s) ||
        config->left_as_expected(config->context, method, sp))
        return;
    stack_cut(s, 0, STACK_ORPHAN_LEAVE);
    s->off = true; /* its Enters ask config.expected, which believes none any more */
    stack_limit_set(s);
}

void stack_leave_slow(uintptr_t method, uintptr_t sp)
{
    struct stack *s = stack_self;
    uint32_t depth = stack_depth(s), at = depth;

    if (s == &stack_none || load_relaxed(&stack_stopped)) {
        if (!load_relaxed(&stack_stopped))
            stack_count_without(STACK_ORPHAN_LEAVE);
        return;
    }
    while (at && load_relaxed(&stack_frame(s, at - 1)->sp) < sp)
        at--;
    if (s->lost_sp)
        (void)stack_misses(s, sp);
    if (!at || load_relaxed(&stack_frame(s, at - 1)->sp) != sp) {
        orphan(s, method, sp);
        return;
    }
    if (!RULE(RULE_DEAD_ON_LEAVE))
        at = depth;
    stack_cut(s, at, STACK_DEAD_ON_LEAVE);
    s->words->top--;
    store_release(&s->words->state, load_relaxed(&s->words->state) + STATE_LEAVE);
}

void stack_leave_low(uintptr_t method, uintptr_t sp)
{
    struct stack *s = stack_self;
    uint32_t at = stack_depth(s);

    /* Every younger frame, live or dead, was called from below this method's frame. */
    while (at && load_relaxed(&stack_frame(s, at - 1)->sp) < sp)
        at--;
    if (at && stack_function(stack_frame(s, at - 1)) == *(const uintptr_t *)method)
        sp = load_relaxed(&stack_frame(s, at - 1)->sp);
    stack_leave_slow(method, sp);
}

uintptr_t stack_top_sp(const struct stack *s)
{
    return load_relaxed(&s->words->top[-1].sp);
}

void stack_inside(struct stack *s, uintptr_t method, struct frame_at at, bool leaving)
{
    const struct frame *left = s->words->top; /* as Leave found it, if nothing was entered since */
    uintptr_t ret;

    if (stack_top_sp(s) <= at.sp || !RULE(RULE_IN_WRAPPER))
        return;
    ret = ((const uintptr_t *)FRAME_RECORD(at))[1];
    if (leaving && s->words->top < s->end && load_relaxed(&left->method) == method &&
        load_relaxed(&left->sp) >= at.sp && load_relaxed(&left->sp) < stack_top_sp(s)) {
        at = frame_place(left);
        ret = frame_ret(left);
    } else if (leaving && stack_function(s->words->top - 1) == *(const uintptr_t *)method) {
        return; /* its Leave hook is yet to be called */
    }
    stack_push(s, method, at, ret);
    stack_count(s, STACK_IN_WRAPPER);
    stack_no_calls(s, 1);
}

size_t stack_settle(struct stack *s, struct frame **top)
{
    const struct stack_config *config = stack_config();

    if (UNLIKELY(s->words->limit != s->end))
        stack_normalise(s);
    if (UNLIKELY(searches(s)) && config->left && config->left(s->words->top - 1) &&
        RULE(RULE_SILENT_PASS))
        stack_swallowed(s);
    if (UNLIKELY(s->dispatch.pending != STACK_NONE) && RULE(RULE_ALLOC_SETTLES))
        stack_settle_pending(s, STACK_UNWOUND);
    *top = s->words->top;
    return stack_depth(s);
}

size_t stack_look(const struct stack *s, struct frame **top)
{
    uint32_t depth = stack_depth(s);

    if (s->dispatch.pending < depth && s->dispatch.mark >= depth)
        depth = s->dispatch.pending; /* else frames above it are live */
    *top = stack_frame(s, depth);
    return depth;
}

bool stack_dispatching(const struct stack *s)
{
    return load_relaxed(&s->dispatching);
}

uint32_t stack_touched(const struct stack *s)
{
    return s->touched;
}

void stack_forget_repairs(struct stack *s)
{
    s->touched = 0;
}
