#include "log/records.h"
#include "log/rounds.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_NS       250000000ull /* write when the oldest line is that old */
#define REPORT_NS      500000000ull /* check, lost, repair, status */
#define SITES_NS       100000000ull /* --log sites: the first sums; then twice as long each time */
#define SITES_MAX_NS   500000000ull /* up to that */
#define SITES_GRACE_NS 50000000ull  /* the same while memory of unloaded code waits for them */
#define SLEEP_NS       50000000ull  /* between rounds; a ring a quarter full ends it */
#define CALLS_NS       500000ull    /* the same while calls are traced */
#define SAMPLED_NS     100000000ull /* the same where samples are all there is */
#define DEFERRED_LIMIT (4u << 20)   /* events that may wait in our memory, all threads together */
#define END_TRIES      4            /* the end record and the status, if memory is out */
#define BATCH          4096         /* slots of one ring before the next gets its turn */
#define SITES_BATCH    1024         /* rows of --log sites before the rings get theirs */

/* Calls from the tail on, many at once. Returns how many were taken. */
static uint64_t drain_calls(struct log *log, struct log_thread *thread, uint64_t tail,
                            uint64_t head)
{
    struct event_ring *ring = thread->ring;
    const struct event *event = event_at(ring, tail);
    uint64_t count = ring->window_mask + 1 - (tail & ring->window_mask);
    int err;

    if (thread->deferred.count || event_kind(event) != EVENT_CALL)
        return 0;
    if (count > head - tail)
        count = head - tail;
    return log_write_calls(log, thread, event, count < BATCH ? count : BATCH, &err);
}

/* Returns: whether there is more than it took. */
static bool drain(struct log *log, struct log_thread *thread)
{
    struct event_ring *ring = thread->ring;
    uint64_t tail = load_relaxed(&ring->tail), head = load_acquire(&ring->head),
             from = tail;                                 /* slots after head */
    const bool over = log_file_has_its_share(&log->file); /* the next part could not be begun */
    unsigned done = 0;

    if (log->headless && log_write_header(log))
        return false; /* memory is out: next round again */
    log->headless = false;
    if (!log_file_full(&log->file) && /* else none of its lines is written either */
        log_know_thread(log, thread))
        return false; /* memory is out: next round again */
    /* Not all at once: their ring waits meanwhile. What comes after them is put behind them. */
    for (; done < BATCH && thread->deferred.count &&
           log_handle(log, thread, log_deferred_oldest(&thread->deferred)) == 0;
         done++) {
        log_deferred_pop(log, &thread->deferred);
        log_file_flush_large(&log->file);
    }
    for (; tail != head && tail - from < BATCH && (over || !log_file_has_its_share(&log->file));
         tail++) {
        const struct event *event = event_at(ring, tail);
        uint64_t calls = drain_calls(log, thread, tail, head);

        if (calls) {
            tail += calls - 1;
            continue;
        }
        if (!thread->deferred.count && log_handle(log, thread, event) == 0) {
            log_file_flush_large(&log->file);
            continue;
        }
        if (log->deferred >= DEFERRED_LIMIT || log_deferred_push(log, &thread->deferred, event))
            break; /* it stays in the ring; a full ring makes its thread wait, then count */
    }
    store_release(&ring->tail, tail); /* slots read before they are written again */
    return done == BATCH || tail - from >= BATCH || (!over && log_file_has_its_share(&log->file));
}

static void adopt(struct log *log)
{
    struct event_ring *ring = event_hub_adopt(log->config.hub);

    log->unadopted = false;
    while (ring) {
        struct event_ring *next = ring->next;
        struct log_thread *thread = memory_zalloc(1, sizeof(*thread)), **last = &log->threads;

        if (!thread) { /* next round again */
            event_hub_add(log->config.hub, ring);
            log->unadopted = true;
            ring = next;
            continue;
        }
        thread->ring = ring;
        thread->sample = log->config.options->sample;
        ring->writer = thread;
        while (*last)
            last = &(*last)->next;
        *last = thread;
        ring = next;
    }
}

