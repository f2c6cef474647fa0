#include "server/http.h"

#include "base/memory.h"
#include "options/socket_path.h"
#include "server/access.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#define SECOND UINT64_C(1000000000)

/* Whom a connection comes from; all zero on a Unix socket. */
struct origin {
    uint8_t address[16];
};

struct caller {
    struct MHD_Connection *connection; /* NULL: free */
    uint64_t accepted_ns;
    uint64_t since_ns; /* of the request that is read, or the answer that is sent */
    struct origin origin;
    bool admitted; /* a request of it was allowed; until then it is a stranger */
    bool ending;   /* its socket was shut down */
    bool waits;    /* for an answer that is made */
    bool timed;    /* that one waits for time to pass */
    bool busy;     /* with a request that was read */
};

/* A request whose answer is on its way; one that is refused has none. */
struct request {
    struct http *http;
    struct MHD_Connection *connection;
    struct caller *caller;
    struct pending *answer; /* NULL: taken */
    struct request *next;
};

struct http {
    struct MHD_Daemon *daemon;
    const struct token *token;
    const struct args_list *hosts;
    struct pending_set *answers;
    struct request *requests;
    struct caller callers[HTTP_CONNECTIONS];
    uint64_t now_ns;
    bool quiet; /* accepts no more */
};

/* ---- answers ---- */

struct heading {
    const char *name, *value;
};

static void add_headings(struct MHD_Response *r, const struct heading *headings)
{
    for (; headings->name; headings++)
        (void)MHD_add_response_header(r, headings->name, headings->value);
}

/* Of all answers. What a page may do is said by its kind. */
static const struct heading common[] = {{"Cache-Control", "no-store"},
                                        {"X-Content-Type-Options", "nosniff"},
                                        {"Cross-Origin-Resource-Policy", "same-origin"},
                                        {"Cross-Origin-Opener-Policy", "same-origin"},
                                        {"Referrer-Policy", "no-referrer"},
                                        {NULL, NULL}};

#define POLICY_NOTHING \
    { \
        "Content-Security-Policy", \
            "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" \
    }
#define PLAIN   "text/plain; charset=utf-8"
#define PROFILE "application/octet-stream"

static const struct heading kinds[][6] = {
    [ANSWER_ALLOCS] = {{"Content-Type", PROFILE},
                       {"Content-Disposition", "attachment; filename=\"allocs.pb.gz\""},
                       POLICY_NOTHING},
    [ANSWER_HEAP] = {{"Content-Type", PROFILE},
                     {"Content-Disposition", "attachment; filename=\"heap.pb.gz\""},
                     POLICY_NOTHING},
    [ANSWER_METRICS] = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"},
                        {"Vary", "Accept-Encoding"},
                        POLICY_NOTHING},
    [ANSWER_INDEX] = {{"Content-Type", "text/html; charset=utf-8"},
                      {"Vary", "Accept-Encoding"},
                      {"Content-Security-Policy",
                       "default-src 'none'; style-src 'self'; frame-src 'self'; base-uri 'none'; "
                       "form-action 'none'; frame-ancestors 'none'"}},
    /* beside the policy within it, which lets only its own script run */
    [ANSWER_FLAME] = {{"Content-Type", "text/html; charset=utf-8"},
                      {"Vary", "Accept-Encoding"},
                      {"Content-Security-Policy", "frame-ancestors 'self'"}},
};

static const struct heading plain[] = {{"Content-Type", PLAIN}, POLICY_NOTHING, {NULL, NULL}};
static const struct heading style[] = {
    {"Content-Type", "text/css; charset=utf-8"}, POLICY_NOTHING, {NULL, NULL}};

