#include "process/client.h"

#include "base/clock.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "options/socket_path.h"
#include "process/deputy.h"
#include "process/dotnet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
#define CONNECT_S  10
#define COLLECT_MS 70000 /* the process answers within 60 s, if it can */
#define LOCK_TRIES 100   /* of 1 ms */
#define PIECE      65536u

/* Bytes of a reply, which takes up to 45 times as much in memory. Only stacks are long. */
#define MAX_STACKS (32u << 20)
#define MAX_REPLY  (1u << 20)

bool client_pid(const char *text, long *pid)
{
    char *end;

    errno = 0;
    *pid = strtol(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *pid > 0 && *pid <= INT32_MAX;
}

/* Returns: a descriptor, or -errno. */
static int connect_any(int folder, const char *name)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;
    struct sockaddr_un address;

    if (fd < 0)
        return -errno;
    socket_at(folder, name, &address);
    if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
        return fd;
    err = -errno;
    close(fd);
    return err;
}

/* Returns: a descriptor; -EPERM for a socket that a process of another user serves; -errno. */
static int connect_to(int folder, const char *name)
{
    int fd = connect_any(folder, name);

    if (fd < 0 || socket_peer(fd, false))
        return fd;
    close(fd);
    return -EPERM;
}

/*
 * In this user's own folder, which socket_folder_open has checked: closed to others, who cannot
 * change what lies there. Root's own folder is the same. Others' folders: open_elsewhere.
 *
 * Removes a socket that nobody serves: no process makes one there meanwhile. Returns: whether it is
 * gone.
 */
static bool remove_stale(int folder, const char *name)
{
    bool gone = false;
    int fd;

    if (!socket_folder_lock(folder, LOCK_TRIES))
        return false;
    fd = connect_to(folder, name);
    if (fd == -ECONNREFUSED)
        gone = !unlinkat(folder, name, 0);
    else if (fd >= 0)
        close(fd);
    socket_folder_unlock(folder);
    return gone;
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
        return refuse(c, -ESRCH, "process %ld does not exist%s", c->pid,
                      stale ? "; the socket it left was removed" : "");
    if (st.st_uid != geteuid() && geteuid()) {
        user = getpwuid(st.st_uid);
        return refuse(c, -EPERM, "process %ld belongs to %s%.60s; only that user can look into it",
                      c->pid, user ? "" : "another user", user ? user->pw_name : "");
    }
    return refuse(c, -ENOENT,
                  "process %ld is not traced, or has --no-control; `shadowtrace list` shows those "
                  "that are",
                  c->pid);
}

struct opening {
    const struct dotnet_process *process;
    const char *folder;
};

/* In a deputy. Under its own number; the kernel says who serves it. */
static int open_there(const struct deputy *d, void *context, int *out)
{
    const struct opening *o = context;
    const struct dotnet_process *p = o->process;
    int folder = deputy_folder(d, o->folder), fd;
    char name[32];

    if (folder < 0)
        return folder;
    snprintf(name, sizeof(name), "%ld.sock", p->inside);
    fd = connect_any(folder, name);
    if (fd >= 0 && !dotnet_serves(p, fd))
        return -EPERM;
    *out = fd;
    return fd < 0 ? fd : 0;
}

/* Root, to what lies in another user's folders, or behind another root. */
static int open_elsewhere(struct client *c)
{
    struct dotnet_process p;
    struct deputy d;
    char folder[PATH_MAX], *runtime;
    int err;

    if (geteuid() || dotnet_look(c->pid, &p) || !dotnet_is_foreign(&p))
        return -ENOENT;
    runtime = dotnet_variable(c->pid, "XDG_RUNTIME_DIR");
    snprintf(folder, sizeof(folder), "%s/shadowtrace", runtime ? runtime : "");
    err = deputy_open(&d, c->pid);
    if (!err)
        err = runtime ? deputy_run(&d, CONNECT_S, open_there, &(struct opening){&p, folder}, &c->fd)
                      : -ENOENT;
    memory_free(runtime);
    if (err && d.root >= 0) {
        snprintf(folder, sizeof(folder), "/tmp/shadowtrace-%u", (unsigned)p.uid_inside);
        err = deputy_run(&d, CONNECT_S, open_there, &(struct opening){&p, folder}, &c->fd);
    }
    deputy_close(&d);
    return err;
}

/* In one folder. Returns: 0; -ENOENT: no such socket (any more: *stale); -errno and why. */
static int open_in(struct client *c, int folder, const char *path, bool *stale)
{
    char name[32];

    snprintf(name, sizeof(name), "%ld.sock", c->pid);
    c->fd = connect_to(folder, name);
    if (c->fd >= 0)
        return 0;
    if (c->fd == -ECONNREFUSED && remove_stale(folder, name)) {
        *stale = true;
        return -ENOENT;
    }
    if (c->fd == -ENOENT)
        return c->fd;
    if (c->fd == -EPERM)
        return refuse(c, c->fd, "%s/%s is served by a process of another user; remove it", path,
                      name);
    return refuse(c, c->fd, "cannot connect to %s/%s: %s", path, name, strerror(-c->fd));
}

