#include "profiler/rounds.h"

#include "base/clock.h"
#include "clr/file_map.h"
#include "profiler/budget.h"
#include "profiler/reclaim.h"
#include "profiler/unframed.h"

#define DISCARD_NS 100000000ull /* pages of metadata that were read are kept that long */

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

bool rounds_poll(void *context)
{
    static uint64_t discarded_ns; /* when pages of metadata were given back last */
    struct profiler *p = context;
    uint64_t now;
    bool some;

    serve_once(p);
    some = p->log && code_resolve(&p->resolver);
    if (some)
        log_named(p->log);
    now = clock_ns();
    some |= selection_patch(&p->selection);
    some |= stack_reclaim();
    unframed_poll(p, now);
    budget_poll(p, now);
    if (p->alive)
        some |= alive_poll(p->alive);
    if (p->log)
        reclaim_poll(p);
    if (now - discarded_ns >= DISCARD_NS) {
        clr_file_map_discard();
        discarded_ns = now;
    }
    /* The program waits for the writer, and that for classes of this round. */
    if (load_relaxed(&p->hub.stopped))
        parker_unpark(&p->hub.writer);
    return some;
}
