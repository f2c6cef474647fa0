#include "profiler/unframed.h"

#include "base/clock.h"
#include "clr/event_mask.h"
#include "stack/stack_hot.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>

#define SEARCH_NS 100000000ull /* far more than the search takes */

static _Atomic(uintptr_t) lowered_for; /* the thread for which the flag is down; 0: it is up */
static _Atomic(uint64_t) since_ns;

void unframed_thrown(struct profiler *p)
{
    const struct stack *s = stack_peek();

    if (p->runtime.major < 10 || (s && stack_depth(s)) || !check_unframed(p->check))
        return;
    store_relaxed(&since_ns, clock_ns());
    store_release(&lowered_for, (uintptr_t)pthread_self());
    clr_event_mask_change(p->runtime.info, COR_PRF_MONITOR_EXCEPTIONS, 0);
}

static void raise_again(struct profiler *p, uintptr_t thread)
{
    if (cas_acq_rel(&lowered_for, &thread, 0))
        clr_event_mask_change(p->runtime.info, 0, COR_PRF_MONITOR_EXCEPTIONS);
}

void unframed_compiles(struct profiler *p)
{
    uintptr_t thread = load_relaxed(&lowered_for);

    if (UNLIKELY(thread) && thread == (uintptr_t)pthread_self())
        raise_again(p, thread);
}

void unframed_poll(struct profiler *p, uint64_t now_ns)
{
    uintptr_t thread = load_acquire(&lowered_for);

    if (UNLIKELY(thread) && now_ns - load_relaxed(&since_ns) > SEARCH_NS)
        raise_again(p, thread);
}
