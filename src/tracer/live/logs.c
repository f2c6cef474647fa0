#include "live/internal.h"

#include "base/memory.h"

#define FIRST_ENTRIES 1024
#define FIRST_RUNS    256
#define OPEN_MOST     16          /* nested allocations of a thread */
#define KEEP_BYTES    (16u << 20) /* of a log, at most; the rest is given back */
#define KEEP_STAYING  (8u << 20)  /* the same if most of what it holds stays alive */
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
    struct live_noted *now = &log->now;
    bool room = (now->entries < now->entry_room || grow(log->live, &now->entry, &now->entry_room,
                                                        FIRST_ENTRIES, sizeof(*now->entry))) &&
                (now->runs < now->run_room ||
                 grow(log->live, &now->run, &now->run_room, FIRST_RUNS, sizeof(*now->run)));

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
    size_t at = log->now.entries;

    while (at-- > 0 && log->now.entry[at].class != LIVE_OPEN)
        ;
    return at;
}

void live_known_late(struct live_log *log, const struct live_entry *known)
{
    if (!log->open)
        return;
    log->now.entry[open_entry(log)] = *known;
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
    const struct live_noted *now = &log->now;
    size_t entry = open_entry(log), run = now->runs;
    uintptr_t address;

    if (!log->open)
        return 0;
    while (run-- > 0 && now->run[run].first > entry)
        ;
    address = now->run[run].start;
    for (size_t i = now->run[run].first; i < entry; i++)
        address += (uintptr_t)now->entry[i].size * 8;
    return address;
}

static void noted_free(struct live *live, struct live_noted *noted)
{
    struct pages entry = {noted->entry, noted->entry_room * sizeof(*noted->entry)};
    struct pages run = {noted->run, noted->run_room * sizeof(*noted->run)};

    pages_free(live, &entry);
    pages_free(live, &run);
}

static void log_free(struct live *live, struct live_log *log)
{
    noted_free(live, &log->now);
    noted_free(live, &log->past);
    memory_free(log);
}

/*
 * Touching new pages costs more than noting objects, so threads keep the pages that they reuse.
 * But objects that stay alive need other memory, and cost more than pages do.
 */
static size_t keep_most(const struct live_log *log, size_t entries)
{
    return log->stayed > entries / 2 ? KEEP_STAYING : KEEP_BYTES;
}

void log_passed(struct live_log *log, size_t first, size_t end)
{
    size_t from, to = end * sizeof(*log->past.entry) / cpu_page_size() * cpu_page_size(),
                 keep = keep_most(log, end);

    if (first != log->passed_to)
        log->passed_from = first;
    log->passed_to = end;
    from = log->passed_from * sizeof(*log->past.entry);
    from = from < keep ? keep : (from + cpu_page_size() - 1) / cpu_page_size() * cpu_page_size();
    if (to < from + GIVE_BYTES)
        return;
    memory_pages_clear((char *)log->past.entry + from, to - from);
    add_relaxed(&log->live->memory, -(uint64_t)(to - from));
    log->given += to - from;
    log->passed_from = to / sizeof(*log->past.entry);
}

static size_t kept(struct live_log *log, size_t most)
{
    size_t used = log->past.entries * sizeof(*log->past.entry);
    size_t first = FIRST_ENTRIES * sizeof(*log->past.entry);

    log->kept -= log->kept / 4; /* of a thread that makes less and less */
    if (log->kept < used)
        log->kept = used;
    log->kept = log->kept < most ? log->kept : most;
    return log->kept < first ? first : log->kept;
}

static void clear(struct live_log *log)
{
    struct live_noted *past = &log->past;
    struct pages entry = {past->entry, past->entry_room * sizeof(*past->entry)};
    struct pages run = {past->run, past->run_room * sizeof(*past->run)};
    size_t most = keep_most(log, past->entries), keep = kept(log, most);

    add_relaxed(&log->live->memory, log->given);
    log->given = log->passed_from = log->passed_to = log->stayed = 0;
    if (entry.size > most || entry.size / 2 > keep)
        pages_trim(log->live, &entry, keep);
    pages_trim(log->live, &run, most);
    past->entry_room = entry.size / sizeof(*past->entry);
    past->run_room = run.size / sizeof(*past->run);
    past->entries = past->runs = 0;
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
static void turn(struct live *live, struct live_log *log)
{
    uintptr_t address[OPEN_MOST];
    struct live_noted past = log->now;
    size_t count = 0;

    while (log->open && count < OPEN_MOST) {
        size_t entry = open_entry(log);

        address[count++] = moved_to(live, live_open_address(log));
        past.entry[entry].class = 0;
        log->open--;
    }
    if (log->open)
        live_inexact(live, SST_LIVE_MEMORY);
    log->now = log->past;
    log->past = past;
    log->over = load_acquire(&log->ended);
    log->expected = log->open = 0;
    while (count > 0 && RULE(RULE_LIVE_OPEN))
        live_note(log, address[--count]);
}

void logs_turn(struct live *live)
{
    bool sorted = false;

    pthread_mutex_lock(&live->logs_lock);
    for (struct live_log *log = live->logs; log; log = log->next) {
        if (log->open && !sorted && !threes_sort(live, live->range, live->ranges))
            live->ranges = 0;
        sorted |= log->open > 0;
        turn(live, log);
    }
    pthread_mutex_unlock(&live->logs_lock);
}

void logs_clear(struct live *live)
{
    pthread_mutex_lock(&live->logs_lock);
    for (struct live_log **link = &live->logs, *log; (log = *link);) {
        clear(log);
        if (!log->over) {
            link = &log->next;
            continue;
        }
        *link = log->next;
        log_free(live, log);
    }
    pthread_mutex_unlock(&live->logs_lock);
}

struct live_log *logs_first(struct live *live)
{
    struct live_log *first;

    pthread_mutex_lock(&live->logs_lock);
    first = live->logs;
    pthread_mutex_unlock(&live->logs_lock);
    return first;
}
