#include "control/internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG    128
#define LOCK_TRIES 50 /* of 1 ms; a holder that takes longer is stopped */

/* Somebody answers there: another process of our number, in another PID namespace. */
static bool is_live(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool live = fd >= 0 && (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) ||
                            errno == EAGAIN);

    if (fd >= 0)
        close(fd);
    return live;
}

/* Opens the first usable folder: its descriptor, and its path in folder; or -errno with why. */
static int folder_open(char folder[SOCKET_PATH_SIZE], char *why, size_t why_size)
{
    int fd = -ENOENT;

    for (unsigned i = 0; fd < 0 && socket_folder(i, folder); i++) {
        if (!*folder)
            continue;
        if (mkdir(folder, 0700) && errno != EEXIST) {
            fd = -errno;
            snprintf(why, why_size, "cannot make the folder %s: %s", folder, strerror(-fd));
            continue;
        }
        fd = socket_folder_open(folder, why, why_size);
    }
    return fd;
}

/* Takes the place of a socket of an earlier process of our number. Under the folder's lock. */
static int bind_at(struct control *c, char *why, size_t why_size)
{
    const char *name = c->name;
    struct sockaddr_un address;
    int err;

    socket_at(c->folder, name, &address);
    fchmod(c->listener, 0600); /* the mode of the file that bind makes */
    err = bind(c->listener, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
    if (err == -EADDRINUSE) {
        if (is_live(&address)) {
            snprintf(why, why_size, "%s is in use by another process of that number", c->path);
            return err;
        }
        unlinkat(c->folder, name, 0);
        err = bind(c->listener, (const struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
    }
    if (!err && !listen(c->listener, BACKLOG))
        return 0;
    if (!err) {
        err = -errno;
        unlinkat(c->folder, name, 0);
    }
    snprintf(why, why_size, "cannot make the socket %s: %s", c->path, strerror(-err));
    return err;
}

int control_socket_open(struct control *c, char *why, size_t why_size)
{
    char folder[SOCKET_PATH_SIZE];
    bool locked;
    int err;

    c->folder = folder_open(folder, why, why_size);
    if (c->folder < 0)
        return c->folder;
    snprintf(c->name, sizeof(c->name), "%d.sock", (int)getpid());
    if (!socket_path(folder, getpid(), c->path)) {
        snprintf(why, why_size, "%s is too long for a socket", folder);
        err = -ENAMETOOLONG;
    } else if ((c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) < 0) {
        err = -errno;
        snprintf(why, why_size, "cannot make a socket: %s", strerror(-err));
    } else {
        locked = socket_folder_lock(c->folder, LOCK_TRIES);
        err = bind_at(c, why, why_size);
        if (locked)
            socket_folder_unlock(c->folder);
    }
    if (err) {
        *c->path = *c->name = '\0'; /* what has that name is not ours */
        control_socket_close(c);
    }
    return err;
}

void control_socket_remove(struct control *c)
{
    if (*c->name)
        unlinkat(c->folder, c->name, 0);
    *c->name = '\0';
}

void control_socket_close(struct control *c)
{
    control_socket_remove(c);
    if (c->listener >= 0)
        close(c->listener);
    if (c->folder >= 0)
        close(c->folder);
    c->listener = c->folder = -1;
}
