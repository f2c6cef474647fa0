#include "check/threads.h"

#include "check/internal.h"
#include "check/leaving.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"
#include "clr/com.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define FIRST_FRAMES      1024
#define BUSY_NS           1000000ull /* pause when a collection runs */
#define DESTROYED_WAIT_MS 200u
#define SEED_TRIES        5 /* with SEED_STEP_NS between them */
#define SEED_STEP_NS      20000
#define RUN_TRIES         5000 /* with as much between them: 100 ms and more */
#define COLLECTION_RUNS   ((hresult)CORPROF_E_SUSPENSION_IN_PROGRESS)
#define UNWINDING         ((hresult)CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX)
#define UNSAFE            ((hresult)CORPROF_E_STACKSNAPSHOT_UNSAFE)

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
    struct check_walk walked, seeded; /* of the thread being looked at */
    struct native *native;            /* NULL: no libunwind */
    struct check_seed seed;
    struct stack_copy copy;
    struct native_registers registers; /* what find_seed found */
    enum native_result found;
    bool sought; /* find_seed has looked */
};

int check_threads_new(const struct check_threads_config *config, struct check_threads **out)
{
    struct check_threads *t = *out = memory_zalloc(1, sizeof(*t));

    if (!t)
        return -ENOMEM;
    t->config = *config;
    pthread_mutex_init(&t->lock, NULL);
    t->copy.capacity = FIRST_FRAMES;
    t->copy.frames = memory_alloc(FIRST_FRAMES * sizeof(*t->copy.frames));
    return check_walk_init(&t->walked, config->check) ||
                   check_walk_init(&t->seeded, config->check) || !t->copy.frames
               ? -ENOMEM
               : 0;
}

void check_threads_created(struct check_threads *t, uintptr_t thread_id)
{
    struct gone_thread **link = &t->gone, *found;

    pthread_mutex_lock(&t->lock);
    while ((found = *link) && found->id != thread_id)
        link = &found->next;
    if (found)
        *link = found->next;
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

/* Copies the thread's shadow stack to t->copy, which grows as needed. Returns: false: failed. */
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
    t->copy.left = (struct stack_copied){.method = 0};
    return true;
}

/* Do the walked frames from `skip` on equal the copied ones? */
static bool equal_from(const struct check_threads *t, const struct check_walk *walk, size_t skip)
{
    return walk->count - skip == t->copy.depth &&
           check_walk_agrees(walk, t->copy.frames, t->copy.depth);
}

static void mismatch(struct check_threads *t, uint32_t os_thread, hresult result)
{
    struct event_mismatch *m =
        check_mismatch_new(&t->walked, t->copy.frames, t->copy.depth, result, false);

    add_relaxed(&t->config.agreement->mismatched, 1);
    if (!t->ring && event_ring_new(t->config.hub, &t->ring))
        t->ring = NULL;
    if (!m || !t->ring) {
        memory_free(m);
        return;
    }
    m->stopped = os_thread;
    check_mismatch_post(t->config.check, t->ring, clock_ticks(), m);
}

/* The snapshot has one frame more, the one left last, and stands behind the call of its hook. */
static bool is_leaving(const struct check_threads *t)
{
    const struct stack_copied *left = &t->copy.left;
    const struct check_frame *top = t->walked.frame;

    return t->walked.count == t->copy.depth + 1u && left->method &&
           top->function == stack_copied_function(left) && top->fp == FRAME_RECORD(*left) &&
           equal_from(t, &t->walked, 1) &&
           leaving_behind_hook(top->ip, left->method, top->function);
}

/* Between two reports of a dispatch, one of the stacks is the older part of the other. */
static bool is_dispatching(const struct check_threads *t)
{
    size_t walked = t->walked.count, shadow = t->copy.depth;

    return t->copy.dispatching &&
           check_walk_agrees(&t->walked, t->copy.frames, walked < shadow ? walked : shadow);
}

static bool is_managed(void *context, uintptr_t ip)
{
    struct check_threads *t = context;
    struct clr_info *info = t->config.info;
    uintptr_t function, rejit;

    return info->vtbl->get_function_from_ip3(info, (const uint8_t *)ip, &function, &rejit) == S_OK;
}

/*
 * The first managed frame beyond native ones, in t->registers. A thread just stopped goes on to
 * where it waits.
 */
