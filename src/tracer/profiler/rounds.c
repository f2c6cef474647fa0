#include "profiler/rounds.h"

#include "base/clock.h"
#include "clr/file_map.h"
#include "profiler/budget.h"
#include "profiler/reclaim.h"
#include "profiler/unframed.h"

#define DISCARD_NS      1000000000ull /* pages of metadata that were read are kept that long */
#define DISCARD_BUSY_NS 5000000000ull /* the same while sites are being resolved */

/* Here: the program need not wait for its thread to be made. */
static void serve_once(struct profiler *p)
{
    static bool served;

    if (served || !load_acquire(&p->started))
        return;
    served = true;
    if (control_serve(p->control, p->uncontrolled, sizeof(p->uncontrolled)))
        log_uncontrolled(p->log, p->uncontrolled);
}

/* attach --for. */
static void leave_if_due(struct profiler *p, uint64_t now_ns)
{
    uint64_t after = p->options.detach_after * UINT64_C(1000000);

    if (p->leave && after && load_acquire(&p->started) && now_ns - log_zero_ns(p->log) >= after)
        p->leave(p);
}

/* While sites are resolved, what is discarded would soon be read again. */
static void discard_if_due(bool resolved, uint64_t now_ns)
{
    static uint64_t resolved_ns, discarded_ns; /* when that was last */

    if (resolved)
        resolved_ns = now_ns;
    if (now_ns - discarded_ns < (now_ns - resolved_ns < DISCARD_NS ? DISCARD_BUSY_NS : DISCARD_NS))
        return;
    clr_file_map_discard();
    discarded_ns = now_ns;
}

bool rounds_poll(void *context)
{
    struct profiler *p = context;
    uint64_t now;
    bool some, resolved;

    serve_once(p);
    resolved = p->log && code_resolve(&p->resolver);
    some = resolved;
    if (resolved)
        log_named(p->log);
    now = clock_ns();
    some |= selection_patch(&p->selection);
    some |= stack_reclaim();
    unframed_poll(p, now);
    budget_poll(p, now);
    leave_if_due(p, now);
    if (p->samples)
        some |= samples_poll(p->samples, now);
    if (p->alive)
        some |= alive_poll(p->alive);
    if (p->log)
        reclaim_poll(p);
    discard_if_due(resolved, now);
    /* The program waits for the writer, and that for classes of this round. */
    if (load_relaxed(&p->hub.stopped))
        parker_unpark(&p->hub.writer);
    return some;
}
