#include "collect/collect.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "base/gate.h"
#include "base/memory.h"
#include "base/thread.h"
#include "clr/error.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define REST_NS 3600000000000ull /* of a thread that nobody wakes */
#define NESTED  8                /* collections inside of one another, of a background one */

struct collect_job {
    _Atomic(uint32_t) holders; /* who asked, the thread */
    _Atomic(bool) over;
    char *mark, *heap; /* NULL: none */
    uint64_t asked_ns;
    struct collect_result result; /* before `over` */
};

/* A collection under way, or the last one of all generations. */
struct collection {
    uint32_t number;
    bool full;
    uint64_t ticks; /* of its begin; how long it took, once it is over */
};

struct collect {
    struct collect_config config;
    pthread_t thread;
    bool threaded; /* written by the requesting thread, under the lock */
    struct parker wake;
    struct gate gate;                  /* the thread's, during a job */
    _Atomic(struct collect_job *) job; /* to be done or under way; NULL: none */
    _Atomic(bool) stopped;
    pthread_mutex_t lock; /* guards what follows; nobody is called under it but pthread_create */
    struct collection open[NESTED], full;
    uint32_t opened;
};

int collect_new(const struct collect_config *config, struct collect **out)
{
    struct collect *c = *out = memory_zalloc(1, sizeof(*c));

    if (!c)
        return -ENOMEM;
    c->config = *config;
    pthread_mutex_init(&c->lock, NULL);
    return 0;
}

/* ---- what the runtime tells ---- */

void collect_begun(struct collect *c, uint32_t number, bool full)
{
    graph_begun(c->config.graph, number, full);
    pthread_mutex_lock(&c->lock);
    if (c->opened < NESTED)
        c->open[c->opened] = (struct collection){number, full, clock_ticks()};
    c->opened++;
    pthread_mutex_unlock(&c->lock);
}

