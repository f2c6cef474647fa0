#include "check/threads.h"

#include "check/walk.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/com.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define FIRST_FRAMES      1024
#define BUSY_NS           1000000ull /* pause when a collection runs */
#define DESTROYED_WAIT_MS 200u
#define COLLECTION_RUNS   ((hresult)0x80131388) /* CORPROF_E_SUSPENSION_IN_PROGRESS */

/* A ThreadID that was destroyed and not created again: a pointer to nothing. */
struct gone_thread {
    struct gone_thread *next;
    uintptr_t id;
};

struct check_threads {
    struct check_threads_config config;
    pthread_t thread;
    _Atomic(bool) stopping, ended;
    _Atomic(uintptr_t) walking; /* ThreadID, while its stack is walked; 0 */
    pthread_mutex_t lock;       /* guards `gone`; never held while the runtime is called */
    struct gone_thread *gone;
    struct event_ring *ring; /* for differences */
    /* scratch of the thread */
    struct check_walk walked;
    struct stack_copy copy;
};

int check_threads_new(const struct check_threads_config *config, struct check_threads **out)
{
    struct check_threads *t = memory_zalloc(1, sizeof(*t));

    *out = t;
    if (!t)
        return -ENOMEM;
    t->config = *config;
    pthread_mutex_init(&t->lock, NULL);
    t->copy.capacity = FIRST_FRAMES;
    t->copy.frames = memory_alloc(FIRST_FRAMES * sizeof(*t->copy.frames));
    return check_walk_init(&t->walked, config->check) || !t->copy.frames ? -ENOMEM : 0;
}

void check_threads_created(struct check_threads *t, uintptr_t thread_id)
{
    struct gone_thread *found = NULL;

    pthread_mutex_lock(&t->lock);
    for (struct gone_thread **link = &t->gone; *link; link = &(*link)->next)
        if ((*link)->id == thread_id) {
            found = *link;
            *link = found->next;
            break;
        }
    pthread_mutex_unlock(&t->lock);
    memory_free(found);
}

void check_threads_destroyed(struct check_threads *t, uintptr_t thread_id)
{
    const struct timespec step = {0, 100000};
    struct gone_thread *entry = memory_zalloc(1, sizeof(*entry));
    uint64_t until;

    if (entry) {
        entry->id = thread_id;
        pthread_mutex_lock(&t->lock);
        entry->next = t->gone;
        t->gone = entry;
        pthread_mutex_unlock(&t->lock);
    }
    fence_full(); /* gone before walking is read; pairs with the announcement in walk() */
    until = clock_ns() + DESTROYED_WAIT_MS * 1000000ull;
    while (atomic_load(&t->walking) == thread_id && clock_ns() < until)
        nanosleep(&step, NULL);
}

static bool is_gone(struct check_threads *t, uintptr_t thread_id)
{
    const struct gone_thread *entry;

    pthread_mutex_lock(&t->lock);
    for (entry = t->gone; entry && entry->id != thread_id; entry = entry->next)
        ;
    pthread_mutex_unlock(&t->lock);
    return entry;
}

static uintptr_t function_of(uintptr_t method)
{
    return method ? *(const uintptr_t *)method : 0;
}

/* Do the walked frames from `skip` on equal the copied ones? */
static bool equal_from(const struct check_threads *t, size_t skip)
{
    if (t->walked.count - skip != t->copy.depth)
        return false;
    for (size_t i = 0; i < t->copy.depth; i++)
        if (t->walked.frame[skip + i].function !=
            function_of(t->copy.frames[t->copy.depth - 1 - i].method))
            return false;
    return true;
}

static void mismatch(struct check_threads *t, uint32_t os_thread, hresult result)
{
    size_t both = t->copy.depth + t->walked.count;
    struct event_mismatch *m = memory_zalloc(1, sizeof(*m) + both * sizeof(m->methods[0]));

    add_relaxed(&t->config.agreement->mismatched, 1);
    if (!t->ring && event_ring_new(t->config.hub, &t->ring))
        t->ring = NULL;
    if (!m || !t->ring) {
        memory_free(m);
        return;
    }
    m->stopped = os_thread;
    m->refused = result < 0 ? result : 0;
    m->shadow = t->copy.depth;
    m->snapshot = (uint32_t)t->walked.count;
    for (uint32_t i = 0; i < m->shadow; i++)
        m->methods[i] = function_of(t->copy.frames[m->shadow - 1 - i].method);
    for (uint32_t i = 0; i < m->snapshot; i++)
        m->methods[m->shadow + i] = t->walked.frame[i].function;
    check_mismatch_finish(t->config.check, m);
    check_post(t->ring, clock_ticks(), EVENT_MISMATCH, m);
}

static void compare(struct check_threads *t, uint32_t os_thread)
{
    struct agreement_threads *a = t->config.agreement;
    const struct stack_copied *left = &t->copy.left;

    if (equal_from(t, 0)) {
        add_relaxed(&a->equal, 1);
        check_registers(&t->walked, t->copy.frames);
    } else if (t->walked.count == t->copy.depth + 1u && left->method &&
               t->walked.frame[0].function == function_of(left->method) &&
               t->walked.frame[0].fp + 2 * sizeof(uintptr_t) == left->sp && equal_from(t, 1)) {
        add_relaxed(&a->leaving, 1);
    } else if (t->copy.dispatching) {
        add_relaxed(&a->dispatching, 1);
    } else {
        mismatch(t, os_thread, S_OK);
    }
}

