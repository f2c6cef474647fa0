/* live/weighed.c - estimates: the sums of samples, each of which stands for several objects. */
#include "live/internal.h"

void live_weigh_begin(struct live *live)
{
    add_relaxed(&live->collections, 1);
}

/* Adds to what is alive of its site. */
static bool add(struct live *live, const struct live_weighed *w, uint32_t objects, uint64_t bytes)
{
    struct live_row *row = row_of(live, w->key);

    if (!row)
        return false;
    live->key[w->key].alive += objects;
    row->survived += objects;
    row->survived_bytes += bytes;
    live->sums.total.objects += objects;
    live->sums.total.bytes += bytes;
    return true;
}

bool live_weigh_survived(struct live *live, struct live_weighed *w)
{
    w->key = key_of(live, &w->what);
    w->born = load_relaxed(&live->collections);
    return w->key && add(live, w, w->objects, w->bytes);
}

bool live_weigh_more(struct live *live, struct live_weighed *w, uint32_t objects, uint64_t bytes)
{
    if (!add(live, w, objects - w->objects, bytes - w->bytes))
        return false;
    w->objects = objects;
    w->bytes = bytes;
    return true;
}

void live_weigh_died(struct live *live, const struct live_weighed *w, uint32_t generation)
{
    uint64_t age = load_relaxed(&live->collections) - w->born;
    struct live_row *row = row_of(live, w->key);
    struct live_died *cell =
        row ? live_died_cell(live, row, generation,
                             age > LIVE_AGE_MOST ? LIVE_AGE_MOST : (uint32_t)age)
            : NULL;

    if (!cell)
        return;
    live->key[w->key].alive -= w->objects;
    live->sums.total.objects -= w->objects;
    live->sums.total.bytes -= w->bytes;
    cell->objects += w->objects;
    cell->bytes += w->bytes;
}

void live_weigh_end(struct live *live, const struct live_collection *collection, uint64_t took_ns)
{
    total_of(live, collection, collection->now_ns() - collection->began_ns, took_ns);
    sums_tell(live);
}
