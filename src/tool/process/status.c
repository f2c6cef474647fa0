#include "process/status.h"

#include "base/array.h"
#include "base/atomics.h"
#include "base/buffer.h"
#include "base/clean.h"
#include "base/file.h"
#include "base/path.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/process.h"
#include "process/grows.h"
#include "readers/complete.h"
#include "terminal/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_STATUS (1 << 20) /* bytes of what a process says of itself */
#define MAX_END    (1 << 18) /* of the end record */

#define MOST_GROWING 3 /* places */

/* It is opened, so its letters stay as they are; who prints it cleans it. */
static char *take_path(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? memory_strdup(text) : NULL;
}

/* A member as one line, whatever the traced process put there. */
static char *take_text(const json_t *object, const char *key)
{
    char *copy = take_path(object, key);

    if (copy)
        clean_in_place(copy);
    return copy;
}

/* What a user calls it: the assembly that `dotnet` runs, else its subcommand, else the file. */
static char *take_name(const json_t *object)
{
    const char *executable = json_string_value(json_object_get(object, "executable"));
    const json_t *command = json_object_get(object, "command");
    const char *first = json_string_value(json_array_get(command, 0)), *verb = NULL;
    struct buffer b = BUFFER_INIT;

    if (!executable)
        executable = first ? first : "?";
    executable = path_base_name(executable);
    for (size_t i = 1; !strcmp(executable, "dotnet") && i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));

        if (word && path_is_assembly(word)) {
            word = path_base_name(word);
            buffer_append(&b, word, path_stem(word));
            return buffer_take(&b);
        }
        if (!verb && word && *word != '-' && strcmp(word, "exec") != 0)
            verb = word;
    }
    buffer_format(&b, verb ? "%s %s" : "%s", executable, verb);
    return buffer_take(&b);
}

static uint64_t take_number(const json_t *object, const char *key, bool *there)
{
    json_int_t value = json_integer_value(json_object_get(object, key));

    *there = json_is_integer(json_object_get(object, key)) && value >= 0;
    return *there ? (uint64_t)value : 0;
}

/* By its number, where it could not make a lock. A zombie has done its work. */
static bool runs(long pid)
{
    struct process_stat stat;
    char which[24];

    snprintf(which, sizeof(which), "%ld", pid);
    return process_stat_read(which, &stat) && !strchr("ZXx", stat.state);
}

/* A folder of statuses, which another user may hold. */
struct status_source {
    int folder;
    uid_t owner; /* of it, and so of every file in it that counts, and of the logs */
    bool logs;   /* their paths are ours, too */
};

/* Does the process live? It holds its lock, which dies with it, in any PID namespace. */
static bool is_alive(const struct status_source *from, const char *name, long pid)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char lock[64];
    bool alive;
    int fd;

    snprintf(lock, sizeof(lock), "%.*s.lock", (int)strcspn(name, "."), name);
    fd = file_open_regular(from->folder, lock, O_RDWR | O_NOFOLLOW, from->owner);
    if (fd < 0)
        return fd == -ENOENT && runs(pid);
    alive = !fcntl(fd, F_GETLK, &whole) && whole.l_type != F_UNLCK;
    close(fd);
    return alive;
}

static enum record_state take_state(const json_t *object, bool alive)
{
    static const char *const words[] = {[RECORD_STATE_RECORDING] = "recording",
                                        [RECORD_STATE_ENDED] = "ended",
                                        [RECORD_STATE_DECLINED] = "declined",
                                        [RECORD_STATE_FAILED] = "failed"};
    const char *text = json_string_value(json_object_get(object, "state"));

    for (size_t i = 0; text && i < COUNT_OF(words); i++)
        if (words[i] && !strcmp(text, words[i]))
            return i || alive ? (enum record_state)i : RECORD_STATE_LOST;
    return RECORD_STATE_DAMAGED;
}

/* Text of the traced process, as part of one line. */
static void append_text(struct buffer *b, const char *before, const json_t *text)
{
    buffer_text(b, before);
    if (json_is_string(text))
        buffer_clean(b, json_string_value(text));
}

