#include "check/internal.h"

#include "stack/stack_hot.h"

#include <shadowtrace/clr/constants.h>

/* The walk has the youngest frames, and the last one where the shadow stack has it. */
static bool has_youngest(const struct check_walk *walk, const struct stack_copied *shadow,
                         size_t depth)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->frame[i].function != stack_copied_function(&shadow[depth - 1 - i]))
            return false;
    return !walk->count ||
           walk->frame[walk->count - 1].fp == FRAME_RECORD(shadow[depth - walk->count]);
}

/* Does the chain from `frame` on lead to the oldest `left` shadow frames? */
static bool leads(const struct check_walk *walk, const uintptr_t *frame,
                  const struct stack_copied *shadow, size_t left)
{
    while (left) { /* nothing is read beyond the oldest one */
        const struct stack_copied *next = &shadow[left - 1];
        uintptr_t fp = frame[0], function = check_function_at(walk->check, frame[1]);

        if (fp <= (uintptr_t)frame || fp % sizeof(uintptr_t) || fp > FRAME_RECORD(*next))
            return false;
        frame = (const uintptr_t *)fp; /* NOLINT: an address */
        if (fp == FRAME_RECORD(*next)) {
            if ((function && function != stack_copied_function(next)) || frame[1] != next->ret)
                return false;
            left--;
        } else if (check_counts(walk->check, function)) {
            return false; /* one that the shadow stack does not have */
        }
    }
    return true;
}

static bool may(const struct check_walk *walk, size_t depth)
{
    return walk->check->config.ends_early && walk->count < depth && RULE(RULE_ENDS_EARLY);
}

bool check_ended_early_there(const struct check_walk *walk, const struct stack_copied *shadow,
                             size_t depth)
{
    return may(walk, depth) && walk->last.function && has_youngest(walk, shadow, depth) &&
           leads(walk, (const uintptr_t *)walk->last.fp, shadow, /* NOLINT: an address */
                 depth - walk->count);
}

bool check_ended_early(const struct check_walk *walk, hresult result,
                       const struct stack_copied *shadow, size_t depth)
{
    if (result >= 0)
        return check_ended_early_there(walk, shadow, depth);
    return result == E_FAIL && may(walk, depth) && !walk->last.function &&
           leads(walk, __builtin_frame_address(0), shadow, depth);
}
