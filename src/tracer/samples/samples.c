#include "samples/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "clr/allocated.h"
#include "clr/event_mask.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>

#define NOW       1                    /* due_ns: no matter what the clocks say */
#define ENDING_NS UINT64_C(1000000000) /* a failure so short before the end comes from it */

struct samples {
    struct samples_config config;
    struct clr_allocated allocated;
    pthread_t self;                 /* of the thread that starts the session, while it does */
    _Atomic(bool) asked;            /* to start */
    _Atomic(uint64_t) late_ns;      /* not later, if it is ready */
    _Atomic(uint64_t) ready_cpu_ns; /* the process's, as Main began */
    _Atomic(uint64_t) due_ns;       /* not before; 0: not asked to, or its thread is there */
    _Atomic(bool) ready;            /* the runtime has started */
    _Atomic(bool) stopping; /* `self` has all threads stopped, to count what they allocated */
    _Atomic(bool) takes;    /* samples count from here on */
    _Atomic(bool) decided;  /* by `self`: it starts; or by who stops: it does not */
    _Atomic(bool) ended;
    _Atomic(uint64_t) since_ns, told, unread;
    _Atomic(hresult) failed;
    _Atomic(uint64_t) failed_ns;
    _Atomic(bool) shut;     /* the runtime ends */
    uint64_t began_ns, own; /* `self`'s; own: bytes that it has allocated */
    _Atomic(bool) found;    /* `allocated` is there */
    _Atomic(bool) counting; /* who found it unset sets `before` */
    _Atomic(bool) counted;  /* `before` is there */
    struct samples_before before;
};

/*
 * What was allocated earlier is in `before`: events of it are dropped, such as those of the
 * session's own start, which allocates.
 */
