#include "live/internal.h"

#include "base/memory.h"

/* An object of a log. */
struct young {
    uintptr_t address;
    uint32_t class;
    bool met;
};

struct live_compare {
    struct live *live;
    struct young *young;
    size_t count, size;
};

static size_t entries_of(const struct live *live)
{
    size_t count = 0;

    for (const struct live_log *log = live->logs; log; log = log->next)
        count += log->now.entries;
    return count;
}

static void run_add(struct live_compare *c, const struct live_noted *now, size_t run)
{
    uintptr_t address = now->run[run].start;

    for (size_t i = now->run[run].first; i < run_end(now, run); i++) {
        const struct live_entry *entry = &now->entry[i];

        if (entry->class)
            c->young[c->count++] = (struct young){address, entry->class, false};
        address += entry->class == LIVE_OPEN ? 0 : (uintptr_t)entry->size * 8;
    }
}

struct live_compare *live_compare_new(struct live *live)
{
    struct live_compare *c = memory_zalloc(1, sizeof(*c));
    struct young_run *run;
    struct live_log **logs;
    size_t runs;

    if (!c)
        return NULL;
    live_settle(live);
    c->live = live;
    c->size = (entries_of(live) + 1) * sizeof(*c->young);
    c->young = memory_pages_map(c->size);
    if (!c->young || !young_runs(live, false, &logs, &run, &runs)) {
        memory_pages_unmap(c->young, c->size);
        memory_free(c);
        return NULL;
    }
    for (size_t i = 0; i < runs; i++)
        run_add(c, &logs[run[i].log]->now, run[i].run);
    return c;
}

static uint32_t in_table(const struct live *live, uintptr_t object)
{
    const struct block *block = block_find(live, object >> BLOCK_BITS);
    uint32_t offset = (uint32_t)(object >> 3) & ((1u << (BLOCK_BITS - 3)) - 1);
    uint32_t low = 0, high = block ? block->count : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (block->place[middle].offset == offset) {
            block->place[middle].born |= PLACE_SEEN;
            return live->key[block->place[middle].key].class;
        }
        if (block->place[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

uint32_t live_compare_met(struct live_compare *c, uintptr_t object)
{
    uint32_t class = in_table(c->live, object);
    size_t low = 0, high = c->count;

    while (!class && low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->young[middle].address == object) {
            c->young[middle].met = true;
            return c->young[middle].class;
        }
        if (c->young[middle].address < object)
            low = middle + 1;
        else
            high = middle;
    }
    return class;
}

uint64_t live_compare_end(struct live_compare *c)
{
    struct live *live = c->live;
    uint64_t extra = 0;

    for (uint32_t i = 1; i <= live->blocks; i++)
        for (uint32_t k = 0; k < live->block[i].count; k++) {
            extra += !(live->block[i].place[k].born & PLACE_SEEN);
            live->block[i].place[k].born &= ~PLACE_SEEN;
        }
    for (size_t i = 0; i < c->count; i++)
        extra += !c->young[i].met;
    memory_pages_unmap(c->young, c->size);
    memory_free(c);
    return extra;
}
