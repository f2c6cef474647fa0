/*
 * shadowtrace-ship - one thread and one loop: look for logs, read what has come of them, send what
 * has changed, one log at a time, wait.
 */
#include "ship/ship.h"
#include "shipper/logs.h"
#include "shipper/send.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOURCES_MAX 256
#define PIECE       ((size_t)1 << 20)    /* bytes of a log that are read at once */
#define READ_NS     UINT64_C(50000000)   /* of reading, then signals and sendings have a turn */
#define LOOK_NS     UINT64_C(1000000000) /* between two looks for logs */
#define AGAIN_NS    UINT64_C(1000000000) /* after a failure, then twice as long, and so on, ... */
#define AGAIN_MAX   UINT64_C(60000000000)
#define WAIT_MS     100
#define JOB_MEMORY  ((uint64_t)1 << 30)
#define KNOWN_MAX   400000 /* ids of definitions that are kept: 24 bytes each */

static int run(void *into, const struct args *args, FILE *out);
SHIP_COMMAND;

struct shipper {
    struct ship_options *options;
    const struct args *args;
    FILE *out;
    struct http_target target;
    char *credentials, host[HOST_NAME_MAX + 1];
    struct logs logs;
    struct source *sources[SOURCES_MAX];
    size_t count, turn;
    struct export_rows *rows;
    struct job job;
    struct sending sending; /* of the job */
    int signals;
    uint64_t look_ns;
    bool ending;   /* what there is is sent, then it ends */
    bool full;     /* of memory: nothing is read before something is acknowledged */
    bool crowded;  /* it was said that there are too many logs */
    bool left_out; /* of a log, or of a file that should be one, something is not sent */
    bool checked;  /* the version of the server's tables */
    int status;
    char said[JOB_WHY_SIZE]; /* the last reported failure; "": none, or it works again */
};

/* ---- starting ---- */

/* To send what is there, and to fail if it cannot; else logs come and go. */
static bool once(const struct shipper *s)
{
    return s->options->once || s->options->dry_run;
}

/* The user names the file. The check of its mode is a warning for its owner, not a defence. */
static int take_credentials(struct shipper *s)
{
    const char *path = s->options->credentials;
    struct stat st;
    size_t size;
    int err = path ? file_load(path, 4096, &s->credentials, &size) : 0;

    if (!path)
        return CLI_OK;
    if (err)
        return cli_unreadable(&cmd_ship, path, NULL, err);
    s->credentials[strcspn(s->credentials, "\r\n")] = '\0';
    if (stat(path, &st) || (st.st_mode & (S_IRWXG | S_IRWXO))) {
        cli_complain(&cmd_ship, "others can read %s: chmod 600 it", path);
        return CLI_IO;
    }
    if (!strchr(s->credentials, ':'))
        return cli_usage_error(&cmd_ship, "%s does not hold user:password in its first line", path);
    return CLI_OK;
}

static int take_target(struct shipper *s)
{
    const struct ship_options *o = s->options;
    char why[HTTP_WHY_SIZE];
    int status = take_credentials(s);

    if (status || o->dry_run)
        return status;
    if (!o->to)
        return cli_usage_error(&cmd_ship, "where to? --to URL; --dry-run prints rows");
    s->target = (struct http_target){.url = o->to,
                                     .database = o->database ? o->database : "shadowtrace",
                                     .user = s->credentials,
                                     .ca = o->ca,
                                     .timeout_ns = o->timeout_ns};
    return http_check(&s->target, why) ? cli_usage_error(&cmd_ship, "%s", why) : CLI_OK;
}

static int take_words(const struct shipper *s)
{
    for (size_t i = 0; i < s->args->count; i++)
        if (access(s->args->word[i], R_OK))
            return cli_unreadable(&cmd_ship, s->args->word[i], NULL, -errno);
    return CLI_OK;
}

static int start(struct shipper *s)
{
    struct export_rows_options rows = {.container = s->options->container, .whole = true};
    int status = take_target(s);

    if (!status)
        status = take_words(s);
    if (status)
        return status;
    rows.host = s->options->host;
    if (!rows.host && gethostname(s->host, sizeof(s->host)))
        return cli_usage_error(&cmd_ship, "this machine has no name: say --host NAME");
    if (!rows.host)
        rows.host = s->host;
    rows.dirs = s->options->symbols.item;
    rows.ndirs = s->options->symbols.count;
    s->ending = once(s);
    status = cli_failed(&cmd_ship, export_rows_new(s->out, &rows, &s->rows));
    return status ? status : job_signals(&cmd_ship, &s->signals);
}

