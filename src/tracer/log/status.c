/*
 * log/status.c - the files of this process in the status folder of record: NAME.json, and
 * NAME.lock, which it holds locked as long as it lives.
 *
 * NAME is the process id, followed by -2, -3 and so on if another process has that name: one of
 * another PID namespace, or this one before an exec(). The lock tells record whether a process is
 * alive, which its id cannot do across namespaces. It is of the kind that fork() does not inherit.
 */
#include "log/records.h"
#include "log/rounds.h"
#include "base/memory.h"
#include "options/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_NAMES 1000

static struct {
    pid_t owner; /* not ours: it is what fork() left */
    int folder;  /* -1: not available */
    int lock;
    char path[PATH_MAX], name[32];
} place = {.folder = -1, .lock = -1};

/* The lock's descriptor stays open: to close it would give the lock back. */
static bool claim(int folder, const char *name)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char lock[48];

    snprintf(lock, sizeof(lock), "%s.lock", name);
    place.lock = openat(folder, lock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (place.lock >= 0)
        fcntl(place.lock, F_SETLK, &whole);
    return place.lock >= 0;
}

void log_status_leave(void)
{
    if (place.lock >= 0)
        close(place.lock);
    if (place.folder >= 0)
        close(place.folder);
    place.lock = place.folder = -1;
}

static void take_place(const char *folder)
{
    if (place.folder >= 0)
        close(place.folder);
    place.owner = getpid();
    snprintf(place.path, sizeof(place.path), "%s", folder);
    place.folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    snprintf(place.name, sizeof(place.name), "%d", (int)getpid());
    for (int i = 2; place.folder >= 0 && !claim(place.folder, place.name); i++) {
        if (errno != EEXIST || i > MOST_NAMES) /* without a lock, then */
            break;
        snprintf(place.name, sizeof(place.name), "%d-%d", (int)getpid(), i);
    }
}

static bool write_whole(int fd, const char *text, size_t size)
{
    bool whole = fd >= 0 && write(fd, text, size) == (ssize_t)size;

    if (fd >= 0)
        close(fd);
    return whole;
}

/* Where a second file has no room the first has: it owns a page, and is nearly always shorter. */
static void write_over(const char *name, const char *text, size_t size)
{
    int fd = openat(place.folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && write(fd, text, size) == (ssize_t)size && ftruncate(fd, (off_t)size)) {
        /* the end of what stood there before makes it damaged, which is said */
    }
    if (fd >= 0)
        close(fd);
}