static enum native_result find_seed(struct check_threads *t, uint32_t os_thread)
{
    const struct timespec step = {0, SEED_STEP_NS};

    if (!t->native || t->sought)
        return t->found;
    t->sought = true;
    t->found = native_first(t->native, os_thread, is_managed, t, &t->registers);
    for (unsigned i = 0; i < SEED_TRIES && t->found == NATIVE_RUNS; i++) {
        nanosleep(&step, NULL);
        t->found = native_first(t->native, os_thread, is_managed, t, &t->registers);
    }
    return t->found;
}

static bool is_for_unmanaged(const struct stack_copied *frame)
{
    return metadata_method_unmanaged_callers((const struct metadata_method *)frame->method);
}

/*
 * Called from native code, its Enter has been, and it waits to be let in: the runtime does not know
 * of the frame yet. The shadow stack has exactly that one more, and the thread's native frames lead
 * to it.
 */
static bool is_entering(struct check_threads *t, uint32_t os_thread)
{
    const struct stack_copied *top = &t->copy.frames[t->copy.depth - 1];
    bool unmanaged_callers = is_for_unmanaged(top);
    const uint64_t *r = t->registers.value;

    /* A function pointer leads managed code straight into a method for unmanaged callers. */
    if (t->copy.depth != t->walked.count + 1 || (is_managed(t, top->ret) && !unmanaged_callers) ||
        !check_walk_agrees(&t->walked, t->copy.frames, t->walked.count))
        return false;
    /* Else the method tells: hooks of one for unmanaged callers come before it is let in. */
    if (find_seed(t, os_thread) != NATIVE_FOUND)
        return unmanaged_callers;
    return r[CPU_SP] < top->sp &&
           check_function_at(t->config.check, r[CPU_IP]) == stack_copied_function(top);
}

/*
 * A method for unmanaged callers is let out before its Leave hook: from there on the thread runs,
 * although the runtime is suspended, and may have left since it was copied. Then it comes to
 * where the walk says that it is, or is on its way into another such method. Which, is counted.
 */
static bool has_run_on(struct check_threads *t, uint32_t os_thread)
{
    struct agreement_threads *a = t->config.agreement;
    const struct timespec step = {0, SEED_STEP_NS};

    if (t->copy.depth != t->walked.count + 1 ||
        !is_for_unmanaged(&t->copy.frames[t->copy.depth - 1]))
        return false;
    for (unsigned i = 0; i < RUN_TRIES && copy(t, os_thread); i++) {
        bool left = equal_from(t, &t->walked, 0);

        t->sought = false;
        if (left || (t->copy.depth && is_entering(t, os_thread))) {
            add_relaxed(left ? &a->leaving : &a->entering, 1);
            return true;
        }
        nanosleep(&step, NULL);
    }
    return false;
}

static void compare(struct check_threads *t, uint32_t os_thread, hresult result)
{
    struct agreement_threads *a = t->config.agreement;

    if (result >= 0 && equal_from(t, &t->walked, 0)) {
        add_relaxed(&a->equal, 1);
        check_registers(&t->walked, t->copy.frames);
    } else if (t->copy.depth && is_entering(t, os_thread)) {
        add_relaxed(&a->entering, 1);
    } else if (result >= 0 && is_leaving(t)) {
        add_relaxed(&a->leaving, 1);
    } else if (result >= 0 && is_dispatching(t)) {
        add_relaxed(&a->dispatching, 1);
    } else if (result >= 0 && check_ended_early_there(&t->walked, t->copy.frames, t->copy.depth)) {
        add_relaxed(&a->ended_early, 1);
    } else if (!has_run_on(t, os_thread)) {
        mismatch(t, os_thread, result);
    }
}

/*
 * A method of runtime async that has suspended is on the shadow stack until the thread's next hook
 * or callback; it may be stopped before. The walk and the thread's native frames have to agree that
 * it is not on the machine's stack.
 */
static void drop_suspended(struct check_threads *t, uint32_t os_thread)
{
    uintptr_t sp = t->walked.first.sp, fp = t->walked.first.fp;

    if (!t->copy.depth || !t->walked.first.function)
        return;
    if (find_seed(t, os_thread) == NATIVE_FOUND && t->registers.value[CPU_SP] < sp) {
        sp = t->registers.value[CPU_SP];
        fp = t->registers.value[CPU_FP];
    }
    if (stack_copy_drop_suspended(&t->copy, sp, fp))
        add_relaxed(&t->config.agreement->suspended, 1);
}

