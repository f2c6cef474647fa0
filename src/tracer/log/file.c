#include "log/file.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/system.h"
#include "log/zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The name of the log, for the first try. Then F with ".PID" before its extension, for a further
 * process of the same recording; then ".PID-2" and so on, for one of the same number in another PID
 * namespace.
 */
static int path_make(const struct log_file *file, unsigned tries, char *path, size_t size)
{
    const struct options *options = file->options;
    unsigned again = options->output ? tries : tries + 1;
    const char *dot, *slash;
    char number[40];
    int length;

    snprintf(number, sizeof(number), again > 1 ? "%d-%u" : "%d", (int)getpid(), again);

    if (!options->output) {
        length = snprintf(path, size, "%s/shadowtrace-%s-%s.ndjson%s",
                          options->directory ? options->directory : ".", file->name, number,
                          options->compress ? ".zst" : "");
    } else if (!tries) {
        length = snprintf(path, size, "%s", options->output);
    } else {
        slash = strrchr(options->output, '/');
        dot = strrchr(slash ? slash : options->output, '.');
        if (!dot || dot == options->output || dot[-1] == '/')
            dot = options->output + strlen(options->output);
        length = snprintf(path, size, "%.*s.%s%s", (int)(dot - options->output), options->output,
                          number, dot);
    }
    return length > 0 && (size_t)length < size ? 0 : -ENAMETOOLONG;
}

/* For later, when the program may have gone to another folder; NULL when memory is out. */
static char *path_absolute(const char *path)
{
    char here[PATH_MAX], whole[PATH_MAX];
    int length;

    if (*path == '/' || !getcwd(here, sizeof(here)))
        return memory_strdup(path);
    length = snprintf(whole, sizeof(whole), "%s/%s", here, path);
    return memory_strdup(length > 0 && length < PATH_MAX ? whole : path);
}

/*
 * Of samples there are few: the fastest level, whose tables are a tenth of the usual one's, packs
 * them nearly as well.
 */
static struct ZSTD_CCtx_s *compressor_new(const struct log_file *file)
{
    struct ZSTD_CCtx_s *made = file->zstd->create();

    if (made && file->options->runtime_samples)
        file->zstd->set(made, ZSTD_c_compressionLevel, 1);
    return made;
}

/*
 * Of samples nothing is loaded before there is something to pack: a small program's start does not
 * wait for it, and its log is stored as it is. Returns: whether lines can be packed.
 */
static bool packs(struct log_file *file)
{
    if (file->compressor || load_relaxed(&file->uncompressed))
        return file->compressor;
    if (!file->zstd && !(file->zstd = log_zstd_load())) {
        store_release(&file->uncompressed, "libzstd.so.1 (package libzstd1) cannot be loaded");
        return false;
    }
    file->compressor = compressor_new(file);
    return file->compressor; /* else memory is out */
}

#define MAX_NAMES   1000
#define STORED_MOST 16384 /* bytes: a log that ends before anything was packed */
#define OPEN_FLAGS  (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND)

int log_file_open(struct log_file *file, char *why, size_t why_size)
{
    const struct options *o = file->options;
    char path[PATH_MAX];
    int err = path_make(file, 0, path, sizeof(path));

    file->fd = -1;
    file->share = o->max_log ? o->max_log / (o->keep + 1) : UINT64_MAX;
    if (o->compress && !o->runtime_samples && !packs(file)) {
        const char *missing = load_relaxed(&file->uncompressed);

        snprintf(why, why_size, "--compress: %s", missing ? missing : "out of memory");
        return missing ? -ENOSYS : -ENOMEM;
    }
    for (unsigned i = 1; !err && file->fd < 0; i++) {
        file->fd = open(path, OPEN_FLAGS, 0600);
        if (file->fd < 0)
            err =
                errno == EEXIST && i < MAX_NAMES ? path_make(file, i, path, sizeof(path)) : -errno;
    }
    if (!err && !(file->path = path_absolute(path))) {
        close(file->fd);
        file->fd = -1;
        unlink(path); /* empty, and ours: it did not exist before */
        err = -ENOMEM;
    }
    file->part = 1;
    file->part_began_ns = clock_ns();
    if (err)
        snprintf(why, why_size, "cannot create the log %s: %s; name another file with -o", path,
                 strerror(-err));
    return err;
}

bool log_file_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev;
}

bool log_file_is_cut(struct log_file *file)
{
    struct stat now;

    if (!file->cut && !fstat(file->fd, &now) && S_ISREG(now.st_mode) &&
        (uint64_t)now.st_size < file->part_bytes) {
        file->cut = true;
        file->left = (uint64_t)now.st_size;
        file->fate.truncated += file->part_bytes - file->left;
    }
    return file->cut;
}

bool log_file_in_place(const struct log_file *file)
{
    struct stat now, at_path;

    return !fstat(file->fd, &now) && !stat(file->path, &at_path) && log_file_same(&now, &at_path);
}

