#include "hooks/elt.h"

#include "hooks/wrapper.h"

#include "event/event.h"
#include "stack/stack_hot.h"

static uintptr_t wrapper_low, wrapper_high;
static _Atomic(int) chain; /* enum elt2_chain */
static _Atomic(uint64_t) *unexpected;

enum wrapper { WRAPPER_ENTER, WRAPPER_LEAVE, WRAPPER_TAILCALL, WRAPPERS };
static _Atomic(uintptr_t)
    returns[WRAPPERS]; /* where ProfileEnter, ... return to in their naked stub */

void elt2_expect(uintptr_t low, uintptr_t high, _Atomic(uint64_t) *ignored)
{
    unexpected = ignored;
    wrapper_low = low;
    wrapper_high = high;
    store_relaxed(&chain, ELT2_CHAIN_UNKNOWN);
}

enum elt2_chain elt2_chain_state(void)
{
    return (enum elt2_chain)load_relaxed(&chain);
}

/* The tracer's frame, then the wrapper's (wrapper.h): both return addresses are in the runtime. */
static bool chain_check(const uintptr_t *own, enum wrapper which)
{
    const uintptr_t *wrapper = (const uintptr_t *)own[0];
    bool holds = own[1] >= wrapper_low && own[1] < wrapper_high && wrapper > own &&
                 wrapper[1] >= wrapper_low && wrapper[1] < wrapper_high &&
                 wrapper_looks_right(wrapper);

    if (holds)
        store_relaxed(&returns[which], wrapper[1]);
    store_relaxed(&chain, holds ? ELT2_CHAIN_HOLDS : ELT2_CHAIN_BROKEN);
    return holds;
}

/* The frame of the hooked method; sp is 0 when the chain is not as expected. */
INTO_CALLER struct frame_at method_at(enum wrapper which)
{
    const uintptr_t *own = __builtin_frame_address(0);

    if (UNLIKELY(load_relaxed(&chain) != ELT2_CHAIN_HOLDS || !load_relaxed(&returns[which])))
        if (load_relaxed(&chain) == ELT2_CHAIN_BROKEN || !chain_check(own, which)) {
            if (which == WRAPPER_ENTER)
                add_relaxed(unexpected, 1);
            return (struct frame_at){0};
        }
    return wrapper_method((const uintptr_t *)own[0]);
}

INTO_CALLER void leave(uintptr_t method, uintptr_t sp)
{
    if (LIKELY(load_relaxed(&stack_words.top[-1].sp) == sp))
        stack_leave(method, sp);
    else
        stack_leave_low(method, sp);
}

void hook_enter2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                 const struct clr_function_argument_info *arguments)
{
    struct frame_at at = method_at(WRAPPER_ENTER);

    (void)function_id, (void)frame_info, (void)arguments;
    if (LIKELY(at.sp))
        stack_enter_at(client_data, at);
}

void hook_leave2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                 const struct clr_function_argument_range *result)
{
    uintptr_t sp = method_at(WRAPPER_LEAVE).sp;

    (void)function_id, (void)frame_info, (void)result;
    if (LIKELY(sp))
        leave(client_data, sp);
}

void hook_tailcall2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info)
{
    uintptr_t sp = method_at(WRAPPER_TAILCALL).sp;

    (void)function_id, (void)frame_info;
    if (LIKELY(sp))
        leave(client_data, sp);
}

/* ---- a thread abort inside of the wrapper ---- */

#define WALKED 64 /* frames between a callback and the wrapper, at the most */

/* Which wrapper returns to this address; WRAPPERS: none. */
static enum wrapper wrapper_at(uintptr_t address)
{
    for (unsigned i = 0; i < WRAPPERS; i++)
        if (address == load_relaxed(&returns[i]))
            return (enum wrapper)i;
    return WRAPPERS;
}

