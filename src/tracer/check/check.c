#include "check/check.h"

#include "check/early.h"
#include "check/runs.h"
#include "check/thread.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/event_mask.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct check {
    struct check_config config;
    pthread_mutex_t
        flag_lock; /* guards walks and the flag of the runtime; held for two calls, never while walking */
    unsigned walks;
};

const struct check_config *check_config(const struct check *check)
{
    return &check->config;
}

int check_new(const struct check_config *config, struct check **out)
{
    struct check *check = memory_zalloc(1, sizeof(*check));

    *out = check;
    if (!check)
        return -ENOMEM;
    check->config = *config;
    if (config->native) { /* once for all: is there libunwind? */
        struct check_runs *runs = check_runs_new();

        check->config.native = runs != NULL;
        check_runs_free(runs);
    }
    pthread_mutex_init(&check->flag_lock, NULL);
    return 0;
}

bool check_native(const struct check *check)
{
    return check->config.native;
}

void check_thread_free(struct check_thread *t)
{
    if (t) {
        check_walk_fini(&t->walk);
        memory_free(t->seed);
    }
    memory_free(t);
}

bool check_thread_ready(struct check *check, struct check_thread **thread)
{
    struct check_thread *t = *thread;

    if (t)
        return true;
    t = memory_zalloc(1, sizeof(*t));
    if (!t || check_walk_init(&t->walk, check)) {
        memory_free(t);
        return false;
    }
    if (check->config.native)
        t->walk.runs = check_runs_new();
    *thread = t;
    return true;
}

struct seed *check_thread_seed(struct check_thread *t)
{
    if (!t->seed)
        t->seed = memory_zalloc(1, sizeof(*t->seed));
    return t->seed;
}

bool check_counts(const struct check *check, uintptr_t function)
{
    const struct names_method *method;

    if (!function)
        return false; /* a run of unmanaged frames */
    if (!check->config.reduce && !load_relaxed(check->config.spared))
        return true;
    method = names_method_find(check->config.names, function);
    return check->config.reduce ? method && method->hooked
                                : !(method && load_relaxed(&method->spared));
}

static void flag_change(struct check *check, int by)
{
    pthread_mutex_lock(&check->flag_lock);
    check->walks += (unsigned)by;
    if (check->walks == (by > 0))
        clr_event_mask_change(check->config.info, COR_PRF_ENABLE_STACK_SNAPSHOT,
                              by > 0 ? COR_PRF_ENABLE_STACK_SNAPSHOT : 0);
    pthread_mutex_unlock(&check->flag_lock);
}

void check_flag_raise(struct check *check)
{
    if (check->config.toggle_flag)
        flag_change(check, 1);
}

void check_flag_lower(struct check *check)
{
    if (check->config.toggle_flag)
        flag_change(check, -1);
}

static hresult snapshot(struct check *check, clr_stack_snapshot_callback *callback, uint32_t flags,
                        void *client_data)
{
    struct clr_info *info = check->config.info;
    hresult result;

    check_flag_raise(check);
    result = info->vtbl->do_stack_snapshot(info, 0, callback, flags, client_data, NULL, 0);
    check_flag_lower(check);
    return result;
}

static hresult walk_self(struct check_walk *walk, uint32_t flags)
{
    check_walk_begin(walk);
    return snapshot(walk->check, check_walk_frame, flags, walk);
}

/* Records for FunctionIDs, named now: the writer, who needs the text, may not ask the runtime. */
static void name_all(struct check *check, uintptr_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct names_method *method = NULL;

        if (names_method_map(check->config.names, words[i], &method) == 0)
            names_method_resolve(check->config.names, method);
        words[i] = (uintptr_t)method;
    }
}

static uintptr_t shadow_function(const struct capture *capture, size_t i)
{
    return *(const uintptr_t *)load_relaxed(&capture->top[-1 - (ptrdiff_t)i].method);
}

static bool equal(const struct check_walk *walk, const struct capture *capture)
{
    if (walk->count != capture->depth)
        return false;
    for (size_t i = 0; i < walk->count; i++)
        if (walk->frame[i].function != shadow_function(capture, i))
            return false;
    return true;
}

/* Of equal stacks: registers of every frame, and the allocating instruction. */
static void compare_registers(struct check_walk *walk, const struct capture *capture)
{
    struct agreement *a = check_config(walk->check)->agreement;

    if (!walk->count || !check_walk_copy(walk, capture->top, walk->count))
        return;
    check_registers(walk, walk->shadow);
    add_relaxed(&a->sites, 1);
    add_relaxed(capture->ip == walk->frame[0].ip ? &a->sites_equal : &a->sites_unknown,
                capture->ip == walk->frame[0].ip || !capture->ip);
}