int client_open(struct client *c, long pid)
{
    char folder[SOCKET_PATH_SIZE], why[CLIENT_WHY_SIZE];
    bool stale = false;
    int err, fd;

    *c = (struct client){.pid = pid, .fd = -1};
    for (unsigned i = 0; socket_folder(i, folder); i++) {
        fd = *folder ? socket_folder_open(folder, why, sizeof(why)) : -ENOENT;
        if (fd < 0 && fd != -ENOENT)
            return refuse(c, fd, "cannot trust the folder of the sockets: %.300s", why);
        if (fd < 0)
            continue;
        err = open_in(c, fd, folder, &stale);
        close(fd);
        if (err != -ENOENT)
            return err;
    }
    c->fd = -1;
    if (!open_elsewhere(c))
        return 0;
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
    if (n < 0)
        return -errno;
    return n > 0 ? 0 : -ETIMEDOUT;
}

static int send_all(const struct client *c, const char *text, size_t size, uint64_t until_ns)
{
    int err;

    while (size) {
        ssize_t n = send(c->fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return -errno;
        if (n > 0) {
            text += n;
            size -= (size_t)n;
        } else if ((err = wait_for(c, POLLOUT, until_ns))) {
            return err;
        }
    }
    return 0;
}

static int receive_line(const struct client *c, struct buffer *line, size_t max, uint64_t until_ns)
{
    while (!line->size || line->data[line->size - 1] != '\n') {
        char *to = buffer_reserve(line, PIECE);
        ssize_t n;
        int err;

        if (!to)
            return -ENOMEM;
        if (line->size > max)
            return -EMSGSIZE;
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

static bool has_stacks(const json_t *request)
{
    const char *command = json_string_value(json_object_get(request, "command"));

    return command &&
           (!strcmp(command, "dump") || !strcmp(command, "sites") || !strcmp(command, "alive"));
}

static bool needs_collection(const json_t *request)
{
    const char *command = json_string_value(json_object_get(request, "command"));

    return command && (!strcmp(command, "gc") || !strcmp(command, "heap") ||
                       json_is_true(json_object_get(request, "full")));
}

static int exchange(struct client *c, const json_t *request, struct buffer *line)
{
    unsigned ms = needs_collection(request) ? COLLECT_MS : ANSWER_MS;
    uint64_t until_ns = clock_ns() + ms * UINT64_C(1000000);
    char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
    int err = text ? send_all(c, text, strlen(text), until_ns) : -ENOMEM;

    if (!err)
        err = send_all(c, "\n", 1, until_ns);
    free(text);
    /* One that was turned away may read why, although it cannot send. */
    if (!err || err == -EPIPE)
        err = receive_line(c, line, has_stacks(request) ? MAX_STACKS : MAX_REPLY, until_ns);
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
    c->unable = json_is_true(json_object_get(json, "unable"));
    if (said)
        refuse(c, -EPROTO, "process %ld: %.300s", c->pid, said);
    else
        refuse(c, -EPROTO,
               "process %ld does not use the protocol of this shadowtrace (%s); use the version "
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
    else if (err == -EMSGSIZE)
        refuse(c, err, "process %ld sends more than %u MiB; ask for fewer --frames", c->pid,
               MAX_STACKS >> 20);
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

int client_ask_once(struct client *c, long pid, json_t *request, json_t **reply)
{
    int err = client_open(c, pid);

    if (err) {
        json_decref(request);
        return err;
    }
    err = client_ask(c, request, reply);
    client_close(c);
    return err;
}

const char *client_text(const json_t *reply, const char *key)
{
    const char *text = json_string_value(json_object_get(reply, key));

    return text ? text : "?";
}

uint64_t client_number(const json_t *reply, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(reply, key));
}

static void each_in(const char *folder, int fd, client_found *found, void *context)
{
    char path[SOCKET_PATH_SIZE], number[32];
    DIR *dir = fdopendir(fd);
    const struct dirent *entry;
    const char *end;
    long pid;

    if (!dir)
        close(fd);
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
    int fd, first = 0;

    for (unsigned i = 0; socket_folder(i, folder); i++) {
        fd = *folder ? socket_folder_open(folder, text, sizeof(text)) : -ENOENT;
        if (fd >= 0)
            each_in(folder, fd, found, context);
        else if (fd != -ENOENT && !first) {
            first = fd;
            snprintf(why, CLIENT_WHY_SIZE, "cannot trust the folder of the sockets: %.300s", text);
        }
    }
    return first;
}

static void sweep_one(void *context, long pid, const char *socket)
{
    unsigned *removed = context;
    struct client client;

    if (!client_open(&client, pid)) /* removes what is stale */
        client_close(&client);
    else
        *removed += access(socket, F_OK) != 0;
}

unsigned client_sweep(void)
{
    char why[CLIENT_WHY_SIZE];
    unsigned removed = 0;

    client_each(sweep_one, &removed, why);
    return removed;
}
