#include "profiler/reclaim.h"

#include "profiler/profiler.h"

#include "base/clock.h"
#include "rcu/grace.h"

#define REST_NS   100000000ull
#define REST_WORK 50 /* times what it took, without it: 2 % of the resolver's time */

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
    struct reclaim *r = &p->reclaim;

    if (metadata_held(p->metadata))
        return false;
    if (!r->tree_done && tree_prune(p->tree, &gone, &r->nodes, &r->calls))
        return false;
    r->tree_done = true; /* else it would be on the lists twice */
    if (!r->sites_done && tree_sites_prune(p->sites, &gone, false, &r->allocs))
        return false;
    r->sites_done = true;
    if (log_grace_begin(p->log))
        return false;
    grace_wait();
    r->collections = load_acquire(&p->collections);
    return true;
}

static bool nobody_has_it(struct profiler *p)
{
    bool allocations = options_records(&p->options, OPTIONS_ALLOC);

    return (!allocations || load_acquire(&p->collections) != p->reclaim.collections) &&
           log_grace_over(p->log) && !stack_any(method_gone) && !metadata_held(p->metadata);
}

static void give_back(struct profiler *p)
{
    struct reclaim *r = &p->reclaim;

    log_forget(p->log, &r->nodes);
    tree_back(p->tree, &r->nodes, &r->calls);
    tree_sites_back(p->sites, &r->allocs);
    metadata_release(p->metadata);
    tree_list_fini(&r->nodes);
    tree_list_fini(&r->calls);
    tree_list_fini(&r->allocs);
    r->tree_done = r->sites_done = false;
}

void reclaim_poll(struct profiler *p)
{
    struct reclaim *r = &p->reclaim;
    uint64_t now = clock_ns();

    if (p->values || p->options.exact_generics) /* values: their own records */
        return;
    metadata_release_imports(p->metadata);
    if (now < r->next_ns)
        return;
    if (r->state == RECLAIM_NOTHING && metadata_retire(p->metadata))
        r->state = RECLAIM_RETIRED;
    else if (r->state == RECLAIM_RETIRED && prune(p))
        r->state = RECLAIM_PRUNED;
    else if (r->state == RECLAIM_PRUNED && nobody_has_it(p)) {
        give_back(p);
        r->state = RECLAIM_NOTHING;
        r->next_ns = now + REST_NS;
    }
    now = clock_ns() - now;
    if (r->next_ns < clock_ns() + now * REST_WORK)
        r->next_ns = clock_ns() + now * REST_WORK;
}
