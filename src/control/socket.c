#include "control/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return address;
}

/* Somebody answers at that path: another process of our number, in another PID namespace. */
static bool is_live(const char *path)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool live = fd >= 0 && (!connect(fd, (const struct sockaddr *)&address, sizeof(address)) ||
                            errno == EAGAIN);

    if (fd >= 0)
        close(fd);
    return live;
}

static int folder_make(char folder[SOCKET_PATH_SIZE], char *why, size_t why_size)
{
    int err = -ENOENT;

    for (unsigned i = 0; err && socket_folder(i, folder); i++) {
        if (!*folder)
            continue;
        if (mkdir(folder, 0700) && errno != EEXIST) {
            err = -errno;
            snprintf(why, why_size, "cannot make the folder %s: %s", folder, strerror(-err));
            continue;
        }
        err = socket_folder_check(folder, why, why_size);
    }
    return err;
}

static int bind_at(int fd, const char *path, char *why, size_t why_size)
{
    struct sockaddr_un address = address_of(path);
    int err;

    fchmod(fd, 0600); /* the mode of the file that bind makes */
    err = bind(fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
    if (err == -EADDRINUSE) {
        if (is_live(path)) {
            snprintf(why, why_size, "%s is in use by another process of that number", path);
            return err;
        }
        unlink(path); /* of an earlier process of our number */
        err = bind(fd, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
    }
    if (!err && !listen(fd, BACKLOG))
        return 0;
    err = err ? err : -errno;
    snprintf(why, why_size, "cannot make the socket %s: %s", path, strerror(-err));
    unlink(path);
    return err;
}

int control_socket_open(struct control *c, char *why, size_t why_size)
{
    char folder[SOCKET_PATH_SIZE];
    int err = folder_make(folder, why, why_size);

    if (err)
        return err;
    if (!socket_path(folder, getpid(), c->path)) {
        snprintf(why, why_size, "%s is too long for a socket", folder);
        return -ENAMETOOLONG;
    }
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (c->listener < 0) {
        err = -errno;
        snprintf(why, why_size, "cannot make a socket: %s", strerror(-err));
    } else {
        err = bind_at(c->listener, c->path, why, why_size);
    }
    if (err) {
        *c->path = '\0';
        control_socket_close(c);
    }
    return err;
}

void control_socket_close(struct control *c)
{
    if (*c->path)
        unlink(c->path);
    if (c->listener >= 0)
        close(c->listener);
    c->listener = -1;
}

bool control_admit(int fd)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof(peer);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}
