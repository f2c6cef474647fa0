#include "cli/record_status.h"
#include "base/clean.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "cli/text.h"
#include "cli/commands.h"
#include "options/options_fields.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* XDG_RUNTIME_DIR promises to be ours alone; one that is not was inherited through su or a container. */
static bool is_private(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           (st.st_mode & 0777) == 0700;
}

static int make_in(const char *parent, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s/shadowtrace-%u-XXXXXX", parent, (unsigned)geteuid()) >=
        PATH_MAX)
        return -ENAMETOOLONG;
    return mkdtemp(path) ? 0 : -errno; /* 0700 */
}

/* Its path goes into the options, so it must be absolute and UTF-8. */
static bool is_usable(const char *path)
{
    size_t step;

    if (!path || *path != '/')
        return false;
    while ((step = utf8_length(path)) > 0)
        path += step;
    return !*path;
}

/*
 * In the first of these that will have it. Files in memory cost a tenth of those on a disk, and the end of COMMAND
 * waits for one.
 */
int record_status_create(char path[PATH_MAX], struct record_why *why)
{
    const char *own = getenv("XDG_RUNTIME_DIR"), *temporary = getenv("TMPDIR");
    int err;

    if (is_usable(own) && is_private(own) && !make_in(own, path))
        return CLI_OK;
    if (is_usable(temporary) && !make_in(temporary, path))
        return CLI_OK;
    if (!make_in("/dev/shm", path))
        return CLI_OK;
    err = make_in("/tmp", path);
    if (err)
        return record_refuse(why, CLI_IO,
                             "cannot make a folder for the state of the recording in /tmp: %s",
                             strerror(-err));
    return CLI_OK;
}

/* A member as one line, whatever the traced process put there. */
static char *take_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    char *copy = text ? memory_strdup(text) : NULL;

    if (copy)
        clean_in_place(copy);
    return copy;
}

