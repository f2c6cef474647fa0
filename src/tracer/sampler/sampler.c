#include "sampler/sampler.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "check/threads.h"
#include "config/config.h"
#include "stack/stack.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_FRAMES (1u << 20) /* of one thread: of a deeper stack the root is not known */
#define MAX_WALKED 65536      /* the same while the runtime is suspended */
#define NS_PER_S   1000000000ull

/* Walked stacks, kept until the runtime goes on: naming them could wait for it. */
struct walked {
    uint32_t os_thread, count;
    size_t first;
};

struct sampler {
    struct sampler_config config;
    pthread_t thread;
    _Atomic(bool) stopping, ended;
    struct event_ring *ring;
    struct stack_copies copies;
    struct walked *walked;
    size_t walked_count, walked_capacity;
    uintptr_t *frame; /* function and ip in turn */
    size_t frames, frame_capacity;
};

static void post(struct sampler *s, enum profile_source source, uint64_t ticks, uint32_t os_thread,
                 uint32_t node, uint32_t depth, uint64_t bits)
{
    struct profile_counts *counts = &s->config.profile->source[source];
    struct event event = {.ticks = ticks,
                          .subject = os_thread | bits,
                          .node = node,
                          .site = depth,
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_SAMPLE)};

    add_relaxed(&counts->samples, 1);
    if (event_post(s->ring, &event))
        add_relaxed(&counts->lost, 1);
}

/* ---- shadow stacks ---- */

static void post_copied(struct sampler *s, const struct stack_copied_thread *t, uint64_t ticks)
{
    struct profile_counts *counts = &s->config.profile->source[PROFILE_SHADOW];
    const struct stack_copied *frame = s->copies.frames + t->first;
    uint32_t certain = t->certain < t->count ? t->certain : t->count, node = 0;

    if (!t->depth || t->count < t->depth)
        return;
    for (uint32_t i = 0; i < certain; i++)
        node = tree_next(s->config.tree, node, frame[i].method, frame[i].ret);
    add_relaxed(&counts->approximate, !t->exact);
    add_relaxed(&counts->dispatching, t->dispatching);
    post(s, PROFILE_SHADOW, ticks, t->os_thread, node, t->depth,
         t->exact ? 0 : PROFILE_EVENT_APPROXIMATE);
}

static void sample_shadow(struct sampler *s)
{
    uint64_t ticks = clock_ticks(), after;

    while (stack_copy_all(&s->copies) && !stack_copies_grow(&s->copies))
        ticks = clock_ticks();
    after = clock_ticks();
    profile_took(&s->config.profile->source[PROFILE_SHADOW], clock_duration_ns(after - ticks));
    for (size_t i = 0; i < s->copies.count; i++)
        post_copied(s, &s->copies.threads[i], ticks);
}

/* ---- snapshots ---- */

static bool room_for(struct sampler *s, size_t frames)
{
    return array_reserve(&s->walked, &s->walked_capacity, s->walked_count + 1) &&
           array_reserve(&s->frame, &s->frame_capacity, s->frames + 2 * frames);
}

/* While the runtime is suspended: kept, no more. */
static void on_walk(void *context, const struct check_sample *walk)
{
    struct sampler *s = context;

    /* Without its root a stack is no path. */
    if (walk->result < 0 || walk->count > MAX_WALKED) {
        add_relaxed(&s->config.profile->source[PROFILE_SNAPSHOT].refused, 1);
        return;
    }
    if (!walk->count || !room_for(s, walk->count))
        return;
    s->walked[s->walked_count++] =
        (struct walked){walk->os_thread, (uint32_t)walk->count, s->frames};
    for (size_t i = 0; i < walk->count; i++) {
        s->frame[s->frames++] = walk->frame[i].function;
        s->frame[s->frames++] = walk->frame[i].ip;
    }
}

