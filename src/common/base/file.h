/* base/file.h - files that others may change meanwhile: short reads, signals. */
#ifndef SHADOWTRACE_BASE_FILE_H
#define SHADOWTRACE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * file_read_at - size bytes of a file from `offset` on.
 * Returns: how many there were, fewer than asked only at the end of the file; -errno.
 */
ssize_t file_read_at(int fd, void *to, size_t size, uint64_t offset);

/* Whether all size bytes were there. */
static inline bool file_read_whole(int fd, void *to, size_t size, uint64_t offset)
{
    return file_read_at(fd, to, size, offset) == (ssize_t)size;
}

/* file_open - to be read; a FIFO is not waited for. Returns: a descriptor or -errno. */
int file_open(const char *path);

/*
 * file_open_regular - a file in a folder that others can write to. Whatever is not a regular
 * file is never opened, since opening a device has effects, and a FIFO waits. owner: whose file
 * it must be; FILE_ANY_OWNER. flags: of open(2); O_NOFOLLOW refuses a link.
 * Returns: a descriptor; -EINVAL: not a regular file; -EPERM: another user's; -errno.
 */
#define FILE_ANY_OWNER ((uid_t)-1)
int file_open_regular(int folder, const char *name, int flags, uid_t owner);

/*
 * file_load - a regular file of at most max bytes, with a NUL after it; nothing else is opened.
 * Returns: 0; -EINVAL: not a regular file; -EFBIG; -ENOMEM; -errno. Owns: memory_free(*data).
 */
int file_load(const char *path, size_t max, char **data, size_t *size);

/*
 * file_read_text - a small file, like those of /proc, with one read; cut to fit and NUL-terminated.
 * Returns: how many bytes; 0, with to[0] the NUL, also when it cannot be read. Keeps errno.
 */
size_t file_read_text(const char *path, char *to, size_t size);

#endif
