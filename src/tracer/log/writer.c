#include "log/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_NS  250000000ull /* write when the oldest line is that old */
#define REPORT_NS 500000000ull /* check, lost, repair, status */
#define SITES_NS \
    100000000ull /* --log sites: the first sums; then twice as long each time, up to: */
#define SITES_MOST_NS 500000000ull
#define SITES_GRACE_NS \
    50000000ull /* the same while memory of unloaded code waits for them to be written */
#define IDLE_NS        50000000ull /* longest sleep; a ring a quarter full ends it */
#define CALLS_NS       500000ull   /* the same while calls are traced */
#define BUSY_NS        2000000ull  /* sleep while events wait for the resolver */
#define DEFERRED_LIMIT (4u << 20)  /* events that may wait in our memory, all threads together */
#define END_TRIES      4           /* the end record and the status, if memory is out */
#define BATCH          4096        /* slots of one ring before the next gets its turn */
#define SITES_BATCH    1024        /* rows of --log sites before the rings get theirs */

static uint64_t now_t(struct log *log)
{
    uint64_t now = clock_ns();

    return now > log->zero_ns ? now - log->zero_ns : 0;
}

static uint64_t event_t(struct log *log, struct log_thread *thread, const struct event *event)
{
    uint64_t ns = clock_ticks_to_ns(event->ticks);

    ns = ns > log->zero_ns ? ns - log->zero_ns : 0;
    if (ns < thread->last_ns)
        ns = thread->last_ns;
    thread->last_ns = ns;
    return ns;
}

/* Class and node of an allocation; nearly always they are there. */
static int define_for(struct log *log, const struct event *event)
{
    const struct metadata_class *class = (const struct metadata_class *)event->subject;
    int err = LIKELY(log_has(log, class->written)) ? 0 : log_define_class(log, class);

    return err || LIKELY(log_node_defined(log, event->node)) ? err
                                                             : log_define_node(log, event->node);
}

/* --sample: what all allocations come to, of which only some have an event. */
static void weigh(struct log *log, const struct log_thread *thread, const struct event *event)
{
    double bytes = (double)event_bytes(event), weight = log_weight(thread, event);

    if (!log->sampled) { /* those before stand for themselves */
        log->sampled = true;
        log->estimated_bytes = (double)(log->put.bytes + log->row_bytes) - bytes;
        log->estimated_allocs = (double)log_written(log) - 1;
    }
    log->estimated_bytes += weight;
    log->estimated_allocs += bytes > 0 ? weight / bytes : 1;
}

static int write_alloc(struct log *log, struct log_thread *thread, const struct event *event)
{
    struct buffer *b = &log->file.buffer;
    size_t mark;
    int32_t il = log_site_il(log, event->site);
    int err = LIKELY(!log_file_full(log)) ? define_for(log, event) : -ENOSPC;

    if (!err && il == CODE_IL_PENDING)
        err = -EAGAIN;
    if (err)
        return err;
    if (UNLIKELY(tree_is_cut(event->node)))
        il = CODE_IL_NONE; /* of a method that the line does not name */
    mark = b->size;
    log_format_alloc(log, thread, event, event_t(log, thread, event), il);
    if (b->failed) {
        b->size = mark;
        b->failed = 0;
        return -ENOMEM;
    }
    log->put.lines[SST_KIND_ALLOC]++;
    log->put.allocs++;
    log->put.bytes += event_bytes(event);
    if (UNLIKELY(thread->sample || log->sampled))
        weigh(log, thread, event);
    log->put.cut += tree_is_cut(event->node);
    if (UNLIKELY(log->watch))
        log_watch_add(log, thread, event);
    return 0;
}

/* Counted now, named when its row is written. */
static int count_alloc(struct log *log, struct log_thread *thread, const struct event *event)
{
    int err = log_sites_add(log, thread, event);

    if (!err) {
        log->row_allocs++;
        log->row_bytes += event_bytes(event);
        if (UNLIKELY(thread->sample || log->sampled))
            weigh(log, thread, event);
    }
    return err;
}

static int write_name(struct log *log, const struct event_name *name)
{
    struct log_thread *thread = log->threads;

    while (thread && thread->ring->os != name->os)
        thread = thread->next;
    if (!thread)
        return 0;
    memory_free(thread->name);
    thread->name = memory_strdup(name->text);
    if (log_define_thread(log, thread, NULL))
        thread->defined = false; /* again before its next line */
    return 0;
}

/* Kinds whose subject is a block of ours. */
#define KIND(kind) (1u << (kind))
#define PAYLOADS \
    (KIND(EVENT_MISMATCH) | KIND(EVENT_SNAPSHOT) | KIND(EVENT_THREAD_NAME) | KIND(EVENT_FAMILY) | \
     KIND(EVENT_VALUES))

