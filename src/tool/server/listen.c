#include "server/listen.h"

#include "base/path.h"
#include "options/socket_path.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG    128
#define LOCK_TRIES 2000
#define NAME       "serve.sock"

static int say(char why[LISTEN_WHY_SIZE], int err, const char *what, const char *where)
{
    snprintf(why, LISTEN_WHY_SIZE, "%s %.200s: %s", what, where, strerror(-err));
    return err;
}

/* ---- Unix ---- */

int listen_folder(char path[PATH_MAX], char why[LISTEN_WHY_SIZE])
{
    char folder[SOCKET_PATH_SIZE];
    int fd = -ENOENT;

    *why = '\0';
    for (unsigned i = 0; fd < 0 && socket_folder(i, folder); i++) {
        if (!*folder)
            continue;
        if (mkdir(folder, 0700) && errno != EEXIST) {
            fd = say(why, -errno, "cannot make the folder", folder);
            continue;
        }
        fd = socket_folder_open(folder, why, LISTEN_WHY_SIZE);
        if (fd >= 0)
            snprintf(path, PATH_MAX, "%s", folder);
    }
    if (fd < 0)
        return *why ? fd : say(why, fd, "cannot find a folder for", "the socket");
    close(fd);
    return 0;
}

/* Whether somebody serves it. Returns: 1 yes; 0 no; -errno. */
static int is_served(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), served;

    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0 || errno == EAGAIN)
        served = 1;
    else
        served = errno == ECONNREFUSED ? 0 : -errno;
    close(fd);
    return served;
}

static int bind_private(int fd, const struct sockaddr_un *at)
{
    mode_t mask = umask(0177);
    int err = bind(fd, (const struct sockaddr *)at, sizeof(*at)) ? -errno : 0;

    umask(mask);
    return err;
}

/*
 * Removes an existing socket of this user that no process serves. In a folder that others can write
 * to, the name may change before unlinkat: then only an entry of that folder is lost, which its
 * owner could have removed. By default the folder is closed to others.
 */
static int replace(struct listener *l, const struct sockaddr_un *at, char why[LISTEN_WHY_SIZE])
{
    struct stat st;
    int served;

    if (fstatat(l->folder, l->name, &st, AT_SYMLINK_NOFOLLOW))
        return say(why, -errno, "cannot look at", l->where);
    if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid()) {
        snprintf(why, LISTEN_WHY_SIZE,
                 "%.200s is there and no socket of yours: remove it, or name "
                 "another --socket",
                 l->where);
        return -EEXIST;
    }
    served = is_served(at);
    if (served < 0)
        return say(why, served, "cannot connect to", l->where);
    if (served) {
        snprintf(why, LISTEN_WHY_SIZE,
                 "another server answers on %.200s: end it, or name another "
                 "--socket",
                 l->where);
        return -EADDRINUSE;
    }
    if (unlinkat(l->folder, l->name, 0))
        return say(why, -errno, "cannot remove", l->where);
    return 0;
}

static int bind_unix(struct listener *l, char why[LISTEN_WHY_SIZE])
{
    struct sockaddr_un at;
    int err;

    socket_at(l->folder, l->name, &at);
    err = bind_private(l->fd, &at);
    if (err == -EADDRINUSE) {
        err = replace(l, &at, why);
        if (err)
            return err;
        err = bind_private(l->fd, &at);
    }
    if (err)
        return say(why, err, "cannot make the socket", l->where);
    if (listen(l->fd, BACKLOG) || fstatat(l->folder, l->name, &l->made, AT_SYMLINK_NOFOLLOW))
        return say(why, -errno, "cannot listen on", l->where);
    return 0;
}

/* path in two: its folder, opened, and the name in it. */
static int open_folder(const char *path, struct listener *l, char why[LISTEN_WHY_SIZE])
{
    const char *name = path_base_name(path);
    char folder[PATH_MAX];
    int length = (int)(name - path);

    if (!*name || strlen(name) >= 60 || length >= PATH_MAX) {
        snprintf(why, LISTEN_WHY_SIZE, "%.200s is not a valid socket name", path);
        return -EINVAL;
    }
    snprintf(folder, sizeof(folder), "%.*s", length ? length : 1, length ? path : ".");
    snprintf(l->name, sizeof(l->name), "%s", name);
    snprintf(l->where, sizeof(l->where), "%s", path);
    l->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return l->folder < 0 ? say(why, -errno, "cannot open the folder", folder) : 0;
}