static void post_walked(struct sampler *s, const struct walked *w, uint64_t ticks)
{
    const uintptr_t *frame = s->frame + w->first;
    uint32_t node = 0;
    uintptr_t caller_ip = 0; /* 0: from no managed frame; the oldest has no call instruction */
    struct metadata_method *method;

    for (uint32_t i = w->count; i-- > 0;) {
        method = metadata_method_find(s->config.metadata, frame[2 * i]);
        if (method)
            node = tree_next(s->config.tree, node, (uintptr_t)method, caller_ip);
        caller_ip = frame[2 * i + 1];
    }
    post(s, PROFILE_SNAPSHOT, ticks, w->os_thread, node, w->count, PROFILE_EVENT_SNAPSHOT);
}

static void sample_snapshot(struct sampler *s)
{
    struct profile_counts *counts = &s->config.profile->source[PROFILE_SNAPSHOT];
    uint64_t ticks = clock_ticks(), after;
    int err;

    s->walked_count = s->frames = 0;
    err = check_threads_sample(s->config.walker, on_walk, s);
    after = clock_ticks();
    if (err) { /* a collection runs: the moment has passed */
        add_relaxed(&counts->refused, 1);
        return;
    }
    profile_took(counts, clock_duration_ns(after - ticks));
    for (size_t i = 0; i < s->walked_count; i++)
        post_walked(s, &s->walked[i], ticks);
}

/* ---- the thread ---- */

static void name_ring(struct sampler *s)
{
    static const char text[] = "shadowtrace-prf";
    struct event_name *name = memory_zalloc(1, sizeof(*name) + sizeof(text));
    struct event event = {.ticks = clock_ticks(),
                          .subject = (uintptr_t)name,
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, EVENT_THREAD_NAME)};

    if (!name)
        return;
    name->os = s->ring->os;
    memcpy(name->text, text, sizeof(text));
    if (event_post(s->ring, &event))
        memory_free(name);
}

/* The next moment that is still to come; those that have passed are left out, and counted. */
static uint64_t next_moment(struct sampler *s, uint64_t last, uint64_t step)
{
    uint64_t now = clock_ns(), next = last + step;

    if (next < now) {
        uint64_t passed = (now - next) / step + 1;

        for (unsigned i = 0; i < PROFILE_SOURCES; i++)
            if (s->config.profile->source[i].hz)
                add_relaxed(&s->config.profile->source[i].late, passed);
        next += passed * step;
    }
    return next;
}

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void *sampler_main(void *context)
{
    struct sampler *s = context;
    const struct profile *profile = s->config.profile;
    bool snapshot = profile->source[PROFILE_SNAPSHOT].hz != 0;
    uint64_t step = NS_PER_S / (profile->source[snapshot].hz), next = clock_ns();
    struct config_settings config;

    pthread_setname_np(pthread_self(), "shadowtrace-prf");
    if (event_ring_new(s->config.hub, &s->ring)) {
        store_release(&s->ended, true);
        return NULL;
    }
    name_ring(s);
    if (snapshot)
        check_threads_begin(s->config.walker);
    while (!load_acquire(&s->stopping)) {
        next = next_moment(s, next, step);
        sleep_until(next);
        config_read(&config);
        if (config.paused)
            continue;
        metadata_hold(s->config.metadata); /* until the samples are posted */
        if (profile->source[PROFILE_SHADOW].hz)
            sample_shadow(s);
        if (snapshot)
            sample_snapshot(s);
        metadata_unhold(s->config.metadata);
    }
    if (snapshot)
        check_threads_end(s->config.walker);
    event_ring_close(s->ring);
    store_release(&s->ended, true);
    return NULL;
}

int sampler_start(const struct sampler_config *config, struct sampler **out)
{
    struct sampler *s = memory_zalloc(1, sizeof(*s));
    int err;

    *out = NULL;
    if (!s)
        return -ENOMEM;
    s->config = *config;
    s->copies.most = MAX_FRAMES;
    err = thread_start(&s->thread, sampler_main, s);
    if (err) {
        memory_free(s);
        return err;
    }
    *out = s;
    return 0;
}

void sampler_stop(struct sampler *s, unsigned timeout_ms)
{
    store_release(&s->stopping, true);
    thread_await(&s->ended, timeout_ms);
}