/* A text that is there at once. more: NULL none. */
static enum MHD_Result queue_text(struct MHD_Connection *c, unsigned status, const char *text,
                                  const struct heading *headings, const struct heading *more)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                             MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    if (!r)
        return MHD_NO;
    add_headings(r, common);
    add_headings(r, headings);
    if (more)
        add_headings(r, more);
    result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result refuse(struct http *h, struct MHD_Connection *connection, unsigned status,
                              const char *text)
{
    static const struct {
        unsigned status;
        struct heading headings[3]; /* an empty one ends them */
    } refusals[] = {
        {MHD_HTTP_UNAUTHORIZED,
         {{"WWW-Authenticate", "Basic realm=\"shadowtrace\", charset=\"UTF-8\""},
          {"WWW-Authenticate", "Bearer realm=\"shadowtrace\""}}},
        {MHD_HTTP_METHOD_NOT_ALLOWED, {{"Allow", "GET, HEAD"}}},
        {MHD_HTTP_SERVICE_UNAVAILABLE, {{"Retry-After", "1"}, {"Connection", "close"}}}};
    const struct heading *more = NULL;

    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        if (refusals[i].status == status)
            more = refusals[i].headings;
    h->answers->refused++;
    return queue_text(connection, status, text, plain, more);
}

/* Made once for all who share it. Returns: NULL: no memory. */
static struct MHD_Response *response_of(struct pending *p)
{
    struct MHD_Response *r;

    if (p->response)
        return p->response;
    r = MHD_create_response_from_fd_at_offset64(p->size, p->fd, 0);
    if (!r)
        return NULL;
    p->fd = -1;
    p->response = r;
    add_headings(r, common);
    add_headings(r, kinds[p->key.kind]);
    if (p->key.gzip)
        (void)MHD_add_response_header(r, "Content-Encoding", "gzip");
    return r;
}

static void let_go(struct request *q)
{
    if (q->answer)
        q->answer->waiters--;
    q->answer = NULL;
}

static enum MHD_Result send_answer(struct request *q)
{
    struct pending *p = q->answer;
    struct MHD_Response *r;
    enum MHD_Result result;

    if (q->caller->waits)
        (void)MHD_set_connection_option(q->connection, MHD_CONNECTION_OPTION_TIMEOUT, HTTP_IDLE_S);
    q->caller->waits = q->caller->timed = false;
    q->caller->since_ns = q->http->now_ns;
    if (p->err) {
        char text[JOB_WHY_SIZE + 2];

        snprintf(text, sizeof(text), "%s\n", *p->why ? p->why : strerror(-p->err));
        result = refuse(q->http, q->connection, MHD_HTTP_SERVICE_UNAVAILABLE, text);
    } else {
        r = response_of(p);
        result = r ? MHD_queue_response(q->connection, MHD_HTTP_OK, r) : MHD_NO;
    }
    let_go(q);
    return result;
}

static void on_done(void *context, struct pending *p)
{
    struct http *h = context;

    for (struct request *q = h->requests; q; q = q->next)
        if (q->answer == p && q->caller->waits)
            MHD_resume_connection(q->connection);
}

static void release_response(void *response)
{
    MHD_destroy_response(response);
}

/* ---- what is asked ---- */

