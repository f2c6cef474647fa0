#include "walk/internal.h"

#include "base/array.h"
#include "base/memory.h"
#include "stack/stack_hot.h"
#include "thread/thread.h"

#include <errno.h>
#include <string.h>

#define FRAMES_MAX  4000000 /* of any kind in one walk */
#define FILTERS_MAX 1000    /* that run at once on a thread */
#define LOWEST      4096    /* no code lies below */

/* Words of the interrupted registers, from the stack pointer in the signal's frame on. */
enum { SIGNAL_RBP = 15, SIGNAL_RSP = 20, SIGNAL_RIP = 21, SIGNAL_WORDS = 22 };

/* A filter that runs: the frames of its thread when it was entered. */
struct filter {
    uintptr_t function, mark; /* mark: stack pointer of the youngest frame that was not native */
    struct walk_frame *frame;
    size_t count;
    bool certain; /* the frames are known */
};

struct walk_thread {
    struct walk_thread *next, **before; /* under walk->lock */
    uintptr_t low, high;                /* the thread's stack */
    struct walk_rules rules;
    struct walk_frame *frame;
    size_t count, capacity;
    bool dynamic;    /* of the last walk: as walk_stack.dynamic */
    uintptr_t first; /* of the last walk: as filter.mark; 0: none */
    struct filter *filter;
    size_t filters, filter_capacity;
    bool unsure; /* a filter could not be kept: from then on no walk is certain */
    struct frame *shadow;
    size_t shadow_capacity;
    _Atomic(uint64_t) taken, declined[WALK_WHYS]; /* written by the owner */
};

const char *walk_why_name(enum walk_why why)
{
#define WHY_TEXT(name, text, label) text,
    static const char *const names[] = {"certain", SST_WALK_REASONS(WHY_TEXT)};

    return names[why];
}

int walk_new(const struct clr_runtime *runtime, struct metadata *metadata, struct walk **out)
{
    struct walk *walk = memory_zalloc(1, sizeof(*walk));

    *out = walk;
    if (!walk || images_new(runtime->info, &walk->images)) {
        memory_free(walk);
        *out = NULL;
        return -ENOMEM;
    }
    walk->runtime = runtime;
    walk->metadata = metadata;
    store_relaxed(&walk->epoch, 1);
    pthread_mutex_init(&walk->lock, NULL);
    natives_start(runtime->low);
    return 0;
}

void walk_free(struct walk *walk)
{
    if (walk)
        images_free(walk->images);
    memory_free(walk);
}

/* ---- threads ---- */

static bool stack_bounds(struct walk_thread *t)
{
    pthread_attr_t attributes;
    size_t size = 0;
    void *low = NULL;
    bool known;

    if (pthread_getattr_np(pthread_self(), &attributes))
        return false;
    known = pthread_attr_getstack(&attributes, &low, &size) == 0;
    pthread_attr_destroy(&attributes);
    t->low = (uintptr_t)low;
    t->high = t->low + size;
    return known;
}

static __attribute__((noinline)) struct walk_thread *thread_make(struct walk *walk,
                                                                 struct stack *stack)
{
    struct thread *thread = thread_of(stack);
    struct walk_thread *t = thread ? memory_zalloc(1, sizeof(*t)) : NULL;

    if (!t || !stack_bounds(t)) {
        memory_free(t);
        return NULL;
    }
    pthread_mutex_lock(&walk->lock);
    t->next = walk->threads;
    t->before = &walk->threads;
    if (t->next)
        t->next->before = &t->next;
    walk->threads = t;
    pthread_mutex_unlock(&walk->lock);
    return thread->walk = t;
}

static inline struct walk_thread *thread_of_stack(struct walk *walk, struct stack *stack)
{
    return LIKELY(stack->thread && stack->thread->walk) ? stack->thread->walk
                                                        : thread_make(walk, stack);
}

static void totals_add(struct walk_totals *to, const struct walk_thread *t)
{
    to->taken += load_relaxed(&t->taken);
    for (unsigned i = 0; i < WALK_WHYS; i++)
        to->declined[i] += load_relaxed(&t->declined[i]);
}

void walk_totals_read(struct walk *walk, struct walk_totals *out)
{
    pthread_mutex_lock(&walk->lock);
    *out = walk->ended;
    for (const struct walk_thread *t = walk->threads; t; t = t->next)
        totals_add(out, t);
    pthread_mutex_unlock(&walk->lock);
}

void walk_thread_ended(struct walk *walk, struct stack *stack)
{
    struct walk_thread *t = stack->thread ? stack->thread->walk : NULL;

    if (!t)
        return;
    stack->thread->walk = NULL;
    pthread_mutex_lock(&walk->lock);
    *t->before = t->next;
    if (t->next)
        t->next->before = t->before;
    totals_add(&walk->ended, t);
    pthread_mutex_unlock(&walk->lock);
    walk_rules_fini(&t->rules);
    for (size_t i = 0; i < t->filter_capacity; i++)
        memory_free(t->filter[i].frame);
    memory_free_all(t->frame, t->filter, t->shadow, t);
}

