#include "profiler/unframed.h"

#include "base/clock.h"
#include "clr/event_mask.h"
#include "profiler/profiler.h"
#include "stack/stack_hot.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>

#define REST_NS 100000000ull /* the search takes microseconds */

void unframed_thrown(struct profiler *p)
{
    const struct stack *s = stack_peek();

    if (p->before_10 || (s && stack_depth(s)) || !check_unframed(p->check))
        return;
    store_relaxed(&p->unframed.since_ns, clock_ns());
    store_release(&p->unframed.thread, (uintptr_t)pthread_self());
    clr_event_mask_change(p->info, COR_PRF_MONITOR_EXCEPTIONS, 0);
}

static void raise_again(struct profiler *p, uintptr_t thread)
{
    if (cas_acq_rel(&p->unframed.thread, &thread, 0))
        clr_event_mask_change(p->info, 0, COR_PRF_MONITOR_EXCEPTIONS);
}

void unframed_compiles(struct profiler *p)
{
    uintptr_t thread = load_relaxed(&p->unframed.thread);

    if (UNLIKELY(thread) && thread == (uintptr_t)pthread_self())
        raise_again(p, thread);
}

void unframed_rest(struct profiler *p, uint64_t now_ns)
{
    uintptr_t thread = load_acquire(&p->unframed.thread);

    if (UNLIKELY(thread) && now_ns - load_relaxed(&p->unframed.since_ns) > REST_NS)
        raise_again(p, thread);
}
