/*
 * stack/suspended.c - methods of runtime async that suspended: they return without a Leave, and
 * their frames stay.
 *
 * The next Enter or Leave of their caller drops these frames, as it drops all that are left without
 * a Leave. But before that the caller may allocate, and if it has no hooks (--only) it may call
 * hooked code from deeper down, which is then entered above the dead frame. So the first reader
 * checks the machine's stack: the frame-pointer chain, which includes every hooked method, leads to
 * the method's own frame pointer or past it.
 *
 * Or the thread is stopped before that, and another thread reads a copy of its stack: that reader
 * uses the stopped thread's stack pointer.
 */
#include "stack/stack_hot.h"

#include "base/peek.h"

#define WALKED 256 /* frames between two hooked ones, at the most */

enum met { MET, PASSED, BROKEN };

/* Does the chain from `at` come to the frame pointer `target` of a method? */
static enum met chain_meets(const uintptr_t *at, uintptr_t target)
{
    for (unsigned i = 0; i < WALKED; i++) {
        uintptr_t next = at[0];

        if (next == target)
            return MET;
        if (next > target)
            return PASSED;
        if (next <= (uintptr_t)at || next % sizeof(uintptr_t))
            return BROKEN;
        at = (const uintptr_t *)next;
    }
    return BROKEN;
}

static uintptr_t function_at(uintptr_t ip)
{
    const struct stack_config *config = stack_config();

    return config->function_at ? config->function_at(ip) : 0;
}

/*
 * The function that the frame returns into. Where the runtime allocates in code without a frame
 * (.NET 11), the chain leads past that code's return address.
 */
static uintptr_t function_called_from(const uintptr_t *at)
{
    const struct stack_config *config = stack_config();
    uintptr_t function = function_at(at[1]), stub;

    if (function || !config->stub_returns_to || !RULE(RULE_SUSPENDED_STUB))
        return function;
    stub = config->stub_returns_to(at);
    return stub ? function_at(stub) : 0;
}

/* Does a frame of the chain, up to that method's, return into its code? */
static bool chain_returns_into(const uintptr_t *at, const struct frame *frame)
{
    uintptr_t target = frame_record(frame);

    for (unsigned i = 0; i < WALKED; i++) {
        uintptr_t next = at[0];

        if (function_called_from(at) == stack_function(frame))
            return true;
        if (next <= (uintptr_t)at || next > target || next % sizeof(uintptr_t))
            return false;
        at = (const uintptr_t *)next;
    }
    return false;
}

/*
 * Both addresses are the program's, and not the same: another call. Either may be one that was put
 * for a suspension, and that Enter read.
 */
static bool is_other_call(uintptr_t returns_to, uintptr_t ret)
{
    return returns_to != ret && function_at(returns_to) && function_at(ret);
}

/*
 * `at`: where the frame pointer was saved by what was called after it, the youngest live frame
 * that is known. What its caller has called since returns to another address, unless it was called
 * from deeper down: then the chain passes the frame. A body entered by on-stack replacement is not
 * on the chain with this frame pointer, but has one somewhat lower, and a suspension may have
 * replaced the address: then something must return into the method's code.
 */
static bool is_gone(const struct frame *frame, const uintptr_t *at, uintptr_t called_from)
{
    uintptr_t record = frame_record(frame), returns_to = ((const uintptr_t *)record)[1];
    bool same = returns_to == frame_ret(frame);
    enum met met = chain_meets(at, record);

    if (LIKELY(same && met == MET))
        return false;
    if (is_other_call(returns_to, frame_ret(frame)))
        return true;
    if (called_from && function_at(called_from) == stack_function(frame))
        return false;
    return (!same || met == PASSED) && !chain_returns_into(at, frame);
}

static void take_out(struct stack *s, uint32_t from, uint32_t to)
{
    if (to == stack_depth(s))
        stack_cut(s, from, STACK_SUSPENDED);
    else if (from < to)
        stack_splice(s, from, to, STACK_SUSPENDED);
}

void stack_drop_suspended(struct stack *s, const void *frame_address)
{
    bool (*suspends)(uintptr_t method) = stack_config()->suspends;
    const uintptr_t *at = frame_address;
    uint32_t depth = stack_depth(s), i = depth, live = depth;
    uintptr_t called_from = 0;

    if (!suspends || stack_dispatching(s) || s->lost_sp || !RULE(RULE_SUSPENDED))
        return; /* during a dispatch, frames above a filter's or handler's are not on the chain */
    while (i-- > 0) {
        struct frame *frame = stack_frame(s, i);

        if (suspends(load_relaxed(&frame->method)) && is_gone(frame, at, called_from))
            continue;
        take_out(s, i + 1, live);
        live = i;
        if (frame_flags(frame) & FRAME_LIVE_BELOW)
            return;
        frame_flags_set(frame, frame_flags(frame) | FRAME_LIVE_BELOW);
        at = (const uintptr_t *)frame_record(frame);
        called_from = frame_ret(frame);
    }
    take_out(s, 0, live);
}

/*
 * What was called with that stack pointer, and is or has led to the stopped thread's youngest
 * method, whose frame pointer is fp: where does it return to? 0: not known. The address lies under
 * `sp`, or, where records lie apart, in the last one of the chain that is below.
 */
static uintptr_t returns_there(uintptr_t sp, uintptr_t fp)
{
    uintptr_t record[2] = {fp, 0};

    if (!CPU_RECORD_APART)
        return peek(record, sp - sizeof(record), sizeof(record)) ? record[1] : 0;
    for (unsigned i = 0; i < WALKED && record[0] < sp; i++) {
        uintptr_t at = record[0];

        if (at % sizeof(at) || !peek(record, at, sizeof(record)) || record[0] <= at)
            return 0;
    }
    return record[0] < sp ? 0 : record[1];
}

/*
 * `sp`: of the youngest method that is on the stopped thread's machine stack. A method that was
 * called from there, or from above, is not: it has returned. Of one from further down the address
 * that it returned to is gone when its caller has called something else.
 */
static bool is_gone_there(const struct stack_copied *frame, uintptr_t sp, uintptr_t fp)
{
    return frame->sp <= sp || is_other_call(returns_there(frame->sp, fp), frame->ret);
}

uint32_t stack_copy_drop_suspended(struct stack_copy *copy, uintptr_t sp, uintptr_t fp)
{
    bool (*suspends)(uintptr_t method) = stack_config()->suspends;
    uint32_t count = copy->depth, kept = 0;

    if (!suspends || copy->dispatching || count > copy->capacity || !RULE(RULE_SUSPENDED_THERE))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct stack_copied *frame = &copy->frames[i];

        if (!frame->method || !suspends(frame->method) || !is_gone_there(frame, sp, fp))
            copy->frames[kept++] = *frame;
    }
    copy->depth = kept;
    return count - kept;
}
