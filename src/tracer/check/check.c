#include "check/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "clr/event_mask.h"
#include "thread/thread.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>

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

void check_thread_ended(struct stack *s)
{
    struct check_thread *t = s->thread ? s->thread->check : NULL;

    if (!t)
        return;
    s->thread->check = NULL;
    check_walk_fini(&t->walk);
    memory_free_all(t->seed, t);
}

struct check_thread *check_thread_of(struct check *check, struct stack *s)
{
    struct thread *thread = thread_of(s);
    struct check_thread *t = thread ? thread->check : NULL;

    if (t || !thread)
        return t;
    t = memory_zalloc(1, sizeof(*t));
    if (!t || check_walk_init(&t->walk, check)) {
        memory_free(t);
        return NULL;
    }
    if (check->config.native)
        t->walk.runs = check_runs_new();
    return thread->check = t;
}

struct check_seed *check_thread_seed(struct check_thread *t)
{
    if (!t->seed)
        t->seed = memory_zalloc(1, sizeof(*t->seed));
    return t->seed;
}

void check_flag(struct check *check, bool up)
{
    if (!check->config.toggle_flag)
        return;
    pthread_mutex_lock(&check->flag_lock);
    check->walks += up ? 1 : -1u;
    if (check->walks == up)
        clr_event_mask_change(check->config.info, COR_PRF_ENABLE_STACK_SNAPSHOT,
                              up ? COR_PRF_ENABLE_STACK_SNAPSHOT : 0);
    pthread_mutex_unlock(&check->flag_lock);
}

static hresult walk_self(struct check_walk *walk, uint32_t flags)
{
    hresult result;

    check_flag(walk->check, true);
    result = check_walk_run(walk, 0, flags, NULL);
    check_flag(walk->check, false);
    return result;
}

static bool equal(const struct check_walk *walk, const struct capture *capture)
{
    const struct frame *top = capture->top;

    if (walk->count != capture->depth)
        return false;
    for (size_t i = 0; i < walk->count; i++)
        if (walk->frame[i].function !=
            *(const uintptr_t *)load_relaxed(&top[-1 - (ptrdiff_t)i].method))
            return false;
    return true;
}

/* Of equal stacks: registers of every frame, and the allocating instruction. */
static void compare_registers(struct check_walk *walk, const struct capture *capture)
{
    struct agreement *a = walk->check->config.agreement;
    bool same;

    if (!walk->count || !check_walk_copy(walk, capture->top, walk->count))
        return;
    check_registers(walk, walk->shadow);
    same = capture->ip == walk->frame[0].ip;
    add_relaxed(&a->sites, 1);
    add_relaxed(same ? &a->sites_equal : &a->sites_unknown, same || !capture->ip);
}

static void mismatch(struct check_walk *walk, const struct capture *capture, hresult result)
{
    struct agreement *a = walk->check->config.agreement;
    struct event_mismatch *m = NULL;

    add_relaxed(&a->mismatched, 1);
    add_relaxed(&capture->ring->checked.compared, 1);
    if (check_walk_copy(walk, capture->top, capture->depth))
        m = check_mismatch_new(walk, walk->shadow, capture->depth, result, true);
    if (!m)
        return; /* counted, without the stacks */
    m->class = capture->class;
    m->node = capture->node;
    m->repairs = stack_touched(capture->stack);
    add_relaxed(&a->by_cause[check_mismatch_post(walk->check, capture->ring, capture->ticks, m)],
                1);
}

static void count_equal(struct check *check, const struct capture *capture)
{
    add_relaxed(&check->config.agreement->equal, 1);
    add_relaxed(&capture->ring->checked.compared, 1);
    add_relaxed(&capture->ring->checked.equal, 1);
}