/* What the system takes of `size` bytes at `data`; sets error if not all. */
static size_t put(struct log_file *file, const char *data, size_t size)
{
    size_t done = 0;

    file->error = size && log_file_is_cut(file) ? ESTALE : 0;
    while (!file->error && done < size && !load_relaxed(&file->abandoned)) {
        ssize_t n = write(file->fd, data + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            file->error = n < 0 ? errno : EIO;
            break;
        }
        done += (size_t)n;
    }
    file->bytes += done;
    file->part_bytes += done;
    return done;
}

static void drop_front(struct buffer *b, size_t size)
{
    memmove(b->data, b->data + size, b->size - size);
    b->size -= size;
}

static void buffer_done(struct log_file *file)
{
    buffer_clear(&file->buffer);
    file->sent = 0;
    file->oldest_ns = 0;
}

/* Drops the whole lines among the written bytes; a part of a line may still be lost. */
static void drop_written(struct log_file *file, size_t written)
{
    const char *last = memrchr(file->buffer.data, '\n', written);
    size_t lines = last ? (size_t)(last + 1 - file->buffer.data) : 0;

    if (lines)
        drop_front(&file->buffer, lines);
    file->sent = written - lines;
}

/* What is packed goes out; whether all of it did. */
static bool put_packed(struct log_file *file)
{
    if (file->packed.size)
        drop_front(&file->packed, put(file, file->packed.data, file->packed.size));
    if (!file->packed.size)
        file->settled = file->packed_put;
    return !file->packed.size;
}

/* All lines as a frame of their own. Out of memory they stay where they are, for the next time. */
static void store(struct log_file *file)
{
    log_zstd_store(&file->packed, file->buffer.data, file->buffer.size);
    if (file->packed.failed) {
        buffer_free(&file->packed);
        file->packed = (struct buffer)BUFFER_INIT;
        return;
    }
    file->packed_put = file->put;
    buffer_done(file);
    put_packed(file);
}

/* All lines as one more piece of the frame, ended so that a reader of the file sees them. */
static void flush_packed(struct log_file *file, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {file->buffer.data, file->buffer.size, 0};
    size_t left = 1;

    if (!put_packed(file)) /* from a flush that the system did not take whole */
        return;
    if (end == ZSTD_e_end && !in.size && !file->in_frame)
        return; /* a second try */
    if ((!file->compressor && file->ending && in.size <= STORED_MOST) || !packs(file)) {
        store(file);
        return;
    }
    while (left) {
        size_t room = file->zstd->room();
        char *to = buffer_reserve(&file->packed, room);
        ZSTD_outBuffer out = {to, to ? room : 0, 0};

        if (!to) { /* out of memory: what is packed so far goes first, the rest next time */
            file->packed.failed = 0;
            break;
        }
        left = file->zstd->compress(file->compressor, &out, &in, end);
        if (file->zstd->is_error(left))
            break;
        file->packed.size += out.pos;
    }
    if (in.pos == in.size) {
        file->packed_put = file->put;
        buffer_done(file);
    } else {
        drop_front(&file->buffer, in.pos);
    }
    file->in_frame = end != ZSTD_e_end || left;
    put_packed(file);
}

/* The first lines, which are to be there at once. */
void log_file_begin(struct log_file *file)
{
    if (file->options->compress)
        store(file);
    else
        log_file_flush(file);
}

void log_file_flush(struct log_file *file)
{
    size_t done;

    if (file->options->compress) {
        flush_packed(file, ZSTD_e_flush);
        return;
    }
    done = file->sent + put(file, file->buffer.data + file->sent, file->buffer.size - file->sent);
    if (done == file->buffer.size)
        buffer_done(file);
    else
        drop_written(file, done);
}

void log_file_pending(const struct log_file *file, struct log_tally *out)
{
    memset(out, 0, sizeof(*out));
    if (file->options
            ->compress) { /* of a piece that went out in part nothing can be read for sure */
        *out = file->put;
        log_tally_take(out, &file->settled);
    } else {
        log_tally_lines(out, file->buffer.data, file->buffer.size);
    }
}

bool log_file_due(const struct log_file *file)
{
    const struct options *o = file->options;

    if (file->error)
        return false;
    if (log_file_has_its_share(file))
        return true;
    return o->part_time && clock_ns() - file->part_began_ns >= o->part_time * UINT64_C(1000000000);
}

bool log_file_overwrites(const struct log_file *file)
{
    return file->options->max_log || file->options->part_time;
}

