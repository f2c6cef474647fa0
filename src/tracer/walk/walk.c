#include "walk/internal.h"

#include "base/memory.h"
#include "stack/stack_hot.h"
#include "thread/thread.h"

#include <errno.h>
#include <string.h>

#define FILTERS_MAX 1000 /* that run at once on a thread */

const char *walk_why_name(enum walk_why why)
{
#define WHY_TEXT(name, text, label) text,
    static const char *const names[] = {"certain", SST_WALK_REASONS(WHY_TEXT)};

    return names[why];
}

int walk_new(const struct clr_runtime *runtime, struct metadata *metadata, struct tree *tree,
             bool joined, struct walk **out)
{
    struct walk *walk = memory_zalloc(1, sizeof(*walk));

    *out = walk;
    if (!walk || images_new(runtime->info, &walk->images) || walk_rules_new(&walk->rules)) {
        walk_free(walk);
        *out = NULL;
        return -ENOMEM;
    }
    walk->runtime = runtime;
    walk->metadata = metadata;
    walk->tree = tree;
    walk->joined = joined;
    store_relaxed(&walk->epoch, 1);
    pthread_mutex_init(&walk->lock, NULL);
    natives_start(runtime->low, joined);
    return 0;
}

void walk_free(struct walk *walk)
{
    if (!walk)
        return;
    images_free(walk->images);
    walk_rules_free(walk->rules);
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
    struct walk_thread *t = thread ? memory_pages_map(sizeof(*t)) : NULL;

    if (!t || !stack_bounds(t)) {
        memory_pages_unmap(t, sizeof(*t));
        return NULL;
    }
    t->proven = !walk->joined;
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
    for (size_t i = 0; i < t->filter_capacity; i++)
        memory_free(t->filter[i].steps.step);
    memory_free_all(t->steps.step, t->word, t->pair, t->fresh.step, t->filter, t->shadow);
    memory_pages_unmap(t, sizeof(*t));
}

static void count(_Atomic(uint64_t) *counter)
{
    store_relaxed(counter, load_relaxed(counter) + 1);
}

/* Has the walk that was not certain met a frame? */
static bool has_frame(const struct walk_thread *t)
{
    for (size_t i = 0; i < t->fresh.count; i++)
        if (t->fresh.step[i].managed)
            return true;
    return false;
}

/* What the thread's steps come to. */
static void path_of(const struct walk_thread *t, struct walk_path *out)
{
    const struct walk_step *youngest;

    if (UNLIKELY(!t->steps.count))
        return;
    youngest = &t->steps.step[t->steps.count - 1];
    out->node = youngest->node;
    out->dynamic = youngest->nameless;
    if (!youngest->leaf)
        return;
    youngest = &t->steps.step[youngest->leaf - 1];
    out->method = youngest->of;
    out->ip = youngest->ip & ~WALK_EXACT;
    out->fault = (youngest->ip & WALK_EXACT) != 0;
}

__attribute__((noinline)) enum walk_why walk_self(struct walk *walk, struct stack *stack,
                                                  struct frame *top, size_t depth,
                                                  struct walk_path *out)
{
    struct walk_thread *t = thread_of_stack(walk, stack);
    struct walk_hooked hooked = {.oldest = top - depth, .next = depth};
    enum walk_why why;

    *out = (struct walk_path){.node = 0};
    if (UNLIKELY(!t))
        return WALK_MEMORY;
    why = walk_up(walk, t, __builtin_frame_address(0), &hooked);
    if (UNLIKELY(why != WALK_CERTAIN)) {
        out->dynamic = why == WALK_DYNAMIC && !has_frame(t);
        count(&t->declined[why]);
        return why;
    }
    path_of(t, out);
    if (UNLIKELY(!t->proven) && RULE(RULE_WALK_PROVEN))
        return WALK_UNPROVEN;
    count(&t->taken);
    return WALK_CERTAIN;
}

/*
 * Do two paths have the same methods? A snapshot does not tell what was called through a dynamic
 * method, so that calls may differ.
 */
static bool same_methods(const struct tree *tree, const struct tree_node *a,
                         const struct tree_node *b)
{
    for (; a != b; a = tree_caller(tree, a), b = tree_caller(tree, b))
        if (!a || !b || tree_method(tree, a) != tree_method(tree, b))
            return false;
    return true;
}