/* ---- the walk ---- */

/* Where a walk is. */
struct place {
    uintptr_t ip, sp, fp;
};

static bool frame_add(struct walk_thread *t, const struct walk_frame *frame, size_t count)
{
    if (!array_reserve(&t->frame, &t->capacity, t->count + count))
        return false;
    memcpy(t->frame + t->count, frame, count * sizeof(*frame));
    t->count += count;
    return true;
}

/* A signal came: on with the interrupted registers, which the kernel saved on this stack. */
static enum walk_why step_signal(const struct walk_thread *t, struct place *at)
{
    const uintptr_t *words = (const uintptr_t *)at->sp;

    if (t->high - at->sp < SIGNAL_WORDS * sizeof(*words) || words[SIGNAL_RSP] <= at->sp ||
        words[SIGNAL_RSP] >= t->high || words[SIGNAL_RSP] % sizeof(*words))
        return WALK_BOUNDS;
    *at = (struct place){words[SIGNAL_RIP] | WALK_EXACT, words[SIGNAL_RSP], words[SIGNAL_RBP]};
    return WALK_CERTAIN;
}

/* Is there a word of this stack? */
static inline bool has_word(const struct walk_thread *t, uintptr_t low, uintptr_t at)
{
    return at >= low && at < t->high && at % sizeof(uintptr_t) == 0;
}

/* The way leaves a filter: on with what was there when it was entered. */
static enum walk_why step_filter(struct walk_thread *t, const struct walk_rule *rule)
{
    const struct filter *filter = &t->filter[t->filters - 1];

    if (rule->kind != KIND_MANAGED || !filter->certain ||
        rule->method->function_id != filter->function)
        return WALK_FILTER;
    return frame_add(t, filter->frame, filter->count) ? WALK_CERTAIN : WALK_MEMORY;
}

/* To the caller. */
static enum walk_why step(const struct walk_thread *t, uintptr_t low, uintptr_t cfa,
                          const struct walk_rule *rule, struct place *at)
{
    uintptr_t ret = cfa + (uintptr_t)(intptr_t)rule->ret, fp = cfa + (uintptr_t)(intptr_t)rule->fp;

    if (!has_word(t, low, ret))
        return WALK_BOUNDS;
    if (!rule->keeps_fp) {
        if (!has_word(t, low, fp))
            return WALK_BOUNDS;
        at->fp = *(const uintptr_t *)fp;
    }
    at->ip = *(const uintptr_t *)ret;
    at->sp = cfa;
    if (UNLIKELY(rule->exact_caller))
        at->ip |= WALK_EXACT;
    return WALK_CERTAIN;
}

/* Of code that is not native: is its frame, up to `cfa`, one that a filter runs on? */
static inline bool passes_filter(const struct walk_thread *t, const struct walk_rule *rule,
                                 uintptr_t cfa)
{
    return UNLIKELY(t->filters) && cfa > t->filter[t->filters - 1].mark &&
           rule->kind != KIND_NATIVE && RULE(RULE_WALK_FILTER);
}

static enum walk_why walk_from(struct walk *walk, struct walk_thread *t, struct place at)
{
    const uintptr_t low = at.sp;
    uint32_t rule_at = 0;
    enum walk_why why;

    for (size_t steps = 0; steps < FRAMES_MAX; steps++) {
        const struct walk_rule *rule;
        uintptr_t cfa;

        rule_at = walk_rule_of(walk, &t->rules, at.ip, rule_at);
        if (UNLIKELY(!rule_at))
            return WALK_MEMORY;
        rule = &t->rules.rule[rule_at];
        if (rule->kind == KIND_END)
            return WALK_CERTAIN;
        if (UNLIKELY(rule->kind == KIND_UNSURE))
            return (enum walk_why)rule->why;
        if (rule->kind != KIND_NATIVE && !t->first)
            t->first = at.sp;
        if (UNLIKELY(rule->kind == KIND_SIGNAL)) {
            why = step_signal(t, &at);
            if (why != WALK_CERTAIN)
                return why;
            continue;
        }
        cfa = (rule->by_fp ? at.fp : at.sp) + (uintptr_t)(intptr_t)rule->cfa;
        if (UNLIKELY(cfa <= at.sp || cfa > t->high || cfa % sizeof(cfa)))
            return WALK_BOUNDS;
        if (UNLIKELY(rule->kind == KIND_NAMELESS && rule->framed &&
                     at.sp != at.fp - rule->distance))
            return WALK_DYNAMIC; /* it may be a filter, of which nobody tells */
        if (UNLIKELY(rule->kind == KIND_NAMELESS && !t->count))
            t->dynamic = true;
        if (rule->kind == KIND_MANAGED &&
            !frame_add(t,
                       &(struct walk_frame){rule->method, at.ip & ~WALK_EXACT, cfa,
                                            (at.ip & WALK_EXACT) != 0},
                       1))
            return WALK_MEMORY;
        if (passes_filter(t, rule, cfa))
            return step_filter(t, rule);
        why = step(t, low, cfa, rule, &at);
        if (UNLIKELY(why != WALK_CERTAIN))
            return why;
        if (UNLIKELY((at.ip & ~WALK_EXACT) < LOWEST))
            return rule->kind == KIND_NATIVE ? WALK_CERTAIN : WALK_BOUNDS;
    }
    return WALK_LONG;
}