/* The thread's shadow stack, in t->copy; grows it if need be. Returns whether it could be had. */
static bool copy(struct check_threads *t, uint32_t os_thread)
{
    while (stack_copy_thread(os_thread, &t->copy) == 0) {
        struct stack_copied *larger;

        if (t->copy.depth <= t->copy.capacity)
            return true;
        larger = memory_realloc(t->copy.frames, 2 * (size_t)t->copy.depth * sizeof(*larger));
        if (!larger)
            return false;
        t->copy.frames = larger;
        t->copy.capacity = 2 * t->copy.depth;
    }
    t->copy.depth = 0; /* it has entered nothing that is hooked */
    t->copy.dispatching = false;
    t->copy.left = (struct stack_copied){0, 0, 0};
    return true;
}

static void walk(struct check_threads *t, uintptr_t thread_id)
{
    struct clr_info *info = t->config.info;
    struct agreement_threads *a = t->config.agreement;
    uint32_t os_thread = 0;
    uint64_t before, between, after;
    hresult result;

    atomic_store(
        &t->walking,
        thread_id); /* announced; then looked whether it is gone: pairs with ..._destroyed */
    if (!is_gone(t, thread_id) &&
        info->vtbl->get_thread_info(info, thread_id, &os_thread) == S_OK) {
        check_walk_begin(&t->walked);
        before = clock_ticks();
        result =
            info->vtbl->do_stack_snapshot(info, thread_id, check_walk_frame,
                                          COR_PRF_SNAPSHOT_REGISTER_CONTEXT, &t->walked, NULL, 0);
        between = clock_ticks();
        if (!t->walked.failed && copy(t, os_thread)) {
            after = clock_ticks();
            add_relaxed(&a->walked, 1);
            add_relaxed(&a->snapshot_ns, clock_duration_ns(between - before));
            add_relaxed(&a->shadow_ns, clock_duration_ns(after - between));
            if (result >= 0)
                compare(t, os_thread);
            else if (t->copy.depth == 0)
                add_relaxed(&a->refused, 1); /* no managed frame */
            else if (result == E_NOTIMPL)
                add_relaxed(&a->unready, 1);
            else
                mismatch(t, os_thread, result);
        }
    }
    atomic_store(&t->walking, 0);
}

/* One stop of the runtime. Returns how long to wait before the next, ns. */
static uint64_t stop_once(struct check_threads *t)
{
    struct clr_info *info = t->config.info;
    struct agreement_threads *a = t->config.agreement;
    struct clr_thread_enum *threads = NULL;
    uint64_t before = clock_ticks();
    hresult result = info->vtbl->suspend_runtime(info);
    uintptr_t id;
    uint32_t got;

    if (result == COLLECTION_RUNS) {
        add_relaxed(&a->busy, 1);
        return BUSY_NS;
    }
    if (result == S_OK) {
        add_relaxed(&a->stops, 1);
        if (info->vtbl->enum_threads(info, &threads) == S_OK) {
            while (threads->vtbl->next(threads, 1, &id, &got) == S_OK && got == 1)
                walk(t, id);
            clr_release(threads);
        }
        info->vtbl->resume_runtime(info);
        add_relaxed(&a->suspended_ns, clock_duration_ns(clock_ticks() - before));
    }
    return t->config.interval_ms * 1000000ull;
}

static hresult ignore_frame(uintptr_t function, uintptr_t ip, uintptr_t frame_info,
                            uint32_t context_size, const uint8_t *context, void *client_data)
{
    (void)function, (void)ip, (void)frame_info, (void)context_size, (void)context,
        (void)client_data;
    return S_OK;
}

static void *threads_main(void *context)
{
    struct check_threads *t = context;
    struct clr_info *info = t->config.info;

    pthread_setname_np(pthread_self(), "shadowtrace-chk");
    check_flag_raise(t->config.check);
    /* The first walk of a process sets up what a walk of a stopped thread could wait for. */
    info->vtbl->do_stack_snapshot(info, 0, ignore_frame, COR_PRF_SNAPSHOT_DEFAULT, NULL, NULL, 0);
    while (!load_acquire(&t->stopping)) {
        uint64_t pause = stop_once(t);
        const struct timespec step = {(time_t)(pause / 1000000000), (long)(pause % 1000000000)};

        nanosleep(&step, NULL);
    }
    check_flag_lower(t->config.check);
    if (t->ring)
        event_ring_close(t->ring);
    store_release(&t->ended, true);
    return NULL;
}

int check_threads_start(struct check_threads *t)
{
    sigset_t all, before;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&t->thread, NULL, threads_main, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    store_relaxed(&t->ended, err != 0);
    return -err;
}

void check_threads_stop(struct check_threads *t, unsigned timeout_ms)
{
    const struct timespec step = {0, 1000000};

    store_release(&t->stopping, true);
    for (unsigned i = 0; i < timeout_ms && !load_acquire(&t->ended); i++)
        nanosleep(&step, NULL);
}