static bool has_payload(const struct event *event)
{
    return KIND(event_kind(event)) & PAYLOADS;
}

static enum event_lost reason_of(int err)
{
    return err == -ENOSPC ? EVENT_LOST_WRITE_FAILED : EVENT_LOST_NO_MEMORY;
}

static void lose_other(struct log *log, const struct event *event, enum event_lost reason)
{
    switch (event_kind(event)) {
    case EVENT_MISMATCH:
        log->not_written[SST_KIND_MISMATCH]++;
        break;
    case EVENT_SNAPSHOT:
        log->not_written[SST_KIND_SNAPSHOT]++;
        break;
    case EVENT_SAMPLE:
        log->not_written[SST_KIND_SAMPLE]++;
        break;
    case EVENT_FAMILY:
    case EVENT_TRANSITION:
    case EVENT_CALL:
        log->family_lost[log_family_of(event)][reason]++;
        break;
    default: /* values are what was posted without what was written; the others are no lines */
        break;
    }
}

/* Any but an allocation. Returns 0 when it is done with, or -EAGAIN when it has to wait. */
static int handle_other(struct log *log, struct log_thread *thread, const struct event *event)
{
    void *payload = has_payload(event) ? (void *)event->subject : NULL;
    int err = 0;

    switch (event_kind(event)) {
    case EVENT_ALLOC:
        break; /* see handle() */
    case EVENT_MISMATCH:
        err = log_write_mismatch(log, thread, payload, event_t(log, thread, event));
        break;
    case EVENT_SNAPSHOT:
        err = log_write_snapshot(log, thread, payload, event_t(log, thread, event));
        break;
    case EVENT_THREAD_NAME:
        err = write_name(log, payload);
        break;
    case EVENT_SAMPLE:
        err = log_write_sample(log, event, event_t(log, thread, event));
        break;
    case EVENT_WAITS:
        err = log_define_node(log, event->node);
        break;
    case EVENT_SAMPLE_RATE:
        thread->sample = event->subject;
        break;
    case EVENT_FAMILY:
        err = log_write_family(log, thread, event, event_t(log, thread, event));
        break;
    case EVENT_TRANSITION:
        err = log_write_transition(log, thread, event, event_t(log, thread, event));
        break;
    case EVENT_VALUES:
        err = log_write_values(log, thread, payload, event_t(log, thread, event));
        break;
    case EVENT_VALUES_OF:
        thread->values = (uint32_t)event->subject;
        thread->values_ticks = event->ticks;
        break;
    case EVENT_CALL:
        log_write_calls(log, thread, event, 1, &err);
        break;
    }
    if (err == -EAGAIN)
        return err;
    if (err)
        lose_other(log, event, reason_of(err));
    memory_free(payload);
    return 0;
}

/* One event. Returns as handle_other. */
static int handle(struct log *log, struct log_thread *thread, const struct event *event)
{
    int err;

    if (UNLIKELY(thread->calls != NULL) && event_kind(event) != EVENT_CALL)
        log_calls_flush(log, thread);
    if (UNLIKELY(event_kind(event) != EVENT_ALLOC))
        return handle_other(log, thread, event);
    err = log->sites ? count_alloc(log, thread, event) : write_alloc(log, thread, event);
    if (LIKELY(!err) || err == -EAGAIN)
        return err;
    log->lost_here[reason_of(err)]++;
    return 0;
}

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

/* What a round found: nothing; something; more than it took. */
enum found { FOUND_NOTHING, FOUND_SOME, FOUND_MORE };

static enum found drain(struct log *log, struct log_thread *thread)
{
    struct event_ring *ring = thread->ring;
    uint64_t tail = load_relaxed(&ring->tail), head = load_acquire(&ring->head),
             from = tail; /* slots after head */
    unsigned done = 0;

    if (log->headless && log_write_header(log))
        return FOUND_NOTHING; /* memory is out: next round again */
    log->headless = false;
    if (!thread->defined && !log_file_full(log)) { /* else none of its lines is written either */
        if (log_define_thread(log, thread, NULL))
            return FOUND_NOTHING; /* memory is out: next round again */
        thread->defined = true;
    }
    /* Not all at once: their ring waits meanwhile. What comes after them is put behind them. */
    for (; done < BATCH && thread->deferred.count &&
           handle(log, thread, log_deferred_oldest(&thread->deferred)) == 0;
         done++) {
        log_deferred_pop(log, &thread->deferred);
        log_file_flush_large(log);
    }
    for (; tail != head && tail - from < BATCH; tail++) {
        const struct event *event = event_at(ring, tail);
        uint64_t calls = drain_calls(log, thread, tail, head);

        if (calls) {
            tail += calls - 1;
            continue;
        }
        if (!thread->deferred.count && handle(log, thread, event) == 0) {
            log_file_flush_large(log);
            continue;
        }
        if (log->deferred >= DEFERRED_LIMIT || log_deferred_push(log, &thread->deferred, event))
            break; /* it stays in the ring; a full ring makes its thread wait, then count */
    }
    store_release(&ring->tail, tail); /* slots read before they are written again */
    if (done == BATCH || tail - from >= BATCH)
        return FOUND_MORE;
    return done || tail != from ? FOUND_SOME : FOUND_NOTHING;
}