static bool ended_early(struct check_walk *walk, const struct capture *capture, hresult result)
{
    return walk->check->config.ends_early && check_walk_copy(walk, capture->top, capture->depth) &&
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

void check_begin(struct check *check)
{
    add_relaxed(&check->config.agreement->begun, 1);
}

void check_compare(struct check *check, const struct capture *capture)
{
    struct agreement *agreement = check->config.agreement;
    struct check_thread *thread = check_thread_of(check, capture->stack);
    struct check_walk *walk;
    uint64_t before, after;
    hresult result;

    if (!thread)
        return;
    walk = &thread->walk;
    walk->whole = capture->walked; /* it has all frames */
    before = clock_ticks();
    result = walk_self(walk, COR_PRF_SNAPSHOT_REGISTER_CONTEXT);
    after = clock_ticks();
    walk->whole = false;
    if (walk->failed)
        return; /* half a snapshot is none: not taken */
    add_relaxed(&agreement->taken, 1);
    if (result >= 0 && equal(walk, capture)) {
        count_cost(check, capture, after - before);
        count_equal(check, capture);
        stack_forget_repairs(capture->stack);
        if (!capture->walked)
            compare_registers(walk, capture);
    } else if (!capture->walked && capture->depth && ended_early(walk, capture, result)) {
        add_relaxed(&agreement->ended_early, 1);
    } else if (result >= 0) {
        count_cost(check, capture, after - before);
        mismatch(walk, capture, result);
    } else {
        agreement_refused(&agreement->refusals, result);
        if (capture->depth && !capture->walked) {
            mismatch(walk, capture, result);
        } else {
            add_relaxed(&agreement->refused, 1);
            add_relaxed(&capture->ring->checked.refused, 1);
        }
    }
    if (check->config.log_all)
        check_snapshot_post(walk, capture->ring, capture->ticks, result);
}

/* Of all managed frames, oldest first. 0: one of them is not known. */
static uint32_t path_of(struct check *check, const struct check_walk *walk)
{
    uint32_t node = 0;

    for (size_t i = walk->count; i-- > 0;) {
        struct metadata_method *method;
        /* The instruction in the caller; the caller's frame is the one before in this order. */
        uintptr_t ip = i + 1 < walk->count ? walk->frame[i + 1].ip : 0;

        if (metadata_method_map(check->config.metadata, walk->frame[i].function, &method) == 0)
            node = tree_next(check->config.tree, node, (uintptr_t)method, ip);
    }
    return node;
}

/* Are those of a whole walk that a comparison looks at the frames of the shadow stack? */
static bool holds_shadow(const struct check_walk *walk, const struct capture *shadow)
{
    size_t met = 0;

    for (size_t i = 0; i < walk->count; i++) {
        uintptr_t function = walk->frame[i].function;

        if (!check_counts(walk->check, function))
            continue;
        if (met == shadow->depth ||
            function != *(const uintptr_t *)load_relaxed(&shadow->top[-1 - (ptrdiff_t)met].method))
            return false;
        met++;
    }
    return met == shadow->depth;
}

uint32_t check_frames(struct check *check, const struct capture *shadow, bool *leaf)
{
    struct agreement_frames *counts = &check->config.agreement->frames;
    struct check_thread *thread = check_thread_of(check, shadow->stack);
    struct check_walk *walk = thread ? &thread->walk : NULL;
    hresult result;

    *leaf = true;
    if (!walk)
        return 0;
    walk->whole = true;
    result = walk_self(walk, COR_PRF_SNAPSHOT_DEFAULT);
    walk->whole = false;
    if (result < 0 || walk->failed || !walk->count) {
        add_relaxed(&counts->refused, 1);
        return 0;
    }
    if (!holds_shadow(walk, shadow)) {
        add_relaxed(&counts->differed, 1);
        return 0;
    }
    add_relaxed(&counts->added, 1);
    *leaf = check_counts(check, walk->frame[0].function);
    return path_of(check, walk);
}

uint32_t check_path(struct check *check, struct stack *stack)
{
    struct check_thread *thread = check_thread_of(check, stack);
    struct check_walk *walk = thread ? &thread->walk : NULL;

    if (!walk || walk_self(walk, COR_PRF_SNAPSHOT_DEFAULT) < 0 || walk->failed)
        return 0;
    return path_of(check, walk);
}

uint32_t check_capture(struct check *check, struct stack *stack, struct check_frame *leaf)
{
    struct check_thread *thread = check_thread_of(check, stack);
    uint32_t node = 0;
    struct check_walk *walk;
    uint64_t before, after;
    hresult result;

    *leaf = (struct check_frame){.function = 0};
    if (!thread)
        return node;
    walk = &thread->walk;
    before = clock_ticks();
    result =
        walk_self(walk, walk->runs ? COR_PRF_SNAPSHOT_REGISTER_CONTEXT : COR_PRF_SNAPSHOT_DEFAULT);
    add_relaxed(&check->config.agreement->taken, 1);
    if (result < 0) {
        agreement_refused(&check->config.agreement->refusals, result);
        add_relaxed(&check->config.agreement->refused, 1);
        return node;
    }
    node = path_of(check, walk);
    if (walk->count)
        *leaf = walk->frame[0];
    after = clock_ticks();
    agreement_cost(check->config.agreement, (uint32_t)walk->count, 0,
                   clock_duration_ns(after - before));
    return node;
}

void check_captured(const struct capture *capture)
{
    const struct check_thread *thread = capture->stack->thread->check;

    if (thread && thread->walk.runs && thread->walk.count)
        check_snapshot_post(&thread->walk, capture->ring, capture->ticks, S_OK);
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

/* The youngest managed frame's instruction; 0: no managed frame. */
static hresult find_leaf(struct check *check, uintptr_t *ip)
{
    struct clr_info *info = check->config.info;
    hresult result;

    *ip = 0;
    check_flag(check, true);
    result = info->vtbl->do_stack_snapshot(info, 0, on_leaf, COR_PRF_SNAPSHOT_DEFAULT, ip, NULL, 0);
    check_flag(check, false);
    return result;
}

static hresult on_any(uintptr_t function, uintptr_t ip, uintptr_t frame_info, uint32_t context_size,
                      const uint8_t *context, void *client_data)
{
    (void)ip, (void)frame_info, (void)context_size, (void)context;
    if (function)
        *(uintptr_t *)client_data = function;
    return S_OK;
}

uintptr_t check_oldest(struct check *check)
{
    struct clr_info *info = check->config.info;
    uintptr_t function = 0;

    check_flag(check, true);
    if (info->vtbl->do_stack_snapshot(info, 0, on_any, COR_PRF_SNAPSHOT_DEFAULT, &function, NULL,
                                      0) != S_OK)
        function = 0;
    check_flag(check, false);
    return function;
}

bool check_unframed(struct check *check)
{
    uintptr_t ip;
    hresult result = find_leaf(check, &ip);

    return !ip && (result == S_OK || result == E_FAIL);
}

uintptr_t check_leaf(struct check *check)
{
    uintptr_t ip;

    find_leaf(check, &ip);
    return ip;
}