static void append_lost_of(struct buffer *b, const char *what, uint64_t lost, uint64_t seen)
{
    if (!lost)
        return;
    buffer_text(b, b->size ? "; of " : "LOST of ");
    buffer_clean(b, what);
    buffer_format(b, ": %llu of %llu", (unsigned long long)lost, (unsigned long long)seen);
}

/* "LOST of calls: 811 of 140370; of values: 3 of 5": a separate line, the first. */
static void append_lost(struct buffer *b, const json_t *object)
{
    const json_t *values = json_object_get(object, "values"),
                 *records = json_object_get(object, "records");
    const char *family;
    uint64_t lost, written;
    bool known;
    json_t *sums;

    json_object_foreach(json_object_get(object, "events"), family, sums)
    {
        lost = take_number(sums, "lost", &known);
        append_lost_of(b, family, lost, take_number(sums, "seen", &known));
        if (take_number(json_object_get(sums, "lost_by"), "ring_full", &known) &&
            !strcmp(family, "calls"))
            buffer_text(b, " (a larger --call-buffer keeps more)");
    }
    lost = take_number(values, "lost", &known);
    written = take_number(values, "written", &known);
    append_lost_of(b, "values", lost,
                   lost + (known ? written : take_number(values, "posted", &known)));
    json_object_foreach(json_object_get(object, "not_written"), family, sums)
    {
        lost = json_is_integer(sums) ? (uint64_t)json_integer_value(sums) : 0;
        append_lost_of(b, family, lost, lost + take_number(records, family, &known));
    }
    if (b->size)
        buffer_char(b, '\n');
}

/* What the patterns of an option are about, and that none was met. */
static const char *unmatched_words(const char *option)
{
    if (!strcmp(option, "own"))
        return "nothing that ran is known to be own code; --own-code says what is";
    if (!strcmp(option, "own-code"))
        return "no module or method that ran has such a name";
    return !strcmp(option, "types") ? "no type of an object that was made has such a name"
                                    : "no method that ran has such a name";
}

/* "--args Order.*: no method has such a name; near: Orders.Run()" */
static void append_unmatched(struct buffer *b, const json_t *object)
{
    const json_t *array = json_object_get(object, "unmatched"), *row, *name;
    size_t i, n;

    json_array_foreach(array, i, row)
    {
        const char *option = json_string_value(json_object_get(row, "option"));
        const char *pattern = json_string_value(json_object_get(row, "pattern"));

        if (!option)
            continue;
        append_text(b, "--", json_object_get(row, "option"));
        if (pattern && *pattern)
            append_text(b, " ", json_object_get(row, "pattern"));
        buffer_format(b, ": %s", unmatched_words(option));
        json_array_foreach(json_object_get(row, "near"), n, name)
        {
            append_text(b, n ? ", " : "; near: ", name);
        }
        buffer_char(b, '\n');
    }
}

/* A count and its words: "1,234 allocations have only the beginning ...". Nothing for 0. */
static void append_count(struct buffer *b, const json_t *object, const char *key, const char *one,
                         const char *several, const char *rest)
{
    bool there;
    uint64_t count = take_number(object, key, &there);
    struct text_number number;

    if (count)
        buffer_format(b, "%s %s%s\n", text_count(&number, count), count == 1 ? one : several, rest);
}

/* What is off because this runtime is newer than the tracer knows; one line each. */
static void append_off(struct buffer *b, const json_t *off)
{
    for (size_t i = 0; i < LOG_FEATURES; i++)
        if (json_object_get(off, log_features[i].name))
            buffer_format(b, "%s\n", log_features[i].off);
}