/* ---- logs ---- */

static int found(void *shipper, const char *path, const struct log_recording *recording)
{
    struct shipper *s = shipper;
    int err;

    if (!recording) {
        cli_complain(&cmd_ship, "%s does not begin with a log's header: it is not shipped", path);
        s->left_out = true;
        return 0;
    }
    if (s->count == SOURCES_MAX) {
        if (!s->crowded)
            cli_complain(&cmd_ship, "there are more than %d logs: %s is not shipped", SOURCES_MAX,
                         path);
        s->crowded = true;
        return 0;
    }
    err = source_new(path, recording, &s->sources[s->count]);
    if (err == -ENOMEM)
        return err;
    if (err)
        cli_complain(&cmd_ship, "cannot open %s: %s", path, strerror(-err));
    s->left_out |= err != 0;
    s->count += !err;
    return 0;
}

static void look(struct shipper *s, uint64_t now_ns)
{
    int err;

    if (now_ns < s->look_ns || (s->ending && s->look_ns))
        return;
    s->look_ns = now_ns + LOOK_NS;
    err = logs_look(&s->logs, s->args->word, s->args->count, found, s);
    if (err)
        s->status = cli_failed(&cmd_ship, err);
    for (size_t i = 0; s->ending && i < s->count; i++)
        source_end(s->sources[i]);
}

/* Returns: whether there is more to be read already. */
static bool read_logs(struct shipper *s)
{
    uint64_t until_ns = clock_ns() + READ_NS;
    char why[SOURCE_WHY];
    bool more = false;

    for (size_t i = 0; i < s->count && clock_ns() < until_ns; i++) {
        struct source *one = s->sources[s->turn++ % s->count];
        int got;

        if (s->full || !one->follow)
            continue;
        got = source_step(one, PIECE, until_ns, why);
        if (*why)
            cli_complain(&cmd_ship, "%s", why);
        if (one->losses.replaced)
            logs_doubt(&s->logs, one->pid, one->clock);
        more |= got > 0;
        s->full = job_memory() > s->options->max_memory;
    }
    return more && !s->full;
}

/* Nothing waits for the server any more and still there is no room: then one has to go. */
static void make_room(struct shipper *s)
{
    struct source *largest = NULL;

    s->full = job_memory() > s->options->max_memory;
    for (size_t i = 0; s->full && i < s->count; i++)
        if (s->sources[i]->follow &&
            (!largest || s->sources[i]->cells.defs.path_count > largest->cells.defs.path_count))
            largest = s->sources[i];
    if (!largest)
        return;
    cli_complain(&cmd_ship,
                 "%s needs more than --max-memory allows: it is followed no longer, what was read "
                 "of it is there",
                 largest->path);
    s->left_out = true;
    source_stop(largest);
}

/* ---- sending ---- */

static void remove_source(struct shipper *s, size_t i)
{
    source_free(s->sources[i]);
    s->count--;
    memmove(&s->sources[i], &s->sources[i + 1], (s->count - i) * sizeof(*s->sources));
    s->full = job_memory() > s->options->max_memory;
}

static void failed(struct shipper *s, int err, const char *why, uint64_t now_ns)
{
    struct source *one = s->sending.source;
    const char *text = *why ? why : error_text(err);

    if (strcmp(s->said, text) != 0)
        cli_complain(&cmd_ship, "cannot send: %s%s", text,
                     s->ending ? "" : "; it is tried again, at most a minute later");
    snprintf(s->said, sizeof(s->said), "%s", text);
    one->wait_ns = one->wait_ns ? 2 * one->wait_ns : AGAIN_NS;
    if (one->wait_ns > AGAIN_MAX)
        one->wait_ns = AGAIN_MAX;
    for (size_t i = 0; i < s->count; i++) /* it is the same server for all */
        s->sources[i]->due_ns = now_ns + one->wait_ns;
    if (s->ending)
        s->status = CLI_IO;
}

static int learn(struct shipper *s, uint64_t size)
{
    char *told = memory_alloc(size ? size : 1);
    int err = told ? 0 : -ENOMEM;

    if (!err && file_read_whole(s->job.fd, told, size, 0))
        err = export_rows_learn(s->rows, told, size);
    memory_free(told);
    if (export_rows_known(s->rows) > KNOWN_MAX)
        export_rows_forget(s->rows); /* they are sent again */
    return err;
}

