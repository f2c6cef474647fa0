/*
 * stack/dispatch.c - what exception dispatches leave for later: the one under way, those that wait
 * while managed code runs inside of them, and frames that were reported unwound and are not cut
 * yet. Rules: unwind.c.
 */
#include "stack/stack_hot.h"

#include "base/memory.h"

#include <string.h>

static bool saves_grow(struct stack *s)
{
    uint32_t capacity = s->save_capacity * 2;
    struct stack_save *larger = memory_pages_map(capacity * sizeof(*larger));

    if (!larger)
        return false;
    memcpy(larger, s->saves, s->save_count * sizeof(*larger));
    if (s->saves != s->saves_inside)
        memory_pages_unmap(s->saves, s->save_capacity * sizeof(*larger));
    s->saves = larger;
    s->save_capacity = capacity;
    return true;
}

bool stack_save(struct stack *s, bool filter)
{
    if (s->save_count == s->save_capacity && !saves_grow(s))
        return false;
    s->saves[s->save_count++] = (struct stack_save){stack_depth(s), filter, {0, 0}, s->dispatch};
    if (!filter || RULE(RULE_FILTER_DISPATCH))
        s->dispatch = stack_none.dispatch;
    stack_limit_set(s);
    return true;
}

void stack_restore(struct stack *s)
{
    const struct stack_save *save = &s->saves[--s->save_count];

    if (!save->filter || RULE(RULE_FILTER_DISPATCH))
        s->dispatch = save->dispatch;
}

void stack_swallowed(struct stack *s)
{
    struct stack_dispatch *d = &s->dispatch;

    if (d->pending == STACK_NONE && d->run < stack_depth(s))
        d->pending = d->run;
    d->searching = false;
    d->reach = d->run = STACK_NONE;
    stack_limit_set(s);
}

bool stack_unhooked(uintptr_t since, const struct frame *frame, struct stack_place *out)
{
    const struct stack_config *config = stack_config();

    return config->unhooked && config->unhooked(since, frame, out);
}

bool stack_runs(const struct stack_place *place)
{
    const struct stack_config *config = stack_config();

    return config->runs && config->runs(place);
}

/* The innermost save is of code without hooks, and nothing hooked that this has called lives. */
bool stack_unhooked_save(const struct stack *s)
{
    const struct stack_save *save = &s->saves[s->save_count - 1];

    return s->save_count && save->unhooked.fp && save->depth == stack_depth(s);
}

/* The code that ran inside of the search has returned. */
static void save_end(struct stack *s)
{
    const struct stack_save *save = &s->saves[s->save_count - 1];

    /* What was thrown there has gone on and unwound what lies below: that search is over. */
    if (save->unhooked.fp && s->dispatch.pending < save->depth && RULE(RULE_UNHOOKED_GONE))
        s->save_count--;
    else
        stack_restore(s);
}

void stack_normalise(struct stack *s)
{
    uint32_t depth = stack_depth(s);
    struct stack_dispatch *d = &s->dispatch;

    /* The code that ran inside of the search has returned: its first frame is gone. */
    while (s->save_count && !s->saves[s->save_count - 1].filter &&
           depth <= s->saves[s->save_count - 1].depth &&
           !(stack_unhooked_save(s) && stack_runs(&s->saves[s->save_count - 1].unhooked)))
        save_end(s);
    if (d->pending != STACK_NONE && d->pending >= depth)
        d->pending = STACK_NONE;
    /*
     * The thrower, or what the search had passed, was left since: the exception was handled, and
     * nobody said so (swallowed by native code, caught in code without metadata).
     */
    if (d->searching && depth < d->mark && RULE(RULE_STALE))
        stack_swallowed(s);
    if (d->mark > depth)
        d->mark = depth; /* what is pushed from here on was entered since */
    stack_limit_set(s);
}

/* Did the one below call it, of the same method? Code without metadata may lie between. */
static bool calls_itself(const struct stack *s, uint32_t index)
{
    const struct stack_config *config = stack_config();
    const struct frame *frame = stack_frame(s, index);
    uintptr_t function = stack_function(frame);

    return config->function_at && index && stack_function(stack_frame(s, index - 1)) == function &&
           config->function_at(frame_ret(frame)) == function;
}

uint32_t stack_run_end(const struct stack *s, uint32_t index)
{
    while (RULE(RULE_RUN_END) && calls_itself(s, index))
        index--;
    return index;
}

void stack_supersede(struct stack *s, uint32_t depth)
{
    while (s->save_count && !s->saves[s->save_count - 1].filter &&
           s->saves[s->save_count - 1].depth >= depth && RULE(RULE_SUPERSEDED))
        s->save_count--;
}

void stack_settle_pending(struct stack *s, enum stack_repair why)
{
    struct stack_dispatch d = s->dispatch;

    if (d.pending == STACK_NONE)
        return;
    s->dispatch.pending = STACK_NONE;
    d.pending = stack_run_end(s, d.pending);
    stack_supersede(s, d.pending + 1);
    if (d.mark < stack_depth(s) && d.pending < d.mark && RULE(RULE_LIVE_ABOVE)) {
        /*
         * Entered since frames were last reported unwound: called by a handler that nobody reports,
         * for it is in code without metadata (DynamicMethod). The dispatch has ended there.
         */
        stack_splice(s, d.pending, d.mark, why);
        s->dispatch = stack_none.dispatch;
    } else {
        stack_cut(s, d.pending, why);
        if (s->dispatch.mark > stack_depth(s) && RULE(RULE_CUT_GOES_ON))
            s->dispatch.mark = stack_depth(s); /* cut, not left: the dispatch goes on */
    }
    stack_limit_set(s);
}