/* The result of a walk, beside the copied shadow stack. */
static void judge(struct check_threads *t, uint32_t os_thread, hresult result)
{
    struct agreement_threads *a = t->config.agreement;

    if (result < 0)
        agreement_refused(&a->refusals, result);
    if (result < 0 && t->copy.depth == 0)
        add_relaxed(&a->refused, 1); /* no managed frame */
    else if (result == E_NOTIMPL)
        add_relaxed(&a->unready, 1);
    else if (result == UNWINDING)
        add_relaxed(&a->unwinding, 1);
    else if (result == UNSAFE)
        add_relaxed(&a->unsafe, 1);
    else
        compare(t, os_thread, result);
}

static bool same_walk(const struct check_walk *a, const struct check_walk *b)
{
    return a->count == b->count && !memcmp(a->frame, b->frame, a->count * sizeof(*a->frame));
}

/* What was found beyond the native frames, beside the youngest frame of the walk without a seed. */
static void compare_seed(struct check_threads *t)
{
    struct agreement_seeds *a = t->config.seeds;
    const struct check_frame *youngest = t->walked.frame;
    const uint64_t *r = t->registers.value;

    if (!t->walked.count)
        return;
    if (r[CPU_IP] == youngest->ip && r[CPU_SP] == youngest->sp && r[CPU_FP] == youngest->fp)
        add_relaxed(&a->met, 1);
    else if (r[CPU_SP] < youngest->sp)
        add_relaxed(&a->met_stub, 1);
}

/* Once more, from there. */
static void walk_seeded(struct check_threads *t, uintptr_t thread_id, uint32_t os_thread)
{
    struct agreement_seeds *a = t->config.seeds;
    enum native_result found = find_seed(t, os_thread);
    hresult result;

    add_relaxed(&a->tried, 1);
    if (found != NATIVE_FOUND) {
        add_relaxed(found == NATIVE_RUNS ? &a->running : &a->lost, 1);
        return;
    }
    compare_seed(t);
    check_seed_set(&t->seed, &t->registers);
    result = check_walk_run(&t->seeded, thread_id, COR_PRF_SNAPSHOT_REGISTER_CONTEXT, &t->seed);
    add_relaxed(&a->taken, 1);
    if (result < 0) {
        agreement_refused(&a->refusals, result);
        add_relaxed(&a->refused, 1);
    } else if (same_walk(&t->seeded, &t->walked)) {
        add_relaxed(&a->same, 1);
    } else {
        add_relaxed(equal_from(t, &t->seeded, 0) ? &a->equal : &a->different, 1);
    }
}

/* What is done with a stopped thread. */
typedef void visit_thread(struct check_threads *t, uintptr_t thread_id, uint32_t os_thread,
                          void *context);

static void compare_thread(struct check_threads *t, uintptr_t thread_id, uint32_t os_thread,
                           void *context)
{
    struct agreement_threads *a = t->config.agreement;
    uint64_t before = clock_ticks(), between, after;
    hresult result = check_walk_run(&t->walked, thread_id, COR_PRF_SNAPSHOT_REGISTER_CONTEXT, NULL);

    (void)context;
    between = clock_ticks();
    if (t->walked.failed || !copy(t, os_thread))
        return;
    after = clock_ticks();
    t->sought = false;
    t->found = NATIVE_LOST; /* without libunwind */
    if (result >= 0)
        drop_suspended(t, os_thread);
    add_relaxed(&a->walked, 1);
    add_relaxed(&a->snapshot_ns, clock_duration_ns(between - before));
    add_relaxed(&a->shadow_ns, clock_duration_ns(after - between));
    judge(t, os_thread, result);
    if (t->native && t->copy.depth && result != E_NOTIMPL)
        walk_seeded(t, thread_id, os_thread);
}

