/*
 * The thread of the socket. Nothing here blocks but poll: a client that sends or takes slowly waits
 * in its own buffers, whose size is bounded, and is let go when it does not move in time. One
 * request of a client is answered at a time, the next one is looked at when the reply has gone.
 */
#include "control/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_CLIENTS 128
#define MOST_REQUEST 65536u          /* bytes of one line */
#define SLOW_NS      10000000000ull  /* half a request, or a reply that is not taken */
#define IDLE_NS      600000000000ull /* a client that asks nothing */
#define COLLECT_NS   60000000000ull  /* a client that waits for a collection */
#define POLL_MS      1000
#define SEND_PIECE   262144u
#define MOST_KEPT    131072u      /* bytes: a larger reply's memory is given back */
#define CROWDED_NS   250000000ull /* no descriptor was left for who connects: they wait that long */

struct control_client {
    int fd;
    struct buffer in, out;
    size_t sent;
    struct collect_job *job; /* it waits for the end of this one; NULL: it does not */
    uint64_t until_ns;
    bool last; /* closed once out is sent */
};

static void client_close(struct control *c, size_t index)
{
    struct control_client *client = &c->client[index];

    close(client->fd);
    if (client->job)
        collect_drop(client->job);
    buffer_free(&client->in);
    buffer_free(&client->out);
    *client = c->client[--c->clients];
    if (!c->clients)
        dump_forget(c->dump);
}

static void client_wait(struct control_client *client)
{
    bool moving = client->in.size || client->out.size;

    client->until_ns = clock_ns() + (moving ? SLOW_NS : IDLE_NS);
}

