/*
 * What a collection did, held against the table: while the program runs on. As the collection ends
 * only logs change hands, for the threads that collect other heaps spin until it is over.
 */
#include "live/internal.h"

#include "base/thread.h"

#include <sched.h>

#define KEEP_BYTES (1u << 20) /* of what a collection works with */
#define PARK_NS    UINT64_C(1000000000)

void settle_let(struct live *live)
{
    if (LIKELY(!load_relaxed(&live->wanted)))
        return;
    pthread_mutex_unlock(&live->lock);
    while (load_relaxed(&live->wanted))
        sched_yield();
    pthread_mutex_lock(&live->lock);
}

/* With `settling`. */
static void settle(struct live *live)
{
    const struct live_collection *c = &live->at_hand;
    uint64_t from = c->now_ns();

    if (!threes_sort(live, live->range, live->ranges))
        live->ranges = 0;
    pthread_mutex_lock(&live->lock);
    live->depth = c->depth;
    live->to = NULL;
    if (live->is_behind)
        live->sums.total = live->behind;
    blocks_collect(live);
    young_collect(live);
    blocks_merge(live);
    logs_clear(live);
    pages_trim(live, &live->scratch, KEEP_BYTES);
    pages_trim(live, &live->run_pages, KEEP_BYTES);
    pages_trim(live, &live->range_pages, KEEP_BYTES);
    if (c->depth == 2)
        keys_look(live, from);
    total_of(live, c, live->pause_ns, live->took_ns + (c->now_ns() - from));
    sums_tell(live);
    store_release(&live->unsettled, false);
    pthread_mutex_unlock(&live->lock);
}

void live_settle(struct live *live)
{
    if (!load_acquire(&live->unsettled))
        return;
    pthread_mutex_lock(&live->settling);
    if (load_acquire(&live->unsettled))
        settle(live);
    pthread_mutex_unlock(&live->settling);
}

/* ---- the thread ---- */

static void *settle_main(void *context)
{
    struct live *live = context;

    pthread_setname_np(pthread_self(), "shadowtrace-lv");
    while (!load_acquire(&live->stopping)) {
        if (load_acquire(&live->unsettled))
            live_settle(live);
        else
            parker_park(&live->wake, PARK_NS);
    }
    store_release(&live->stopped, true);
    return NULL;
}

int live_start(struct live *live)
{
    int err;

    store_relaxed(&live->started, true);
    err = thread_start(&live->thread, settle_main, live);
    if (err)
        store_relaxed(&live->stopped, true);
    return err;
}

void live_stop(struct live *live, unsigned timeout_ms)
{
    store_release(&live->stopping, true);
    parker_unpark(&live->wake);
    if (load_relaxed(&live->started))
        thread_await(&live->stopped, timeout_ms);
}