/* Those that are inside of one another end in reverse order. */
void collect_finished(struct collect *c)
{
    graph_finished(c->config.graph);
    pthread_mutex_lock(&c->lock);
    if (c->opened && --c->opened < NESTED && c->open[c->opened].full) {
        c->full = c->open[c->opened];
        c->full.ticks = clock_ticks() - c->full.ticks;
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- jobs ---- */

static void job_free(struct collect_job *job)
{
    if (job)
        memory_free_all(job->mark, job->heap, job);
}

void collect_drop(struct collect_job *job)
{
    if (atomic_fetch_sub_explicit(&job->holders, 1, memory_order_acq_rel) == 1)
        job_free(job);
}

bool collect_over(const struct collect_job *job, struct collect_result *out)
{
    if (!load_acquire(&job->over))
        return false;
    *out = job->result;
    return true;
}

/* Does the runtime say that it is not there yet? */
static bool starts(hresult result)
{
    return result == CORPROF_E_NOT_YET_AVAILABLE || result == CORPROF_E_RUNTIME_UNINITIALIZED;
}

static void explain_heap(const struct graph_result *heap, char *text, size_t size)
{
    char name[CLR_ERROR_TEXT_SIZE];

    if (heap->failure == GRAPH_NO_FILE)
        snprintf(text, size, "the heap was not dumped: its file cannot be written: %s",
                 strerror(-heap->why));
    else if (heap->failure == GRAPH_REFUSED && starts(heap->why))
        snprintf(text, size, "the heap was not dumped: the runtime is still starting; ask again");
    else if (heap->failure == GRAPH_REFUSED)
        snprintf(text, size, "the heap was not dumped: the runtime refused: %s",
                 clr_error_text(heap->why, name, sizeof(name)));
    else if (heap->failure == GRAPH_UNLOADS)
        snprintf(
            text, size,
            "the heap was not dumped: the dump before has types that can be unloaded, and with "
            "concurrent collections the runtime may crash over them; record with --live or "
            "DOTNET_gcConcurrent=0");
    else if (heap->failure == GRAPH_TORN)
        snprintf(text, size, "the heap was not dumped: %s",
                 heap->why == -ENOMEM ? "out of memory for the references in the heap"
                                      : "the runtime's references in the heap are inconsistent");
    else
        snprintf(text, size, "the heap was not dumped: the runtime reported no objects");
}

void collect_explain(const struct collect_result *r, char *text, size_t size)
{
    char name[CLR_ERROR_TEXT_SIZE];

    if (r->failure == COLLECT_NO_HEAP)
        explain_heap(&r->heap, text, size);
    else if (r->failure == COLLECT_UNMARKED)
        snprintf(text, size, "the mark was not written: %s", strerror(-r->why));
    else if (starts(r->why))
        snprintf(text, size, "no collection was made: the runtime is still starting; ask again");
    else
        snprintf(text, size, "no collection was made: %s",
                 clr_error_text(r->why, name, sizeof(name)));
}

static void fail(struct collect_result *r, enum collect_failure failure, int32_t why)
{
    r->failure = failure;
    r->why = why;
}

/*
 * The runtime makes it on this thread, or has its own ones make it, and returns behind its end. It
 * is the last full one by then, unless the program has made another since.
 */
static void run(struct collect *c, const struct collect_job *job, struct collect_result *r)
{
    struct clr_info *info = c->config.info;
    struct collection full;
    hresult result;
    int err;

    result = info->vtbl->force_gc(info);
    pthread_mutex_lock(&c->lock);
    full = c->full;
    pthread_mutex_unlock(&c->lock);
    r->collection = full.number;
    r->pause_ns = clock_duration_ns(full.ticks);
    if (result != S_OK)
        fail(r, COLLECT_REFUSED, result);
    else if (job->mark && (err = c->config.mark(c->config.context, job->mark)))
        fail(r, COLLECT_UNMARKED, err);
}

/* Within a dump, if one is wanted: it may be of a collection that the program made meanwhile. */
static void perform(struct collect *c, struct collect_job *job)
{
    struct collect_result *r = &job->result;

    r->dumps = job->heap;
    if (!r->dumps || !graph_open(c->config.graph, job->heap))
        run(c, job, r);
    if (r->dumps)
        graph_close(c->config.graph, r->failure != COLLECT_REFUSED, &r->heap);
    if (r->dumps && r->heap.failure && !r->failure)
        fail(r, COLLECT_NO_HEAP, 0);
    else if (r->dumps && !r->failure)
        r->collection = r->heap.collection;
    r->took_ns = clock_ns() - job->asked_ns;
}

static void *collect_main(void *context)
{
    struct collect *c = context;

    pthread_setname_np(pthread_self(), "shadowtrace-gc");
    while (!load_acquire(&c->stopped)) {
        struct collect_job *job = load_acquire(&c->job);

        if (!job) {
            parker_park(&c->wake, REST_NS);
            continue;
        }
        if (!gate_enter(&c->gate))
            break;
        perform(c, job);
        store_release(&job->over, true); /* after its result */
        store_release(&c->job, NULL);    /* the next one can come */
        gate_leave(&c->gate);
        collect_drop(job);
        c->config.over(c->config.context);
    }
    return NULL;
}

static struct collect_job *job_new(const struct collect_request *request)
{
    struct collect_job *job = memory_zalloc(1, sizeof(*job));

    if (!job)
        return NULL;
    store_relaxed(&job->holders, 2);
    job->asked_ns = clock_ns();
    job->mark = request->mark ? memory_strdup(request->mark) : NULL;
    job->heap = request->heap ? memory_strdup(request->heap) : NULL;
    if (!job->mark == !request->mark && !job->heap == !request->heap)
        return job;
    job_free(job);
    return NULL;
}

/* Under the lock, so that there is one thread. */
static int hand_over(struct collect *c, struct collect_job *job)
{
    int err = 0;

    if (load_relaxed(&c->stopped))
        return -ESHUTDOWN;
    if (load_acquire(&c->job))
        return -EBUSY;
    if (!c->threaded)
        err = thread_start(&c->thread, collect_main, c);
    c->threaded |= !err;
    if (!err)
        store_release(&c->job, job);
    return err;
}

int collect_ask(struct collect *c, const struct collect_request *request, struct collect_job **out)
{
    struct collect_job *job = job_new(request);
    int err;

    *out = NULL;
    if (!job)
        return -ENOMEM;
    pthread_mutex_lock(&c->lock);
    err = hand_over(c, job);
    pthread_mutex_unlock(&c->lock);
    if (err) {
        job_free(job);
        return err;
    }
    parker_unpark(&c->wake);
    *out = job;
    return 0;
}

void collect_stop(struct collect *c, unsigned timeout_ms)
{
    store_release(&c->stopped, true);
    parker_unpark(&c->wake);
    gate_close(&c->gate, timeout_ms * UINT64_C(1000000));
}
