#include "live/internal.h"

#include "base/memory.h"

#define FIRST_ENTRIES 1024
#define FIRST_RUNS    256
#define OPEN_MOST     16          /* allocations of a thread that are told of within each other */
#define KEEP_BYTES    (12u << 20) /* of a log, at most; the rest is given back */
#define GIVE_BYTES    (1u << 18)  /* at once, at least */

struct live_log *live_log_new(struct live *live)
{
    struct live_log *log = memory_zalloc(1, sizeof(*log));

    if (!log)
        return NULL;
    log->live = live;
    pthread_mutex_lock(&live->logs_lock);
    log->next = live->logs;
    live->logs = log;
    pthread_mutex_unlock(&live->logs_lock);
    return log;
}

/* A quarter more; *data is of `room` elements of that size. */
static bool grow(struct live *live, void *data, size_t *room, size_t first, size_t size)
{
    struct pages pages = {*(void **)data, *room * size};

    if (!pages_room(live, &pages, *room ? pages.size + pages.size / 4 : first * size))
        return false;
    *(void **)data = pages.data;
    *room = pages.size / size;
    return true;
}

bool live_log_grow(struct live_log *log)
{
    bool room = (log->entries < log->entry_room || grow(log->live, &log->entry, &log->entry_room,
                                                        FIRST_ENTRIES, sizeof(*log->entry))) &&
                (log->runs < log->run_room ||
                 grow(log->live, &log->run, &log->run_room, FIRST_RUNS, sizeof(*log->run)));

    if (!room) {
        log->lost++;
        log->expected = 0;
        live_inexact(log->live, SST_LIVE_MEMORY);
    }
    return room;
}

/* The youngest entry that is open; they nest. */
static size_t open_entry(const struct live_log *log)
{
    size_t at = log->entries;

    while (at-- > 0 && log->entry[at].class != LIVE_OPEN)
        ;
    return at;
}

void live_known_late(struct live_log *log, const struct live_entry *known)
{
    if (!log->open)
        return;
    log->entry[open_entry(log)] = *known;
    log->open--;
}

void live_unknown(struct live_log *log)
{
    const struct live_entry nothing = {0};

    live_known(log, &nothing);
    log->expected = 0;
}

uintptr_t live_open_address(const struct live_log *log)
{
    size_t entry = open_entry(log), run = log->runs;
    uintptr_t address;

    if (!log->open)
        return 0;
    while (run-- > 0 && log->run[run].first > entry)
        ;
    address = log->run[run].start;
    for (size_t i = log->run[run].first; i < entry; i++)
        address += (uintptr_t)log->entry[i].size * 8;
    return address;
}

static void log_free(struct live *live, struct live_log *log)
{
    struct pages entry = {log->entry, log->entry_room * sizeof(*log->entry)};
    struct pages run = {log->run, log->run_room * sizeof(*log->run)};

    pages_free(live, &entry);
    pages_free(live, &run);
    memory_free(log);
}

void log_passed(struct live_log *log, size_t first, size_t end)
{
    size_t from, to = end * sizeof(*log->entry) / PAGE * PAGE;

    if (first != log->passed_to)
        log->passed_from = first;
    log->passed_to = end;
    from = log->passed_from * sizeof(*log->entry);
    from = from < KEEP_BYTES ? KEEP_BYTES : (from + PAGE - 1) / PAGE * PAGE;
    if (to < from + GIVE_BYTES || log->open) /* what is open is looked for once more */
        return;
    memory_pages_clear((char *)log->entry + from, to - from);
    add_relaxed(&log->live->memory, -(uint64_t)(to - from));
    log->given += to - from;
    log->passed_from = to / sizeof(*log->entry);
}

/* What threads use again and again they keep: touching new pages costs more than what is noted. */
static size_t kept(struct live_log *log)
{
    size_t used = log->entries * sizeof(*log->entry), first = FIRST_ENTRIES * sizeof(*log->entry);

    log->kept -= log->kept / 4; /* of a thread that makes less and less */
    if (log->kept < used)
        log->kept = used < KEEP_BYTES ? used : KEEP_BYTES;
    return log->kept < first ? first : log->kept;
}

static void clear(struct live_log *log)
{
    struct pages pages = {log->entry, log->entry_room * sizeof(*log->entry)};
    size_t keep = kept(log);

    add_relaxed(&log->live->memory, log->given);
    log->given = log->passed_from = log->passed_to = 0;
    if (pages.size > KEEP_BYTES || pages.size / 2 > keep)
        pages_trim(log->live, &pages, keep);
    log->entry_room = pages.size / sizeof(*log->entry);
    log->entries = log->runs = log->open = 0;
    log->expected = 0;
}

/* Where an object lies after the collection; where it was, if that does not take it along. */
static uintptr_t moved_to(const struct live *live, uintptr_t address)
{
    size_t low = 0, high = live->ranges;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (live->range[middle].from + live->range[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < live->ranges && live->range[low].from <= address
               ? address - live->range[low].from + live->range[low].to
               : address;
}

/* Objects whose keys are not known yet stay young, wherever they lie from now on. */
static void clear_but_open(struct live *live, struct live_log *log)
{
    uintptr_t address[OPEN_MOST];
    size_t count = 0;

    while (log->open && count < OPEN_MOST) {
        size_t entry = open_entry(log);

        address[count++] = moved_to(live, live_open_address(log));
        log->entry[entry].class = 0;
        log->open--;
    }
    if (log->open)
        live_inexact(live, SST_LIVE_MEMORY);
    clear(log);
    while (count > 0 && RULE(RULE_LIVE_OPEN))
        live_note(log, address[--count]);
}

void logs_clear(struct live *live)
{
    for (struct live_log **link = &live->logs, *log; (log = *link);) {
        clear_but_open(live, log);
        if (!load_acquire(&log->ended)) {
            link = &log->next;
            continue;
        }
        *link = log->next;
        log_free(live, log);
    }
}