static void append_counts(struct buffer *b, const json_t *object)
{
    const json_t *hooks = json_object_get(object, "hooks"); /* of an end record */

    append_count(b, object, "cut_allocs", "allocation has only the beginning of its call path",
                 "allocations have only the beginning of their call path",
                 ": the table of paths was full; record with a larger --max-nodes");
    append_count(b, object, "beginnings_lost", "path on which async methods began to wait is",
                 "paths on which async methods began to wait are",
                 " lost: logical stacks may end with callers that are not in the log");
    append_count(b, json_object_get(object, "spared") ? object : hooks, "spared",
                 "method is not hooked, and in no stack: the runtime fails with hooks in it",
                 "methods are not hooked, and in no stack: the runtime fails with hooks in them",
                 " (see shadowtrace-limits(7))");
    append_count(b, json_object_get(object, "unpatched") ? object : hooks, "unpatched",
                 "part of CoreLib's allocation path is", "parts of CoreLib's allocation path are",
                 " unknown: some boxes, delegates and continuations may be missing");
    append_count(b, json_object_get(object, "rich"), "lost", "body of own code has",
                 "bodies of own code have",
                 " no lines: it is not known what the JIT inlined (`rich` in the log's end)");
    append_off(b, json_object_get(object, "off"));
}

/* What others did to the file: see `file` and `rotated_out` in log_schema.json. */
static void append_fate(struct buffer *b, const json_t *object)
{
    const json_t *file = json_object_get(object, "file"),
                 *gone = json_object_get(object, "rotated_out");
    const char *moved = json_string_value(json_object_get(file, "moved"));
    bool cut, known, removed = json_is_true(json_object_get(file, "removed"));
    uint64_t bytes = take_number(file, "truncated", &cut);

    if (moved) {
        buffer_text(b, "its log was moved while it was written, and is whole");
        buffer_text(b, *moved ? ": " : "; where it is now is not known");
        buffer_clean(b, moved);
        buffer_char(b, '\n');
    }
    if (removed)
        buffer_text(b, "its log was removed while it was written: what was in it is LOST\n");
    if (cut)
        buffer_format(b, "its log was truncated while it was written: %llu bytes of it are LOST\n",
                      (unsigned long long)bytes);
    if (json_is_true(json_object_get(file, "replaced")))
        buffer_text(b, "another file was put in the place of its log\n");
    if (gone && !removed && !cut)
        buffer_format(b, "--max-log has overwritten %llu of its parts\n",
                      (unsigned long long)take_number(gone, "parts", &known));
}

/* Where the log is: others may have moved it. */
static char *take_log(const json_t *object)
{
    const json_t *file = json_object_get(object, "file");
    const char *moved = json_string_value(json_object_get(file, "moved"));

    return moved && *moved ? take_path(file, "moved") : take_path(object, "log");
}

/* The last one, and how much of the heap is known by it: all, if it was a full one. */
static void append_collection(struct buffer *b, uint64_t last, uint64_t full)
{
    buffer_format(b, "collection %llu", (unsigned long long)last);
    if (last == full)
        buffer_text(b, ", a full one");
    else if (full)
        buffer_format(b, " (the last full one was %llu)", (unsigned long long)full);
    else
        buffer_text(b, " (none was a full one: `ctl PID gc` makes one)");
}

/* What is known at the end of what is alive. */
static void append_live(struct buffer *b, const json_t *object)
{
    static const char *const whys[][2] = {
        {"memory", "memory for the table ran out (a larger --live-memory keeps more)"},
        {"concurrent",
         "a collection ran concurrently with the program: something turned concurrent "
         "collection on again"},
        {"late", "a collection came before its events were reported"},
        {"session", "the runtime did not report all of a collection"},
        {"sampled", "it is estimated, from samples"}};
    const json_t *live = json_object_get(object, "live");
    const char *why = json_string_value(json_object_get(live, "why"));
    struct text_number count, bytes;
    bool known;

    if (!live)
        return;
    if (take_number(live, "collections", &known)) {
        buffer_format(b, "live: %s objects, %s, after ",
                      text_count(&count, take_number(live, "allocs", &known)),
                      text_bytes(&bytes, take_number(live, "bytes", &known)));
        append_collection(b, take_number(live, "collections", &known),
                          take_number(live, "full", &known));
    } else {
        buffer_text(b, "live: no collection, so nothing is known to be dead");
    }
    buffer_text(b, why && (!strcmp(why, "concurrent") || !strcmp(why, "sampled"))
                       ? "\n"
                       : "; concurrent collection was off\n");
    for (size_t i = 0; why && i < COUNT_OF(whys); i++)
        if (!strcmp(why, whys[i][0]))
            buffer_format(b, "live: not exact: %s\n", whys[i][1]);
    grows_text(json_object_get(live, "grows"), MOST_GROWING, b);
}

