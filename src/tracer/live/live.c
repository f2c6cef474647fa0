#include "live/internal.h"

#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

void live_free(struct live *live)
{
    if (!live)
        return;
    for (struct live_log *log = live->logs; log; log = log->next)
        log->over = true;
    logs_clear(live);
    blocks_free(live);
    keys_free(live);
    pages_free(live, &live->bound_pages);
    pages_free(live, &live->range_pages);
    pages_free(live, &live->run_pages);
    if (live->classes)
        memory_pages_unmap((void *)(uintptr_t)live->classes, CLASSES * sizeof(*live->classes));
    memory_free(live);
}

int live_new(uint64_t memory, struct live **out)
{
    struct live *live = *out = memory_zalloc(1, sizeof(*live));

    if (!live)
        return -ENOMEM;
    store_relaxed(&live->limit, memory);
    live->stamp = 1;
    pthread_mutex_init(&live->settling, NULL);
    pthread_mutex_init(&live->lock, NULL);
    pthread_mutex_init(&live->logs_lock, NULL);
    pthread_mutex_init(&live->ranges_lock, NULL);
    live->classes = memory_pages_map(CLASSES * sizeof(*live->classes));
    if (live->classes)
        return 0;
    live_free(live);
    *out = NULL;
    return -ENOMEM;
}

uint64_t live_ticks(const struct live *live)
{
    return load_acquire(&live->ticks);
}

uint64_t live_collections(const struct live *live)
{
    return load_acquire(&live->collections);
}

bool live_is_over(const struct live *live)
{
    return load_acquire(&live->over);
}

/* ---- a collection ---- */

/* Bounds and ranges are of three words, and are sorted by the first. false: no memory. */
struct three {
    uint64_t a, b, c;
} __attribute__((may_alias));
static_assert(sizeof(struct three) == sizeof(struct live_bound), "three words");
static_assert(sizeof(struct three) == sizeof(struct live_range), "three words");

bool threes_sort(struct live *live, void *threes, size_t count)
{
    struct pages pages = {NULL, 0};
    struct three *three = threes, *sorted;
    struct pair *order;
    size_t i = 1;
    bool done;

    while (i < count && three[i - 1].a <= three[i].a)
        i++;
    if (i >= count)
        return true;
    if (!pages_room(live, &pages, count * (sizeof(*order) + sizeof(*three))))
        return false;
    order = pages.data;
    sorted = (struct three *)(order + count);
    for (i = 0; i < count; i++)
        order[i] = (struct pair){three[i].a, i};
    done = pairs_sort(live, order, count, UINT64_MAX);
    for (i = 0; i < count && done; i++)
        sorted[i] = three[order[i].b];
    if (done)
        memcpy(three, sorted, count * sizeof(*three));
    pages_free(live, &pages);
    return done;
}

void live_begin(struct live *live, const struct live_bound *bounds, size_t count)
{
    live_settle(live);
    live->ranges = live->bounds = 0;
    if (!pages_room(live, &live->bound_pages, (count + 1) * sizeof(*bounds)))
        return;
    live->bound = live->bound_pages.data;
    memcpy(live->bound, bounds, count * sizeof(*bounds));
    live->bounds = threes_sort(live, live->bound, count) ? count : 0;
    for (size_t i = 1; i < live->bounds; i++) /* none reaches into the next */
        if (live->bound[i - 1].end > live->bound[i].start)
            live->bound[i - 1].end = live->bound[i].start;
}

void live_moved(struct live *live, const struct live_range *ranges, size_t count)
{
    size_t size;

    pthread_mutex_lock(&live->ranges_lock);
    size = (live->ranges + count + 1) * sizeof(*ranges);
    if (size <= live->range_pages.size || pages_room(live, &live->range_pages, size + size / 2)) {
        live->range = live->range_pages.data;
        memcpy(live->range + live->ranges, ranges, count * sizeof(*ranges));
        live->ranges += count;
    }
    pthread_mutex_unlock(&live->ranges_lock);
}

void total_of(struct live *live, const struct live_collection *c, uint64_t pause, uint64_t took)
{
    struct live_total *sums = &live->sums.total;

    sums->collection = load_relaxed(&live->collections);
    if (c->depth == 2)
        sums->full = sums->collection;
    sums->depth = c->depth;
    sums->ticks = c->ticks;
    sums->pause_ns = pause;
    sums->pauses_ns += pause;
    sums->table_ns += took;
    sums->why = (enum sst_live_why)load_relaxed(&live->why);
}

/*
 * Of a collection of which nothing is known. What those before have left, if nobody has taken it,
 * is as exact as it was.
 */
static void untold(struct live *live, const struct live_collection *c)
{
    const struct live_total before = live->sums.total;

    add_relaxed(&live->collections, 1);
    if (live->is_behind)
        live->sums.total = live->behind;
    total_of(live, c, c->now_ns() - c->began_ns, 0);
    if (!live->fresh) {
        sums_tell(live);
        return;
    }
    live->behind = live->sums.total;
    live->is_behind = true;
    live->sums.total = before;
}

void live_end(struct live *live, const struct live_collection *collection)
{
    uint64_t from = collection->now_ns(), now;

    pthread_mutex_lock(&live->lock);
    add_relaxed(&live->collections, 1);
    logs_turn(live);
    now = collection->now_ns();
    live->at_hand = *collection;
    live->pause_ns = now - collection->began_ns;
    live->took_ns = now - from;
    store_release(&live->ticks, collection->ticks);
    store_release(&live->unsettled, true);
    pthread_mutex_unlock(&live->lock);
    parker_unpark(&live->wake);
}

void live_skip(struct live *live, const struct live_collection *collection)
{
    live_settle(live);
    pthread_mutex_lock(&live->lock);
    live->ranges = live->bounds = 0;
    logs_turn(live);
    logs_clear(live);
    untold(live, collection);
    pthread_mutex_unlock(&live->lock);
}

void live_over(struct live *live, const struct live_collection *collection)
{
    live_settle(live);
    pthread_mutex_lock(&live->lock);
    store_relaxed(&live->limit, 0); /* logs that are full stay as they are: nobody may empty them */
    untold(live, collection);
    store_release(&live->over, true);
    pthread_mutex_unlock(&live->lock);
}
