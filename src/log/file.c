#include "log/log_internal.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
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
        err = -ENOMEM;
    }
    if (err)
        snprintf(why, why_size, "cannot create the log %s: %s; name another file with -o", path, strerror(-err));
    return err;
}

static uint64_t count_allocs(const char *from, size_t size)
{
    static const char mark[] = "{\"kind\":\"alloc\"";
    const char *end = from + size;
    uint64_t count = 0;

    while ((from = memmem(from, (size_t)(end - from), mark, sizeof(mark) - 1))) {
        count++;
        from += sizeof(mark) - 1;
    }
    return count;
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
        file->alloc_lines = 0;
        file->oldest_ns = 0;
        file->error = 0;
    } else if (done) {
        memmove(file->buffer.data, file->buffer.data + done, file->buffer.size - done);
        file->buffer.size -= done;
        file->alloc_lines = count_allocs(file->buffer.data, file->buffer.size);
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
        log->written -= file->alloc_lines;
        log->lost_here[EVENT_LOST_WRITE_FAILED] += file->alloc_lines;
    }
    if (file->fd >= 0 && close(file->fd) && !file->error)
        file->error = errno;
    file->fd = -1;
    buffer_free(&file->buffer);
}