static const char *header(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static const char *argument(struct MHD_Connection *c, const char *name)
{
    return MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
}

static bool has_token(const struct http *h, struct MHD_Connection *connection)
{
    const char *bearer = access_bearer(header(connection, "Authorization"));
    char *user, *password = NULL;
    bool is;

    if (bearer)
        return token_is(h->token, bearer);
    user = MHD_basic_auth_get_username_password(connection, &password);
    is = password && token_is(h->token, password);
    MHD_free(user);
    MHD_free(password);
    return is;
}

static int descriptor(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

static bool is_our_user(struct MHD_Connection *c)
{
    return socket_peer(descriptor(c), true);
}

/* Returns: 0, or the status with a line in *why. */
static unsigned check(const struct http *h, struct MHD_Connection *connection, const char *method,
                      const char **why)
{
    const char *host = header(connection, "Host");

    *why = "this socket is another user's\n";
    if (!h->token && !is_our_user(connection))
        return MHD_HTTP_FORBIDDEN;
    *why = "unknown host: call this machine by its address, or start the server with --host NAME\n";
    if (h->token && !access_host(host, h->hosts))
        return MHD_HTTP_FORBIDDEN;
    *why = "requests of other sites are not answered\n";
    if (!access_origin(header(connection, "Origin"), header(connection, "Sec-Fetch-Site"), host))
        return MHD_HTTP_FORBIDDEN;
    *why = "a token is needed: `Authorization: Bearer TOKEN`, or TOKEN as the password\n";
    if (h->token && !has_token(h, connection))
        return MHD_HTTP_UNAUTHORIZED;
    *why = "only GET and HEAD\n";
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    return 0;
}

static const struct path {
    const char *path;
    enum answer_kind kind;
    bool one; /* of one process; else of all if none is chosen */
} paths[] = {
    {"/", ANSWER_INDEX, false},
    {"/metrics", ANSWER_METRICS, false},
    {"/flame", ANSWER_FLAME, true},
    {"/debug/pprof/allocs", ANSWER_ALLOCS, true},
    {"/debug/pprof/heap", ANSWER_HEAP, true},
};

static const struct path *path_of(const char *url)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
        if (!strcmp(paths[i].path, url))
            return &paths[i];
    return NULL;
}

/* ?pid=, ?log=. Returns: 0, or the status with a line in *why. */
static unsigned choose(const struct http *h, struct MHD_Connection *connection,
                       const struct path *path, struct traced **of, const char **why)
{
    const char *pid = argument(connection, "pid"), *log = argument(connection, "log");
    unsigned long number;

    *of = NULL;
    if (pid) {
        *why = "pid is not a process id\n";
        if (!access_number(pid, 1UL << 30, &number))
            return MHD_HTTP_BAD_REQUEST;
        *of = traced_find(h->answers->traced, (long)number);
    } else if (log) {
        *of = traced_find_log(h->answers->traced, log);
    } else if (path->one) {
        *of = traced_default(h->answers->traced);
    }
    if (pid)
        *why = "no such traced process: / lists them\n";
    else if (log)
        *why = "no such log: / lists them\n";
    else
        *why = "no traced process: `shadowtrace record -- COMMAND` starts one\n";
    return !*of && (pid || log || path->one) ? MHD_HTTP_NOT_FOUND : 0;
}

/* Returns: 0 and *key, or the status with a line in *why. */
static unsigned understand(const struct http *h, struct MHD_Connection *connection, const char *url,
                           struct pending_key *key, const char **why)
{
    const struct path *path = path_of(url);
    const char *seconds = argument(connection, "seconds"), *since = argument(connection, "since");
    unsigned long number = 0;
    unsigned status;

    *why = "not here: /, /metrics, /debug/pprof/allocs, /debug/pprof/heap\n";
    if (!path)
        return MHD_HTTP_NOT_FOUND;
    *key = (struct pending_key){.kind = path->kind};
    status = choose(h, connection, path, &key->of, why);
    if (status)
        return status;
    if (path->kind == ANSWER_ALLOCS && seconds) {
        *why = "seconds is a number from 1 to 600\n";
        if (!access_number(seconds, PENDING_SECONDS_MAX, &number))
            return MHD_HTTP_BAD_REQUEST;
        key->seconds = number;
    }
    *why = "its log does not say what is alive: record with --live\n";
    if (path->kind == ANSWER_HEAP && !traced_live(key->of))
        return MHD_HTTP_NOT_FOUND;
    if (path->kind != ANSWER_ALLOCS && path->kind != ANSWER_HEAP)
        key->gzip = access_gzip(header(connection, "Accept-Encoding"));
    key->whole = (path->kind == ANSWER_FLAME || path->kind == ANSWER_INDEX) && since &&
                 !strcmp(since, "start");
    return 0;
}

/* ---- callbacks ---- */

static struct caller *caller_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* Some of the slots: those who wait ten minutes leave others to those who do not. */
static bool may_wait(const struct http *h, const struct pending_key *key)
{
    size_t timed = 0;

    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        timed += h->callers[i].connection && h->callers[i].timed;
    return !key->seconds || timed < HTTP_TIMED;
}

static enum MHD_Result wait_for(struct http *h, struct MHD_Connection *connection,
                                struct caller *caller, struct pending *p, void **context)
{
    struct request *q = memory_alloc(sizeof(*q));

    if (!q) {
        p->waiters--;
        return MHD_NO;
    }
    *q = (struct request){h, connection, caller, p, h->requests};
    h->requests = q;
    *context = q;
    if (p->state == PENDING_DONE)
        return send_answer(q);
    caller->waits = true;
    caller->timed = p->key.seconds;
    /* However long: it is we who do nothing. */
    (void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    MHD_suspend_connection(connection);
    return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **request)
{
    struct http *h = context;
    struct request *q = *request;
    struct caller *caller = caller_of(c);
    struct pending_key key;
    struct pending *p;
    const char *why;
    unsigned status;
    int err;

    (void)version;
    (void)data;
    (void)size;
    if (caller)
        caller->busy = true;
    if (q)
        return q->answer && q->answer->state == PENDING_DONE ? send_answer(q) : MHD_NO;
    if (!caller)
        return MHD_NO;
    status = check(h, c, method, &why);
    caller->admitted |= !status;
    if (!status && !strcmp(url, "/style.css"))
        return queue_text(c, MHD_HTTP_OK, answer_style, style, NULL);
    if (!status)
        status = understand(h, c, url, &key, &why);
    if (status)
        return refuse(h, c, status, why);
    if (!may_wait(h, &key))
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests wait for seconds\n");
    err = pending_ask(h->answers, &key, h->now_ns, &p);
    if (err)
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
                      err == -EBUSY ? "too many answers are being made\n" : "out of memory\n");
    h->answers->answered++;
    return wait_for(h, c, caller, p, request);
}

static void on_completed(void *context, struct MHD_Connection *c, void **request,
                         enum MHD_RequestTerminationCode code)
{
    struct http *h = context;
    struct request *q = *request, **at = &h->requests;
    struct caller *caller = caller_of(c);

    (void)code;
    if (caller) {
        caller->since_ns = h->now_ns;
        caller->busy = false;
    }
    if (!q)
        return;
    while (*at && *at != q)
        at = &(*at)->next;
    if (*at)
        *at = q->next;
    let_go(q);
    memory_free(q);
    *request = NULL;
}

/* ---- slots ---- */

static struct origin origin_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    struct origin o = {{0}};

    if (address && address->sa_family == AF_INET)
        memcpy(o.address, (const char *)address + offsetof(struct sockaddr_in, sin_addr), 4);
    else if (address && address->sa_family == AF_INET6)
        memcpy(o.address, (const char *)address + offsetof(struct sockaddr_in6, sin6_addr), 16);
    return o;
}