static void told(void *context, const struct session_event *event)
{
    struct samples *samples = context;
    struct samples_taken sample;

    if (UNLIKELY(!load_acquire(&samples->takes)))
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

static void begin_to_take(struct samples *samples)
{
    samples->began_ns = clock_ns();
    store_release(&samples->takes, true);
}

void samples_stopped(struct samples *samples)
{
    if (!load_acquire(&samples->stopping) || !pthread_equal(samples->self, pthread_self()))
        return;
    samples->own = clr_allocated_thread(&samples->allocated);
    begin_to_take(samples);
}

static void find_allocated(struct samples *samples)
{
    clr_allocated_find(samples->config.runtime, &samples->allocated);
    store_release(&samples->found, true);
}

static struct samples_before exactly(const struct samples *samples)
{
    uint64_t bytes = clr_allocated_exact(&samples->allocated);

    return bytes == CLR_ALLOCATED_UNKNOWN ? (struct samples_before){.how = SAMPLES_BEFORE_UNKNOWN}
                                          : (struct samples_before){SAMPLES_BEFORE_EXACT, bytes, 0};
}

static struct samples_before at_most(const struct samples *samples)
{
    uint64_t bytes = clr_allocated_most(&samples->allocated);

    return bytes == CLR_ALLOCATED_UNKNOWN ? (struct samples_before){.how = SAMPLES_BEFORE_UNKNOWN}
                                          : (struct samples_before){SAMPLES_BEFORE_MOST, bytes, 0};
}

static void publish(struct samples *samples, struct samples_before before)
{
    samples->before = before;
    store_release(&samples->counted, true);
}

/*
 * Samples count from a moment in which no thread allocates, and the bytes allocated until then are
 * read in the same moment. If the runtime does not report such a moment, they are read after it: an
 * upper bound.
 */
static void open_samples(struct samples *samples)
{
    struct clr_info *info = samples->config.runtime->info;
    struct samples_before before;
    bool stopped;

    if (atomic_exchange(&samples->counting, true)) /* the program ends */
        return;
    if (!samples->config.suspends)
        clr_event_mask_change(info, 0, COR_PRF_MONITOR_SUSPENDS);
    store_release(&samples->stopping, true);
    before = exactly(samples);
    store_release(&samples->stopping, false);
    if (!samples->config.suspends)
        clr_event_mask_change(info, COR_PRF_MONITOR_SUSPENDS, 0);
    stopped = load_relaxed(&samples->takes);
    if (!stopped)
        begin_to_take(samples);
    if (stopped && samples->own <= before.bytes) {
        before.own = samples->own;
        before.bytes -= samples->own;
    }
    publish(samples, stopped && before.how == SAMPLES_BEFORE_EXACT ? before : at_most(samples));
    store_release(&samples->since_ns, samples->began_ns);
}

/* Not the runtime's end: it takes no session any more. */
static void fail(struct samples *samples, hresult result)
{
    store_relaxed(&samples->failed_ns, clock_ns());
    if (!load_acquire(&samples->shut))
        store_release(&samples->failed, result);
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
        find_allocated(samples);
        samples->config.begin(samples->config.context);
        samples->self = pthread_self();
        result = session_start(samples->config.session, runtime->info, runtime->info_version);
        if (result == S_OK)
            open_samples(samples);
        else
            fail(samples, result);
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

/* Has the program done little yet? Beside others a short one takes long by the clock. */
static bool is_short(const struct samples *samples, uint64_t now_ns)
{
    return now_ns < load_relaxed(&samples->late_ns) &&
           clock_cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - load_relaxed(&samples->ready_cpu_ns) <
               samples->config.delay_ms * UINT64_C(1000000);
}

static uint64_t in_ms(unsigned ms)
{
    return clock_ns() + ms * UINT64_C(1000000);
}

void samples_start(struct samples *samples)
{
    if (load_relaxed(&samples->asked) || atomic_exchange(&samples->asked, true))
        return;
    if (samples->config.unready_ms)
        store_release(&samples->due_ns, in_ms(samples->config.unready_ms));
    else
        start(samples);
}

/* It is due earlier; not any more, if its thread is there. */
static bool advance(struct samples *samples, uint64_t due_ns)
{
    uint64_t now_due = load_acquire(&samples->due_ns);

    return now_due > due_ns && cas_acq_rel(&samples->due_ns, &now_due, due_ns);
}

void samples_ready(struct samples *samples)
{
    if (load_relaxed(&samples->ready) || atomic_exchange(&samples->ready, true))
        return;
    store_relaxed(&samples->ready_cpu_ns, clock_cpu_ns(CLOCK_PROCESS_CPUTIME_ID));
    store_relaxed(&samples->late_ns, in_ms(samples->config.most_ms));
    advance(samples, in_ms(samples->config.delay_ms));
}

bool samples_poll(struct samples *samples, uint64_t now_ns)
{
    uint64_t due_ns = load_acquire(&samples->due_ns);

    if (!due_ns || load_relaxed(&samples->decided))
        return false;
    if (now_ns < due_ns || (due_ns != NOW && is_short(samples, now_ns)))
        return true;
    store_relaxed(&samples->due_ns, 0);
    start(samples);
    return false;
}

bool samples_hurry(struct samples *samples)
{
    return load_relaxed(&samples->ready) && advance(samples, NOW);
}

/* Of a program that ends before samples count. */
static void count_all(struct samples *samples)
{
    struct samples_before all;

    if (!load_acquire(&samples->found) || atomic_exchange(&samples->counting, true))
        return;
    all = exactly(samples);
    publish(samples, all.how == SAMPLES_BEFORE_EXACT ? all : at_most(samples));
}

void samples_unbegun(struct samples *samples)
{
    store_release(&samples->shut, true);
    if (load_acquire(&samples->failed) != S_OK &&
        clock_ns() - load_relaxed(&samples->failed_ns) < ENDING_NS)
        store_relaxed(&samples->failed, S_OK); /* it had begun to end */
    else if (atomic_exchange(&samples->decided, true))
        return;
    find_allocated(samples);
    count_all(samples);
    store_release(&samples->ended, true);
}

void samples_stop(struct samples *samples, unsigned timeout_ms)
{
    /* Else its thread was not there yet, and will find that it is too late. */
    if (atomic_exchange(&samples->decided, true) && load_acquire(&samples->asked))
        thread_await(&samples->ended, timeout_ms);
    /* It was about to begin: the runtime, which ends, refused the session, or has no answer yet. */
    if (load_acquire(&samples->shut) && load_acquire(&samples->failed) == S_OK)
        count_all(samples);
}

void samples_read(const struct samples *samples, struct samples_state *out)
{
    *out = (struct samples_state){.since_ns = load_acquire(&samples->since_ns),
                                  .before = load_acquire(&samples->counted)
                                                ? samples->before
                                                : (struct samples_before){.bytes = 0},
                                  .failed = load_relaxed(&samples->failed),
                                  .told = load_relaxed(&samples->told),
                                  .unread = load_relaxed(&samples->unread)};
}