/* Is `few` what is left of `many` without some of its frames? */
static bool subsequence(const uintptr_t *few, size_t few_count, const uintptr_t *many,
                        size_t many_count)
{
    size_t found = 0;

    for (size_t i = 0; i < many_count && found < few_count; i++)
        found += many[i] == few[found];
    return found == few_count;
}

static enum agreement_cause cause_of(const struct event_mismatch *m)
{
    const uintptr_t *shadow = m->methods, *snapshot = m->methods + m->shadow;

    if (m->refused)
        return AGREEMENT_REFUSED_WITH_FRAMES;
    if (subsequence(snapshot, m->snapshot, shadow, m->shadow))
        return AGREEMENT_SHADOW_EXTRA;
    if (subsequence(shadow, m->shadow, snapshot, m->snapshot))
        return AGREEMENT_SHADOW_MISSING;
    return AGREEMENT_DIFFERENT_METHOD;
}

void check_post(struct event_ring *ring, uint64_t ticks, enum event_kind kind, void *payload)
{
    struct event event = {.ticks = ticks,
                          .subject = (uintptr_t)payload,
                          .bytes_kind = event_pack(0, EVENT_HEAP_NORMAL, kind)};

    if (event_post(ring, &event))
        memory_free(payload);
}

void check_mismatch_finish(struct check *check, struct event_mismatch *m)
{
    uint32_t both = m->shadow + m->snapshot, first = 0;

    while (first < m->shadow && first < m->snapshot &&
           m->methods[m->shadow - 1 - first] == m->methods[both - 1 - first])
        first++;
    m->first = first;
    m->cause = (uint32_t)cause_of(m);
    name_all(check, m->methods, both);
}

/* --native: native frames of the snapshot just taken. */
static size_t native_frames(const struct check_walk *walk, const struct event_native **out)
{
    *out = NULL;
    return walk->runs ? check_runs_walk(walk->runs, out) : 0;
}

static void mismatch(struct check *check, const struct check_walk *walk,
                     const struct capture *capture, hresult result)
{
    size_t both = capture->depth + walk->count;
    const struct event_native *native;
    size_t natives = native_frames(walk, &native);
    struct event_mismatch *m =
        memory_zalloc(1, sizeof(*m) + both * sizeof(m->methods[0]) + natives * sizeof(*native));

    add_relaxed(&check->config.agreement->mismatched, 1);
    add_relaxed(&capture->ring->checked.compared, 1);
    if (!m)
        return; /* counted; both stacks are not to be had */
    m->class = capture->class;
    m->node = capture->node;
    m->refused = result < 0 ? result : 0;
    m->repairs = stack_touched(capture->stack);
    m->shadow = (uint32_t)capture->depth;
    m->snapshot = (uint32_t)walk->count;
    for (size_t i = 0; i < capture->depth; i++)
        m->methods[i] = shadow_function(capture, i);
    for (size_t i = 0; i < walk->count; i++)
        m->methods[capture->depth + i] = walk->frame[i].function;
    m->natives = (uint32_t)natives;
    if (natives)
        memcpy(m->methods + both, native, natives * sizeof(*native));
    check_mismatch_finish(check, m);
    add_relaxed(&check->config.agreement->by_cause[m->cause], 1);
    check_post(capture->ring, capture->ticks, EVENT_MISMATCH, m);
}

static void count_equal(struct check *check, const struct capture *capture)
{
    add_relaxed(&check->config.agreement->equal, 1);
    add_relaxed(&capture->ring->checked.compared, 1);
    add_relaxed(&capture->ring->checked.equal, 1);
}

static void count_refused(struct check *check, const struct capture *capture)
{
    add_relaxed(&check->config.agreement->refused, 1);
    add_relaxed(&capture->ring->checked.refused, 1);
}

static bool ended_early(struct check_walk *walk, const struct capture *capture, hresult result)
{
    return check_config(walk->check)->ends_early &&
           check_walk_copy(walk, capture->top, capture->depth) &&
           check_ended_early(walk, result, walk->shadow, capture->depth);
}

static void count_cost(struct check *check, const struct capture *capture, uint64_t ticks)
{
    uint64_t shadow_ns = clock_duration_ns(capture->shadow_ticks);
    uint64_t snapshot_ns = clock_duration_ns(ticks);

    agreement_cost(check->config.agreement, (uint32_t)capture->depth, shadow_ns, snapshot_ns);
    add_relaxed(&capture->ring->checked.shadow_ns, shadow_ns);
    add_relaxed(&capture->ring->checked.snapshot_ns, snapshot_ns);
}

