#include "server/pending.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SECOND      UINT64_C(1000000000)
#define PATIENCE_NS (10 * SECOND) /* with a log that grows faster than it is read */
#define FIRST_NS    (30 * SECOND) /* with one that is read for the first time */
#define SETTLE_NS   SECOND        /* with half of a collection */

static bool same_key(const struct pending_key *a, const struct pending_key *key)
{
    return a->kind == key->kind && a->of == key->of && a->seconds == key->seconds &&
           a->whole == key->whole && a->gzip == key->gzip;
}

/* Whether it is as good as one that would be begun now. */
static bool is_fresh(const struct pending *p, uint64_t now_ns)
{
    if (p->key.seconds)
        return now_ns - p->born_ns < PENDING_SHARE_NS;
    return p->state == PENDING_WAITING || now_ns - p->made_ns < PENDING_SHARE_NS;
}

static void free_one(struct pending_set *set, struct pending *p)
{
    job_kill(&p->job);
    if (p->fd >= 0)
        close(p->fd);
    if (p->response)
        set->release(p->response);
    mark_free(p->from);
    if (p->key.of)
        p->key.of->used--;
    memory_free(p);
}

static size_t timed(const struct pending_set *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++)
        count += set->all[i]->key.seconds && set->all[i]->state == PENDING_WAITING;
    return count;
}

int pending_ask(struct pending_set *set, const struct pending_key *key, uint64_t now_ns,
                struct pending **out)
{
    struct pending *p;

    for (size_t i = 0; i < set->count; i++) {
        p = set->all[i];
        if (same_key(&p->key, key) && is_fresh(p, now_ns)) {
            p->waiters++;
            *out = p;
            return 0;
        }
    }
    if (set->count == PENDING_MAX || (key->seconds && timed(set) >= PENDING_TIMED))
        return -EBUSY;
    p = memory_zalloc(1, sizeof(*p));
    if (!p)
        return -ENOMEM;
    *p = (struct pending){.key = *key,
                          .born_ns = now_ns,
                          .due_ns = now_ns + key->seconds * SECOND,
                          .job = {.fd = -1},
                          .fd = -1,
                          .waiters = 1};
    if (key->seconds && mark_new(&key->of->cells, now_ns, &p->from)) {
        memory_free(p);
        return -ENOMEM;
    }
    if (key->of)
        key->of->used++;
    set->all[set->count++] = p;
    *out = p;
    return 0;
}

/* ---- steps ---- */

static void finish(struct pending_set *set, struct pending *p, int err)
{
    p->state = PENDING_DONE;
    p->err = err;
    p->fd = p->job.fd;
    p->job.fd = -1;
    if (!p->made_ns)
        p->made_ns = p->born_ns;
    mark_free(p->from);
    p->from = NULL;
    set->done(set->context, p);
}

/* Everything that was written before it is due has been read; or it is no use to wait for that. */
static bool is_read(const struct pending *p, const struct traced *t, uint64_t now_ns)
{
    uint64_t waits = now_ns - p->due_ns;

    if (!traced_passed(t, p->due_ns))
        return t->passed_ns && waits > PATIENCE_NS;
    return p->key.kind != ANSWER_HEAP || traced_live_settled(t) || waits > SETTLE_NS;
}

static bool all_read(const struct pending_set *set, const struct pending *p, uint64_t now_ns)
{
    if (p->key.of)
        return is_read(p, p->key.of, now_ns);
    for (size_t i = 0; i < set->traced->count; i++)
        if (traced_known(set->traced->all[i]) && !is_read(p, set->traced->all[i], now_ns))
            return false;
    return true; /* those that are read for the first time are left out */
}

static size_t running(const struct pending_set *set)
{
    size_t count = 0;

    for (size_t i = 0; i < set->count; i++)
        count += set->all[i]->state == PENDING_RUNNING;
    return count;
}

static void begin(struct pending_set *set, struct pending *p, uint64_t now_ns)
{
    struct answer_ask ask = {.kind = p->key.kind,
                             .set = set->traced,
                             .of = p->key.of,
                             .from = p->from,
                             .whole = p->key.whole,
                             .gzip = p->key.gzip,
                             .now_ns = now_ns,
                             .answered = set->answered,
                             .refused = set->refused,
                             .options = set->options,
                             .min_share = set->min_share};
    int err;

    if (ask.kind == ANSWER_INDEX && !ask.of)
        ask.of = traced_default(set->traced);
    err = job_start(&p->job, answer_make, &ask, set->options->max_memory);
    p->made_ns = now_ns;
    if (!err) {
        p->state = PENDING_RUNNING;
        return;
    }
    snprintf(p->why, sizeof(p->why), "cannot start a process: %s", strerror(-err));
    finish(set, p, err);
}

static void step_waiting(struct pending_set *set, struct pending *p, uint64_t now_ns)
{
    if (now_ns < p->due_ns)
        return;
    if (all_read(set, p, now_ns)) {
        if (running(set) < PENDING_JOBS)
            begin(set, p, now_ns);
    } else if (now_ns - p->due_ns > FIRST_NS) {
        snprintf(p->why, sizeof(p->why), "the log is still being read: %llu bytes are left",
                 (unsigned long long)(p->key.of->follow ? follow_left(p->key.of->follow) : 0));
        finish(set, p, -EAGAIN);
    }
}

static void step_running(struct pending_set *set, struct pending *p)
{
    int err = 0;

    if (job_poll(&p->job, &err, &p->size, p->why))
        finish(set, p, err);
}

void pending_step(struct pending_set *set, uint64_t now_ns)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->count; i++)
        if (set->all[i]->state == PENDING_RUNNING)
            step_running(set, set->all[i]);
    for (size_t i = 0; i < set->count; i++)
        if (set->all[i]->state == PENDING_WAITING)
            step_waiting(set, set->all[i], now_ns);
    for (size_t i = 0; i < set->count; i++) {
        struct pending *p = set->all[i];

        if (!p->waiters &&
            (p->state == PENDING_WAITING || (p->state == PENDING_DONE && !is_fresh(p, now_ns))))
            free_one(set, p);
        else
            set->all[kept++] = p;
    }
    set->count = kept;
}

bool pending_wants_reading(const struct pending_set *set, uint64_t now_ns)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->all[i]->state == PENDING_WAITING && set->all[i]->due_ns <= now_ns)
            return true;
    return false;
}

bool pending_any(const struct pending_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->all[i]->state != PENDING_DONE)
            return true;
    return false;
}

void pending_hurry(struct pending_set *set, uint64_t now_ns)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->all[i]->due_ns > now_ns)
            set->all[i]->due_ns = now_ns;
}

void pending_abandon(struct pending_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        struct pending *p = set->all[i];

        if (p->state == PENDING_DONE)
            continue;
        job_kill(&p->job);
        snprintf(p->why, sizeof(p->why), "the server ends");
        finish(set, p, -ECANCELED);
    }
}

void pending_free(struct pending_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free_one(set, set->all[i]);
    set->count = 0;
}