static const char *live_view(const json_t *live)
{
    bool known;

    if (!take_number(live, "collections", &known))
        return NULL;
    return json_object_get(live, "grows") ? "grown" : "live";
}

static char *take_notes(const json_t *object)
{
    struct buffer b = BUFFER_INIT;

    append_lost(&b, object);
    append_fate(&b, object);
    append_counts(&b, object);
    append_unmatched(&b, object);
    append_live(&b, object);
    return b.data ? buffer_take(&b) : NULL;
}

/* Its words, as one would type them but for quotes. */
static char *take_command(const json_t *object)
{
    struct buffer b = BUFFER_INIT;
    json_t *word;
    size_t i;

    json_array_foreach(json_object_get(object, "command"), i, word)
    {
        append_text(&b, i ? " " : "", word);
    }
    return b.data ? buffer_take(&b) : NULL;
}

/* No larger than a process would write. */
static json_t *load(const struct status_source *from, const char *name)
{
    int fd = file_open_regular(from->folder, name, O_RDONLY | O_NOFOLLOW, from->owner);
    char *text = fd >= 0 ? memory_alloc(MAX_STATUS) : NULL;
    ssize_t got = text ? file_read_at(fd, text, MAX_STATUS, 0) : -1;
    json_t *object = got > 0 ? json_loadb(text, (size_t)got, 0, NULL) : NULL;

    memory_free(text);
    if (fd >= 0)
        close(fd);
    return object;
}

/* The end record of a log that is not compressed: what its process could no longer say. */
static json_t *load_end(const char *path, uid_t owner)
{
    static const char kind[] = "{\"kind\":\"end\"";
    int fd = file_open_regular(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, owner);
    char *tail = fd >= 0 ? memory_alloc(MAX_END) : NULL, *line;
    json_t *end = NULL;
    struct stat st;
    ssize_t got;

    if (tail && !fstat(fd, &st)) {
        got = pread(fd, tail, MAX_END, st.st_size > MAX_END ? st.st_size - MAX_END : 0);
        line = got > 1 && tail[got - 1] == '\n' ? memrchr(tail, '\n', (size_t)got - 1) : NULL;
        if (line && tail + got - line > (ssize_t)sizeof(kind) &&
            !memcmp(line + 1, kind, sizeof(kind) - 1))
            end = json_loadb(line + 1, (size_t)(tail + got - line - 1), 0, NULL);
    }
    memory_free(tail);
    if (fd >= 0)
        close(fd);
    return end;
}

/* A process that recorded and is gone: its log tells whether it came to its end. */
static json_t *rather_the_end(const struct status_source *from, struct record_process *p,
                              json_t *object)
{
    bool look = p->state == RECORD_STATE_LOST && p->log && from->logs;
    json_t *end = look ? load_end(p->log, from->owner) : NULL;

    if (!end)
        return object;
    p->state = RECORD_STATE_ENDED;
    json_object_update_missing(end, object);
    json_decref(object);
    return end;
}

/* "System.Exception: text"; as one line. */
static char *take_unhandled(const json_t *object)
{
    const char *type = json_string_value(json_object_get(object, "type"));
    const char *message = json_string_value(json_object_get(object, "message"));
    struct buffer b = BUFFER_INIT;
    char *text;

    if (!type)
        return NULL;
    buffer_text(&b, type);
    if (message)
        buffer_format(&b, ": %s", message);
    text = buffer_take(&b);
    if (text)
        clean_in_place(text);
    return text;
}