/* It is opened, so its letters stay as they are; who prints it cleans it. */
static char *take_path(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? memory_strdup(text) : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* What a user calls the process: the assembly that `dotnet` runs, else its subcommand, else the executable. */
static char *take_name(const json_t *object)
{
    const char *executable = json_string_value(json_object_get(object, "executable"));
    const json_t *command = json_object_get(object, "command");
    const char *first = json_string_value(json_array_get(command, 0)), *verb = NULL;
    struct buffer b = BUFFER_INIT;

    if (!executable)
        executable = first ? first : "?";
    executable = base_name(executable);
    for (size_t i = 1; !strcmp(executable, "dotnet") && i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        size_t length = word ? strlen(word) : 0;

        if (length > 4 && !strcasecmp(word + length - 4, ".dll")) {
            const char *name = base_name(word);

            buffer_append(&b, name, strlen(name) - 4);
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

/* A zombie has done its work. */
static bool is_alive(long pid)
{
    char path[64], text[512];
    const char *state;
    ssize_t got;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    state = strrchr(text, ')'); /* the name before it may hold anything */
    return state && state[1] == ' ' && !strchr("ZXx", state[2]);
}

static enum record_state take_state(const json_t *object, long pid)
{
    const char *text = json_string_value(json_object_get(object, "state"));

    if (!text)
        return RECORD_STATE_DAMAGED;
    if (!strcmp(text, "recording"))
        return is_alive(pid) ? RECORD_STATE_RECORDING : RECORD_STATE_LOST;
    if (!strcmp(text, "ended"))
        return RECORD_STATE_ENDED;
    if (!strcmp(text, "declined"))
        return RECORD_STATE_DECLINED;
    if (!strcmp(text, "failed"))
        return RECORD_STATE_FAILED;
    return RECORD_STATE_DAMAGED;
}

/* Text of the traced process, as part of one line. */
static void append_text(struct buffer *b, const json_t *text)
{
    const char *at = json_string_value(text);

    if (at)
        clean_append(b, at);
}

static void append_lost_of(struct buffer *b, const char *what, uint64_t lost, uint64_t seen)
{
    if (!lost)
        return;
    buffer_text(b, b->size ? "; of " : "LOST of ");
    clean_append(b, what);
    buffer_format(b, ": %llu of %llu", (unsigned long long)lost, (unsigned long long)seen);
}

/* "LOST of calls: 811 of 140370; of values: 3 of 5": a line of its own, the first. */
static void append_lost(struct buffer *b, const json_t *object)
{
    const json_t *values = json_object_get(object, "values");
    const char *family;
    uint64_t lost;
    bool known;
    json_t *sums;

    json_object_foreach(json_object_get(object, "events"), family, sums)
    {
        lost = take_number(sums, "lost", &known);
        append_lost_of(b, family, lost, take_number(sums, "seen", &known));
        if (lost && !strcmp(family, "calls"))
            buffer_text(b, " (a larger --call-buffer keeps more)");
    }
    lost = take_number(values, "lost", &known);
    append_lost_of(b, "values", lost, lost + take_number(values, "posted", &known));
    if (b->size)
        buffer_char(b, '\n');
}

/* "--args Order.*: no method has such a name; near: Orders.Run()" */
static void append_unmatched(struct buffer *b, const json_t *object)
{
    const json_t *array = json_object_get(object, "unmatched"), *row, *name;
    size_t i, n;

    json_array_foreach(array, i, row)
    {
        const char *option = json_string_value(json_object_get(row, "option"));

        if (!option)
            continue;
        buffer_text(b, "--");
        append_text(b, json_object_get(row, "option"));
        buffer_char(b, ' ');
        append_text(b, json_object_get(row, "pattern"));
        buffer_format(b, ": %s has such a name",
                      !strcmp(option, "types") ? "no type of an object that was made"
                                               : "no method that ran");
        json_array_foreach(json_object_get(row, "near"), n, name)
        {
            buffer_text(b, n ? ", " : "; near: ");
            append_text(b, name);
        }
        buffer_char(b, '\n');
    }
}

/* "1,234 allocations have only the beginning of their call path: ..." */
static void append_cut(struct buffer *b, const json_t *object)
{
    bool there;
    uint64_t cut = take_number(object, "cut_allocs", &there);
    struct text_number number;

    if (cut)
        buffer_format(b,
                      "%s allocation%s only the beginning of %s call path: the table of paths was "
                      "full; record with a larger --max-nodes\n",
                      text_count(&number, cut), cut == 1 ? " has" : "s have",
                      cut == 1 ? "its" : "their");
}

static char *take_notes(const json_t *object)
{
    struct buffer b = BUFFER_INIT;

    append_lost(&b, object);
    append_cut(&b, object);
    append_unmatched(&b, object);
    return b.data ? buffer_take(&b) : NULL;
}

static void read_process(const char *path, long pid, struct record_process *p)
{
    json_t *object = json_load_file(path, 0, NULL);
    bool lost_there;

    memset(p, 0, sizeof(*p));
    p->pid = pid;
    p->state = take_state(object, pid);
    p->name = take_name(object);
    if (p->name)
        clean_in_place(p->name);
    p->log = take_path(object, "log");
    p->reason = take_text(object, "reason");
    p->runtime = take_text(object, "runtime");
    p->unverified = json_is_true(json_object_get(object, "unverified"));
    p->notes = take_notes(object);
    p->uncontrolled = take_text(object, "uncontrolled");
    p->no_native = take_text(object, "no_native");
    p->seen = take_number(object, "seen", &p->counted);
    p->lost = take_number(object, "lost", &lost_there);
    p->bytes = take_number(object, "bytes", &p->sized);
    json_decref(object);
}

static int by_pid(const void *a, const void *b)
{
    long x = ((const struct record_process *)a)->pid, y = ((const struct record_process *)b)->pid;

    return (x > y) - (x < y);
}

/* "4711.json" only: what is being written has another name until the rename. */
static long pid_of(const char *name)
{
    char *end;
    long pid;

    if (!isdigit((unsigned char)*name))
        return -1;
    errno = 0;
    pid = strtol(name, &end, 10);
    return errno || strcmp(end, ".json") != 0 ? -1 : pid;
}

static int read_entry(const char *folder, const char *name, struct record_processes *out)
{
    struct record_process *grown;
    char path[PATH_MAX];
    long pid = pid_of(name);

    if (pid < 0 || snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
        return 0;
    grown = memory_realloc(out->process, (out->count + 1) * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    out->process = grown;
    read_process(path, pid, &grown[out->count++]);
    return 0;
}

int record_status_read(const char *folder, struct record_processes *out)
{
    const struct dirent *entry;
    DIR *dir = opendir(folder);
    int err = 0;

    memset(out, 0, sizeof(*out));
    if (!dir)
        return -errno;
    while (!err && (entry = readdir(dir)) != NULL)
        err = read_entry(folder, entry->d_name, out);
    closedir(dir);
    if (out->count > 1)
        qsort(out->process, out->count, sizeof(*out->process), by_pid);
    return err;
}

void record_status_free(struct record_processes *p)
{
    for (size_t i = 0; i < p->count; i++) {
        memory_free(p->process[i].name);
        memory_free(p->process[i].log);
        memory_free(p->process[i].reason);
        memory_free(p->process[i].runtime);
        memory_free(p->process[i].notes);
        memory_free(p->process[i].uncontrolled);
        memory_free(p->process[i].no_native);
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

void record_status_remove(const char *folder)
{
    const struct dirent *entry;
    DIR *dir = opendir(folder);

    if (!dir)
        return;
    while ((entry = readdir(dir)) != NULL)
        unlinkat(dirfd(dir), entry->d_name, 0); /* "." and ".." refuse */
    closedir(dir);
    rmdir(folder);
}
