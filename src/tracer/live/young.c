#include "live/internal.h"

#include "base/memory.h"

bool young_runs(struct live *live, bool past, struct live_log ***logs, struct young_run **out,
                size_t *count)
{
    struct live_log **list, *first = logs_first(live);
    uint32_t number = 0;
    size_t runs = 0;

    for (struct live_log *log = first; log; log = log->next, number++)
        runs += noted_of(log, past)->runs;
    *count = 0;
    if (number * sizeof(*list) + runs * sizeof(**out) > live->run_pages.size &&
        !pages_room(live, &live->run_pages, 2 * (number * sizeof(*list) + runs * sizeof(**out))))
        return false;
    *out = live->run_pages.data;
    *logs = list = (struct live_log **)(void *)(*out + runs);
    number = 0;
    for (struct live_log *log = first; log; log = log->next) {
        const struct live_noted *noted = noted_of(log, past);

        for (size_t i = 0; i < noted->runs; i++)
            (*out)[(*count)++] = (struct young_run){noted->run[i].start, number, (uint32_t)i};
        list[number++] = log;
    }
    return pairs_sort(live, (struct pair *)*out, *count, UINT64_MAX);
}

static void put(struct live *live, const struct live_entry *entry, uintptr_t address)
{
    uint32_t key = entry->class && entry->size ? key_of(live, entry) : 0;
    const struct place place = {
        .key = key, .size = entry->size, .born = (uint32_t)load_relaxed(&live->collections)};
    struct live_row *row = key ? row_of(live, key) : NULL;

    if (row && place_put(live, address, place))
        survived(live, row, entry->size);
}

/* Of a run: where what takes one object along would take all of it, without RULE_LIVE_SPLIT. */
static uintptr_t unsplit(const struct live_range **first, const struct live_range *range)
{
    if (!*first || RULE(RULE_LIVE_SPLIT))
        *first = range;
    return (*first)->to - (*first)->from;
}

/*
 * Entries of one run, the oldest first; what nothing takes along is passed over. Returns how many
 * were taken along; the log, whose thread runs, is not written to for each.
 */
static size_t walk(struct live *live, const struct live_noted *noted, size_t run, struct cursor *at)
{
    uintptr_t address = noted->run[run].start, stop;
    size_t end = run_end(noted, run), i = noted->run[run].first, stayed = 0;
    const struct live_range *range, *first = NULL;
    const struct live_bound *bound;

    while (i < end) {
        bound = bound_at(live, at, address);
        if (!bound) { /* not collected: it is not known to be dead */
            put(live, &noted->entry[i], address);
            address += (uintptr_t)noted->entry[i++].size * 8;
            continue;
        }
        range = range_from(live, at, address);
        stop = range && range->from < bound->end ? range->from : bound->end;
        if (address >= stop) {
            keys_ahead(live, &noted->entry[i], end - i);
            put(live, &noted->entry[i], address + unsplit(&first, range));
            stayed++;
            address += (uintptr_t)noted->entry[i++].size * 8;
        }
        for (; i < end && address < stop; i++)
            address += (uintptr_t)noted->entry[i].size * 8;
    }
    return stayed;
}

void young_collect(struct live *live)
{
    struct live_log **logs;
    struct young_run *run;
    struct cursor at = {0, 0};
    size_t count;

    if (!young_runs(live, true, &logs, &run, &count)) {
        live_inexact(live, SST_LIVE_MEMORY);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct live_log *log = logs[run[i].log];

        log->stayed += walk(live, &log->past, run[i].run, &at);
        log_passed(log, log->past.run[run[i].run].first, run_end(&log->past, run[i].run));
        settle_let(live);
    }
}