static void acknowledged(struct shipper *s, uint64_t size, uint64_t now_ns)
{
    struct source *one = s->sending.source;
    int err = learn(s, size);

    if (!err)
        err = source_acknowledge(one);
    if (err)
        s->status = cli_failed(&cmd_ship, err);
    if (*s->said)
        cli_complain(&cmd_ship, "sending again");
    *s->said = '\0';
    s->checked = true;
    s->full = job_memory() > s->options->max_memory;
    one->wait_ns = 0;
    one->due_ns = s->ending || s->full ? 0 : now_ns + s->options->every_ns;
}

static void poll_job(struct shipper *s, uint64_t now_ns)
{
    char why[JOB_WHY_SIZE];
    uint64_t size;
    int err;

    if (s->job.pid <= 0 || !job_poll(&s->job, &err, &size, why))
        return;
    s->sending.source->sending = false;
    if (err)
        failed(s, err, why, now_ns);
    else
        acknowledged(s, size, now_ns);
    close(s->job.fd);
    s->job = (struct job){.fd = -1};
}

static int send_one(struct shipper *s, struct source *one)
{
    s->sending = (struct sending){.options = s->options,
                                  .target = &s->target,
                                  .rows = s->rows,
                                  .source = one,
                                  .check = !s->checked};
    if (s->options->dry_run)
        return send_print(&s->sending, s->out);
    one->sending = true;
    return job_start(&s->job, send_work, &s->sending, JOB_MEMORY);
}

/* The next one whose turn it is. Returns: whether something waits for the server, or is sent. */
static bool send_next(struct shipper *s, uint64_t now_ns)
{
    bool waits = s->job.pid > 0;

    for (size_t i = 0; !waits && !s->status && i < s->count; i++) {
        struct source *one = s->sources[i];
        int changed;

        if (now_ns < one->due_ns && !(s->ending && !one->wait_ns)) {
            waits = one->wait_ns > 0;
            continue;
        }
        if (s->ending && one->follow && (!s->full || s->options->dry_run))
            continue; /* all of it at once; what is printed makes no room for more */
        changed = source_changed(one);
        if (changed > 0) {
            s->status = cli_failed(&cmd_ship, send_one(s, one));
            waits = !s->options->dry_run;
            if (waits)
                break;
        } else if (changed < 0) {
            s->status = cli_failed(&cmd_ship, changed);
        }
        one->due_ns = now_ns + s->options->every_ns;
        if (!one->follow && (changed == 0 || s->options->dry_run))
            remove_source(s, i--);
    }
    return waits;
}

/* ---- running ---- */

/* A signal that ends it: one more attempt, with what is there by now; a second one: at once. */
static void read_signals(struct shipper *s)
{
    struct signalfd_siginfo one;

    while (read(s->signals, &one, sizeof(one)) == (ssize_t)sizeof(one)) {
        if (one.ssi_signo == SIGCHLD)
            continue;
        if (s->ending)
            s->status = CLI_IO;
        s->ending = true;
        for (size_t i = 0; i < s->count; i++) {
            source_end(s->sources[i]);
            s->sources[i]->due_ns = s->sources[i]->wait_ns = 0;
        }
    }
}

/* Whether it is to go on. */
static bool step(struct shipper *s)
{
    uint64_t now_ns = clock_ns();
    struct pollfd wait = {.fd = s->signals, .events = POLLIN};
    bool more, waits;

    read_signals(s);
    look(s, now_ns);
    more = read_logs(s);
    poll_job(s, clock_ns());
    waits = send_next(s, clock_ns());
    if (s->full && !waits)
        make_room(s);
    if (s->status || (s->ending && !s->count && s->job.pid <= 0))
        return false;
    (void)poll(&wait, 1, more ? 0 : WAIT_MS);
    return true;
}

static void stop(struct shipper *s)
{
    job_kill(&s->job);
    while (s->count)
        remove_source(s, s->count - 1);
    logs_fini(&s->logs);
    export_rows_free(s->rows);
    memory_free(s->credentials);
    if (s->signals >= 0)
        close(s->signals);
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct shipper s = {
        .options = into, .args = args, .out = out, .job = {.fd = -1}, .signals = -1};
    int status = start(&s);

    while (!status && step(&s))
        ;
    stop(&s);
    status = status ? status : s.status;
    return !status && s.left_out && once(&s) ? CLI_IO : status;
}

int main(int argc, char **argv)
{
    int status = cli_run(&cmd_ship, argc, argv, stdout);

    return fflush(stdout) && !status ? CLI_IO : status;
}
