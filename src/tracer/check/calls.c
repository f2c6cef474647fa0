/*
 * check/calls.c - --check-calls: a snapshot from inside of an Enter hook. There the runtime finds
 * no place to begin a walk (.NET 10 refuses, or leaves the youngest frames out), so it is given
 * one: a CONTEXT of the method just entered, at its call of the hook.
 *
 * A method called from native code that has not been let in yet is no managed frame to the runtime:
 * its thread does not run managed code, and there a seed is ignored. Such a frame more in the
 * shadow stack is counted apart.
 */
#include "check/internal.h"

#include "base/clock.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

/*
 * Between two reports of a dispatch: one of the stacks has a run of frames more, which the
 * exception is about to leave or has left already; below them both are the same, and above them too
 * (what the exception machinery has called).
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
    struct event_mismatch *m = check_mismatch_new(walk, walk->shadow, depth, result, false);

    if (!m)
        return;
    m->in_call = true;
    check_mismatch_post(walk->check, ring, clock_ticks(), m);
}

static void judge(struct check_walk *walk, size_t depth, bool dispatching, struct event_ring *ring,
                  hresult result)
{
    struct agreement_calls *a = &walk->check->config.agreement->at_calls;

    if (result < 0)
        agreement_refused(&a->refusals, result);
    if (result >= 0 && walk->count == depth && check_walk_agrees(walk, walk->shadow, depth)) {
        add_relaxed(&a->equal, 1);
        check_registers(walk, walk->shadow);
    } else if (walk->count == depth - 1 && check_walk_agrees(walk, walk->shadow, depth - 1) &&
               metadata_method_unmanaged_callers(
                   (const struct metadata_method *)walk->shadow[depth - 1].method)) {
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

void check_call(struct check *check, struct stack *stack)
{
    struct check_thread *thread = check_thread_of(check, stack);
    const struct check_config *config = &check->config;
    struct agreement_calls *a = &config->agreement->at_calls;
    struct native_registers registers = {.known = UINT64_C(1) << CPU_IP | UINT64_C(1) << CPU_SP |
                                                  UINT64_C(1) << CPU_FP};
    struct check_walk *walk;
    struct check_seed *seed;
    struct frame *top;
    size_t depth = stack_look(stack, &top);
    hresult result;

    if (!depth || !thread || !(seed = check_thread_seed(thread)))
        return;
    walk = &thread->walk;
    if (!check_walk_copy(walk, top, depth))
        return;
    if (!config->hook_caller(frame_place(top - 1), &registers.value[CPU_IP],
                             &registers.value[CPU_SP], &registers.value[CPU_FP]) ||
        check_function_at(check, registers.value[CPU_IP]) !=
            stack_copied_function(&walk->shadow[depth - 1])) {
        add_relaxed(&a->lost, 1); /* a seed elsewhere would lead anywhere */
        return;
    }
    check_seed_set(seed, &registers);
    result = check_walk_run(walk, 0, COR_PRF_SNAPSHOT_REGISTER_CONTEXT, seed);
    if (walk->failed)
        return;
    add_relaxed(&a->taken, 1);
    judge(walk, depth, stack_dispatching(stack), thread_ring_of(stack), result);
}
