#include "shipper/logs.h"

#include "readers/header.h"
#include "readers/parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static bool is_log_name(const char *name)
{
    static const char *const ends[] = {".ndjson", ".ndjson.zst"};
    size_t size = strlen(name);

    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        size_t end = strlen(ends[i]);

        if (*name != '.' && size > end && strcmp(name + size - end, ends[i]) == 0)
            return true;
    }
    return false;
}

/* Returns: the file, now of this round; NULL: it is new. */
static struct logs_file *known_file(struct logs *f, const struct statx *st)
{
    uint64_t device = (uint64_t)st->stx_dev_major << 32 | st->stx_dev_minor;

    for (size_t i = 0; i < f->count; i++) {
        struct logs_file *file = &f->files[i];

        if (file->inode == st->stx_ino && file->device == device &&
            file->born_s == (uint64_t)st->stx_btime.tv_sec &&
            file->born_ns == st->stx_btime.tv_nsec) {
            file->round = f->round;
            return file;
        }
    }
    return NULL;
}

static bool is_of(const struct logs_file *file, const struct log_recording *r)
{
    return file->pid == r->pid && file->clock == r->clock;
}

static bool known_recording(const struct logs *f, const struct log_recording *recording)
{
    for (size_t i = 0; i < f->count; i++)
        if (is_of(&f->files[i], recording))
            return true;
    return false;
}

void logs_doubt(struct logs *f, uint64_t pid, uint64_t clock)
{
    for (size_t i = 0; i < f->count; i++)
        f->files[i].doubtful |= f->files[i].pid == pid && f->files[i].clock == clock;
}

/* Whether it is what it was; one that has become shorter may be of another recording. */
static bool is_same(struct logs_file *file, const struct statx *st)
{
    file->doubtful |= st->stx_size < file->size;
    file->size = st->stx_size;
    return !file->doubtful;
}

static int look_at(struct logs *f, const char *path, logs_found *found, void *context)
{
    struct log_recording recording;
    struct logs_file *file;
    struct statx st;
    int err = 0;

    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_TYPE | STATX_SIZE | STATX_BTIME, &st) ||
        !S_ISREG(st.stx_mode))
        return 0;
    file = known_file(f, &st);
    if (file && is_same(file, &st))
        return 0;
    recording = log_part_of(path);
    if ((!recording.number && !log_header_missing(path)) || (file && is_of(file, &recording)))
        return 0;
    if (!array_reserve(&f->files, &f->capacity, f->count + 1))
        return -ENOMEM;
    if (!recording.number)
        err = found(context, path, NULL);
    else if (!known_recording(f, &recording))
        err = found(context, path, &recording);
    file = file ? known_file(f, &st) : &f->files[f->count++];
    *file = (struct logs_file){
        .device = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor,
        .inode = st.stx_ino,
        .born_s = (uint64_t)st.stx_btime.tv_sec,
        .born_ns = st.stx_btime.tv_nsec,
        .size = st.stx_size,
        .pid = recording.pid,
        .clock = recording.clock,
        .round = f->round,
    };
    return err;
}

static int look_into(struct logs *f, DIR *folder, const char *name, logs_found *found,
                     void *context)
{
    const struct dirent *entry;
    char path[PATH_MAX];
    int err = 0;

    while (!err && (entry = readdir(folder)))
        if (is_log_name(entry->d_name) &&
            snprintf(path, sizeof(path), "%s/%s", name, entry->d_name) < (int)sizeof(path))
            err = look_at(f, path, found, context);
    return err;
}

/* Files that are gone are forgotten, one look later: a rotation has its new part there by then. */
static void forget(struct logs *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (f->files[i].round + 1 >= f->round)
            f->files[kept++] = f->files[i];
    f->count = kept;
}

int logs_look(struct logs *f, char *const *words, size_t count, logs_found *found, void *context)
{
    int err = 0;

    f->round++;
    for (size_t i = 0; !err && i < count; i++) {
        DIR *folder = opendir(words[i]);

        err = folder ? look_into(f, folder, words[i], found, context)
                     : look_at(f, words[i], found, context);
        if (folder)
            closedir(folder);
    }
    if (!err)
        forget(f);
    return err;
}

void logs_fini(struct logs *f)
{
    memory_free(f->files);
    *f = (struct logs){.files = NULL};
}