/* From the caller of the function that has this frame pointer. */
static enum walk_why walk_up(struct walk *walk, struct walk_thread *t, const uintptr_t *fp)
{
    const struct place at = {fp[1], (uintptr_t)(fp + 2), fp[0]};
    uint32_t epoch = load_acquire(&walk->epoch);

    t->count = 0;
    t->first = 0;
    t->dynamic = false;
    if (UNLIKELY(t->rules.epoch != epoch))
        walk_rules_forget(&t->rules, epoch);
    if (UNLIKELY(t->unsure))
        return WALK_MEMORY;
    if (UNLIKELY(at.sp < t->low || at.sp >= t->high))
        return WALK_BOUNDS; /* on another stack than the thread's: a fiber's */
    return walk_from(walk, t, at);
}

static void count(_Atomic(uint64_t) *counter)
{
    store_relaxed(counter, load_relaxed(counter) + 1);
}

__attribute__((noinline)) enum walk_why walk_self(struct walk *walk, struct stack *stack,
                                                  struct walk_stack *out)
{
    struct walk_thread *t = thread_of_stack(walk, stack);
    enum walk_why why;

    *out = (struct walk_stack){.frame = NULL};
    if (UNLIKELY(!t))
        return WALK_MEMORY;
    why = walk_up(walk, t, __builtin_frame_address(0));
    if (UNLIKELY(why != WALK_CERTAIN)) {
        t->count = 0;
        count(&t->declined[why]);
        return why;
    }
    count(&t->taken);
    out->frame = t->frame;
    out->count = t->count;
    out->dynamic = t->dynamic;
    return WALK_CERTAIN;
}

struct frame *walk_shadow(struct walk *walk, struct stack *stack, size_t *depth)
{
    struct walk_thread *t = thread_of_stack(walk, stack);

    *depth = 0;
    if (!t || !array_reserve(&t->shadow, &t->shadow_capacity, t->count + 1))
        return NULL;
    for (size_t i = 0; i < t->count; i++) {
        const struct walk_frame *from = &t->frame[t->count - 1 - i];
        struct frame *to = &t->shadow[i];

        memset(to, 0, sizeof(*to));
        store_relaxed(&to->method, (uintptr_t)from->method);
        store_relaxed(&to->sp, from->sp);
    }
    *depth = t->count;
    return t->shadow + t->count;
}

/* ---- filters ---- */

static struct walk_thread *thread_here(struct walk *walk)
{
    struct stack *stack = stack_current();

    return stack ? thread_of_stack(walk, stack) : NULL;
}

__attribute__((noinline)) void walk_filter_enter(struct walk *walk, uintptr_t function_id)
{
    struct walk_thread *t = thread_here(walk);
    struct filter *filter;
    enum walk_why why;

    if (!t)
        return;
    why = walk_up(walk, t, __builtin_frame_address(0));
    t->unsure = t->unsure || t->filters == FILTERS_MAX ||
                !array_reserve_zeroed(&t->filter, &t->filter_capacity, t->filters + 1);
    if (t->unsure)
        return;
    filter = &t->filter[t->filters++];
    memory_free(filter->frame);
    filter->function = function_id;
    filter->mark = t->first;
    filter->count = t->count;
    filter->frame = memory_alloc((t->count + 1) * sizeof(*filter->frame));
    filter->certain = why == WALK_CERTAIN && filter->frame;
    if (filter->certain)
        memcpy(filter->frame, t->frame, t->count * sizeof(*filter->frame));
}

__attribute__((noinline)) void walk_filter_leave(struct walk *walk)
{
    struct walk_thread *t = thread_here(walk);
    size_t filters, at;

    if (!t || !t->filters)
        return;
    filters = t->filters;
    t->filters = 0;
    (void)walk_up(walk, t, __builtin_frame_address(0));
    /* Back to the one that was entered from here; those above were left by exceptions. */
    for (at = filters; at && t->filter[at - 1].mark != t->first;)
        at--;
    t->filters = at ? at - 1 : filters;
}

/* ---- code that comes and goes ---- */

void walk_module_loaded(struct walk *walk, uintptr_t module_id)
{
    (void)images_add(walk->images, module_id);
}

void walk_code_unloaded(struct walk *walk)
{
    add_relaxed(&walk->epoch, 1);
}

void walk_module_unloaded(struct walk *walk, uintptr_t module_id)
{
    images_remove(walk->images, module_id);
    walk_code_unloaded(walk);
}