/* Visits all managed threads while the runtime is suspended. S_OK, or why it would not stop. */
static hresult stop(struct check_threads *t, visit_thread *visit, void *context)
{
    struct clr_info *info = t->config.info;
    struct clr_thread_enum *threads = NULL;
    hresult result = info->vtbl->suspend_runtime(info);
    uint32_t os_thread, got;
    uintptr_t id;

    if (result != S_OK)
        return result;
    if (info->vtbl->enum_threads(info, &threads) == S_OK) {
        while (threads->vtbl->next(threads, 1, &id, &got) == S_OK && got == 1) {
            /* Announced; then looked whether it is gone: pairs with check_threads_destroyed(). */
            atomic_store(&t->walking, id);
            if (!is_gone(t, id) && info->vtbl->get_thread_info(info, id, &os_thread) == S_OK)
                visit(t, id, os_thread, context);
            atomic_store(&t->walking, 0);
        }
        clr_release(threads);
    }
    info->vtbl->resume_runtime(info);
    return S_OK;
}

/* One stop of the runtime. Returns how long to wait before the next, ns. */
static uint64_t stop_once(struct check_threads *t)
{
    struct agreement_threads *a = t->config.agreement;
    uint64_t before = clock_ticks();
    hresult result = stop(t, compare_thread, NULL);

    if (result == COLLECTION_RUNS) {
        add_relaxed(&a->busy, 1);
        return BUSY_NS;
    }
    if (result == S_OK) {
        add_relaxed(&a->stops, 1);
        add_relaxed(&a->suspended_ns, clock_duration_ns(clock_ticks() - before));
    }
    return t->config.interval_ms * 1000000ull;
}

/* Who takes a sample. */
struct sampling {
    void (*each)(void *context, const struct check_sample *sample);
    void *context;
};

static void sample_thread(struct check_threads *t, uintptr_t thread_id, uint32_t os_thread,
                          void *context)
{
    const struct sampling *to = context;
    struct check_sample sample = {.os_thread = os_thread};

    sample.result = check_walk_run(&t->walked, thread_id, COR_PRF_SNAPSHOT_DEFAULT, NULL);
    sample.count = t->walked.count;
    sample.frame = t->walked.frame;
    to->each(to->context, &sample);
}

int check_threads_sample(struct check_threads *t,
                         void (*each)(void *context, const struct check_sample *sample),
                         void *context)
{
    struct sampling to = {each, context};

    return stop(t, sample_thread, &to) == S_OK ? 0 : -EAGAIN;
}

static hresult ignore_frame(uintptr_t function, uintptr_t ip, uintptr_t frame_info,
                            uint32_t context_size, const uint8_t *context, void *client_data)
{
    (void)function, (void)ip, (void)frame_info, (void)context_size, (void)context,
        (void)client_data;
    return S_OK;
}

void check_threads_begin(struct check_threads *t)
{
    struct clr_info *info = t->config.info;

    check_flag(t->config.check, true);
    /* The first walk of a process sets up what a walk of a stopped thread could wait for. */
    info->vtbl->do_stack_snapshot(info, 0, ignore_frame, COR_PRF_SNAPSHOT_DEFAULT, NULL, NULL, 0);
}

void check_threads_end(struct check_threads *t)
{
    check_flag(t->config.check, false);
}

static void *threads_main(void *context)
{
    struct check_threads *t = context;

    pthread_setname_np(pthread_self(), "shadowtrace-chk");
    if (native_new(&t->native))
        store_relaxed(&t->config.seeds->missing, true);
    check_threads_begin(t);
    while (!load_acquire(&t->stopping)) {
        struct metadata *metadata = t->config.check->config.metadata;
        struct timespec step;
        uint64_t pause;

        metadata_hold(metadata); /* what is met on stopped threads, until it is posted */
        pause = stop_once(t);
        metadata_unhold(metadata);
        step = (struct timespec){(time_t)(pause / 1000000000), (long)(pause % 1000000000)};
        nanosleep(&step, NULL);
    }
    check_threads_end(t);
    if (t->ring)
        event_ring_close(t->ring);
    store_release(&t->ended, true);
    return NULL;
}

int check_threads_start(struct check_threads *t)
{
    int err = thread_start(&t->thread, threads_main, t);

    if (err)
        store_relaxed(&t->ended, true);
    return err;
}

void check_threads_stop(struct check_threads *t, unsigned timeout_ms)
{
    store_release(&t->stopping, true);
    thread_await(&t->ended, timeout_ms);
}
