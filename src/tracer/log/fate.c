/*
 * log/fate.c - what others do to the file while it is written. A file that was moved is complete,
 * and the tracer continues to write it at its new path. A file that was truncated or removed has
 * lost its content, and with it all definitions: the log starts again, as for another part, and the
 * loss is counted. Lines that are left without their header (the file was truncated between the
 * check and the write) are useless to a reader: they are lost too.
 */
#include "log/records.h"
#include "log/rounds.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In the folder that it was made in. */
static bool find_in_folder(const struct log_file *file, const struct stat *wanted,
                           char found[PATH_MAX])
{
    const char *slash = strrchr(file->path, '/');
    int length = slash ? (int)(slash - file->path) : 0;
    char folder[PATH_MAX];
    struct dirent *entry;
    struct stat st;
    bool is_there = false;
    DIR *dir;

    if (!slash || snprintf(folder, sizeof(folder), "%.*s/", length, file->path) >= PATH_MAX)
        return false;
    dir = opendir(folder);
    while (dir && !is_there && (entry = readdir(dir)))
        is_there =
            snprintf(found, PATH_MAX, "%.*s/%s", length, file->path, entry->d_name) < PATH_MAX &&
            !lstat(found, &st) && log_file_same(&st, wanted);
    if (dir)
        closedir(dir);
    return is_there;
}

/* Where the open file is now; "" when that cannot be found. */
static void find_file(const struct log_file *file, const struct stat *wanted, char found[PATH_MAX])
{
    char self[64];
    struct stat st;
    ssize_t length;

    snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
    length = readlink(self, found, PATH_MAX - 1);
    found[length > 0 ? length : 0] = '\0';
    if (*found &&
        (!strcmp(found, file->path) || (!lstat(found, &st) && log_file_same(&st, wanted))))
        return;
    if (!find_in_folder(file, wanted, found))
        *found = '\0';
}

static void set_moved(struct log_file *file, const char *where)
{
    if (where && file->fate.moved && !strcmp(where, file->fate.moved))
        return;
    memory_free(file->fate.moved);
    file->fate.moved = where ? memory_strdup(where) : NULL;
}

static bool is_record(const char *text, size_t size)
{
    json_t *json = size > 0 ? json_loadb(text, size, 0, NULL) : NULL;
    bool is = json_is_object(json);

    json_decref(json);
    return is;
}

/* Of a file that was cut in the middle: lines that are there still. */
static void count_left(const struct log_file *file, struct log_tally *out)
{
    struct buffer text = BUFFER_INIT;
    char self[64], *to;
    ssize_t got = 1;
    int fd;

    memset(out, 0, sizeof(*out));
    if (file->compressor || !file->left)
        return; /* of a frame that does not go on, nothing is sure */
    snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
    fd = open(self, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && (to = buffer_reserve(&text, 65536))) {
        got = read(fd, to, 65536);
        if (got > 0) {
            size_t whole = log_tally_lines(out, text.data, text.size + (size_t)got);

            text.size += (size_t)got - whole;
            memmove(text.data, text.data + whole, text.size);
        }
    }
    if (fd >= 0)
        close(fd);
    if (is_record(text.data, text.size)) { /* cut between a line and its newline: readers take it */
        buffer_char(&text, '\n');
        log_tally_lines(out, text.data, text.size);
    }
    buffer_free(&text);
}

void log_fate_begin_anew(struct log *log)
{
    struct log_file *file = &log->file;
    struct log_tally tally, left;

    if (file->unlinked && log_file_reopen(&log->file, false))
        return;               /* it is written on, though nobody will see it: log_fate_end() */
    log_calls_flush_all(log); /* what waits is about methods that are defined in what is gone */
    log_file_pending(&log->file, &tally);
    log_lose(log, &tally);
    tally = log->file.put;
    log_tally_take(&tally, &log->file.part_began);
    count_left(file, &left);
    if (!file->compressor && !left.lines[SST_KIND_HEADER] && !ftruncate(file->fd, 0)) {
        memset(&left, 0, sizeof(left));
        file->left = 0;
    }
    log_tally_take(&tally, &left);
    if (file->left) /* it would be in the way of the header */
        log_file_reopen(&log->file, log_file_in_place(file));
    log_tally_add(&log->file.gone, &tally);
    log->file.gone_parts++;
    log_file_restart(&log->file);
    log_part_begin(log);
}

void log_fate_look(struct log *log)
{
    struct log_file *file = &log->file;
    struct stat now, at_path;
    char where[PATH_MAX];
    bool there;

    if (file->fd < 0 || fstat(file->fd, &now) || !S_ISREG(now.st_mode))
        return;
    there = !stat(file->path, &at_path);
    if (log_file_is_cut(file)) {
        log_fate_begin_anew(log);
    } else if (there && log_file_same(&now, &at_path)) {
        set_moved(file, NULL);
    } else if (there || errno == ENOENT) {
        file->fate.replaced |= there;
        if (now.st_nlink) {
            find_file(file, &now, where);
            set_moved(file, strcmp(where, file->path) ? where : NULL);
        } else if (!file->unlinked || !there) {
            file->fate.removed = file->unlinked = true;
            if (!there)
                log_fate_begin_anew(log);
        }
    }
}

void log_fate_end(struct log *log)
{
    struct log_tally tally = log->file.put;

    if (!log->file.unlinked)
        return;
    log_tally_take(&tally, &log->file.part_began);
    log_tally_add(&log->file.gone, &tally);
    log->file.gone_parts++;
}

json_t *log_fate_json(const struct log *log)
{
    const struct log_file_fate *fate = &log->file.fate;
    json_t *object;

    if (!fate->moved && !fate->removed && !fate->replaced && !fate->truncated)
        return NULL;
    object = json_object();
    log_set_text(object, "moved", fate->moved);
    log_set_flag(object, "removed", fate->removed);
    log_set_any(object, "truncated", fate->truncated);
    log_set_flag(object, "replaced", fate->replaced);
    return object;
}