/* Threads that closed their ring and whose events are all written. */
static void retire(struct log *log)
{
    for (struct log_thread **link = &log->threads, *thread; (thread = *link);) {
        struct event_ring *ring = thread->ring;

        if (thread->deferred.count || !load_acquire(&ring->closed) ||
            load_acquire(&ring->head) != load_relaxed(&ring->tail)) {
            link = &thread->next;
            continue;
        }
        if (log_write_check_thread(log, thread, thread->last_ns))
            log->not_written[SST_KIND_CHECK_THREAD]++;
        log_calls_free(log, thread);
        if (log_define_thread(log, thread, &thread->last_ns))
            log->not_written[SST_KIND_THREAD]++;
        log->calls_seen_ended += load_relaxed(&ring->calls_seen);
        log->calls_lost_ended += load_relaxed(&ring->calls_lost);
        log->seen_by_ended += load_relaxed(&ring->seen);
        for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
            log->lost_ended[i] += load_relaxed(&ring->lost[i]);
        *link = thread->next;
        event_ring_free(ring);
        log_values_free(thread);
        memory_free_all(thread->name, thread);
    }
}

static bool empty(const struct log *log)
{
    for (const struct log_thread *thread = log->threads; thread; thread = thread->next)
        if (thread->deferred.count ||
            load_acquire(&thread->ring->head) != load_relaxed(&thread->ring->tail))
            return false;
    return true;
}

static void report(struct log *log, uint64_t now)
{
    if (now < log->next_report_ns || log->headless)
        return;
    log->next_report_ns = now + REPORT_NS;
    clock_calibrate();
    log_fate_look(log);
    log_watch_expire(log, now);
    log_write_reports(log, log_t(log, clock_ns()));
    log_status_write(log, "recording");
}

static void flush(struct log *log, uint64_t now)
{
    struct log_file *file = &log->file;

    if (!file->buffer.size)
        return;
    if (!file->oldest_ns)
        file->oldest_ns = now;
    if (file->buffer.size >= LOG_FLUSH_BYTES || now - file->oldest_ns >= FLUSH_NS)
        log_file_flush(&log->file);
}

static void show(struct log *log)
{
    store_relaxed(&log->shown_written, log_written(log));
    store_relaxed(&log->shown_bytes, log->file.put.bytes + log->row_bytes);
    store_relaxed(&log->shown_file, log->file.bytes);
    store_relaxed(&log->shown_part, log->file.part);
    store_relaxed(&log->shown_cut, log->file.put.cut);
}

/*
 * --log sites: what was counted is in the file within a second, and soon after the start: a program
 * may end at once. Returns whether rows are left to be written.
 */
static bool write_sites(struct log *log, uint64_t now)
{
    if (now >= log->next_sites_ns ||
        (log_grace_waits(log) && now - log->swapped_ns >= SITES_GRACE_NS)) {
        log->swapped_ns = now;
        log->sites_ns = log->sites_ns ? 2 * log->sites_ns : SITES_NS;
        if (log->config.options->sums_every)
            log->sites_ns = log->config.options->sums_every * UINT64_C(1000000);
        else if (log->sites_ns > SITES_MAX_NS)
            log->sites_ns = SITES_MAX_NS;
        log->next_sites_ns = now + log->sites_ns;
        log_sites_swap(log);
    }
    return !log_sites_write(log, SITES_BATCH) && !log_file_full(&log->file);
}

static void part_if_due(struct log *log)
{
    if (LIKELY(!log_file_due(&log->file)))
        return;
    log_fate_look(log);
    log_part_next(log, false);
}

/* Returns: whether there is more than it took. */
static bool round_once(struct log *log)
{
    bool more = false;
    uint64_t now;

    adopt(log);
    log_grace_take(log);
    for (struct log_thread *thread = log->threads; thread; thread = thread->next) {
        more |= drain(log, thread);
        log_file_flush_large(&log->file);
        if (UNLIKELY(log->file.cut))
            log_fate_begin_anew(log);
        part_if_due(log);
    }
    part_if_due(log);
    log_messages_take(log); /* behind what was recorded before them */
    retire(log);
    now = clock_ns();
    if (log->sites && write_sites(log, now))
        more = true;
    log_live_write(log, now);
    log_grace_check(log);
    log_calls_flush_old(log, now);
    report(log, now);
    flush(log, now);
    show(log);
    return more;
}

