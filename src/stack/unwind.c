/*
 * stack/unwind.c - the exception callbacks: what the runtime's two passes over the stack mean for live frames.
 *
 * No callback carries a stack pointer but those around a handler, callbacks come unpaired at native boundaries, twice
 * for funclets on some builds and never for others (design: clr-behaviour, section 4). So nothing is popped when a
 * frame is reported; it is remembered how far the passes have come (reach, pending), and the frames are cut when a
 * handler runs, whose SP is known, or when something else has to see the stack.
 *
 * "The next frame of f below i" searches towards the root and never passes a frame that was entered from native code:
 * an exception that goes beyond it does so in native code and comes back as a new dispatch.
 */
#include "stack/stack_hot.h"

#include "base/memory.h"

#include <string.h>

static uintptr_t function_of(const struct frame *frame)
{
    return *(const uintptr_t *)load_relaxed(&frame->method);
}

static bool stop_at(const struct frame *frame)
{
    return stack_from_native(frame) && RULE(RULE_NATIVE_STOP);
}

/* Index of the next frame of f below `from` (STACK_NONE: from the top on), or `from` when there is none. */
static uint32_t next_below(const struct stack *s, uintptr_t function, uint32_t from)
{
    uint32_t depth = stack_depth(s), i = from < depth ? from : depth;

    if (from < depth && stop_at(stack_frame(s, from)))
        return from;
    while (i-- > 0) {
        const struct frame *frame = stack_frame(s, i);

        if (function_of(frame) == function)
            return i;
        if (stop_at(frame))
            break;
    }
    return from;
}

/* An unhooked f (--only) is in no frame. Otherwise the same: reported frames are looked for, never guessed. */

void stack_exception_thrown(void)
{
    struct stack *s = stack_peek();
    struct stack_dispatch *d;

    if (!s)
        return;
    d = &s->dispatch;
    if (d->searching && d->reach < d->pending && RULE(RULE_THROWN_CUT))
        stack_set_pending(s, d->reach); /* left into native code: all it had passed is gone */
    stack_settle_pending(s, STACK_NATIVE_BOUNDARY);
    d->searching = true;
    d->reach = STACK_NONE;
}

void stack_search_function_enter(uintptr_t function)
{
    struct stack *s = stack_peek();
    uint32_t reach, i;

    if (!s)
        return;
    if (RULE(RULE_SEARCH_SETTLES))
        stack_settle_pending(s, STACK_UNWOUND);
    reach = next_below(s, function, s->dispatch.reach);
    if (reach == STACK_NONE)
        return;
    /* Direct recursion down to a frame entered from native code: some builds leave these reports out. */
    for (i = reach; RULE(RULE_SEARCH_RUN); i--) {
        if (stack_from_native(stack_frame(s, i))) {
            reach = i;
            break;
        }
        if (i == 0 || function_of(stack_frame(s, i - 1)) != function_of(stack_frame(s, reach)))
            break;
    }
    s->dispatch.reach = reach;
}

static bool filters_grow(struct stack *s)
{
    uint32_t capacity = s->filter_capacity * 2;
    struct stack_filter *larger = memory_pages_map(capacity * sizeof(*larger));

    if (!larger)
        return false;
    memcpy(larger, s->filters, s->filter_count * sizeof(*larger));
    if (s->filters != s->filters_inside)
        memory_pages_unmap(s->filters, s->filter_capacity * sizeof(*larger));
    s->filters = larger;
    s->filter_capacity = capacity;
    return true;
}

void stack_search_filter_enter(uintptr_t function)
{
    struct stack *s = stack_peek();
    uint32_t at;

    if (!s || (s->filter_count == s->filter_capacity && !filters_grow(s)))
        return;
    s->filters[s->filter_count++] = (struct stack_filter){stack_depth(s), s->dispatch};
    at = next_below(s, function, STACK_NONE);
    if (RULE(RULE_FILTER_DISPATCH)) {
        s->dispatch = stack_none.dispatch;
        stack_set_pending(s, STACK_NONE);
    }
    if (at != STACK_NONE && RULE(RULE_FILTER_FRAME)) /* none: not hooked, nothing to show */
        stack_push(s, load_relaxed(&stack_frame(s, at)->method), load_relaxed(&s->top[-1].sp) - sizeof(uintptr_t),
                   FRAME_RET_FILTER);
}

void stack_search_filter_leave(void)
{
    struct stack *s = stack_peek();
    const struct stack_filter *filter;

    if (!s || !s->filter_count)
        return;
    filter = &s->filters[--s->filter_count];
    if (stack_depth(s) > filter->depth + 1)
        stack_cut(s, filter->depth + 1, STACK_FILTER); /* what an exception swallowed in the filter left behind */
    if (stack_depth(s) > filter->depth) {
        s->top--; /* our own frame: not a repair */
        store_release(&s->state, load_relaxed(&s->state) + STATE_LEAVE);
    }
    if (RULE(RULE_FILTER_DISPATCH)) {
        s->dispatch = filter->dispatch;
        stack_set_pending(s, filter->dispatch.pending);
    }
}

void stack_search_catcher_found(void)
{
    struct stack *s = stack_peek();

    if (s)
        s->dispatch.searching = false;
}

void stack_unwind_function_enter(uintptr_t function)
{
    struct stack *s = stack_peek();
    uint32_t pending;

    if (!s || !RULE(RULE_UNWIND_PENDING))
        return;
    pending = next_below(s, function, s->dispatch.pending);
    if (pending != STACK_NONE)
        stack_set_pending(s, pending);
}

/* A handler of f is about to run: f's frame is the youngest whose SP lies above the handling frame's own. */
static void handler_enter(uintptr_t function, uintptr_t sp)
{
    struct stack *s = stack_peek();
    uint32_t depth;

    if (!s)
        return;
    s->dispatch.searching = false;
    stack_set_pending(s, STACK_NONE);
    if (!RULE(RULE_HANDLER_CUT))
        return;
    depth = stack_depth(s);
    if (sp) {
        while (depth && load_relaxed(&stack_frame(s, depth - 1)->sp) <= sp)
            depth--;
    } else { /* the runtime did not say where: its nearest frame */
        uint32_t at = next_below(s, function, STACK_NONE);

        depth = at == STACK_NONE ? depth : at + 1;
    }
    stack_cut(s, depth, STACK_HANDLER_CUT);
}

void stack_unwind_finally_enter(uintptr_t function, uintptr_t sp)
{
    handler_enter(function, sp);
}

void stack_catcher_enter(uintptr_t function, uintptr_t sp)
{
    handler_enter(function, sp);
}

void stack_unwind_finally_leave(void)
{
    struct stack *s = stack_peek();
    uint32_t depth = s ? stack_depth(s) : 0;

    if (depth && RULE(RULE_FINALLY_LEAVE))
        stack_set_pending(s, depth - 1); /* its method is the top, and is left next */
}