/* As much as the other side takes. Returns whether the connection is still of use. */
static bool client_send(struct control_client *client)
{
    while (client->sent < client->out.size) {
        size_t left = client->out.size - client->sent;
        ssize_t n = send(client->fd, client->out.data + client->sent,
                         left < SEND_PIECE ? left : SEND_PIECE, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        client->sent += (size_t)n;
        client_wait(client);
    }
    if (client->last)
        return false;
    client->sent = 0;
    if (client->out.capacity > MOST_KEPT)
        buffer_free(&client->out);
    else
        buffer_clear(&client->out);
    client_wait(client);
    return true;
}

static void client_refuse(struct control_client *client, const char *what)
{
    control_refuse(&client->out, "%s", what);
    client->last = true;
}

/* The next whole line, if the last reply has gone. Returns whether the connection is of use. */
static bool client_answer(struct control *c, struct control_client *client)
{
    char *end;

    while (!client->out.size && !client->job && client->in.size) {
        size_t size;

        end = memchr(client->in.data, '\n', client->in.size);
        size = end ? (size_t)(end - client->in.data) : client->in.size;
        if (size > MOST_REQUEST)
            client_refuse(client, "a request is one line of at most 65536 bytes");
        else if (end)
            control_answer(c, client->in.data, size, &client->out, &client->job);
        else
            return true;
        if (client->out.failed)
            return false;
        if (client->last || !end) {
            buffer_clear(&client->in);
        } else {
            memmove(client->in.data, end + 1, client->in.size - size - 1);
            client->in.size -= size + 1;
        }
        if (client->job)
            client->until_ns = clock_ns() + COLLECT_NS;
        else if (!client_send(client))
            return false;
    }
    return true;
}

/* Its collection: is it over, or does it take too long? */
static bool client_await(struct control *c, struct control_client *client)
{
    struct collect_result result;

    if (!collect_over(client->job, &result) && clock_ns() < client->until_ns)
        return true;
    control_collected(client->job, &client->out);
    client->job = NULL;
    return !client->out.failed && client_send(client) && client_answer(c, client);
}

static bool client_receive(struct control *c, struct control_client *client)
{
    char *to = buffer_reserve(&client->in, 4096);
    ssize_t n;

    if (!to)
        return false;
    n = recv(client->fd, to, 4096, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    client->in.size += (size_t)n;
    client_wait(client);
    return client_answer(c, client);
}

/* Send one error line and close: this client is refused. */
static void turn_away(int fd, const char *what)
{
    struct buffer line = BUFFER_INIT;

    control_refuse(&line, "%s", what);
    if (!line.failed)
        send(fd, line.data, line.size, MSG_NOSIGNAL | MSG_DONTWAIT);
    buffer_free(&line);
    close(fd);
}

static void accept_all(struct control *c)
{
    int fd;

    while ((fd = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (!socket_peer(fd, true)) {
            turn_away(fd, "this process belongs to another user");
        } else if (c->clients == MOST_CLIENTS) {
            turn_away(fd, "128 clients are connected; try again later");
        } else {
            c->client[c->clients] = (struct control_client){.fd = fd};
            client_wait(&c->client[c->clients++]);
        }
    }
    if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
        c->crowded_until_ns = clock_ns() + CROWDED_NS; /* they stay in line: poll would not rest */
}

/* How long poll may wait; the listener is looked at when there may be room for who stands there. */
static int rest_ms(const struct control *c, struct pollfd *listener)
{
    uint64_t now = clock_ns();

    *listener = (struct pollfd){.fd = c->listener, .events = POLLIN};
    if (now >= c->crowded_until_ns)
        return POLL_MS;
    listener->fd = -1; /* poll passes it over */
    return (int)((c->crowded_until_ns - now) / 1000000) + 1;
}

static bool client_move(struct control *c, struct control_client *client, short events)
{
    if (events & (POLLERR | POLLNVAL))
        return false;
    if (client->job)
        return !(events & POLLHUP) && client_await(c, client);
    if (events & POLLOUT)
        return client_send(client) && client_answer(c, client);
    if (events & (POLLIN | POLLHUP))
        return client_receive(c, client);
    return clock_ns() < client->until_ns;
}

static short client_events(const struct control_client *client)
{
    return client->job ? 0 : client->out.size ? POLLOUT : POLLIN;
}

/* One round. Returns false when the recording has ended. */
static bool serve(struct control *c)
{
    struct pollfd fd[2 + MOST_CLIENTS];
    size_t count = c->clients;
    int rest;

    fd[0] = (struct pollfd){.fd = c->wake, .events = POLLIN};
    rest = rest_ms(c, &fd[1]);
    for (size_t i = 0; i < count; i++)
        fd[2 + i] = (struct pollfd){.fd = c->client[i].fd, .events = client_events(&c->client[i])};
    if (poll(fd, (nfds_t)(2 + count), rest) < 0)
        return true;
    if (!gate_enter(&c->gate))
        return false;
    if (fd[0].revents & POLLIN)
        eventfd_read(c->wake, &(eventfd_t){0});
    /* From the last on: closing one moves the last into its place. */
    for (size_t i = count; i-- > 0;)
        if (!client_move(c, &c->client[i], fd[2 + i].revents))
            client_close(c, i);
    if (fd[1].revents & POLLIN)
        accept_all(c);
    gate_leave(&c->gate);
    return true;
}

void *control_main(void *context)
{
    struct control *c = context;

    pthread_setname_np(pthread_self(), "shadowtrace-ctl");
    while (serve(c))
        ;
    while (c->clients)
        client_close(c, c->clients - 1);
    return NULL;
}

int control_new(struct control **out)
{
    struct control *c = memory_zalloc(1, sizeof(*c));

    *out = c;
    if (!c)
        return -ENOMEM;
    c->listener = c->folder = c->wake = -1;
    return 0;
}

int control_listen(struct control *c, char *why, size_t why_size)
{
    int err;

    c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->wake >= 0)
        return control_socket_open(c, why, why_size);
    err = -errno;
    snprintf(why, why_size, "cannot make an event descriptor: %s", strerror(-err));
    return err;
}

const char *control_path(const struct control *c)
{
    return *c->path ? c->path : NULL;
}

void control_start(struct control *c, const struct control_config *config)
{
    c->config = *config;
    store_release(&c->running, true);
    api_serve(c);
}

static int server_start(struct control *c)
{
    c->client = memory_zalloc(MOST_CLIENTS, sizeof(*c->client));
    c->dump = dump_new(c->config.metadata);
    if (!c->client || !c->dump)
        return -ENOMEM;
    return thread_start(&c->thread, control_main, c);
}

int control_serve(struct control *c, char *why, size_t why_size)
{
    int err;

    if (c->listener < 0 || !gate_enter(&c->starting))
        return 0; /* no socket, or the process ends */
    err = server_start(c);
    c->threaded = !err;
    if (err) {
        snprintf(why, why_size, "cannot start the thread of the socket: %s", strerror(-err));
        control_socket_close(c);
    }
    gate_leave(&c->starting);
    return err;
}

void control_wake(struct control *c)
{
    eventfd_write(c->wake, 1);
}

void control_stop(struct control *c, unsigned timeout_ms)
{
    api_serve(NULL);
    store_release(&c->running, false);
    gate_close(&c->starting, timeout_ms * UINT64_C(1000000));
    gate_close(&c->gate, timeout_ms * UINT64_C(1000000));
    if (c->threaded)
        eventfd_write(c->wake, 1);
    if (c->threaded)
        control_socket_remove(c);
    else
        control_socket_close(c);
}

void control_leave(struct control *c)
{
    control_socket_close(c);
    if (c->wake >= 0)
        close(c->wake);
    c->wake = -1;
}

void control_abandon(struct control *c)
{
    store_relaxed(&c->running, false);
    *c->path = *c->name = '\0'; /* they are the parent's */
    control_socket_close(c);
}