/* libmicrohttpd then reads the end of it, and frees the slot. */
static void end_caller(struct caller *caller)
{
    int fd = descriptor(caller->connection);

    if (fd >= 0)
        (void)shutdown(fd, SHUT_RDWR);
    caller->ending = true;
}

/* It sent something that was not looked at yet: that is our delay. */
static bool has_unread(const struct caller *caller)
{
    int fd = descriptor(caller->connection), size = 0;

    return fd >= 0 && !ioctl(fd, FIONREAD, &size) && size > 0;
}

static bool is_stranger(const struct caller *caller)
{
    return caller->connection && !caller->admitted && !caller->ending;
}

static size_t strangers_from(const struct http *h, const struct origin *origin)
{
    size_t count = 0;

    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        count += is_stranger(&h->callers[i]) &&
                 (!origin || !memcmp(&h->callers[i].origin, origin, sizeof(*origin)));
    return count;
}

/*
 * Too many strangers: the oldest one of the address with the most of them goes. So a client with a
 * token, which sends its request at once, finds a slot however many connect and say nothing.
 */
static void end_stranger(struct http *h)
{
    struct caller *victim = NULL;
    size_t most = 0;

    for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
        struct caller *caller = &h->callers[i];
        size_t count = is_stranger(caller) ? strangers_from(h, &caller->origin) : 0;

        if (!count || has_unread(caller) || count < most ||
            (count == most && caller->accepted_ns >= victim->accepted_ns))
            continue;
        most = count;
        victim = caller;
    }
    if (victim)
        end_caller(victim);
}

