/*
 * stack/unwind.c - the exception callbacks: what the runtime's two passes over the stack mean for
 * live frames.
 *
 * No callback carries a stack pointer but those around a handler, callbacks come unpaired at
 * native boundaries, twice for funclets on some builds and never for others (design:
 * clr-behaviour, section 4). So nothing is popped when a frame is reported; it is remembered how
 * far the passes have come (reach, pending), and the frames are cut when a handler runs, whose SP
 * is known, or when something else has to see the stack.
 *
 * .NET 8 runs both passes on through native frames of the runtime; later ones begin a new dispatch
 * beyond them. 10.0.12 leaves out reports of frames of the method whose funclet it reported last,
 * all of a pass if needed.
 */
#include "stack/stack_hot.h"

/*
 * Index of the next frame of f below `from` (STACK_NONE: from the top on), or `from` if none is
 * left. Some builds report a method again for each of its handlers that runs: a repeated report, if
 * f has not been called since, does not move on.
 */
static uint32_t next_below(const struct stack *s, uintptr_t function, uint32_t from)
{
    uint32_t depth = stack_depth(s), i = from < depth ? from : depth;

    if (from < depth && stack_function(stack_frame(s, from)) == function &&
        (from == 0 || stack_function(stack_frame(s, from - 1)) != function) && RULE(RULE_DUPLICATE))
        return from;
    while (i-- > 0)
        if (stack_function(stack_frame(s, i)) == function)
            return i;
    return from;
}

/* The calling thread's stack, ready for an event; NULL: it has none. */
static struct stack *event_stack(void)
{
    struct stack *s = stack_peek();

    if (s)
        stack_normalise(s);
    return s;
}

/*
 * Does the search continue, after calling code without hooks that has thrown another exception: a
 * handler of FirstChanceException, a filter in a DynamicMethod, or code that --only does not name?
 * Reports do not distinguish this from a second pass without any report; the machine's stack does.
 */
static bool is_nested(const struct stack *s, struct stack_place *where)
{
    const struct stack_dispatch *d = &s->dispatch;
    uint32_t depth = stack_depth(s);

    return d->searching && d->pending == STACK_NONE && d->mark == depth && depth &&
           RULE(RULE_UNHOOKED) && stack_unhooked(d->thrown, s->words->top - 1, where);
}

void stack_exception_thrown(void)
{
    struct stack *s = event_stack();
    struct stack_place where = {0, 0};
    struct stack_dispatch *d;

    if (!s)
        return;
    d = &s->dispatch;
    if (!stack_unhooked_save(s) && is_nested(s, &where)) {
        if (!where.fp)
            return; /* a filter: nothing of what it throws gets out, nor is reported */
        if (stack_save(s, false))
            s->saves[s->save_count - 1].unhooked = where;
    } else if (d->searching && d->reach < d->pending && d->mark == stack_depth(s) &&
               RULE(RULE_THROWN_CUT)) {
        d->pending = d->reach; /* left into native code: all it had passed is gone */
    }
    stack_settle_pending(s, STACK_NATIVE_BOUNDARY);
    *d = stack_none.dispatch;
    d->mark = stack_depth(s);
    d->searching = true;
    d->thrown = (uintptr_t)__builtin_frame_address(0);
    stack_limit_set(s);
}

void stack_search_function_enter(uintptr_t function)
{
    struct stack *s = event_stack();
    struct stack_dispatch *d;
    uint32_t reach;

    if (!s)
        return;
    d = &s->dispatch;
    d->searched = function;
    reach = next_below(s, function, d->reach);
    if (reach == STACK_NONE)
        return; /* not hooked (--only) */
    d->reach = reach;
    if (d->run == STACK_NONE || reach < d->run)
        d->run = stack_run_end(s, reach);
}

bool stack_searched_all(void)
{
    const struct stack *s = stack_peek();

    return s && s->dispatch.reach == 0;
}

void stack_search_filter_enter(uintptr_t function)
{
    struct stack *s = event_stack();
    struct frame_at place;
    uint32_t at;

    if (!s)
        return;
    if (s->unsaved || !stack_save(s, true)) {
        s->unsaved++; /* its leave must not end another */
        return;
    }
    at = next_below(s, function, STACK_NONE);
    if (at == STACK_NONE || !RULE(RULE_FILTER_FRAME))
        return;                              /* not hooked, nothing to show */
    place = frame_place(stack_frame(s, at)); /* it runs on its method's frame pointer */
    place.sp = load_relaxed(&s->words->top[-1].sp) - sizeof(uintptr_t);
    stack_push(s, load_relaxed(&stack_frame(s, at)->method), place, FRAME_RET_FILTER);
    stack_no_calls(s, 1);
}

