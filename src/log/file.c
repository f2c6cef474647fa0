#include "log/log_internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEEP_LIMIT (8u << 20) /* bytes kept while the file cannot be written */

/* F, or F with ".PID" before its extension for a second process of the same recording. */
static int path_make(const struct log *log, bool second, char *path, size_t size)
{
    const struct options *options = log->config.options;
    const char *dot, *slash;
    int length;

    if (!options->output) {
        length = snprintf(path, size, "%s/shadowtrace-%s-%d.ndjson", options->directory ? options->directory : ".",
                          log->config.name, (int)getpid());
    } else if (!second) {
        length = snprintf(path, size, "%s", options->output);
    } else {
        slash = strrchr(options->output, '/');
        dot = strrchr(slash ? slash : options->output, '.');
        if (!dot || dot == options->output || dot[-1] == '/')
            dot = options->output + strlen(options->output);
        length = snprintf(path, size, "%.*s.%d%s", (int)(dot - options->output), options->output, (int)getpid(), dot);
    }
    return length > 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}

int log_file_open(struct log *log, char *why, size_t why_size)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND;
    char path[PATH_MAX];
    int err = path_make(log, false, path, sizeof(path));

    log->file.fd = -1;
    if (!err) {
        log->file.fd = open(path, flags, 0600);
        if (log->file.fd < 0 && errno == EEXIST && log->config.options->output) {
            err = path_make(log, true, path, sizeof(path));
            if (!err)
                log->file.fd = open(path, flags, 0600);
        }
        if (!err && log->file.fd < 0)
            err = -errno;
    }
    if (!err && !(log->file.path = memory_strdup(path))) {
        close(log->file.fd);
        log->file.fd = -1;
        err = -ENOMEM;
    }
    if (err)
        snprintf(why, why_size, "cannot create the log %s: %s; name another file with -o", path, strerror(-err));
    return err;
}

/* Allocations that a line stands for: one, the count of a site record, or none. */
static uint64_t allocs_of(const char *line, size_t size)
{
    static const char alloc[] = "{\"kind\":\"alloc\"", site[] = "{\"kind\":\"site\"", count[] = "\"allocs\":";
    const char *at;

    if (size >= sizeof(alloc) - 1 && memcmp(line, alloc, sizeof(alloc) - 1) == 0)
        return 1;
    if (size < sizeof(site) - 1 || memcmp(line, site, sizeof(site) - 1))
        return 0;
    at = memmem(line, size, count, sizeof(count) - 1);
    return at ? strtoull(at + sizeof(count) - 1, NULL, 10) : 0;
}

/* Of the lines that end behind `from`: one that is half written does not count as written. */
static uint64_t count_allocs(const struct buffer *b, size_t from)
{
    const char *line = from ? memrchr(b->data, '\n', from) : NULL, *end = b->data + b->size, *next;
    uint64_t sum = 0;

    for (line = line ? line + 1 : b->data; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (!next)
            next = end;
        sum += allocs_of(line, (size_t)(next - line));
    }
    return sum;
}

void log_file_flush(struct log *log)
{
    struct log_file *file = &log->file;
    size_t done = 0;

    while (done < file->buffer.size && !load_relaxed(&log->abandoned)) {
        ssize_t n = write(file->fd, file->buffer.data + done, file->buffer.size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            file->error = n < 0 ? errno : EIO;
            break;
        }
        done += (size_t)n;
    }
    file->bytes += done;
    if (done == file->buffer.size) {
        buffer_clear(&file->buffer);
        file->allocs = 0;
        file->oldest_ns = 0;
        file->error = 0;
    } else if (done) {
        file->allocs = count_allocs(&file->buffer, done);
        memmove(file->buffer.data, file->buffer.data + done, file->buffer.size - done);
        file->buffer.size -= done;
    }
}

bool log_file_full(const struct log *log)
{
    return log->file.error && log->file.buffer.size >= KEEP_LIMIT;
}

void log_file_close(struct log *log)
{
    struct log_file *file = &log->file;

    log_file_flush(log);
    if (file->buffer.size) { /* these lines never reached the file */
        log->written -= file->allocs;
        log->lost_here[EVENT_LOST_WRITE_FAILED] += file->allocs;
    }
    if (file->fd >= 0 && close(file->fd) && !file->error)
        file->error = errno;
    file->fd = -1;
    buffer_free(&file->buffer);
}
