/*
 * log/status.c - what this process says of itself in the status folder of record: NAME.json, and NAME.lock, which it
 * holds locked for as long as it lives.
 *
 * NAME is the process's number; -2, -3 and so on behind it where another process has that: one of another PID
 * namespace, or what this one was before it executed itself anew. The lock tells record whether a process lives, which
 * its number cannot do across namespaces. It is of the kind that fork() does not pass on.
 */
#include "log/internal.h"
#include "options/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_NAMES 1000

static struct {
    pid_t owner; /* not ours: it is what fork() left */
    int folder;  /* -1: could not be had */
    char path[PATH_MAX], name[32];
} place = {.folder = -1};

/* The lock's descriptor is never closed: that would give the lock back. */
static bool claim(int folder, const char *name)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char lock[48];
    int fd;

    snprintf(lock, sizeof(lock), "%s.lock", name);
    fd = openat(folder, lock, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        fcntl(fd, F_SETLK, &whole);
    return fd >= 0;
}

static void take_place(const char *folder)
{
    if (place.folder >= 0)
        close(place.folder);
    place.owner = getpid();
    snprintf(place.path, sizeof(place.path), "%s", folder);
    place.folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    snprintf(place.name, sizeof(place.name), "%d", (int)getpid());
    for (int i = 2; place.folder >= 0 && !claim(place.folder, place.name); i++) {
        if (errno != EEXIST || i > MOST_NAMES) /* without a lock, then */
            break;
        snprintf(place.name, sizeof(place.name), "%d-%d", (int)getpid(), i);
    }
}

static bool write_whole(int fd, const char *text, size_t size)
{
    bool whole = fd >= 0 && write(fd, text, size) == (ssize_t)size;

    if (fd >= 0)
        close(fd);
    return whole;
}

/* Where there is no room for a second file there is room in the first: it has a page, and is nearly always shorter. */
static void write_over(const char *name, const char *text, size_t size)
{
    int fd = openat(place.folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && write(fd, text, size) == (ssize_t)size && ftruncate(fd, (off_t)size)) {
        /* the end of what stood there before makes it damaged, which is said */
    }
    if (fd >= 0)
        close(fd);
}

static void put(const char *text)
{
    char name[48], fresh[48];
    int fd;

    snprintf(name, sizeof(name), "%s.json", place.name);
    snprintf(fresh, sizeof(fresh), "%s.new", place.name);
    fd = openat(place.folder, fresh, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (write_whole(fd, text, strlen(text)) && !renameat(place.folder, fresh, place.folder, name))
        return;
    unlinkat(place.folder, fresh, 0);
    write_over(name, text, strlen(text));
}

int log_status_emit(const char *folder, json_t *status)
{
    bool whole;
    char *text = status ? json_dumps(status, JSON_COMPACT) : NULL;

    if (place.owner != getpid() || strcmp(place.path, folder) != 0)
        take_place(folder);
    whole = text && !json_memory_refused();
    if (whole && place.folder >= 0)
        put(text);
    free(text);
    json_decref(status);
    return whole ? 0 : -ENOMEM; /* the one before stays */
}