static void on_connection(void *context, struct MHD_Connection *c, void **caller,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *h = context;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*caller)
            *(struct caller *)*caller = (struct caller){.connection = NULL};
        *caller = NULL;
        return;
    }
    *caller = NULL;
    for (size_t i = 0; i < HTTP_CONNECTIONS && !*caller; i++)
        if (!h->callers[i].connection) {
            h->callers[i] = (struct caller){.connection = c,
                                            .accepted_ns = h->now_ns,
                                            .since_ns = h->now_ns,
                                            .origin = origin_of(c)};
            *caller = &h->callers[i];
        }
    if (strangers_from(h, NULL) > HTTP_STRANGERS)
        end_stranger(h);
}

/* ---- running ---- */

int http_new(struct listener *listener, const struct token *token, const struct args_list *hosts,
             struct pending_set *answers, struct http **out)
{
    struct http *h = memory_zalloc(1, sizeof(*h));

    *out = NULL;
    if (!h)
        return -ENOMEM;
    h->token = token;
    h->hosts = hosts;
    h->answers = answers;
    answers->done = on_done;
    answers->release = release_response;
    answers->context = h;
    h->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, h,
        MHD_OPTION_LISTEN_SOCKET, listener->fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, HTTP_IDLE_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_REQUEST_SIZE, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
    if (!h->daemon) {
        memory_free(h);
        return -EIO;
    }
    listener->fd = -1;
    *out = h;
    return 0;
}

int http_descriptor(const struct http *h)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);

    return info ? info->epoll_fd : -1;
}

int http_timeout_ms(const struct http *h)
{
    MHD_UNSIGNED_LONG_LONG ms;

    if (MHD_get_timeout(h->daemon, &ms) != MHD_YES)
        return -1;
    return ms < 1000 ? (int)ms : 1000;
}

/*
 * One that sends a byte now and then, or reads one, is not idle; but it is not to stay for ever. A
 * stranger has less time. One that asks nothing does not keep the server from ending.
 */
static bool is_too_slow(const struct http *h, const struct caller *caller)
{
    if (caller->waits || caller->ending)
        return false;
    if (h->quiet && !caller->busy)
        return true;
    if (!caller->admitted && h->now_ns - caller->accepted_ns >= HTTP_FIRST_S * SECOND)
        return !has_unread(caller);
    return h->now_ns - caller->since_ns >= HTTP_WHOLE_S * SECOND;
}

static void end_slow(struct http *h)
{
    for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
        if (h->callers[i].connection && is_too_slow(h, &h->callers[i]))
            end_caller(&h->callers[i]);
}

static bool has_gone(struct MHD_Connection *c)
{
    struct pollfd p = {.fd = descriptor(c), .events = POLLRDHUP};

    return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* libmicrohttpd does not watch who was suspended: a client that has gone frees its slot here. */
static void end_gone(struct http *h)
{
    for (struct request *q = h->requests; q; q = q->next)
        if (q->caller->waits && has_gone(q->connection)) {
            q->caller->waits = q->caller->timed = false;
            MHD_resume_connection(q->connection); /* on_request closes it */
        }
}

void http_run(struct http *h, uint64_t now_ns)
{
    h->now_ns = now_ns;
    end_slow(h);
    end_gone(h);
    (void)MHD_run(h->daemon);
}

void http_quiesce(struct http *h)
{
    MHD_socket fd = h->quiet ? MHD_INVALID_SOCKET : MHD_quiesce_daemon(h->daemon);

    h->quiet = true;
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
}

unsigned http_connections(const struct http *h)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);

    return info ? info->num_connections : 0;
}

void http_free(struct http *h)
{
    if (!h)
        return;
    MHD_stop_daemon(h->daemon);
    memory_free(h);
}
