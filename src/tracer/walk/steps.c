#include "walk/internal.h"

#include "stack/stack_hot.h"

#define FRAMES_MAX 4000000 /* of any kind in one walk */
#define LOWEST     4096    /* no code lies below */

/* Words of the interrupted registers, from the stack pointer in the signal's frame on. */
enum { SIGNAL_RBP = 15, SIGNAL_RSP = 20, SIGNAL_RIP = 21, SIGNAL_WORDS = 22 };

/* ---- what the last walk left ---- */

/* Is what was read to get to this step what it was? */
static inline bool reads_the_same(const struct walk_step *step)
{
    return step->ip_at && *step->ip_at == (step->ip & ~WALK_EXACT) &&
           (!step->fp_at || *step->fp_at == step->fp) &&
           LIKELY(step->managed || !step->of ||
                  natives_same((step->ip & ~WALK_EXACT) - 1, step->of));
}

/*
 * Steps of the last walk from the place on that the walk has come to: how many, with *left those
 * that it has not passed yet. 0: it has to go on itself.
 */
static inline size_t same_from(const struct walk_steps *old, const struct walk_step *at,
                               size_t *left)
{
    const struct walk_step *step = old->step;
    size_t same;

    while (*left && step[*left - 1].sp < at->sp)
        --*left;
    if (!*left || step[*left - 1].sp != at->sp || step[*left - 1].ip != at->ip ||
        step[*left - 1].fp != at->fp)
        return 0;
    same = *left;
    for (size_t i = same - 1; i-- > 0;)
        if (UNLIKELY(!reads_the_same(&step[i])) && RULE(RULE_WALK_MEMO)) {
            *left = i + 1; /* those above are the same, but lead elsewhere */
            return 0;
        }
    return same;
}

/* The path of each new step: onto `kept` steps of the last walk go the new ones. */
static bool take_over(struct walk *walk, struct walk_thread *t, size_t kept)
{
    size_t count = kept + t->fresh.count;
    struct walk_step *step, below = {.node = 0};

    if (!array_reserve(&t->steps.step, &t->steps.capacity, count))
        return false;
    step = t->steps.step;
    if (kept)
        below = step[kept - 1];
    for (size_t i = kept; i < count; i++) {
        step[i] = t->fresh.step[count - 1 - i];
        step[i].leaf = step[i].managed ? (uint32_t)i + 1 : below.leaf;
        step[i].nameless = !step[i].managed && (step[i].nameless || below.nameless);
        step[i].node = step[i].managed
                           ? tree_next(walk->tree, below.node, (uintptr_t)step[i].of,
                                       below.leaf ? step[below.leaf - 1].ip & ~WALK_EXACT : 0)
                           : below.node;
        below = step[i];
    }
    t->steps.count = count;
    return true;
}

/* ---- the walk ---- */

/* A signal came: on with the interrupted registers, which the kernel saved on this stack. */
static enum walk_why step_signal(const struct walk_thread *t, struct walk_step *at)
{
    const uintptr_t *words = (const uintptr_t *)at->sp;

    if (t->high - at->sp < SIGNAL_WORDS * sizeof(*words) || words[SIGNAL_RSP] <= at->sp ||
        words[SIGNAL_RSP] >= t->high || words[SIGNAL_RSP] % sizeof(*words))
        return WALK_BOUNDS;
    *at = (struct walk_step){
        .ip = words[SIGNAL_RIP] | WALK_EXACT, .sp = words[SIGNAL_RSP], .fp = words[SIGNAL_RBP]};
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
    const struct walk_filter *filter = &t->filter[t->filters - 1];

    if (rule->kind != KIND_MANAGED || !filter->certain ||
        rule->method->function_id != filter->function)
        return WALK_FILTER;
    return walk_steps_add(&t->fresh, filter->steps.step, filter->steps.count) ? WALK_CERTAIN
                                                                              : WALK_MEMORY;
}

