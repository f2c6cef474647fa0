#include "base/peek.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096 /* the smallest: pages may be larger */

static pid_t self; /* or its parent, if it is one that was made without fork() */

static void self_ask(void)
{
    self = getpid();
}

/* Once for each process: the kernel would have to be asked as often as for what is read. */
__attribute__((constructor)) static void self_start(void)
{
    self_ask();
    pthread_atfork(NULL, NULL, self_ask);
}

/* Where the system call is missing (emulators) or forbidden (seccomp). */
static ssize_t copy_by_file(uint8_t *to, const struct iovec *from, size_t parts)
{
    int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t done = 0, got = 0;

    for (size_t i = 0; file >= 0 && i < parts && got >= 0; i++) {
        got = pread(file, to + done, from[i].iov_len, (off_t)(uintptr_t)from[i].iov_base);
        done += got > 0 ? got : 0;
        if (got != (ssize_t)from[i].iov_len)
            break;
    }
    if (file >= 0)
        close(file);
    return done;
}

static size_t copy(void *to, size_t size, const struct iovec *from, size_t parts)
{
    const struct iovec here = {to, size};
    int saved = errno;
    ssize_t got = process_vm_readv(self, &here, 1, from, parts, 0);

    if (got < 0 && (errno == ENOSYS || errno == EPERM))
        got = copy_by_file(to, from, parts);
    errno = saved;
    return got > 0 ? (size_t)got : 0;
}

bool peek(void *to, uintptr_t from, size_t size)
{
    const struct iovec there = {(void *)from, size}; /* NOLINT: an address */

    return from && copy(to, size, &there, 1) == size;
}

/* A part for each page: the kernel stops at the first part that it cannot read whole. */
size_t peek_some(void *to, uintptr_t from, size_t size)
{
    struct iovec there[PEEK_SOME_MAX / PAGE + 1];
    size_t pages = 0, left = size < PEEK_SOME_MAX ? size : PEEK_SOME_MAX, wanted = left;

    while (left) {
        size_t part = PAGE - from % PAGE;

        part = part < left ? part : left;
        there[pages++] = (struct iovec){(void *)from, part}; /* NOLINT: an address */
        from += part;
        left -= part;
    }
    return copy(to, wanted, there, pages);
}