static void read_process(const struct status_source *from, const char *name, long pid,
                         struct record_process *p)
{
    json_t *object = load(from, name);
    bool lost_there;

    memset(p, 0, sizeof(*p));
    p->pid = pid;
    p->state = take_state(object, is_alive(from, name, pid));
    p->name = take_name(object);
    if (p->name)
        clean_in_place(p->name);
    p->log = take_log(object);
    object = rather_the_end(from, p, object);
    p->reason = take_text(object, "reason");
    p->runtime = take_text(object, "runtime");
    p->unverified = json_is_true(json_object_get(object, "unverified"));
    p->notes = take_notes(object);
    p->live_view = live_view(json_object_get(object, "live"));
    p->uncontrolled = take_text(object, "uncontrolled");
    p->uncompressed = take_text(object, "uncompressed");
    p->heap = take_text(object, "heap");
    p->no_heap = take_text(object, "no_heap");
    p->no_native = take_text(object, "no_native");
    p->no_inlined = take_text(object, "no_inlined");
    p->unhandled = take_unhandled(json_object_get(object, "unhandled"));
    p->seen = take_number(object, "seen", &p->counted);
    p->lost = take_number(object, "lost", &lost_there);
    p->gone = take_number(json_object_get(object, "rotated_out"), "allocs", &lost_there);
    p->bytes = take_number(object, "bytes", &p->sized);
    p->written = take_number(object, "written", &p->split);
    p->estimated_bytes = take_number(object, "estimated_bytes", &p->sampled);
    p->estimated_allocs = take_number(object, "estimated_allocs", &p->sampled);
    if (json_is_object(json_object_get(object, "sampling")))
        log_sampling_take(&p->sampling, json_object_get(object, "sampling"));
    p->command = take_command(object);
    json_decref(object);
}

ORDERED_BY(by_pid, struct record_process, ORDER(x->pid, y->pid))

/* "4711.json", "4711-2.json" only: what is being written has another name until the rename. */
static long pid_of(const char *name)
{
    char *end;
    long pid;

    if (!isdigit((unsigned char)*name))
        return -1;
    errno = 0;
    pid = strtol(name, &end, 10);
    if (*end == '-' && isdigit((unsigned char)end[1]))
        strtol(end + 1, &end, 10);
    return errno || strcmp(end, ".json") != 0 ? -1 : pid;
}

static int read_entry(const struct status_source *from, const char *name,
                      struct record_processes *out)
{
    long pid = pid_of(name);

    if (pid < 0 || strlen(name) > 40)
        return 0;
    if (!array_reserve(&out->process, &out->capacity, out->count + 1))
        return -ENOMEM;
    read_process(from, name, pid, &out->process[out->count++]);
    return 0;
}

int record_status_read_at(int folder, bool logs, struct record_processes *out)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct stat st;

    memset(out, 0, sizeof(*out));
    if (!dir || fstat(fd, &st)) {
        err = -errno;
        if (dir)
            closedir(dir);
        else if (fd >= 0)
            close(fd);
        return err;
    }
    while (!err && (entry = readdir(dir)) != NULL)
        err = read_entry(&(struct status_source){fd, st.st_uid, logs}, entry->d_name, out);
    closedir(dir);
    SORT(out->process, out->count, by_pid);
    return err;
}

int record_status_read(const char *folder, struct record_processes *out)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err = -errno;

    memset(out, 0, sizeof(*out));
    if (fd < 0)
        return err;
    err = record_status_read_at(fd, true, out);
    close(fd);
    return err;
}

void record_status_free(struct record_processes *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct record_process *one = &p->process[i];

        memory_free_all(one->name, one->log, one->reason, one->runtime, one->notes, one->heap,
                        one->no_heap, one->uncontrolled, one->uncompressed, one->no_native,
                        one->no_inlined, one->unhandled, one->command);
    }
    memory_free(p->process);
    memset(p, 0, sizeof(*p));
}

size_t record_status_count(const struct record_processes *p, enum record_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++)
        count += p->process[i].state == state;
    return count;
}
