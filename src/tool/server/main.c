/*
 * shadowtrace-serve - one thread and one loop: read what has come of the logs, begin and end
 * answers, serve connections, wait.
 */
#include "serve/options.h"
#include "serve/serve.h"
#include "server/find.h"
#include "server/http.h"

#include "base/clock.h"
#include "readers/parts.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define STEP_NS  UINT64_C(100000000) /* between two looks at the logs */
#define STEP_MS  100
#define READ_NS  UINT64_C(20000000) /* of reading, then others have their turn */
#define WANTS_MS 5
#define END_NS   UINT64_C(3000000000) /* for those that wait when a signal ends it */

static int run(void *into, const struct args *args, FILE *out);
SERVE_COMMAND;

struct server {
    const struct serve_options *options;
    const struct args *args;
    struct traced_set traced;
    struct find find;
    struct pending_set answers;
    struct listener listener;
    struct token token;
    struct http *http;
    int signals;
    uint64_t stepped_ns;
    uint64_t ends_ns; /* when it has to have ended; 0: nobody asked */
    bool more;        /* of the logs is there already */
    char folder_why[400];
};

/* ---- starting ---- */

/* Each once: one that is named again, or is an earlier part of another one, is left out. */
static int take_logs(struct server *s)
{
    char *path[TRACED_MAX + 1] = {NULL};
    size_t count = s->args->count;
    int status;

    for (size_t i = 0; i < count && i < TRACED_MAX; i++)
        path[i] = s->args->word[i];
    status = cli_failed(&cmd_serve, log_parts_once(path, &count));
    for (size_t i = 0; !status && i < count; i++) {
        status = cli_failed(&cmd_serve, traced_add(&s->traced, 0, path[i], clock_ns()));
        if (!status && s->traced.all[s->traced.count - 1]->state == TRACED_FAILED) {
            cli_complain(&cmd_serve, "%s", s->traced.all[s->traced.count - 1]->why);
            status = CLI_IO;
        }
    }
    return status;
}

static int take_token(struct server *s, char path[PATH_MAX])
{
    char folder[PATH_MAX], why[LISTEN_WHY_SIZE];
    int err = 0;

    if (s->options->token_file) {
        snprintf(path, PATH_MAX, "%s", s->options->token_file);
    } else {
        err = listen_folder(folder, why);
        if (!err && snprintf(path, PATH_MAX, "%s/serve.token", folder) >= PATH_MAX)
            err = -ENAMETOOLONG;
    }
    if (!err)
        err = token_load(path, &s->token, why, sizeof(why));
    if (err)
        cli_complain(&cmd_serve, "%s", why);
    return err ? CLI_IO : CLI_OK;
}

static int take_port(struct server *s, FILE *out)
{
    char token[PATH_MAX] = "", why[LISTEN_WHY_SIZE];
    int err, status = s->options->listen ? take_token(s, token) : CLI_OK;

    if (status)
        return status;
    err = s->options->listen ? listen_tcp(s->options->listen, &s->listener, why)
                             : listen_unix(s->options->socket, &s->listener, why);
    if (err) {
        cli_complain(&cmd_serve, "%s", why);
        return err == -EINVAL ? CLI_USAGE : CLI_IO;
    }
    fprintf(out, "%s\n", s->listener.where);
    if (*token)
        fprintf(out, "token in %s\n", token);
    if (s->listener.beyond)
        cli_complain(&cmd_serve, "what is answered beyond this machine is not encrypted");
    err = http_new(&s->listener, s->options->listen ? &s->token : NULL, &s->options->hosts,
                   &s->answers, &s->http);
    return cli_failed(&cmd_serve, err);
}

static int start(struct server *s, FILE *out)
{
    const struct serve_options *o = s->options;
    int status = CLI_OK;

    s->answers = (struct pending_set){.traced = &s->traced, .options = o, .min_share = 0.00001};
    if (o->listen && o->socket)
        status = cli_usage_error(&cmd_serve, "--listen and --socket exclude each other");
    if (!status && o->token_file && !o->listen)
        status = cli_usage_error(&cmd_serve, "--token-file needs --listen");
    if (!status)
        status = filters_share(&cmd_serve, o->min_share, &s->answers.min_share);
    if (!status)
        status = job_signals(&cmd_serve, &s->signals);
    if (!status)
        status = take_logs(s);
    if (!status)
        status = take_port(s, out);
    if (!status && fflush(out)) {
        cli_complain(&cmd_serve, "cannot write to standard output");
        status = CLI_IO;
    }
    return status;
}