/* To the caller. */
static enum walk_why step_up(const struct walk_thread *t, uintptr_t low, uintptr_t cfa,
                             const struct walk_rule *rule, struct walk_step *at)
{
    uintptr_t ret = cfa + (uintptr_t)(intptr_t)rule->ret, fp = cfa + (uintptr_t)(intptr_t)rule->fp;

    if (!has_word(t, low, ret))
        return WALK_BOUNDS;
    at->fp_at = NULL;
    if (!rule->keeps_fp) {
        if (!has_word(t, low, fp))
            return WALK_BOUNDS;
        at->fp_at = (const uintptr_t *)fp;
        at->fp = *at->fp_at;
    }
    at->ip_at = (const uintptr_t *)ret;
    at->ip = *at->ip_at;
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

/* What the code is that the step is in; its frame goes up to `cfa`. */
static enum walk_why step_in(struct walk_thread *t, const struct walk_rule *rule, uintptr_t cfa,
                             struct walk_step *at)
{
    if (UNLIKELY(cfa <= at->sp || cfa > t->high || cfa % sizeof(cfa)))
        return WALK_BOUNDS;
    if (UNLIKELY(rule->kind == KIND_NAMELESS && rule->framed && at->sp != at->fp - rule->distance))
        return WALK_DYNAMIC; /* it may be a filter, of which nobody tells */
    at->managed = rule->kind == KIND_MANAGED;
    at->nameless = rule->kind == KIND_NAMELESS;
    at->of = at->managed ? (const void *)rule->method : rule->image;
    return walk_steps_add(&t->fresh, at, 1) ? WALK_CERTAIN : WALK_MEMORY;
}

/* left: steps of the last walk that may be met. *kept: those that were. */
static enum walk_why walk_from(struct walk *walk, struct walk_thread *t, struct walk_step at,
                               size_t left, size_t *kept)
{
    const uintptr_t low = at.sp;
    uint32_t rule_at = 0;
    enum walk_why why;

    for (size_t steps = 0; steps < FRAMES_MAX; steps++) {
        const struct walk_rule *rule;
        uintptr_t cfa;

        if (left && (*kept = same_from(&t->steps, &at, &left)))
            return WALK_CERTAIN;
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
        why = step_in(t, rule, cfa, &at);
        if (UNLIKELY(why != WALK_CERTAIN))
            return why;
        if (passes_filter(t, rule, cfa))
            return step_filter(t, rule);
        why = step_up(t, low, cfa, rule, &at);
        if (UNLIKELY(why != WALK_CERTAIN))
            return why;
        if (UNLIKELY((at.ip & ~WALK_EXACT) < LOWEST))
            return rule->kind == KIND_NATIVE ? WALK_CERTAIN : WALK_BOUNDS;
    }
    return WALK_LONG;
}

enum walk_why walk_up(struct walk *walk, struct walk_thread *t, const uintptr_t *fp, bool memo)
{
    const struct walk_step at = {.ip = fp[1], .sp = (uintptr_t)(fp + 2), .fp = fp[0]};
    uint32_t epoch = load_acquire(&walk->epoch);
    size_t kept = 0;
    enum walk_why why;

    t->fresh.count = 0;
    t->first = 0;
    if (UNLIKELY(t->rules.epoch != epoch)) {
        walk_rules_forget(&t->rules, epoch);
        t->steps.count = 0;
    }
    if (UNLIKELY(t->unsure))
        return WALK_MEMORY;
    if (UNLIKELY(at.sp < t->low || at.sp >= t->high))
        return WALK_BOUNDS; /* on another stack than the thread's: a fiber's */
    /* A filter runs on its method's frame, above others: what is below it is not what is there. */
    why = walk_from(walk, t, at, memo && !t->filters ? t->steps.count : 0, &kept);
    if (why == WALK_CERTAIN && !take_over(walk, t, kept))
        why = WALK_MEMORY;
    return why;
}
