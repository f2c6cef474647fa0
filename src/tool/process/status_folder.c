#include "process/status_folder.h"

#include "base/atomics.h"
#include "base/utf8.h"
#include "command/command.h"
#include "options/socket_path.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those of earlier versions, which did not lock them, have other names. */
#define PREFIX "shadowtrace-%u-run-"

#define DEPUTY_S   10
#define LOCK_TRIES 3
#define MOST_USERS 64 /* whose folders one sweep looks at */
#define TMP        "/tmp"

static int held = -1;      /* the folder of this recording, locked until we end */
static char held_name[64]; /* below /tmp of another process */

int status_folder_held(void)
{
    return held;
}

/* ---- one folder ---- */

/*
 * The lock of a folder of this user that is still there under that name: a cleaner may have been
 * between mkdir and us. Waits for nobody. Returns: a descriptor, or -errno.
 */
static int lock_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;
    struct stat mine, there;

    if (fd < 0)
        return -errno;
    if (fstat(fd, &mine) || mine.st_uid != geteuid())
        err = -EPERM; /* before its lock is taken, even for a moment: it is another user's */
    else
        err = flock(fd, LOCK_EX | LOCK_NB) ? -errno : -ESTALE;
    if (err == -ESTALE && !fstatat(parent, name, &there, AT_SYMLINK_NOFOLLOW) &&
        mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
        return fd;
    close(fd);
    return err;
}

static int make_in(const char *parent, char path[PATH_MAX])
{
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
        if (snprintf(path, PATH_MAX, "%s/" PREFIX "XXXXXX", parent, (unsigned)geteuid()) >=
            PATH_MAX)
            return -ENAMETOOLONG;
        if (!mkdtemp(path)) /* 0700 */
            return -errno;
        held = lock_folder(AT_FDCWD, path);
        if (held >= 0)
            return 0;
        rmdir(path);
    }
    return held;
}

/* All that is in a folder, then the folder: nothing is followed. */
static void remove_at(int parent, const char *name, int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) != NULL)
        unlinkat(folder, entry->d_name, 0); /* "." and ".." refuse */
    if (dir)
        closedir(dir);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/*
 * "shadowtrace-1000-run-…", whatever the number: root once made them for others. Its owner
 * decides.
 */
static bool is_status_folder(const char *name)
{
    static const char before[] = "shadowtrace-", after[] = "-run-";

    if (strncmp(name, before, strlen(before)) != 0 || !isdigit((unsigned char)name[strlen(before)]))
        return false;
    name += strlen(before);
    return !strncmp(name + strspn(name, "0123456789"), after, strlen(after));
}