/* ---- running ---- */

/* A signal that ends it: who waits gets what there is by now. */
static void end(struct server *s, uint64_t now_ns)
{
    if (s->ends_ns) {
        s->ends_ns = now_ns; /* a second one: at once */
        return;
    }
    s->ends_ns = now_ns + END_NS;
    http_quiesce(s->http);
    listen_close(&s->listener);
    pending_hurry(&s->answers, now_ns);
}

static void read_signals(struct server *s, uint64_t now_ns)
{
    struct signalfd_siginfo one;

    while (read(s->signals, &one, sizeof(one)) == (ssize_t)sizeof(one))
        if (one.ssi_signo != SIGCHLD)
            end(s, now_ns);
}

static void say(void *server, const char *text)
{
    (void)server;
    cli_complain(&cmd_serve, "%s", text);
}

static void look_for_processes(struct server *s, uint64_t now_ns)
{
    char why[sizeof(s->folder_why)] = "";

    if (s->args->count)
        return; /* only those logs */
    if (!find_step(&s->find, &s->traced, now_ns, why, sizeof(why)) || !*why ||
        !strcmp(why, s->folder_why))
        return;
    memcpy(s->folder_why, why, sizeof(why));
    cli_complain(&cmd_serve, "%s", why);
}

static void read_logs(struct server *s, uint64_t now_ns)
{
    bool wanted = pending_wants_reading(&s->answers, now_ns);

    if (!s->more && !wanted && now_ns - s->stepped_ns < STEP_NS)
        return;
    s->stepped_ns = now_ns;
    s->more = traced_step(&s->traced, READ_NS, s->options->max_memory);
    traced_expire(&s->traced, s->options->keep_ns, now_ns);
}

static int timeout_ms(const struct server *s, size_t before)
{
    int ms = http_timeout_ms(s->http);

    if (s->more || s->answers.answered != before)
        return 0;
    if (pending_wants_reading(&s->answers, clock_ns()) && (ms < 0 || ms > WANTS_MS))
        return WANTS_MS;
    return ms < 0 || ms > STEP_MS ? STEP_MS : ms;
}

/* Whether it is to go on. */
static bool step(struct server *s)
{
    uint64_t now_ns = clock_ns(), before = s->answers.answered;
    struct pollfd fds[] = {{.fd = http_descriptor(s->http), .events = POLLIN},
                           {.fd = s->signals, .events = POLLIN}};

    read_signals(s, now_ns);
    look_for_processes(s, now_ns);
    read_logs(s, now_ns);
    pending_step(&s->answers, clock_ns());
    http_run(s->http, clock_ns());
    if (s->ends_ns &&
        (clock_ns() >= s->ends_ns || (!pending_any(&s->answers) && !http_connections(s->http))))
        return false;
    (void)poll(fds, sizeof(fds) / sizeof(*fds), timeout_ms(s, before));
    return true;
}

static void stop(struct server *s)
{
    if (s->http) {
        pending_abandon(&s->answers);
        http_run(s->http, clock_ns()); /* nobody is left suspended */
        http_free(s->http);
    }
    pending_free(&s->answers);
    find_fini(&s->find);
    listen_close(&s->listener);
    traced_free(&s->traced);
    if (s->signals >= 0)
        close(s->signals);
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct server s = {
        .options = into, .args = args, .listener = {.fd = -1, .folder = -1}, .signals = -1};
    int status;

    find_init(&s.find);
    s.traced.say = say;
    status = start(&s, out);
    while (!status && step(&s))
        ;
    stop(&s);
    return status;
}

int main(int argc, char **argv)
{
    int status = cli_run(&cmd_serve, argc, argv, stdout);

    return fflush(stdout) && !status ? CLI_IO : status;
}
