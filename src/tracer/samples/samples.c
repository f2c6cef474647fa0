#include "samples/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>

struct samples {
    struct samples_config config;
    pthread_t self;           /* of the thread that starts the session, while it does */
    _Atomic(bool) asked;      /* to start */
    _Atomic(uint64_t) due_ns; /* not before; 0: not asked to, or its thread is there */
    _Atomic(bool) starting;   /* the runtime starts the session, asked by `self` */
    _Atomic(bool) decided;    /* by `self`: it starts; or by who stops: it does not */
    _Atomic(bool) ended;
    _Atomic(uint64_t) since_ns, told, unread;
    _Atomic(hresult) failed;
};

/* What the session's own start allocates is ours, not the program's. */
static bool is_own(const struct samples *samples)
{
    return UNLIKELY(load_acquire(&samples->starting)) &&
           pthread_equal(samples->self, pthread_self());
}

static void told(void *context, const struct session_event *event)
{
    struct samples *samples = context;
    struct samples_taken sample;

    if (is_own(samples))
        return;
    if (!samples_parse(event, &sample)) {
        add_relaxed(&samples->unread, 1);
        return;
    }
    add_relaxed(&samples->told, 1);
    samples->config.taken(samples->config.context, &sample);
}

/* Before .NET 10 the other event never comes, and nothing says so. */
static bool are_ticks(const struct clr_runtime *runtime)
{
    return runtime->major < 10;
}

const char *samples_name(const struct samples *samples)
{
    return are_ticks(samples->config.runtime) ? "ticks" : "runtime";
}

int samples_new(const struct samples_config *config, struct samples **out)
{
    static const uint32_t ticks[] = {SAMPLES_TICK, 0}, sampled[] = {SAMPLES_SAMPLED, 0};
    const bool by_tick = are_ticks(config->runtime);
    struct samples *samples = memory_zalloc(1, sizeof(*samples));
    const struct session_subscriber subscriber = {
        .keywords = by_tick ? SESSION_KEYWORD_GC : SESSION_KEYWORD_SAMPLING,
        .level = by_tick ? SESSION_LEVEL_VERBOSE : SESSION_LEVEL_INFORMATIONAL,
        .ids = by_tick ? ticks : sampled,
        .told = told,
        .context = samples};

    *out = samples;
    if (!samples)
        return -ENOMEM;
    samples->config = *config;
    return session_subscribe(config->session, &subscriber) ? 0 : -ENOSPC;
}

static void *run(void *context)
{
    struct samples *samples = context;
    const struct clr_runtime *runtime = samples->config.runtime;
    hresult result;

    if (!samples->config.joined)
        pthread_detach(pthread_self());
    pthread_setname_np(pthread_self(), "shadowtrace-smp");
    if (!atomic_exchange(&samples->decided, true)) {
        samples->config.begin(samples->config.context);
        samples->self = pthread_self();
        store_release(&samples->starting, true);
        result = session_start(samples->config.session, runtime->info, runtime->info_version);
        store_release(&samples->starting, false);
        store_relaxed(&samples->failed, result);
        if (result == S_OK)
            store_release(&samples->since_ns, clock_ns());
    }
    store_release(&samples->ended, true);
    return NULL;
}

static void start(struct samples *samples)
{
    pthread_t thread;

    if (thread_start(&thread, run, samples)) {
        store_relaxed(&samples->failed, E_OUTOFMEMORY);
        store_release(&samples->ended, true);
    }
}

void samples_start(struct samples *samples)
{
    uint64_t delay_ns = samples->config.delay_ms * UINT64_C(1000000);

    if (load_relaxed(&samples->asked) || atomic_exchange(&samples->asked, true))
        return;
    if (delay_ns)
        store_release(&samples->due_ns, clock_ns() + delay_ns);
    else
        start(samples);
}

void samples_poll(struct samples *samples, uint64_t now_ns)
{
    uint64_t due_ns = load_acquire(&samples->due_ns);

    if (!due_ns || now_ns < due_ns || load_relaxed(&samples->decided))
        return;
    store_relaxed(&samples->due_ns, 0);
    start(samples);
}

void samples_stop(struct samples *samples, unsigned timeout_ms)
{
    /* Else its thread was not there yet, and will find that it is too late. */
    if (atomic_exchange(&samples->decided, true) && load_acquire(&samples->asked))
        thread_await(&samples->ended, timeout_ms);
}

void samples_read(const struct samples *samples, struct samples_state *out)
{
    *out = (struct samples_state){.since_ns = load_acquire(&samples->since_ns),
                                  .failed = load_relaxed(&samples->failed),
                                  .told = load_relaxed(&samples->told),
                                  .unread = load_relaxed(&samples->unread)};
}
