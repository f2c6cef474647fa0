/*
 * A negative control for what a kill may cost: preloaded into a traced program, what it writes to a log (*.ndjson) reaches
 * the file ten minutes late, as if it lay in a buffer until then: later than any machine lets its writer wait.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LATE_S 600

struct held {
    struct held *next;
    time_t since;
    int fd;
    size_t size;
    char data[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held *oldest, **newest = &oldest;

static int is_log(int fd)
{
    char link[40], path[4096];
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return strstr(path, ".ndjson") != NULL;
}

static time_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

ssize_t write(int fd, const void *data, size_t size)
{
    struct held *held;

    if (!is_log(fd) || !(held = malloc(sizeof(*held) + size)))
        return syscall(SYS_write, fd, data, size);
    *held = (struct held){.since = now(), .fd = fd, .size = size};
    memcpy(held->data, data, size);
    pthread_mutex_lock(&lock);
    *newest = held;
    newest = &held->next;
    while ((held = oldest) && now() - held->since >= LATE_S) {
        syscall(SYS_write, held->fd, held->data, held->size);
        oldest = held->next;
        if (!oldest)
            newest = &oldest;
        free(held);
    }
    pthread_mutex_unlock(&lock);
    return (ssize_t)size;
}
