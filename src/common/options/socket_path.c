#include "options/socket_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_ROOM 16 /* "/4194304.sock" */

static void put(char out[SOCKET_PATH_SIZE], int length)
{
    if (length < 0 || length >= SOCKET_PATH_SIZE - NAME_ROOM)
        *out = '\0';
}

const char *socket_runtime_folder(void)
{
    const char *own = getenv("XDG_RUNTIME_DIR");
    struct stat st;

    if (!own || *own != '/' || stat(own, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & 0777) != 0700)
        return NULL;
    return own;
}

bool socket_folder(unsigned index, char out[SOCKET_PATH_SIZE])
{
    const char *own = socket_runtime_folder();

    if (own && index-- == 0) {
        put(out, snprintf(out, SOCKET_PATH_SIZE, "%s/shadowtrace", own));
        return true;
    }
    if (index == 0) {
        put(out, snprintf(out, SOCKET_PATH_SIZE, "/tmp/shadowtrace-%u", (unsigned)geteuid()));
        return true;
    }
    return false;
}

static int check(int fd, const char *folder, char *why, size_t why_size)
{
    struct stat st;

    if (fstat(fd, &st)) {
        int err = -errno;

        snprintf(why, why_size, "%s: %s", folder, strerror(-err));
        return err;
    }
    if (st.st_uid != geteuid()) {
        snprintf(why, why_size, "%s belongs to another user (%u); have it removed", folder,
                 (unsigned)st.st_uid);
        return -EPERM;
    }
    if (st.st_mode & 077) {
        snprintf(why, why_size, "%s is open to other users (mode %03o); chmod 700 it", folder,
                 (unsigned)st.st_mode & 0777);
        return -EPERM;
    }
    return 0;
}

int socket_folder_open(const char *folder, char *why, size_t why_size)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), err;

    if (fd < 0) {
        err = -errno;
        if (err == -ENOTDIR || err == -ELOOP)
            snprintf(why, why_size, "%s is not a directory; remove it", folder);
        else
            snprintf(why, why_size, "%s: %s", folder, strerror(-err));
        return err;
    }
    err = check(fd, folder, why, why_size);
    if (!err)
        return fd;
    close(fd);
    return err;
}

void socket_at(int folder, const char *name, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(out->sun_path, sizeof(out->sun_path), "/proc/self/fd/%d/%.60s", folder, name);
}

bool socket_peer(int fd, bool root_too)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof(peer);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) &&
           (peer.uid == geteuid() || (root_too && peer.uid == 0));
}

bool socket_folder_lock(int folder, unsigned tries)
{
    static const struct timespec pause = {0, 1000000};

    while (flock(folder, LOCK_EX | LOCK_NB)) {
        if (tries-- == 0)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

void socket_folder_unlock(int folder)
{
    flock(folder, LOCK_UN);
}

bool socket_path(const char *folder, long pid, char out[SOCKET_PATH_SIZE])
{
    int length = snprintf(out, SOCKET_PATH_SIZE, "%s/%ld.sock", folder, pid);

    return length > 0 && length < SOCKET_PATH_SIZE;
}