static void log_snapshot(struct check *check, const struct check_walk *walk,
                         struct event_ring *ring, uint64_t ticks, hresult result)
{
    const struct event_native *native;
    size_t natives = native_frames(walk, &native);
    struct event_stack *copy = memory_alloc(sizeof(*copy) + walk->count * sizeof(copy->methods[0]) +
                                            natives * sizeof(*native));

    if (!copy)
        return;
    copy->refused = result < 0 ? result : 0;
    copy->count = (uint32_t)walk->count;
    for (size_t i = 0; i < walk->count; i++)
        copy->methods[i] = walk->frame[i].function;
    copy->natives = (uint32_t)natives;
    if (natives)
        memcpy(copy->methods + walk->count, native, natives * sizeof(*native));
    name_all(check, copy->methods, walk->count);
    check_post(ring, ticks, EVENT_SNAPSHOT, copy);
}

void check_compare(struct check *check, struct check_thread **thread, const struct capture *capture)
{
    struct agreement *agreement = check->config.agreement;
    struct check_walk *walk;
    uint64_t before, after;
    hresult result;

    if (!check_thread_ready(check, thread))
        return;
    walk = &(*thread)->walk;
    before = clock_ticks();
    result = walk_self(walk, COR_PRF_SNAPSHOT_REGISTER_CONTEXT);
    after = clock_ticks();
    if (walk->failed)
        return; /* half a snapshot is none: not taken */
    add_relaxed(&agreement->taken, 1);
    if (result >= 0 && equal(walk, capture)) {
        count_cost(check, capture, after - before);
        count_equal(check, capture);
        stack_forget_repairs(capture->stack);
        compare_registers(walk, capture);
    } else if (capture->depth && ended_early(walk, capture, result)) {
        add_relaxed(&agreement->ended_early, 1);
    } else if (result >= 0) {
        count_cost(check, capture, after - before);
        mismatch(check, walk, capture, result);
    } else {
        agreement_refused(&agreement->refusals, result);
        if (capture->depth == 0)
            count_refused(check, capture);
        else
            mismatch(check, walk, capture, result);
    }
    if (check->config.log_all)
        log_snapshot(check, walk, capture->ring, capture->ticks, result);
}

uint32_t check_capture(struct check *check, struct check_thread **thread)
{
    uint32_t node = 0;
    struct check_walk *walk;
    uint64_t before, after;
    hresult result;

    if (!check_thread_ready(check, thread))
        return node;
    walk = &(*thread)->walk;
    before = clock_ticks();
    result =
        walk_self(walk, walk->runs ? COR_PRF_SNAPSHOT_REGISTER_CONTEXT : COR_PRF_SNAPSHOT_DEFAULT);
    add_relaxed(&check->config.agreement->taken, 1);
    if (result < 0) {
        agreement_refused(&check->config.agreement->refusals, result);
        add_relaxed(&check->config.agreement->refused, 1);
        return node;
    }
    for (size_t i = walk->count; i-- > 0;) {
        struct names_method *method;
        /* The instruction in the caller; the caller's frame is the one before in this order. */
        uintptr_t ip = i + 1 < walk->count ? walk->frame[i + 1].ip : 0;

        if (names_method_map(check->config.names, walk->frame[i].function, &method) == 0)
            node = tree_next(check->config.tree, node, (uintptr_t)method, ip);
    }
    after = clock_ticks();
    agreement_cost(check->config.agreement, (uint32_t)walk->count, 0,
                   clock_duration_ns(after - before));
    return node;
}

void check_captured(struct check *check, struct check_thread *thread, struct event_ring *ring,
                    uint64_t ticks)
{
    if (thread && thread->walk.runs && thread->walk.count)
        log_snapshot(check, &thread->walk, ring, ticks, S_OK);
}

static hresult on_leaf(uintptr_t function, uintptr_t ip, uintptr_t frame_info,
                       uint32_t context_size, const uint8_t *context, void *client_data)
{
    (void)frame_info, (void)context_size, (void)context;
    if (!function)
        return S_OK;
    *(uintptr_t *)client_data = ip;
    return S_FALSE; /* enough */
}

static hresult on_any(uintptr_t function, uintptr_t ip, uintptr_t frame_info, uint32_t context_size,
                      const uint8_t *context, void *client_data)
{
    bool *found = client_data;

    (void)ip, (void)frame_info, (void)context_size, (void)context;
    *found = function != 0;
    return *found ? S_FALSE : S_OK;
}

bool check_unframed(struct check *check)
{
    bool found = false;
    hresult result = snapshot(check, on_any, COR_PRF_SNAPSHOT_DEFAULT, &found);

    return !found && (result == S_OK || result == E_FAIL);
}

uintptr_t check_leaf(struct check *check)
{
    uintptr_t ip = 0;

    snapshot(check, on_leaf, COR_PRF_SNAPSHOT_DEFAULT, &ip);
    return ip;
}
