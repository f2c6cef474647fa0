#include "symbols/file.h"

#include "base/file.h"
#include "base/memory.h"
#include "symbols/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_fail(struct symbols_error *error, const char *what, int err)
{
    symbols_fail(error, SYMBOLS_UNREADABLE, "%s: %s", what, strerrordesc_np(err));
    return -err;
}

static int load(int fd, const char *magic, uint8_t **data, size_t *size,
                struct symbols_error *error)
{
    uint8_t head[SYMBOLS_FILE_HEAD];
    size_t wanted = sizeof(head);
    struct stat status;
    uint8_t *bytes;
    ssize_t n;

    if (fstat(fd, &status))
        return file_fail(error, "cannot be read", errno);
    n = file_read_at(fd, head, sizeof(head), 0);
    if (n < 0)
        return file_fail(error, "cannot be read", (int)-n);
    if ((size_t)n >= strlen(magic) && !memcmp(head, magic, strlen(magic))) {
        if (status.st_size < 0 || (uintmax_t)status.st_size > SYMBOLS_MAX_FILE)
            return symbols_fail(error, SYMBOLS_TOO_LARGE, "larger than 1 GiB");
        wanted = (size_t)status.st_size;
    }
    bytes = memory_alloc(wanted + 1); /* never 0 */
    if (!bytes)
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory for %zu bytes", wanted);
    n = file_read_at(fd, bytes, wanted, 0);
    if (n < 0) {
        memory_free(bytes);
        return file_fail(error, "cannot be read", (int)-n);
    }
    *data = bytes; /* fewer than a moment ago: the parser will say what is missing */
    *size = (size_t)n;
    return 0;
}

int symbols_file_read(const char *path, const char *magic, uint8_t **data, size_t *size,
                      struct symbols_error *error)
{
    /* The path is from a log or a module, whose maker may be another user. */
    int fd = file_open_regular(AT_FDCWD, path, O_RDONLY, FILE_ANY_OWNER), err;

    if (fd == -ENOENT || fd == -ENOTDIR)
        return -ENOENT;
    if (fd == -EINVAL)
        return symbols_fail(error, SYMBOLS_UNREADABLE, "not a regular file");
    if (fd < 0)
        return file_fail(error, "cannot be opened", -fd);
    err = load(fd, magic, data, size, error);
    close(fd);
    return err;
}
