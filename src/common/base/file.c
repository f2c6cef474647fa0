#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    size_t done = 0;

    if (offset > INT64_MAX - size)
        return -EINVAL;
    while (done < size) {
        ssize_t got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static int load(int fd, size_t max, char **data, size_t *size)
{
    struct stat st;
    ssize_t got;

    if (fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    if ((uintmax_t)st.st_size > max)
        return -EFBIG;
    *data = memory_alloc((size_t)st.st_size + 1);
    if (!*data)
        return -ENOMEM;
    got = file_read_at(fd, *data, (size_t)st.st_size, 0);
    if (got < 0) {
        memory_free(*data);
        *data = NULL;
        return (int)got;
    }
    (*data)[got] = '\0';
    *size = (size_t)got;
    return 0;
}

int file_open(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/*
 * The file is held, looked at, and then opened by its descriptor: the name may lead elsewhere by
 * then.
 */
int file_open_regular(int folder, const char *name, int flags, uid_t owner)
{
    int found = openat(folder, name, O_PATH | (flags & O_NOFOLLOW) | O_CLOEXEC), fd, err = 0;
    char path[32];
    struct stat st;

    if (found < 0 || fstat(found, &st))
        err = -errno;
    else if (!S_ISREG(st.st_mode))
        err = -EINVAL;
    else if (owner != FILE_ANY_OWNER && st.st_uid != owner)
        err = -EPERM;
    if (!err) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
        fd = open(path, (flags & ~O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        err = fd < 0 ? -errno : fd;
    }
    if (found >= 0)
        close(found);
    return err;
}

int file_load(const char *path, size_t max, char **data, size_t *size)
{
    int fd = file_open_regular(AT_FDCWD, path, O_RDONLY, FILE_ANY_OWNER), err;

    *data = NULL;
    *size = 0;
    if (fd < 0)
        return fd;
    err = load(fd, max, data, size);
    close(fd);
    return err;
}

size_t file_read_text(const char *path, char *to, size_t size)
{
    int saved = errno, fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, to, size - 1);

    if (fd >= 0)
        close(fd);
    to[got > 0 ? got : 0] = '\0';
    errno = saved;
    return got > 0 ? (size_t)got : 0;
}