static void adopt(struct log *log)
{
    struct event_ring *ring = event_hub_adopt(log->config.hub);

    while (ring) {
        struct event_ring *next = ring->next;
        struct log_thread *thread = memory_zalloc(1, sizeof(*thread)), **last = &log->threads;

        if (!thread) { /* next round again */
            event_hub_add(log->config.hub, ring);
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

static void thread_free(struct log_thread *thread)
{
    log_values_free(thread);
    memory_free(thread->name);
    memory_free(thread);
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
        thread_free(thread);
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
    log_write_reports(log, now_t(log));
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
        log_file_flush(log);
}

void log_part_begin(struct log *log)
{
    log->part_began = log->put;
    log_calls_part(log);
    log->part++;
    memset(log->calls_of, 0, sizeof(log->calls_of));
    log_ids_clear(&log->defined_threads);
    log_images_clear(&log->images);
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        thread->defined = false;
    if (++log->generation == 0) {
        log->generation = 1;
        tree_marks_clear(log->config.tree);
    }
    log->headless = log_write_header(log) != 0;
}

int log_next_part(struct log *log, bool keep)
{
    int err;

    log_fate_look(log);
    if (log->sites && !log_sites_flush(log))
        return -EAGAIN; /* their threads may have ended: they belong to this part */
    log_calls_flush_all(log);
    err = log_file_next(log, keep);
    if (err)
        return err; /* the present one goes on */
    log_part_begin(log);
    return 0;
}

static void show(struct log *log)
{
    store_relaxed(&log->shown_written, log_written(log));
    store_relaxed(&log->shown_bytes, log->put.bytes + log->row_bytes);
    store_relaxed(&log->shown_file, log->file.bytes);
    store_relaxed(&log->shown_part, log->file.part);
    store_relaxed(&log->shown_cut, log->put.cut);
}

void log_counts(const struct log *log, struct log_counts *out)
{
    out->written = load_relaxed(&log->shown_written);
    out->bytes = load_relaxed(&log->shown_bytes);
    out->file_bytes = load_relaxed(&log->shown_file);
    out->parts = load_relaxed(&log->shown_part);
    out->cut_allocs = load_relaxed(&log->shown_cut);
}

const char *log_path(const struct log *log)
{
    return log->file.path;
}

uint64_t log_zero_ns(const struct log *log)
{
    return log->zero_ns;
}

/*
 * --log sites: what was counted is in the file within a second, and soon after the start: a program may end at once.
 * Returns whether rows are left to be written.
 */
static bool write_sites(struct log *log, uint64_t now)
{
    if (now >= log->next_sites_ns ||
        (log_grace_waits(log) && now - log->swapped_ns >= SITES_GRACE_NS)) {
        log->swapped_ns = now;
        log->sites_ns = log->sites_ns ? 2 * log->sites_ns : SITES_NS;
        if (log->sites_ns > SITES_MOST_NS)
            log->sites_ns = SITES_MOST_NS;
        log->next_sites_ns = now + log->sites_ns;
        log_sites_swap(log);
    }
    return !log_sites_write(log, SITES_BATCH) && !log_file_full(log);
}

static enum found round_once(struct log *log)
{
    enum found found = FOUND_NOTHING;
    uint64_t now;

    adopt(log);
    log_grace_take(log);
    for (struct log_thread *thread = log->threads; thread; thread = thread->next) {
        enum found here = drain(log, thread);

        found = here > found ? here : found;
        log_file_flush_large(log);
        if (UNLIKELY(log->file.cut))
            log_fate_begin_anew(log);
        if (log_file_due(log))
            log_next_part(log, false);
    }
    log_messages_take(log); /* behind what was recorded before them */
    retire(log);
    now = clock_ns();
    if (log->sites && write_sites(log, now))
        found = FOUND_MORE;
    log_grace_check(log);
    log_calls_flush_old(log, now);
    report(log, now);
    flush(log, now);
    show(log);
    return found;
}

/* Rings that came after the last round, or that there was no memory to adopt: their events are lost, and counted. */
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
        if (!log_write_end(log, now_t(log)))
            return true;
    return false;
}

static void finish(struct log *log)
{
    bool whole;

    while (clock_ns() < log->deadline_ns) {
        round_once(log);
        if (empty(log) && (!log->sites || log_sites_flush(log) || log_file_full(log)))
            break;
        store_relaxed(&log->waits, true);
        if (log->deferred || log->sites)
            parker_park(&log->config.hub->writer, BUSY_NS);
    }
    log_calls_flush_all(log);
    count_unadopted(log);
    log_messages_take(log);
    if (log->headless)
        log->headless = log_write_header(log) != 0;
    if (log->sites)
        log_sites_drop(log);
    log_file_flush(log);
    log_fate_look(log); /* so that the end, too, comes behind a header */
    log_write_reports(log, now_t(log));
    whole = end_write(log);
    log_file_close(log);
    if (!whole && !log->file.error)
        log->file.error = ENOMEM; /* the status says that the log was not finished */
    for (unsigned i = 0; i < END_TRIES && log_status_write(log, "ended"); i++)
        ; /* else it would be taken for killed */
}

static void *writer_main(void *context)
{
    struct log *log = context;
    /* Hooks do not wake us, and their rings fill fast. */
    uint64_t idle_ns = options_records(log->config.options, OPTIONS_CALLS) ? CALLS_NS : IDLE_NS;
    uint64_t sleep_ns = BUSY_NS;
    enum found found;

    pthread_setname_np(pthread_self(), "shadowtrace-log");
    if (log->config.measure)
        log->ns_per_pair = log->config.measure();
    log_status_write(log, "recording");
    while (!load_acquire(&log->stopping)) {
        found = round_once(log);
        if (found == FOUND_MORE)
            continue;
        /* What comes meanwhile is taken together: fetched singly, its cache lines go back and forth. */
        if (found || log->deferred)
            sleep_ns = BUSY_NS;
        else
            sleep_ns *= 2;
        if (sleep_ns > idle_ns)
            sleep_ns = idle_ns;
        store_relaxed(&log->waits, log->deferred > 0);
        parker_park(&log->config.hub->writer, sleep_ns);
    }
    finish(log);
    store_release(&log->ended, true);
    parker_unpark(&log->over);
    return NULL;
}

int log_open(const struct log_config *config, struct log **out, char *why, size_t why_size)
{
    struct log *log = memory_zalloc(1, sizeof(*log));
    int err = -ENOMEM;

    *out = NULL;
    snprintf(why, why_size, "out of memory while opening the log");
    if (!log)
        return err;
    log->config = *config;
    log->zero_ns = clock_ns();
    log->started_at = time(NULL);
    log->part = log->generation = 1;
    store_relaxed(&log->uncontrolled, config->uncontrolled);
    err = log_file_open(log, why, why_size);
    if (err)
        goto failed;
    if (config->options->log == OPTIONS_LOG_SITES)
        err = log_sites_new(&log->sites);
    if (!err)
        err = log_write_header(log);
    if (!err) {
        log_file_flush(log);
        err = -log->file.error;
        if (err)
            snprintf(why, why_size,
                     "cannot write the log %s: %s; free some space or name another file with -o",
                     log->file.path, strerror(-err));
    }
    if (err)
        goto failed;
    *out = log;
    return 0;
failed:
    log_sites_free(log->sites);
    log_file_free(log);
    memory_free(log->file.path);
    memory_free(log);
    return err;
}

int log_start(struct log *log)
{
    int err = thread_start(&log->thread, writer_main, log);

    log->started = err == 0;
    return err;
}

void log_withdraw(struct log *log)
{
    unlink(log->file.path);
    log_sites_free(log->sites);
    log_file_free(log);
}

void log_uncontrolled(struct log *log, const char *why)
{
    store_release(&log->uncontrolled, why); /* the text before it */
}

void log_stop(struct log *log, unsigned timeout_ms)
{
    uint64_t now = clock_ns(), until;

    if (!log->started)
        return;
    log->deadline_ns = now + timeout_ms * 1000000ull;
    until = log->deadline_ns + 200000000ull;
    store_release(&log->stopping, true);
    parker_unpark(&log->config.hub->writer);
    /* Not joined: a writer that hangs in write(2) on a dead file system must not hold up the program's end. */
    for (; !load_acquire(&log->ended) && now < until; now = clock_ns())
        parker_park(&log->over, until - now);
}

void log_abandon(struct log *log)
{
    store_relaxed(&log->abandoned, true);
}

void log_named(struct log *log)
{
    if (load_relaxed(&log->waits))
        parker_unpark(&log->config.hub->writer);
}
