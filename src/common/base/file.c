#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
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