void stack_search_filter_leave(void)
{
    struct stack *s = event_stack();
    uint32_t depth;

    if (!s)
        return;
    if (s->unsaved) {
        s->unsaved--;
        return;
    }
    while (s->save_count && !s->saves[s->save_count - 1].filter)
        s->save_count--; /* opened in the filter: its exception went past, and never ended it */
    if (!s->save_count)
        return;
    depth = s->saves[s->save_count - 1].depth;
    if (stack_depth(s) > depth + 1)
        stack_cut(s, depth + 1,
                  STACK_FILTER); /* what an exception swallowed in the filter left behind */
    if (stack_depth(s) > depth) {
        s->words->top--; /* our own frame: not a repair, nor a call */
        stack_no_calls(s, 1);
        store_release(&s->words->state, load_relaxed(&s->words->state) + STATE_LEAVE);
    }
    stack_restore(s);
    stack_limit_set(s);
}

void stack_search_catcher_found(void)
{
    struct stack *s = event_stack();

    if (!s)
        return;
    s->dispatch.searching = false;
    stack_limit_set(s);
}

void stack_unwind_function_enter(uintptr_t function)
{
    struct stack *s = event_stack();

    if (!s || !RULE(RULE_UNWIND_PENDING))
        return;
    s->dispatch.pending =
        next_below(s, function, s->dispatch.guessed ? STACK_NONE : s->dispatch.pending);
    s->dispatch.guessed = false;
    s->dispatch.mark = stack_depth(s);
    stack_limit_set(s);
}

/*
 * Where the search found no catcher with metadata, the second pass begins with the leave of what
 * the search reported last. A build that leaves out reports may say no more of frames of that
 * method: then the top is gone.
 */
void stack_unwind_function_leave(void)
{
    struct stack *s = event_stack();
    struct stack_dispatch *d;
    uint32_t depth;

    if (!s || s->dispatch.pending != STACK_NONE || !s->dispatch.searching ||
        !RULE(RULE_FIRST_LEAVE))
        return;
    d = &s->dispatch;
    depth = stack_depth(s);
    if (!depth || stack_function(stack_frame(s, depth - 1)) != d->searched)
        return;
    d->pending = depth - 1;
    d->guessed = true;
    d->mark = depth;
    stack_limit_set(s);
}

/* A handler of f is to run: f's frame is the youngest whose SP lies above the handling frame's. */
static void handler_enter(uintptr_t function, uintptr_t sp)
{
    struct stack *s = event_stack();
    uint32_t depth;
    bool passed; /* the handling frame is hooked, and called what lay above */

    if (!s)
        return;
    s->dispatch.searching = false;
    s->dispatch.pending = STACK_NONE;
    stack_limit_set(s);
    if (!RULE(RULE_HANDLER_CUT))
        return;
    depth = stack_depth(s);
    if (sp) {
        sp -= CPU_HANDLER_SP_OF_CALLER;
        while (depth && load_relaxed(&stack_frame(s, depth - 1)->sp) <= sp)
            depth--;
    } else { /* the runtime did not say where: its nearest frame */
        uint32_t at = next_below(s, function, STACK_NONE);

        depth = at == STACK_NONE ? depth : at + 1;
    }
    passed = depth && stack_function(stack_frame(s, depth - 1)) == function;
    stack_supersede(s, passed ? depth : depth + 1);
    stack_cut(s, depth, STACK_HANDLER_CUT);
    stack_normalise(s);
}

void stack_unwind_finally_enter(uintptr_t function, uintptr_t sp)
{
    struct stack *s;

    handler_enter(function, sp);
    s = stack_peek();
    if (!s || !stack_depth(s))
        return;
    s->dispatch.unhooked_finally =
        stack_function(&s->words->top[-1]) != function && RULE(RULE_FINALLY_PAIR);
    if (!s->dispatch.unhooked_finally)
        frame_flags_set(&s->words->top[-1], frame_flags(&s->words->top[-1]) | FRAME_FINALLY);
}

void stack_catcher_enter(uintptr_t function, uintptr_t sp)
{
    handler_enter(function, sp);
}

/*
 * Code without metadata reports that its finally was left, but not that it was entered. Where a
 * finally of a method without hooks ends, that method is gone, and the top, which called it, is
 * not.
 */
void stack_unwind_finally_leave(void)
{
    struct stack *s = event_stack();
    uint32_t depth = s ? stack_depth(s) : 0;

    if (!depth || !RULE(RULE_FINALLY_LEAVE))
        return;
    if (s->dispatch.unhooked_finally) {
        s->dispatch.unhooked_finally = false;
        return;
    }
    if (!(frame_flags(&s->words->top[-1]) & FRAME_FINALLY) && RULE(RULE_FINALLY_PAIR))
        return;
    frame_flags_set(&s->words->top[-1], frame_flags(&s->words->top[-1]) & ~FRAME_FINALLY);
    s->dispatch.pending = depth - 1; /* its method is the top, and is left next */
    s->dispatch.mark = depth;
    stack_limit_set(s);
}