/* Rings after the last round, or that no memory was left to adopt: their events are lost. */
static void count_unadopted(struct log *log)
{
    for (struct event_ring *ring = event_hub_adopt(log->config.hub); ring; ring = ring->next) {
        uint64_t lost = 0;

        for (unsigned i = 0; i < EVENT_LOST_REASONS; i++) {
            log->lost_ended[i] += load_relaxed(&ring->lost[i]);
            lost += load_relaxed(&ring->lost[i]);
        }
        log->seen_by_ended += load_relaxed(&ring->seen);
        log->lost_here[EVENT_LOST_STOPPED] += load_relaxed(&ring->seen) - lost;
    }
}

/* Memory that is out for a moment costs no end. Returns whether the log has one. */
static bool end_write(struct log *log)
{
    for (unsigned i = 0; i < END_TRIES; i++)
        if (!log_write_end(log, log_t(log, clock_ns())))
            return true;
    return false;
}

/* Grows while the writer gets on, and while the resolver does for which its events wait. */
static uint64_t progress(const struct log *log)
{
    return log_written(log) + log_kinds_sum(log->file.put.lines) +
           metadata_progress(log->config.metadata);
}

/* A slow machine costs no event: the writer gives up early only if nothing gets on. */
static bool goes_on(struct log *log, uint64_t *before)
{
    uint64_t now = progress(log);

    if (now != *before)
        add_relaxed(&log->got_on, 1);
    *before = now;
    return !load_relaxed(&log->gives_up);
}

static void finish(struct log *log)
{
    uint64_t before = progress(log);
    struct log_tally lost;
    bool whole;

    log->file.ending = true;
    do {
        round_once(log);
        if (empty(log) && (log_live_finish(log) || log->unadopted || log_file_full(&log->file)) &&
            (!log->sites || log_sites_flush(log) || log_file_full(&log->file)))
            break;
        store_relaxed(&log->waits, true);
        if (log->deferred || log->sites || log->live)
            parker_park(&log->config.hub->writer, SLEEP_NS);
    } while (goes_on(log, &before));
    log_calls_flush_all(log);
    count_unadopted(log);
    log_messages_take(log);
    if (log->headless)
        log->headless = log_write_header(log) != 0;
    if (log->sites)
        log_sites_drop(log);
    log_file_flush(&log->file);
    log_fate_look(log); /* so that the end, too, comes behind a header */
    log_write_reports(log, log_t(log, clock_ns()));
    whole = end_write(log);
    log_file_close(&log->file, &lost);
    log_lose(log, &lost);
    log_fate_end(log);
    if (!whole && !log->file.error)
        log->file.error = ENOMEM; /* the status says that the log was not finished */
    for (unsigned i = 0; i < END_TRIES && log_status_write(log, "ended"); i++)
        ; /* else it would be taken for killed */
}

void *log_writer(void *context)
{
    struct log *log = context;
    const struct options *options = log->config.options;
    /* Hooks fill their rings fast and do not wake us. Samples are few, and may pile up. */
    bool calls = options_records(options, OPTIONS_CALLS);
    bool few = options->runtime_samples && !calls;
    uint64_t sleep_ns = calls ? CALLS_NS : few ? SAMPLED_NS : SLEEP_NS;

    pthread_setname_np(pthread_self(), "shadowtrace-log");
    store_relaxed(&log->writer_os, (int)gettid());
    /* Without memory the first event writes the header; of a full disk the status tells. */
    if (log->headless)
        log_begin(log);
    if (log->config.measure)
        log->ns_per_pair = log->config.measure();
    log_status_write(log, "recording");
    while (!load_acquire(&log->stopping)) {
        if (round_once(log))
            continue;
        /* What comes meanwhile is taken at once: fetched singly, its cache lines go to and fro. */
        store_relaxed(&log->waits, log->deferred > 0);
        if (log->deferred && !few) /* until the resolver's next round all events would be put by */
            metadata_hurry(log->config.metadata);
        parker_park(&log->config.hub->writer, sleep_ns);
    }
    finish(log);
    store_release(&log->ended, true);
    parker_unpark(&log->over);
    return NULL;
}