bool walk_proven(struct walk *walk, struct stack *stack, uint32_t node)
{
    struct walk_thread *t = thread_of_stack(walk, stack);
    struct walk_path path = {.node = 0};

    if (!t)
        return false;
    path_of(t, &path);
    t->proven = !tree_is_cut(node) && !tree_is_cut(path.node) &&
                same_methods(walk->tree, tree_node_by_id(walk->tree, path.node),
                             tree_node_by_id(walk->tree, node));
    count(t->proven ? &t->taken : &t->declined[WALK_UNPROVEN]);
    return t->proven;
}

/* The frames, youngest first; their methods by the path in the tree, which is what is logged. */
static size_t shadow_fill(const struct walk *walk, const struct walk_steps *steps,
                          struct frame *behind)
{
    const struct walk_step *step = &steps->step[steps->count];
    const struct tree_node *node = steps->count ? tree_node_by_id(walk->tree, step[-1].node) : NULL;
    size_t depth = 0;

    while (step > steps->step) {
        uintptr_t method;

        if (!(--step)->managed)
            continue;
        method = node ? tree_method(walk->tree, node) : (uintptr_t)step->of;
        node = node ? tree_caller(walk->tree, node) : NULL;
        depth++;
        memset(behind - depth, 0, sizeof(*behind));
        store_relaxed(&behind[-(ptrdiff_t)depth].method, method);
    }
    return depth;
}

struct frame *walk_shadow(struct walk *walk, struct stack *stack, size_t *depth)
{
    struct walk_thread *t = thread_of_stack(walk, stack);
    struct frame *behind;

    *depth = 0;
    if (!t || !array_reserve(&t->shadow, &t->shadow_capacity, t->steps.count + 1))
        return NULL;
    behind = t->shadow + t->shadow_capacity;
    *depth = shadow_fill(walk, &t->steps, behind);
    return behind;
}

/* The place of the managed step whose frame ends at `sp`; 0: none. */
static size_t place_of(const struct walk_steps *steps, uintptr_t sp)
{
    size_t at = steps->count;

    while (at > 1 && steps->step[at - 2].sp < sp)
        at--;
    return at > 1 && steps->step[at - 2].sp == sp && steps->step[at - 1].managed ? at - 1 : 0;
}

uint32_t walk_path_to(struct walk *walk, struct stack *stack, const struct frame *to,
                      const struct frame *from, uint32_t node)
{
    struct walk_thread *t = thread_of_stack(walk, stack);
    const struct walk_steps *steps = &t->steps;
    size_t last = place_of(steps, load_relaxed(&to->sp));
    size_t at = from ? place_of(steps, load_relaxed(&from->sp)) : last;

    if (!last || !at)
        return 0;
    if (!from)
        return steps->step[last].node;
    while (++at <= last)
        if (steps->step[at].managed)
            node = walk_node_on(walk, t, at, node);
    return node;
}

/* ---- filters ---- */

static struct walk_thread *thread_here(struct walk *walk)
{
    struct stack *stack = stack_current();

    return stack ? thread_of_stack(walk, stack) : NULL;
}

/* Keeps the steps of the thread's last walk. */
static bool filter_keep(struct walk_filter *filter, const struct walk_steps *steps)
{
    filter->steps.count = 0;
    for (size_t i = steps->count; i-- > 0;)
        if (!walk_steps_add(&filter->steps, &steps->step[i], 1))
            return false;
    return true;
}

__attribute__((noinline)) void walk_filter_enter(struct walk *walk, uintptr_t function_id)
{
    struct walk_thread *t = thread_here(walk);
    struct walk_filter *filter;
    enum walk_why why;

    if (!t)
        return;
    why = walk_up(walk, t, __builtin_frame_address(0), NULL);
    t->unsure = t->unsure || t->filters == FILTERS_MAX ||
                !array_reserve_zeroed(&t->filter, &t->filter_capacity, t->filters + 1);
    if (t->unsure)
        return;
    filter = &t->filter[t->filters++];
    filter->function = function_id;
    filter->mark = t->first;
    filter->certain = why == WALK_CERTAIN && filter_keep(filter, &t->steps);
}

__attribute__((noinline)) void walk_filter_leave(struct walk *walk)
{
    struct walk_thread *t = thread_here(walk);
    size_t filters, at;

    if (!t || !t->filters)
        return;
    filters = t->filters;
    t->filters = 0;
    (void)walk_up(walk, t, __builtin_frame_address(0), NULL);
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