/* Those of this user. Owns: nothing; parent stays open. */
static unsigned sweep_at(int parent)
{
    int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    unsigned removed = 0;

    while (dir && (entry = readdir(dir)) != NULL) {
        int fd = is_status_folder(entry->d_name) ? lock_folder(parent, entry->d_name) : -1;

        if (fd < 0)
            continue;
        remove_at(parent, entry->d_name, fd);
        removed += faccessat(parent, entry->d_name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
        close(fd);
    }
    if (dir)
        closedir(dir);
    else if (copy >= 0)
        close(copy);
    return removed;
}

/* ---- of this user ---- */

/* Its path goes into the options, so it must be absolute and UTF-8. */
static bool is_usable(const char *path)
{
    return path && *path == '/' && utf8_valid(path);
}

/* The places, in order; files in memory cost a tenth of those on a disk. NULL past the last. */
static const char *place(unsigned index)
{
    const char *places[] = {socket_runtime_folder(), getenv("TMPDIR"), "/dev/shm", TMP};

    if (index >= COUNT_OF(places))
        return NULL;
    return is_usable(places[index]) ? places[index] : "";
}

int status_folder_create(const char *log_folder, char path[PATH_MAX], struct record_why *why)
{
    const char *parent;
    int err = -ENOENT;

    held = -1;
    for (unsigned i = 0; err && (parent = place(i)); i++)
        if (*parent)
            err = make_in(parent, path);
    if (err && is_usable(log_folder))
        err = make_in(log_folder, path);
    if (err)
        return record_refuse(why, CLI_IO, "cannot create a status folder in /tmp: %s",
                             strerror(-err));
    return CLI_OK;
}

void status_folder_remove(const char *path)
{
    if (held >= 0)
        remove_at(AT_FDCWD, path, held);
}

/* ---- of another ---- */

static int make_there(const struct deputy *d, void *name, int *out)
{
    int parent = deputy_folder(d, TMP), err = parent;

    if (parent < 0)
        return err;
    sweep_at(parent);
    for (int tries = 0; tries < LOCK_TRIES && *out < 0; tries++) {
        err = mkdirat(parent, name, 0700) ? -errno : 0;
        if (err)
            break;
        *out = err = lock_folder(parent, name);
        if (err < 0)
            unlinkat(parent, name, AT_REMOVEDIR);
    }
    return err < 0 ? err : 0;
}

static int remove_there(const struct deputy *d, void *name, int *out)
{
    int parent = deputy_folder(d, TMP);

    (void)out;
    if (parent >= 0)
        remove_at(parent, name, held);
    return parent < 0 ? parent : 0;
}

static int sweep_there(const struct deputy *d, void *context, int *out)
{
    int parent = deputy_folder(d, TMP);

    (void)context;
    (void)out;
    return parent < 0 ? parent : (int)sweep_at(parent);
}

int status_folder_create_for(const struct deputy *d, long pid, char path[PATH_MAX],
                             struct record_why *why)
{
    unsigned long number = 0;
    int err;

    held = -1;
    if (getrandom(&number, sizeof(number), 0) < 0)
        number = (unsigned long)getpid(); /* an existing folder is refused */
    snprintf(held_name, sizeof(held_name), PREFIX "%lx", (unsigned)d->uid, number);
    err = deputy_run(d, DEPUTY_S, make_there, held_name, &held);
    if (err < 0)
        return record_refuse(
            why, CLI_IO, "cannot create a folder in " TMP " of process %ld as its user (%u): %s",
            pid, (unsigned)d->uid, strerror(-err));
    snprintf(path, PATH_MAX, TMP "/%s", held_name);
    return CLI_OK;
}

void status_folder_remove_for(const struct deputy *d)
{
    if (held >= 0)
        deputy_run(d, DEPUTY_S, remove_there, held_name, NULL);
}

/* ---- what others left ---- */

static void add_user(uid_t user, uid_t users[MOST_USERS], size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (users[i] == user)
            return;
    if (*count < MOST_USERS)
        users[(*count)++] = user;
}

/*
 * What root left in /tmp for processes of other users. It belongs to them, so root only checks the
 * owner.
 */
static unsigned sweep_others(void)
{
    DIR *dir = opendir(TMP);
    const struct dirent *entry;
    uid_t users[MOST_USERS];
    size_t count = 0;
    unsigned removed = 0;
    struct stat st;

    while (dir && (entry = readdir(dir)) != NULL)
        if (is_status_folder(entry->d_name) &&
            !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode) &&
            st.st_uid != geteuid())
            add_user(st.st_uid, users, &count);
    if (dir)
        closedir(dir);
    for (size_t i = 0; i < count; i++) {
        struct deputy d;
        int done = deputy_of_user(&d, users[i]);

        if (!done)
            done = deputy_run(&d, DEPUTY_S, sweep_there, NULL, NULL);
        removed += done > 0 ? (unsigned)done : 0;
        deputy_close(&d);
    }
    return removed;
}

static unsigned sweep(const char *parent)
{
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned removed = fd < 0 ? 0 : sweep_at(fd);

    if (fd >= 0)
        close(fd);
    return removed;
}

unsigned status_folder_sweep(const char *log_folder)
{
    unsigned removed = log_folder ? sweep(log_folder) : 0;
    const char *parent;

    for (unsigned i = 0; (parent = place(i)); i++)
        removed += *parent ? sweep(parent) : 0;
    return removed + (geteuid() ? 0 : sweep_others());
}