int listen_unix(const char *path, struct listener *out, char why[LISTEN_WHY_SIZE])
{
    char folder[PATH_MAX], standard[PATH_MAX + sizeof(NAME)];
    int err = 0;

    *out = (struct listener){.fd = -1, .folder = -1};
    if (!path) {
        err = listen_folder(folder, why);
        snprintf(standard, sizeof(standard), "%s/" NAME, err ? "" : folder);
        path = standard;
    }
    if (!err)
        err = open_folder(path, out, why);
    if (err)
        return err;
    out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->fd < 0)
        err = say(why, -errno, "cannot make the socket", path);
    else if (!socket_folder_lock(out->folder, LOCK_TRIES))
        err = say(why, -EBUSY, "cannot lock the folder of", path);
    if (!err) {
        err = bind_unix(out, why);
        socket_folder_unlock(out->folder);
    }
    if (err)
        listen_close(out);
    return err;
}

/* ---- TCP ---- */

static int no_address(const char *text, char why[LISTEN_WHY_SIZE])
{
    snprintf(why, LISTEN_WHY_SIZE,
             "\"%.100s\" is not an address: expected ADDRESS:PORT, as in 127.0.0.1:9464", text);
    return -EINVAL;
}

static bool is_loopback(const struct sockaddr *at)
{
    if (at->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, at, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    if (at->sa_family == AF_INET6) {
        struct sockaddr_in6 in;

        memcpy(&in, at, sizeof(in));
        return IN6_IS_ADDR_LOOPBACK(&in.sin6_addr);
    }
    return false;
}

/* "ADDRESS:PORT" into an address; nothing is looked up. */
static int parse(const char *text, struct addrinfo **out, char why[LISTEN_WHY_SIZE])
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
    char host[64] = "127.0.0.1";
    size_t size = colon ? (size_t)(colon - text) : 0;

    if (!*port || port[strspn(port, "0123456789")] || strlen(port) > 5 || atoi(port) > UINT16_MAX ||
        size >= sizeof(host))
        return no_address(text, why);
    if (size > 2 && *text == '[' && colon[-1] == ']')
        snprintf(host, sizeof(host), "%.*s", (int)size - 2, text + 1);
    else if (size && !(size == 9 && !strncmp(text, "localhost", size)))
        snprintf(host, sizeof(host), "%.*s", (int)size, text);
    return getaddrinfo(host, port, &hints, out) ? no_address(text, why) : 0;
}

/* What it is now: the port may have been 0. */
static void tell_where(struct listener *l)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof(at);
    char host[NI_MAXHOST], port[NI_MAXSERV];
    bool six;

    if (getsockname(l->fd, (struct sockaddr *)&at, &size) ||
        getnameinfo((struct sockaddr *)&at, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV))
        return;
    six = strchr(host, ':') != NULL;
    snprintf(l->where, sizeof(l->where), "http://%s%s%s:%s", six ? "[" : "", host, six ? "]" : "",
             port);
    l->beyond = !is_loopback((struct sockaddr *)&at);
}

int listen_tcp(const char *text, struct listener *out, char why[LISTEN_WHY_SIZE])
{
    struct addrinfo *at = NULL;
    int err = parse(text, &at, why);

    *out = (struct listener){.fd = -1, .folder = -1};
    if (err)
        return err;
    out->fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (out->fd < 0 || setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) ||
        bind(out->fd, at->ai_addr, at->ai_addrlen) || listen(out->fd, BACKLOG))
        err = -errno;
    freeaddrinfo(at);
    if (err == -EADDRINUSE)
        snprintf(why, LISTEN_WHY_SIZE,
                 "%.100s is in use: name another port, or 0 for one that is free", text);
    else if (err)
        say(why, err, "cannot listen on", text);
    if (err)
        listen_close(out);
    else
        tell_where(out);
    return err;
}

/* Numbers of files are given out again. */
static bool is_ours(const struct listener *l)
{
    struct stat st;

    return l->made.st_ino && !fstatat(l->folder, l->name, &st, AT_SYMLINK_NOFOLLOW) &&
           st.st_dev == l->made.st_dev && st.st_ino == l->made.st_ino &&
           st.st_ctim.tv_sec == l->made.st_ctim.tv_sec &&
           st.st_ctim.tv_nsec == l->made.st_ctim.tv_nsec;
}

void listen_close(struct listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
    if (l->folder >= 0) {
        if (is_ours(l))
            unlinkat(l->folder, l->name, 0);
        close(l->folder);
    }
    *l = (struct listener){.fd = -1, .folder = -1};
}