bool elt2_wrapped(uintptr_t below, struct elt2_wrapped *out)
{
    const uintptr_t *frame = __builtin_frame_address(0);

    if (below == UINTPTR_MAX || load_relaxed(&chain) != ELT2_CHAIN_HOLDS)
        return false; /* without a known frame nothing bounds the walk */
    for (unsigned i = 0; i < WALKED; i++) {
        uintptr_t next = frame[0], ip;
        enum wrapper which;

        if (next <= (uintptr_t)frame || next >= below - 2 * sizeof(uintptr_t) ||
            next % sizeof(uintptr_t))
            return false; /* the chain must rise, and end at the youngest frame that is known */
        which = wrapper_at(frame[1]);
        if (which < WRAPPERS && (ip = wrapper_ip(frame))) {
            *out = (struct elt2_wrapped){
                .ip = ip, .at = wrapper_method(frame), .leaving = which != WRAPPER_ENTER};
            return true;
        }
        frame = (const uintptr_t *)next;
    }
    return false;
}

/* ---- with something to be done at each call ---- */

static struct elt2_watch watched;

void elt2_watch(const struct elt2_watch *watch)
{
    watched = *watch;
}

void hook_enter2_watched(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                         const struct clr_function_argument_info *arguments)
{
    struct frame_at at = method_at(WRAPPER_ENTER);
    uintptr_t method = client_data;
    uint32_t values = 0;

    (void)function_id;
    if (UNLIKELY(!at.sp))
        return;
    if (watched.exact)
        method = watched.exact(client_data, frame_info);
    stack_enter_at(method, at);
    if (watched.enter)
        values = watched.enter(method, at.sp, frame_info, arguments);
    if (watched.calls)
        calls_pushed(values);
}

/* The frame that a Leave at sp is of, or NULL. Its sp may lie a little higher: stack_leave_low. */
static const struct frame *left_frame(uintptr_t method, uintptr_t sp)
{
    const struct frame *frame = stack_self->words->top - 1;

    while (load_relaxed(&frame->sp) < sp)
        frame--;
    if (load_relaxed(&frame->sp) == UINTPTR_MAX ||
        stack_function(frame) != *(const uintptr_t *)method)
        return NULL;
    return frame;
}

void hook_leave2_watched(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                         const struct clr_function_argument_range *result)
{
    uintptr_t sp = method_at(WRAPPER_LEAVE).sp;
    const struct frame *frame;
    uint32_t values = 0;

    (void)function_id, (void)frame_info;
    if (UNLIKELY(!sp))
        return;
    frame = watched.leave || watched.calls ? left_frame(client_data, sp) : NULL;
    if (frame && watched.leave)
        values = watched.leave(load_relaxed(&frame->method), load_relaxed(&frame->sp), result);
    if (frame && watched.calls)
        calls_leave_slow(client_data, load_relaxed(&frame->sp), EVENT_CALL_LEAVE, values);
    else
        leave(client_data, sp);
}

/* ---- each call traced ---- */

void hook_enter2_calls(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                       const struct clr_function_argument_info *arguments)
{
    struct frame_at at = method_at(WRAPPER_ENTER);

    (void)function_id, (void)frame_info, (void)arguments;
    if (LIKELY(at.sp) && !calls_enter(client_data, at))
        calls_enter_slow(client_data, at);
}

/* The SP of the frame that a Leave at sp is of. */
static uintptr_t frame_sp(uintptr_t method, uintptr_t sp)
{
    const struct frame *frame = left_frame(method, sp);

    return frame ? load_relaxed(&frame->sp) : sp;
}

INTO_CALLER void leave_traced(uintptr_t method, uintptr_t sp, uint32_t what)
{
    if (LIKELY(sp) && !calls_leave(method, sp, what))
        calls_leave_slow(method, frame_sp(method, sp), what, 0);
}

void hook_leave2_calls(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                       const struct clr_function_argument_range *result)
{
    (void)function_id, (void)frame_info, (void)result;
    leave_traced(client_data, method_at(WRAPPER_LEAVE).sp, EVENT_CALL_LEAVE);
}

void hook_tailcall2_calls(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info)
{
    (void)function_id, (void)frame_info;
    leave_traced(client_data, method_at(WRAPPER_TAILCALL).sp, EVENT_CALL_TAIL);
}
