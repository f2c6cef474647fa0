#include "cli/client.h"

#include "base/clock.h"
#include "options/socket_path.h"

#include "base/buffer.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ANSWER_MS  10000
#define MOST_REPLY (256u << 20)
#define PIECE      65536u

bool client_pid(const char *text, long *pid)
{
    char *end;

    errno = 0;
    *pid = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *pid > 0 && *pid <= INT32_MAX;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

    if (fd < 0)
        return -errno;
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
        return fd;
    err = -errno;
    close(fd);
    return err;
}

static int refuse(struct client *c, int err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int refuse(struct client *c, int err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(c->why, sizeof(c->why), format, args);
    va_end(args);
    return err;
}

/* Why no socket of that process was found. */
static int explain(struct client *c, bool stale)
{
    char path[64];
    struct stat st;
    const struct passwd *user;

    snprintf(path, sizeof(path), "/proc/%ld", c->pid);
    if (stat(path, &st))
        return refuse(c, -ESRCH, "there is no process %ld%s", c->pid,
                      stale ? " any more; the socket it left has been removed" : "");
    if (st.st_uid != geteuid()) {
        user = getpwuid(st.st_uid);
        return refuse(c, -EPERM, "process %ld belongs to %s%.60s; only that user can look into it",
                      c->pid, user ? "" : "another user", user ? user->pw_name : "");
    }
    return refuse(c, -ENOENT,
                  "process %ld is not traced, or with --no-control; `shadowtrace list` shows those "
                  "that are",
                  c->pid);
}

int client_open(struct client *c, long pid)
{
    char folder[SOCKET_PATH_SIZE], path[SOCKET_PATH_SIZE], why[CLIENT_WHY_SIZE];
    bool stale = false;
    int err;

    *c = (struct client){.pid = pid, .fd = -1};
    for (unsigned i = 0; socket_folder(i, folder); i++) {
        err = socket_folder_check(folder, why, sizeof(why));
        if (err && err != -ENOENT && *folder)
            return refuse(c, err, "the folder of the sockets is not to be trusted: %.300s", why);
        if (err || !socket_path(folder, pid, path))
            continue;
        c->fd = connect_to(path);
        if (c->fd >= 0)
            return 0;
        if (c->fd == -ECONNREFUSED && !unlink(path))
            stale = true;
        else if (c->fd != -ENOENT)
            return refuse(c, c->fd, "cannot connect to %s: %s", path, strerror(-c->fd));
    }
    c->fd = -1;
    return explain(c, stale);
}

void client_close(struct client *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}

/* Waits until the socket is ready for `events`. Returns: 0, -ETIMEDOUT or -errno. */
static int wait_for(const struct client *c, short events, uint64_t until_ns)
{
    struct pollfd fd = {c->fd, events, 0};
    uint64_t now = clock_ns();
    int n;

    do
        n = poll(&fd, 1, now < until_ns ? (int)((until_ns - now) / 1000000) : 0);
    while (n < 0 && errno == EINTR && (now = clock_ns()) < until_ns);
    return n > 0 ? 0 : n < 0 ? -errno : -ETIMEDOUT;
}

static int send_all(const struct client *c, const char *text, size_t size, uint64_t until_ns)
{
    while (size) {
        ssize_t n = send(c->fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        if (n < 0) {
            int err = wait_for(c, POLLOUT, until_ns);

            if (err)
                return err;
            continue;
        }
        text += n;
        size -= (size_t)n;
    }
    return 0;
}

static int receive_line(const struct client *c, struct buffer *line, uint64_t until_ns)
{
    while (!line->size || line->data[line->size - 1] != '\n') {
        char *to = buffer_reserve(line, PIECE);
        ssize_t n;
        int err;

        if (!to || line->size > MOST_REPLY)
            return -ENOMEM;
        err = wait_for(c, POLLIN, until_ns);
        if (err)
            return err;
        n = recv(c->fd, to, PIECE, MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        if (n == 0)
            return -ECONNRESET;
        if (n > 0)
            line->size += (size_t)n;
    }
    return 0;
}

static int exchange(struct client *c, const json_t *request, struct buffer *line)
{
    uint64_t until_ns = clock_ns() + ANSWER_MS * 1000000ull;
    char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
    int err = text ? send_all(c, text, strlen(text), until_ns) : -ENOMEM;

    if (!err)
        err = send_all(c, "\n", 1, until_ns);
    free(text);
    /* One that was turned away may read why, although it cannot send. */
    if (!err || err == -EPIPE)
        err = receive_line(c, line, until_ns);
    return err;
}

static int understand(struct client *c, const struct buffer *line, json_t **reply)
{
    json_error_t error;
    json_t *json = json_loadb(line->data, line->size, 0, &error);
    const char *said = json_string_value(json_object_get(json, "error"));

    if (json_is_true(json_object_get(json, "ok")) &&
        json_integer_value(json_object_get(json, "version")) == 1) {
        *reply = json;
        return 0;
    }
    if (said)
        refuse(c, -EPROTO, "process %ld: %.300s", c->pid, said);
    else
        refuse(c, -EPROTO,
               "process %ld does not speak as this shadowtrace (%s) does; use the one "
               "that recorded it",
               c->pid, SHADOWTRACE_VERSION);
    json_decref(json);
    return -EPROTO;
}

int client_ask(struct client *c, json_t *request, json_t **reply)
{
    struct buffer line = BUFFER_INIT;
    int err = exchange(c, request, &line);

    *reply = NULL;
    json_decref(request);
    if (!err)
        err = understand(c, &line, reply);
    else if (err == -ETIMEDOUT)
        refuse(c, err, "process %ld does not answer; is it stopped?", c->pid);
    else if (err == -ECONNRESET || err == -EPIPE)
        refuse(c, err,
               kill((pid_t)c->pid, 0) ? "process %ld has ended"
                                      : "process %ld has closed the connection; is it ending?",
               c->pid);
    else
        refuse(c, err, "process %ld: %s", c->pid, strerror(-err));
    buffer_free(&line);
    return err;
}

static void each_in(const char *folder, client_found *found, void *context)
{
    char path[SOCKET_PATH_SIZE], number[32];
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    const char *end;
    long pid;

    while (dir && (entry = readdir(dir))) {
        end = strstr(entry->d_name, ".sock");
        if (!end || end[5] || end - entry->d_name >= (long)sizeof(number))
            continue;
        snprintf(number, sizeof(number), "%.*s", (int)(end - entry->d_name), entry->d_name);
        if (client_pid(number, &pid) && socket_path(folder, pid, path))
            found(context, pid, path);
    }
    if (dir)
        closedir(dir);
}

int client_each(client_found *found, void *context, char why[CLIENT_WHY_SIZE])
{
    char folder[SOCKET_PATH_SIZE], text[CLIENT_WHY_SIZE];
    int err, first = 0;

    for (unsigned i = 0; socket_folder(i, folder); i++) {
        err = *folder ? socket_folder_check(folder, text, sizeof(text)) : -ENOENT;
        if (!err)
            each_in(folder, found, context);
        else if (err != -ENOENT && !first) {
            first = err;
            snprintf(why, CLIENT_WHY_SIZE, "the folder of the sockets is not to be trusted: %.300s",
                     text);
        }
    }
    return first;
}