static void put(const char *text)
{
    char name[48], fresh[48];
    int fd;

    snprintf(name, sizeof(name), "%s.json", place.name);
    snprintf(fresh, sizeof(fresh), "%s.new", place.name);
    fd = openat(place.folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (write_whole(fd, text, strlen(text)) && !renameat(place.folder, fresh, place.folder, name))
        return;
    unlinkat(place.folder, fresh, 0);
    write_over(name, text, strlen(text));
}

/* This process's file, by rename; takes the reference. 0 or -ENOMEM. Threads: one at a time. */
static int emit(const char *folder, json_t *status)
{
    bool whole;
    char *text = status ? json_dumps(status, JSON_COMPACT) : NULL;

    if (place.owner != getpid() || strcmp(place.path, folder) != 0)
        take_place(folder);
    whole = text && !json_memory_refused();
    if (whole && place.folder >= 0)
        put(text);
    memory_free(text);
    json_decref(status);
    return whole ? 0 : -ENOMEM; /* the one before stays */
}

/* Why there is less than what was asked for. */
static void set_reasons(const struct log *log, json_t *status)
{
    const struct log_config *c = &log->config;
    const char *uncontrolled = load_acquire(&log->uncontrolled);
    char reason[4200];

    if (c->control && !uncontrolled)
        json_object_set_new(status, "control", log_text(c->control));
    log_set_flag(status, "unverified", c->unverified);
    if (c->no_native)
        json_object_set_new(status, "no_native", json_string(c->no_native));
    log_set_text(status, "no_inlined", *c->rich->why_not ? c->rich->why_not : NULL);
    log_set_text(status, "uncontrolled", uncontrolled);
    log_set_text(status, "uncompressed", load_acquire(&log->file.uncompressed));
    log_set_text(status, "heap", load_acquire(&log->heap_file));
    log_set_text(status, "no_heap", load_acquire(&log->no_heap));
    if (log->file.error) {
        snprintf(reason, sizeof(reason),
                 "writing the log %s failed: %s; what was written before can be read",
                 log->file.path, strerror(log->file.error));
        json_object_set_new(status, "reason", log_text(reason));
    }
}

static void set_counts(const struct log *log, json_t *status)
{
    uint64_t by[EVENT_LOST_REASONS], seen, lost = log_lost(log, by, &seen);
    struct log_tally pending = {.allocs = 0};

    if (log->file.error && log->file.fd >= 0) /* nobody knows whether it will be written */
        log_file_pending(&log->file, &pending);
    log_set(status, "seen", seen);
    log_set(status, "written", log_written(log) - pending.allocs);
    log_set(status, "lost", lost + pending.allocs);
    log_set(status, "bytes", log->file.put.bytes + log->row_bytes - pending.bytes);
    if (tree_refused(log->config.tree)) {
        log_set(status, "nodes_refused", tree_refused(log->config.tree));
        log_set(status, "cut_allocs", log->file.put.cut);
    }
    log_set_any(status, "beginnings_lost", load_relaxed(&log->config.hub->beginnings_lost));
    log_set_any(status, "spared", load_relaxed(log->config.spared));
    log_set_any(status, "unpatched", load_relaxed(log->config.unpatched));
    json_object_set_new(status, "off", log_off_json(log));
    json_object_set_new(status, "rich", log_rich_json(log));
    json_object_set_new(status, "sampling", log_sampling_begun_json(log));
    if (log->sampled) {
        log_set(status, "estimated_allocs", (uint64_t)log->estimated_allocs);
        log_set(status, "estimated_bytes", (uint64_t)log->estimated_bytes);
    }
}

/* What a process is called in all of its states. */
static json_t *process_json(const char *executable, char *const *command, const char *state)
{
    return json_pack("{s:i, s:o, s:o, s:s}", "pid", (int)getpid(), "executable",
                     log_text(executable), "command", log_texts(command), "state", state);
}

int log_status_write(struct log *log, const char *state)
{
    const struct log_config *c = &log->config;
    json_t *status;

    if (!c->options->status)
        return 0;
    (void)json_memory_refused(); /* of something else */
    status = process_json(c->executable, c->command, log->file.error ? "failed" : state);
    json_object_set_new(status, "log", log_text(log->file.path));
    json_object_set_new(status, "runtime", json_string(c->runtime));
    set_counts(log, status);
    set_reasons(log, status);
    if (!strcmp(state, "ended")) {
        json_object_set_new(status, "unmatched", log_unmatched(log));
        json_object_set_new(status, "values", log_values_totals(log));
        json_object_set_new(status, "events", log_families_json(log));
        json_object_set_new(status, "not_written", log_kinds_json(log->not_written));
        json_object_set_new(status, "records", log_kinds_json(log->file.put.lines));
    }
    if (log->unhandled)
        json_object_set(status, "unhandled", log->unhandled);
    json_object_set_new(status, "live", log_live_json(log));
    json_object_set_new(status, "rotated_out", log_gone_json(&log->file));
    json_object_set_new(status, "file", log_fate_json(log));
    return emit(c->options->status, status);
}

void log_status_unhandled(struct log *log, const json_t *line)
{
    json_decref(log->unhandled);
    log->unhandled = json_incref((json_t *)(uintptr_t)line);
    log_status_write(log, "recording");
}

void log_status_declined(const char *folder, const char *executable, char *const *command,
                         const char *reason)
{
    json_t *status = process_json(executable, command, "declined");

    json_object_set_new(status, "reason", log_text(reason));
    emit(folder, status);
}
