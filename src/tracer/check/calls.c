#include "check/calls.h"

#include "check/early.h"
#include "check/seed.h"
#include "check/thread.h"

#include "base/clock.h"
#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

static uintptr_t function_at(const struct check_config *config, uintptr_t ip)
{
    uintptr_t function;

    return config->info->vtbl->get_function_from_ip(config->info, (const uint8_t *)ip, &function) ==
                   S_OK
               ? function
               : 0;
}

/* Of the oldest `count` frames of both, are the methods the same? */
static bool same_older(const struct check_walk *walk, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (walk->frame[walk->count - 1 - i].function != stack_copied_function(&walk->shadow[i]))
            return false;
    return true;
}

/*
 * Between two reports of a dispatch: one of the stacks has a run of frames more, which the exception is about to leave
 * or has left already; below them both are the same, and above them too (what the exception machinery has called).
 */
static bool is_passed(const struct check_walk *walk, size_t depth)
{
    size_t shorter = walk->count < depth ? walk->count : depth, older = 0, younger = 0;

    while (older < shorter && walk->frame[walk->count - 1 - older].function ==
                                  stack_copied_function(&walk->shadow[older]))
        older++;
    while (younger < shorter - older &&
           walk->frame[younger].function ==
               stack_copied_function(&walk->shadow[depth - 1 - younger]))
        younger++;
    return older + younger == shorter;
}

static void mismatch(struct check_walk *walk, size_t depth, struct event_ring *ring, hresult result)
{
    struct event_mismatch *m =
        memory_zalloc(1, sizeof(*m) + (depth + walk->count) * sizeof(m->methods[0]));

    if (!m)
        return;
    m->in_call = true;
    m->refused = result < 0 ? result : 0;
    m->shadow = (uint32_t)depth;
    m->snapshot = (uint32_t)walk->count;
    for (size_t i = 0; i < depth; i++)
        m->methods[i] = stack_copied_function(&walk->shadow[depth - 1 - i]);
    for (size_t i = 0; i < walk->count; i++)
        m->methods[depth + i] = walk->frame[i].function;
    check_mismatch_finish(walk->check, m);
    check_post(ring, clock_ticks(), EVENT_MISMATCH, m);
}

static void judge(struct check_walk *walk, size_t depth, bool dispatching, struct event_ring *ring,
                  hresult result)
{
    const struct check_config *config = check_config(walk->check);
    struct agreement_calls *a = &config->agreement->at_calls;

    if (result < 0)
        agreement_refused(&a->refusals, result);
    if (result >= 0 && walk->count == depth && same_older(walk, depth)) {
        add_relaxed(&a->equal, 1);
        check_registers(walk, walk->shadow);
    } else if (walk->count == depth - 1 && same_older(walk, depth - 1) &&
               names_method_unmanaged_callers(
                   (const struct names_method *)walk->shadow[depth - 1].method)) {
        add_relaxed(&a->entering, 1);
    } else if (dispatching && result >= 0 && is_passed(walk, depth)) {
        add_relaxed(&a->dispatching, 1);
    } else if (check_ended_early(walk, result, walk->shadow, depth)) {
        add_relaxed(&a->ended_early, 1);
    } else {
        add_relaxed(&a->mismatched, 1);
        mismatch(walk, depth, ring, result);
    }
}

void check_call(struct check *check, struct check_thread **thread, struct stack *stack,
                struct event_ring *ring)
{
    const struct check_config *config = check_config(check);
    struct agreement_calls *a = &config->agreement->at_calls;
    struct native_registers registers = {.known =
                                             1u << NATIVE_IP | 1u << NATIVE_SP | 1u << NATIVE_BP};
    struct check_walk *walk;
    struct seed *seed;
    struct frame *top;
    size_t depth = stack_look(stack, &top);
    hresult result;

    if (!depth || !check_thread_ready(check, thread) || !(seed = check_thread_seed(*thread)))
        return;
    walk = &(*thread)->walk;
    if (!check_walk_copy(walk, top, depth))
        return;
    if (!config->hook_caller(walk->shadow[depth - 1].sp, &registers.value[NATIVE_IP],
                             &registers.value[NATIVE_SP], &registers.value[NATIVE_BP]) ||
        function_at(config, registers.value[NATIVE_IP]) !=
            stack_copied_function(
                &walk->shadow[depth - 1])) { /* a seed elsewhere would lead anywhere */
        add_relaxed(&a->lost, 1);
        return;
    }
    seed_set(seed, &registers);
    check_walk_begin(walk);
    result = config->info->vtbl->do_stack_snapshot(config->info, 0, check_walk_frame,
                                                   COR_PRF_SNAPSHOT_REGISTER_CONTEXT, walk,
                                                   seed->context, sizeof(seed->context));
    if (walk->failed)
        return;
    add_relaxed(&a->taken, 1);
    judge(walk, depth, stack_dispatching(stack), ring, result);
}
