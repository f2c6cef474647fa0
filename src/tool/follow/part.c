#include "follow/part.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder may be another user's, who can put anything there: only a regular file is opened. */
int part_open(const char *path, struct part *p)
{
    int fd = file_open_regular(AT_FDCWD, path, O_RDONLY, FILE_ANY_OWNER), err;
    struct stat st;

    *p = (struct part){.fd = fd < 0 ? -1 : fd};
    if (fd < 0)
        return fd;
    if (fstat(fd, &st)) {
        err = -errno;
        part_close(p);
        return err;
    }
    p->id = (struct part_id){st.st_dev, st.st_ino};
    p->seen = (uint64_t)st.st_size;
    return 0;
}

void part_close(struct part *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

bool part_is(const struct part *p, const struct part_id *id)
{
    return p->id.device == id->device && p->id.inode == id->inode;
}

int part_id_of(const char *path, struct part_id *out)
{
    struct stat st;

    if (stat(path, &st))
        return -errno;
    *out = (struct part_id){st.st_dev, st.st_ino};
    return 0;
}

uint64_t part_size(const struct part *p)
{
    struct stat st;

    return fstat(p->fd, &st) ? 0 : (uint64_t)st.st_size;
}

bool part_is_removed(const struct part *p)
{
    struct stat st;

    return !fstat(p->fd, &st) && !st.st_nlink;
}

/* Returns: as pread, but all of it where the file is long enough. */
static ssize_t read_at(int fd, void *to, size_t size, uint64_t at)
{
    ssize_t got;

    do
        got = pread(fd, to, size, (off_t)at);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

bool part_intact(const struct part *p, const struct part *in)
{
    char now[PART_TAIL];

    return !p->tail_size ||
           (read_at(in->fd, now, p->tail_size, p->at - p->tail_size) == (ssize_t)p->tail_size &&
            memcmp(now, p->tail, p->tail_size) == 0);
}

static void remember(struct part *p, const char *data, size_t size)
{
    size_t kept = p->tail_size;

    if (size >= PART_TAIL) {
        memcpy(p->tail, data + size - PART_TAIL, PART_TAIL);
        p->tail_size = PART_TAIL;
        return;
    }
    if (kept > PART_TAIL - size)
        kept = PART_TAIL - size;
    memmove(p->tail, p->tail + p->tail_size - kept, kept);
    memcpy(p->tail + kept, data, size);
    p->tail_size = kept + size;
}

ssize_t part_read(struct part *p, void *to, size_t size)
{
    ssize_t got = read_at(p->fd, to, size, p->at);

    if (got < 0)
        return got;
    if (!part_intact(p, p)) /* behind the read: what was read is no older than that */
        return -ESTALE;
    remember(p, to, (size_t)got);
    p->at += (uint64_t)got;
    return got;
}

bool part_seek(struct part *p, uint64_t at)
{
    size_t size = at < PART_TAIL ? (size_t)at : PART_TAIL;
    ssize_t got = read_at(p->fd, p->tail, size, at - size);

    p->at = at;
    p->tail_size = got == (ssize_t)size ? size : 0;
    return !at || (p->tail_size && p->tail[p->tail_size - 1] == '\n');
}
