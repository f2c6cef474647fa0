#include "log/records.h"
#include "log/patience.h"
#include "log/rounds.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STOP_BEHIND_NS 200000000ull /* for the end record, once the writer has given up */

/* A program that starts waits for as little as can be: the writer begins the log. */
static bool starts_later(const struct log_config *config)
{
    return config->options->runtime_samples && !config->attached;
}

int log_begin(struct log *log)
{
    int err;

    log->parents = log_parents(&log->born);
    err = log_write_header(log);
    log->headless = err != 0;
    if (err)
        return err;
    log_file_begin(&log->file);
    return -log->file.error;
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
    log->file.options = config->options;
    log->file.name = config->name;
    log->zero_ns = clock_ns();
    log->started_at = time(NULL);
    log->part = log->generation = 1;
    store_relaxed(&log->uncontrolled, config->uncontrolled);
    err = log_file_open(&log->file, why, why_size);
    if (err)
        goto failed;
    if (config->options->log == OPTIONS_LOG_SITES)
        err = log_sites_new(&log->sites);
    if (!err && config->live)
        err = log_live_new(config->alive ? 0 : config->options->live_grows,
                           config->tree->config.max_nodes, &log->live);
    log->headless = true;
    if (!err && !starts_later(config)) {
        err = log_begin(log);
        if (log->file.error)
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
    log_file_free(&log->file);
    log_live_free(log->live);
    json_decref(log->parents);
    memory_free_all(log->file.path, log);
    return err;
}

int log_start(struct log *log)
{
    int err = thread_start(&log->thread, log_writer, log);

    log->started = err == 0;
    return err;
}

bool log_cpu_clock(const struct log *log, clockid_t *clock)
{
    return log->started && !load_acquire(&log->ended) && !pthread_getcpuclockid(log->thread, clock);
}

void log_withdraw(struct log *log)
{
    unlink(log->file.path);
    log_sites_free(log->sites);
    log_file_free(&log->file);
}

void log_heap(struct log *log, const char *file, const char *why)
{
    store_release(&log->heap_file, file); /* the texts before it; they stay */
    store_release(&log->no_heap, why);
}

void log_uncontrolled(struct log *log, const char *why)
{
    store_release(&log->uncontrolled, why); /* the text before it */
}

static struct patience_look look_at(const struct log *log)
{
    return (struct patience_look){clock_ns(), load_relaxed(&log->got_on),
                                  thread_is_ready(load_relaxed(&log->writer_os)) ||
                                      thread_is_ready(metadata_thread(log->config.metadata))};
}

/* Until the writer has ended, or nothing has got on for that long. */
static void wait_for_end(struct log *log, uint64_t patience_ns)
{
    struct patience_look look = look_at(log);
    struct patience patience;

    patience_begin(&patience, patience_ns, &look);
    while (!load_acquire(&log->ended) && patience_lasts(&patience, &look)) {
        parker_park(&log->over, PATIENCE_LOOK_NS);
        look = look_at(log);
    }
}

void log_stop(struct log *log, unsigned timeout_ms)
{
    if (!log->started)
        return;
    store_release(&log->stopping, true);
    parker_unpark(&log->config.hub->writer);
    /* Not joined: a writer that hangs on a dead file system must not hold up the program's end. */
    wait_for_end(log, timeout_ms * UINT64_C(1000000));
    store_relaxed(&log->gives_up, true);
    parker_unpark(&log->config.hub->writer);
    wait_for_end(log, STOP_BEHIND_NS);
}

void log_abandon(struct log *log)
{
    store_relaxed(&log->file.abandoned, true);
}

void log_named(struct log *log)
{
    if (load_relaxed(&log->waits))
        parker_unpark(&log->config.hub->writer);
}

void log_counts(const struct log *log, struct log_counts *out)
{
    out->written = load_relaxed(&log->shown_written);
    out->bytes = load_relaxed(&log->shown_bytes);
    out->file_bytes = load_relaxed(&log->shown_file);
    out->parts = load_relaxed(&log->shown_part);
    out->cut_allocs = load_relaxed(&log->shown_cut);
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
        out->lost[i] = load_relaxed(&log->shown_lost[i]);
}

const char *log_path(const struct log *log)
{
    return log->file.path;
}

uint64_t log_zero_ns(const struct log *log)
{
    return log->zero_ns;
}
