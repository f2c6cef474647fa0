#include "profiler/reclaim.h"

#include "base/clock.h"
#include "rcu/grace.h"

#include <stdlib.h>

#define PAUSE_NS   100000000ull
#define PAUSE_WORK 50 /* times the processor time that it took: 2 % of the resolver's time */

/* The resolver's alone. */
static struct {
    enum { NOTHING, RETIRED, PRUNED } state;
    struct tree_list nodes, calls, allocs;
    bool tree_done, sites_done; /* what of them is on the lists */
    uint32_t collections;       /* when the paths were taken off */
    uint64_t live;              /* --live: what was young then is in the log behind this one */
    uint64_t next_ns;           /* not before */
} reclaim;

static bool method_gone(uintptr_t method)
{
    return metadata_method_retired((const struct metadata_method *)method);
}

static bool class_gone(uintptr_t class)
{
    return metadata_class_retired((const struct metadata_class *)class);
}

static const struct tree_gone gone = {method_gone, class_gone};

/* Paths and sites are taken off; false: not now, or there is no memory for it. */
static bool prune(struct profiler *p)
{
    if (metadata_held(p->metadata))
        return false;
    if (!reclaim.tree_done && tree_prune(p->tree, &gone, &reclaim.nodes, &reclaim.calls))
        return false;
    reclaim.tree_done = true; /* else it would be on the lists twice */
    if (!reclaim.sites_done && tree_sites_prune(p->sites, &gone, false, &reclaim.allocs))
        return false;
    reclaim.sites_done = true;
    if (log_grace_begin(p->log))
        return false;
    grace_wait();
    reclaim.collections = load_acquire(&p->collections);
    if (p->live) /* one may be under way that began before */
        reclaim.live = live_collections(p->live) + 2;
    return true;
}

/* No sums that are still to be written have it. */
static bool live_has_none(const struct profiler *p)
{
    uint64_t written;

    if (!p->live)
        return true;
    written = log_live_written(p->log);
    return written >= reclaim.live ||
           (live_is_over(p->live) && written >= live_collections(p->live));
}

static bool nobody_has_it(struct profiler *p)
{
    bool allocations = options_records(&p->options, OPTIONS_ALLOC);

    return (!allocations || load_acquire(&p->collections) != reclaim.collections) &&
           live_has_none(p) && log_grace_over(p->log) && !stack_any(method_gone) &&
           !metadata_held(p->metadata);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *one = a, *other = b;

    return *one < *other ? -1 : *one > *other;
}

/* Objects that are alive go on to count, for sites of their own. */
static void live_forget_gone(struct profiler *p)
{
    struct tree_list *nodes = &reclaim.nodes, *sites = &reclaim.allocs;
    const struct live_gone these = {.nodes = nodes->number,
                                    .sites = sites->number,
                                    .node_count = nodes->count,
                                    .site_count = sites->count,
                                    .class_gone = class_gone};

    qsort(nodes->number, nodes->count, sizeof(*nodes->number), by_number);
    qsort(sites->number, sites->count, sizeof(*sites->number), by_number);
    live_forget(p->live, &these);
}

static void give_back(struct profiler *p)
{
    if (p->live)
        live_forget_gone(p);
    log_forget(p->log, &reclaim.nodes);
    tree_back(p->tree, &reclaim.nodes, &reclaim.calls);
    tree_sites_back(p->sites, &reclaim.allocs);
    metadata_release(p->metadata);
    tree_list_fini(&reclaim.nodes);
    tree_list_fini(&reclaim.calls);
    tree_list_fini(&reclaim.allocs);
    reclaim.tree_done = reclaim.sites_done = false;
}

void reclaim_poll(struct profiler *p)
{
    uint64_t now = clock_ns(), began;

    if (options_values(&p->options) || p->options.exact_generics) /* values: their own records */
        return;
    metadata_release_imports(p->metadata);
    if (now < reclaim.next_ns || (reclaim.state == NOTHING && !metadata_unloaded(p->metadata)))
        return;
    began = clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    if (reclaim.state == NOTHING && metadata_retire(p->metadata))
        reclaim.state = RETIRED;
    else if (reclaim.state == RETIRED && prune(p))
        reclaim.state = PRUNED;
    else if (reclaim.state == PRUNED && nobody_has_it(p)) {
        give_back(p);
        reclaim.state = NOTHING;
        reclaim.next_ns = now + PAUSE_NS;
    }
    now = clock_ns() + (clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - began) * PAUSE_WORK;
    if (reclaim.next_ns < now)
        reclaim.next_ns = now;
}