static int part_name(const struct log_file *file, unsigned number, char name[PATH_MAX])
{
    int length = snprintf(name, PATH_MAX, "%s.%u", file->path, number);

    return length > 0 && length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The oldest part is forgotten: it is overwritten, or not ours to overwrite any more. */
static void forget_oldest(struct log_file *file)
{
    file->kept_count--;
    memmove(file->kept, file->kept + 1, file->kept_count * sizeof(*file->kept));
}

/*
 * The oldest part gives its name to the present one, if as many are kept as may be, and it is where
 * we put it. 0: it does not.
 */
static int overwrite_oldest(struct log_file *file, char older[PATH_MAX])
{
    const struct log_older oldest = file->kept[0];
    struct stat st;

    if (!file->kept_count || file->kept_count < file->options->keep)
        return 0;
    forget_oldest(file);
    if (part_name(file, oldest.number, older) || lstat(older, &st) || st.st_ino != oldest.inode)
        return 0;
    if (rename(file->path, older))
        return -errno;
    log_tally_add(&file->gone, &oldest.tally);
    file->gone_parts++;
    return (int)oldest.number;
}

/*
 * Renames the current part: to the first of PATH.1, PATH.2, ... that is free, or without `keep` to
 * the name of the oldest part. Returns: the number in the name, or -errno.
 */
static int rename_part(struct log_file *file, bool keep, char older[PATH_MAX])
{
    int err = keep ? 0 : overwrite_oldest(file, older);

    if (err)
        return err;
    for (unsigned n = 1; n <= file->part + MAX_NAMES; n++) {
        err = part_name(file, n, older);
        if (err)
            return err;
        if (!rename_noreplace(file->path, older))
            return (int)n;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

static void flush_last(struct log_file *file)
{
    if (file->options->compress)
        flush_packed(file, ZSTD_e_end);
    else
        log_file_flush(file);
}

/* What the present file is called now: PATH.number, or with number 0 what others have called it. */
static void remember_older(struct log_file *file, unsigned number, const char *older)
{
    struct log_older *kept;
    struct stat st;

    memory_free(file->older);
    file->older = memory_strdup(older);
    if (!number)
        return;
    if (file->kept_count == COUNT_OF(file->kept))
        forget_oldest(file);
    kept = &file->kept[file->kept_count++];
    kept->number = number;
    kept->inode = fstat(file->fd, &st) ? 0 : st.st_ino;
    kept->tally = file->put;
    log_tally_take(&kept->tally, &file->part_began);
}

/* A new file at PATH: a descriptor, or -errno; then the present one, if renamed, is PATH again. */
static int open_next(const struct log_file *file, const char *renamed)
{
    int fd = open(file->path, OPEN_FLAGS, 0600), err = -errno;

    if (fd >= 0)
        return fd;
    if (renamed)
        rename(renamed, file->path);
    return err;
}

int log_file_reopen(struct log_file *file, bool aside)
{
    char older[PATH_MAX];
    int fd, err = aside ? rename_part(file, true, older) : 0;

    if (err < 0)
        return err;
    fd = open_next(file, aside ? older : NULL);
    if (fd < 0)
        return fd;
    close(file->fd);
    file->fd = fd;
    file->unlinked = false;
    return 0;
}

void log_file_restart(struct log_file *file)
{
    struct ZSTD_CCtx_s *fresh = file->compressor ? compressor_new(file) : NULL;
    struct stat st;

    if (fresh) { /* else the frame goes on, and cannot be read: so does a program without memory */
        file->zstd->free(file->compressor);
        file->compressor = fresh;
    }
    file->in_frame = false;
    buffer_clear(&file->packed);
    buffer_done(file);
    file->settled = file->packed_put = file->put;
    file->part++;
    file->part_began_ns = clock_ns();
    file->part_bytes = fstat(file->fd, &st) ? 0 : (uint64_t)st.st_size;
    file->cut = false;
    file->left = 0;
    file->error = 0;
}

int log_file_next(struct log_file *file, bool keep)
{
    char older[PATH_MAX];
    bool in_place = log_file_in_place(file);
    int number, fd;

    flush_last(file);
    if (file->error || file->buffer.size || file->packed.size)
        return -EAGAIN;
    if (!in_place) /* somebody has moved it: nothing is to be renamed, nor overwritten */
        snprintf(older, sizeof(older), "%s", file->fate.moved ? file->fate.moved : "");
    number = in_place ? rename_part(file, keep, older) : 0;
    if (number < 0)
        return number;
    fd = open_next(file, in_place ? older : NULL);
    if (fd < 0)
        return fd; /* the old file goes on; it has just grown too large */
    remember_older(file, (unsigned)number, older);
    close(file->fd);
    file->fd = fd;
    file->part++;
    file->part_bytes = 0;
    file->part_began_ns = clock_ns();
    return 0;
}

void log_file_close(struct log_file *file, struct log_tally *lost)
{
    flush_last(file);
    if (file->error) /* a failure that passes does not cost the end */
        flush_last(file);
    if (file->fd >= 0 && close(file->fd) && !file->error)
        file->error = errno;
    file->fd = -1;
    log_file_pending(file, lost);
    log_file_free(file);
}

void log_file_free(struct log_file *file)
{
    if (file->fd >= 0) {
        close(file->fd);
        if (!file->bytes)
            unlink(file->path);
    }
    file->fd = -1;
    memory_free(file->older);
    file->older = NULL;
    if (file->compressor)
        file->zstd->free(file->compressor);
    file->compressor = NULL;
    buffer_free(&file->packed);
    buffer_free(&file->buffer);
}
