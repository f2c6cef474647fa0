#include "server/find.h"

#include "base/memory.h"
#include "process/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS    UINT64_C(1000000000)
#define RETRY_NS   UINT64_C(5000000000)
#define ASK_MEMORY ((uint64_t)256 << 20)
#define REPLY_MAX  ((uint64_t)4 << 20)

void find_init(struct find *f)
{
    *f = (struct find){.job = {.fd = -1}};
}

static struct find_one *of_pid(struct find *f, long pid)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->all[i].pid == pid)
            return &f->all[i];
    return NULL;
}

/*
 * Only this user's sockets are asked, also by root (client_each): a log that one names was written
 * by a process of this user.
 */
static void on_socket(void *context, long pid, const char *socket)
{
    struct find *f = context;
    struct find_one *one = of_pid(f, pid);

    (void)socket;
    if (!one && f->count < FIND_MAX) {
        one = &f->all[f->count++];
        *one = (struct find_one){.pid = pid};
    }
    if (one)
        one->there = true;
}

/* ---- asking: in a copy of this process ---- */

struct asking {
    struct find *find;
    uint64_t now_ns;
};

static bool is_due(const struct find_one *one, uint64_t now_ns)
{
    return !one->asked && one->retry_ns <= now_ns;
}

/* A line of JSON of each that answers: {"pid":N,"log":PATH}. */
static int ask(void *context, FILE *out, char why[JOB_WHY_SIZE])
{
    const struct asking *a = context;

    (void)why;
    for (size_t i = 0; i < a->find->count; i++) {
        const struct find_one *one = &a->find->all[i];
        json_t *request, *status = NULL, *line;
        struct client client;

        if (!is_due(one, a->now_ns))
            continue;
        request = json_pack("{s:s}", "command", "status");
        if (client_ask_once(&client, one->pid, request, &status))
            continue;
        line =
            json_pack("{s:I, s:s}", "pid", (json_int_t)one->pid, "log", client_text(status, "log"));
        if (!line || json_dumpf(line, out, JSON_COMPACT) || fputc('\n', out) == EOF)
            return -ENOMEM;
        json_decref(line);
        json_decref(status);
    }
    return 0;
}

static void begin_asking(struct find *f, uint64_t now_ns)
{
    struct asking a = {f, now_ns};
    bool any = false;

    for (size_t i = 0; i < f->count; i++)
        any |= is_due(&f->all[i], now_ns);
    if (!any || job_start(&f->job, ask, &a, ASK_MEMORY))
        return;
    for (size_t i = 0; i < f->count; i++) /* unless it answers: */
        if (is_due(&f->all[i], now_ns))
            f->all[i].retry_ns = now_ns + RETRY_NS;
}

/* ---- what they said ---- */

/* One whose log is followed already has been found before its socket was gone. */
static bool is_known(const struct traced_set *set, long pid, const char *path)
{
    const struct traced *t = traced_find(set, pid);

    return t && !strcmp(t->path, path);
}

static void take_line(struct find *f, struct traced_set *set, const char *text, uint64_t now_ns)
{
    json_t *line = json_loads(text, 0, NULL);
    const char *path = json_string_value(json_object_get(line, "log"));
    long pid = (long)json_integer_value(json_object_get(line, "pid"));
    struct find_one *one = of_pid(f, pid);

    /* Where there is no room now, or no memory, it is asked again. */
    if (one && path && *path == '/' &&
        (is_known(set, pid, path) || !traced_add(set, pid, path, now_ns)))
        one->asked = true;
    json_decref(line);
}

static void end_asking(struct find *f, struct traced_set *set, uint64_t now_ns)
{
    char why[JOB_WHY_SIZE], *text = NULL, *rest, *line;
    uint64_t size = 0;
    int err = 0;

    if (!job_poll(&f->job, &err, &size, why))
        return;
    if (!err && size < REPLY_MAX)
        text = memory_zalloc(1, size + 1);
    if (text && pread(f->job.fd, text, size, 0) == (ssize_t)size)
        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            take_line(f, set, line, now_ns);
    memory_free(text);
    job_kill(&f->job); /* it has ended: closes what it wrote */
}

static void forget_gone(struct find *f)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (f->all[i].there)
            f->all[kept++] = f->all[i];
    f->count = kept;
}

int find_step(struct find *f, struct traced_set *set, uint64_t now_ns, char *why, size_t why_size)
{
    char text[CLIENT_WHY_SIZE] = "";
    int err;

    if (f->job.pid)
        end_asking(f, set, now_ns);
    if (f->job.pid || now_ns - f->look_ns < LOOK_NS)
        return 0;
    f->look_ns = now_ns;
    for (size_t i = 0; i < f->count; i++)
        f->all[i].there = false;
    err = client_each(on_socket, f, text);
    forget_gone(f);
    begin_asking(f, now_ns);
    if (err)
        snprintf(why, why_size, "%s", text);
    return err;
}

void find_fini(struct find *f)
{
    job_kill(&f->job);
}
