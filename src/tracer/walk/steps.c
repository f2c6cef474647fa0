#include "walk/internal.h"

#include "base/memory.h"
#include "stack/stack_hot.h"

#include <string.h>

#define NEAR_FILL  32      /* rules that a thread has met, of which each page will soon be used */
#define FRAMES_MAX 4000000 /* of any kind in one walk */
#define LOWEST     4096    /* no code lies below */

/* Words of the interrupted registers, from the stack pointer in the signal's frame on. */
enum { SIGNAL_RBP = 15, SIGNAL_RSP = 20, SIGNAL_RIP = 21, SIGNAL_WORDS = 22 };

/* Where a walk is, as in a step. */
struct place {
    uintptr_t sp, ip, fp;
    const uintptr_t *ip_at, *fp_at;
};

/* ---- hooked frames ---- */

static void hooked_next(struct walk_hooked *hooked)
{
    size_t next = hooked->next;

    hooked->sp = next ? load_relaxed(&hooked->oldest[next - 1].sp) : UINTPTR_MAX;
}

/* anchored: the thread's last walk has each frame that was met. */
static void hooked_start(struct walk_hooked *hooked, bool anchored)
{
    hooked->met = anchored ? hooked->next : 0;
    while (hooked->met && !frame_walked(&hooked->oldest[hooked->met - 1]) && RULE(RULE_WALK_BELOW))
        hooked->met--;
    hooked_next(hooked);
}

/* The frame of a step ends at `cfa`, at or beyond the next hooked frame. Is it that? */
static bool hooked_meet(struct walk_hooked *hooked, const struct walk_step *step, uintptr_t cfa)
{
    const struct frame *frame = &hooked->oldest[hooked->next - 1];

    if ((cfa != hooked->sp || !step->managed ||
         ((const struct metadata_method *)step->of)->function_id != stack_function(frame)) &&
        RULE(RULE_WALK_HOOKED))
        return false;
    hooked->next--;
    hooked_next(hooked);
    return true;
}

/* Where a method that goes on was begun. Of the frame that was met last. */
static uint32_t hooked_begun(const struct walk_hooked *hooked)
{
    return frame_flags(&hooked->oldest[hooked->next]) >> FRAME_BEGUN_SHIFT;
}

/* Has the walk come below a frame that was met before? What is there is what it was then. */
static bool hooked_below(const struct walk_hooked *hooked)
{
    return hooked->next < hooked->met;
}

static void hooked_end(const struct walk_hooked *hooked, size_t depth)
{
    for (size_t i = depth; i-- > hooked->next && !frame_walked(&hooked->oldest[i]);)
        frame_walked_set(&hooked->oldest[i]);
}

/* ---- what the last walk left ---- */

/* Is what was read to get to this step what it was? */
static inline bool reads_the_same(const struct walk_step *step)
{
    return step->ip_at && *step->ip_at == (step->ip & ~WALK_EXACT) &&
           (!step->fp_at || *step->fp_at == step->fp) &&
           LIKELY(step->managed || !step->of ||
                  natives_same((step->ip & ~WALK_EXACT) - 1, step->of));
}

/* The next hooked frame is where a step of the last walk ends. Is it that step's, and its path? */
static bool same_hooked(struct walk_hooked *hooked, const struct walk_step *step, uintptr_t cfa)
{
    return hooked_meet(hooked, step, cfa) && step->begun == hooked_begun(hooked);
}

/* At the address of a word that stands for a step of which its words do not say whether it is the
 * same: its value is the step's place + 1. */
static const uintptr_t no_word;

#define STEP_WORDS 2 /* and a pair */

/* Native code that may be unloaded; where the older step is of the same image, that is asked. */
static bool image_asked(const struct walk_step *step, bool oldest)
{
    return !step->managed && step->of && (oldest || step[-1].managed || step[-1].of != step->of);
}

/* Lists the words that led to the step at this place, the next one. There is room. */
static inline void words_add(struct walk_thread *t, size_t at)
{
    struct walk_step *step = &t->steps.step[at];
    struct walk_word *word = t->word + (at ? step[-1].words : 0);
    struct walk_pair *pair = t->pair + (at ? step[-1].pairs : 0);
    uintptr_t ip = step->ip & ~WALK_EXACT;
    bool fp;

    step->fp_used = step->by_fp || step->nameless || (at && step[-1].fp_used && !step[-1].fp_at);
    fp = step->ip_at && step->fp_at && step->fp_used;
    if (LIKELY(fp && step->fp_at + 1 == step->ip_at)) {
        *pair++ = (struct walk_pair){step->fp_at, {step->fp, ip}};
    } else {
        if (step->ip_at)
            *word++ = (struct walk_word){step->ip_at, ip};
        if (fp)
            *word++ = (struct walk_word){step->fp_at, step->fp};
    }
    if (UNLIKELY(!step->ip_at || image_asked(step, !at)))
        *word++ = (struct walk_word){&no_word, at + 1};
    step->words = (uint32_t)(word - t->word);
    step->pairs = (uint32_t)(pair - t->pair);
}

/* Of the steps whose counts are in order: 1 + the place of the first that has more than `index`. */
static size_t step_of(const struct walk_thread *t, size_t index, bool pairs)
{
    const struct walk_step *step = t->steps.step;
    size_t low = 0, high = t->listed;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if ((pairs ? step[middle].pairs : step[middle].words) > index)
            high = middle;
        else
            low = middle + 1;
    }
    return low + 1;
}

/* A word is not what it was. Returns: 1 + the place of its step; 0: that is the same. */
static __attribute__((noinline)) size_t word_differs(const struct walk_thread *t, size_t word)
{
    if (!RULE(RULE_WALK_MEMO))
        return 0;
    if (t->word[word].at == &no_word)
        return reads_the_same(&t->steps.step[t->word[word].value - 1]) ? 0 : t->word[word].value;
    return step_of(t, word, false);
}

static __attribute__((noinline)) size_t pair_differs(const struct walk_thread *t, size_t pair)
{
    return RULE(RULE_WALK_MEMO) ? step_of(t, pair, true) : 0;
}

typedef uint64_t both __attribute__((vector_size(16)));

/* Several at once, in vector registers: the longest part of most walks is here. */
static inline __attribute__((always_inline)) uint64_t pairs_changed(const struct walk_pair *pair,
                                                                    unsigned count)
{
    both is, was, changed = {0, 0};

#pragma GCC unroll 4
    for (unsigned i = 0; i < count; i++) {
        memcpy(&is, pair[i].at, sizeof(both));
        memcpy(&was, pair[i].value, sizeof(both));
        changed |= is ^ was;
    }
    return changed[0] | changed[1];
}

/* Of the `count` oldest steps: 1 + the place of the youngest that is not the same; 0: all are. */
static inline size_t step_differs(struct walk_thread *t, size_t count)
{
    const struct walk_step *last = count ? &t->steps.step[count - 1] : NULL;
    const struct walk_word *word, *first = t->word;
    const struct walk_pair *pair;
    size_t differs = 0, at;

    for (; t->listed < count; t->listed++)
        words_add(t, t->listed);
    pair = t->pair + (last ? last->pairs : 0);
    word = t->word + (last ? last->words : 0);

    while (pair - t->pair >= 4 && !pairs_changed(pair - 4, 4))
        pair -= 4;
    while (pair > t->pair && !differs) {
        pair--;
        if (pairs_changed(pair, 1))
            differs = pair_differs(t, (size_t)(pair - t->pair));
    }
    if (differs)
        first += t->steps.step[differs - 1].words; /* it is that one, or a younger one */
    while (word > first) {
        word--;
        if (*word->at != word->value && (at = word_differs(t, (size_t)(word - t->word))))
            return at;
    }
    return differs;
}

/* The same, where hooked frames are to be met; those older than one that was met before are. */
static size_t step_differs_hooked(const struct walk_thread *t, size_t count,
                                  struct walk_hooked *hooked)
{
    const struct walk_step *step = t->steps.step;

    for (size_t i = count; i-- > 0 && !hooked_below(hooked);)
        if ((UNLIKELY(!reads_the_same(&step[i])) && RULE(RULE_WALK_MEMO)) ||
            (step[i].sp >= hooked->sp && !same_hooked(hooked, &step[i + 1], step[i].sp)))
            return i + 1;
    return 0;
}

/*
 * Steps of the last walk from the place on that the walk has come to: how many, with *left those
 * that it has not passed yet. 0: it has to go on itself.
 */
static inline size_t same_from(struct walk_thread *t, const struct place *at, size_t *left,
                               struct walk_hooked *hooked)
{
    const struct walk_step *step = t->steps.step;
    const uintptr_t sp = hooked->sp;
    const size_t next = hooked->next;
    size_t same, differs;

    while (*left && step[*left - 1].sp < at->sp)
        --*left;
    if (!*left || step[*left - 1].sp != at->sp || step[*left - 1].ip != at->ip ||
        step[*left - 1].fp != at->fp)
        return 0;
    same = *left;
    differs = UNLIKELY(next || hooked->met) ? step_differs_hooked(t, same - 1, hooked)
                                            : step_differs(t, same - 1);
    if (differs) { /* those above are the same, but lead elsewhere */
        hooked->next = next;
        hooked->sp = sp;
        *left = differs;
        return 0;
    }
    return same;
}

/*
 * The node of a step that is a frame. Where a method goes on that was begun elsewhere, its path
 * says where.
 */
static uint32_t frame_on(struct walk *walk, struct walk_thread *t, size_t at, uint32_t below)
{
    uint32_t begun = t->steps.step[at].begun;
    struct tree_node *node = UNLIKELY(begun) ? tree_node_by_id(walk->tree, below) : NULL;
    struct tree_node *on = node ? tree_go_on(walk->tree, node, begun) : NULL;

    return walk_node_on(walk, t, at, on ? tree_id(walk->tree, on) : below);
}

/* The path of each new step: onto `kept` steps of the last walk go the new ones. */
static bool take_over(struct walk *walk, struct walk_thread *t, size_t kept)
{
    size_t count = kept + t->fresh.count;
    struct walk_step *step;
    uint32_t node = 0, leaf = 0; /* of the step below */
    bool nameless = false, dynamic = false;

    if (!array_reserve(&t->steps.step, &t->steps.capacity, count) ||
        !array_reserve(&t->word, &t->word_capacity, STEP_WORDS * count) ||
        !array_reserve(&t->pair, &t->pair_capacity, count))
        return false;
    step = t->steps.step;
    if (kept) {
        node = step[kept - 1].node;
        leaf = step[kept - 1].leaf;
        nameless = step[kept - 1].nameless;
        dynamic = step[kept - 1].dynamic;
    }
    for (size_t i = kept; i < count; i++) {
        const struct walk_step *from = &t->fresh.step[count - 1 - i];

        step[i] = *from;
        if (from->managed) {
            leaf = (uint32_t)i + 1;
            node = frame_on(walk, t, i, node);
        }
        nameless = !from->managed && (from->nameless || nameless);
        dynamic = !from->managed && (from->dynamic || dynamic);
        step[i].node = node;
        step[i].leaf = leaf;
        step[i].nameless = nameless;
        step[i].dynamic = dynamic;
    }
    t->steps.count = count;
    if (t->listed > kept)
        t->listed = kept;
    return true;
}

/* ---- the native code at the start ---- */

static inline uintptr_t word_above(uintptr_t sp, uint32_t at)
{
    return *(const uintptr_t *)(sp + at);
}

/* Starts differ in their oldest return address: that is compared first, and the others at once. */
static inline bool start_differs(const struct walk_start *start, const struct place *at)
{
    const struct walk_start_word *word = start->word, *ips = word + start->ips,
                                 *end = word + start->words;
    const both base = {at->sp, 0};
    both is, was, changed = {0, 0};
    uintptr_t differs = 0;

    if (word < ips && word_above(at->sp, word->at) != word->value)
        return true;
    for (uint32_t i = 0; i < start->pairs; i++) {
        memcpy(&is, (const void *)(at->sp + start->pair[i].at), sizeof(both));
        memcpy(&was, start->pair[i].value, sizeof(both));
        changed |= (is - base) ^ was;
    }
    for (; word < ips; word++)
        differs |= word_above(at->sp, word->at) ^ word->value;
    for (; word < end; word++)
        differs |= (word_above(at->sp, word->at) - at->sp) ^ word->value;
    return differs | changed[0] | changed[1];
}

/* Does the stack hold what it held? Then *at is the step behind the native ones. */
static inline bool start_holds(const struct walk_start *start, struct place *at)
{
    const uintptr_t sp = at->sp;

    if ((start->fp >= 0 && at->fp - sp != (uintptr_t)start->fp) ||
        (start_differs(start, at) && RULE(RULE_WALK_START)))
        return false;
    if (start->fp_at >= 0) {
        at->fp_at = (const uintptr_t *)(sp + (uintptr_t)start->fp_at);
        at->fp = *at->fp_at;
    } else {
        at->fp_at = NULL;
    }
    at->ip_at = (const uintptr_t *)(sp + start->ip_at);
    at->ip = *at->ip_at;
    at->sp = sp + start->sp;
    return true;
}

/* Goes past the native code, if it is what it was in one of the walks before. */
static inline bool start_above(struct walk_thread *t, struct place *at)
{
    for (unsigned i = 0; i < WALK_STARTS; i++) {
        unsigned k = (t->start_last + i) % WALK_STARTS;
        const struct walk_start *start = &t->start[k];

        if (start->count && start->ip == at->ip && t->high - at->sp > start->length &&
            start_holds(start, at)) {
            t->start_last = k;
            return true;
        }
    }
    return false;
}

/* May a walk go past this step, when it finds it again? */
static bool start_keeps(const struct walk_step *step, uintptr_t sp)
{
    return step->native && !step->of && !(step->ip & WALK_EXACT) &&
           (!step->by_fp || step->fp - sp < INT32_MAX);
}

static void start_word_remove(struct walk_start *start, uint32_t at)
{
    struct walk_start_word *word = start->word + at;

    start->words--;
    memmove(word, word + 1, (start->words - at) * sizeof(*word));
}

static void start_pairs(struct walk_start *start)
{
    struct walk_start_word *word = start->word;

    for (uint32_t fp = start->words; fp-- > start->ips;) {
        uint32_t ip = 1; /* the oldest is compared alone */

        while (ip < start->ips && word[ip].at != word[fp].at + sizeof(uintptr_t))
            ip++;
        if (ip >= start->ips)
            continue;
        start->pair[start->pairs++] =
            (struct walk_start_pair){{word[fp].value, word[ip].value}, word[fp].at};
        start_word_remove(start, fp--);
        start_word_remove(start, ip);
        start->ips--;
    }
}

/* What has to be the same for a start to hold; where the last step was called from may differ. */
static void start_words(const struct walk_step *step, struct walk_start *start)
{
    const uintptr_t sp = step->sp;

    for (size_t i = start->count - 1; i > 0; i--)
        start->word[start->ips++] =
            (struct walk_start_word){step[i].ip, (uint32_t)((uintptr_t)step[i].ip_at - sp)};
    start->words = start->ips;
    start->fp_at = start->fp = -1;
    for (size_t i = 0; i <= start->count; i++) {
        if (i && step[i].fp_at)
            start->fp_at = (int32_t)((uintptr_t)step[i].fp_at - sp);
        if (!step[i].by_fp || i == start->count)
            continue;
        if (start->fp_at < 0)
            start->fp = (int32_t)(step[i].fp - sp);
        else
            start->word[start->words++] =
                (struct walk_start_word){step[i].fp - sp, (uint32_t)start->fp_at};
    }
    start->ip_at = (uint32_t)((uintptr_t)step[start->count].ip_at - sp);
    start_pairs(start);
}

/* Keeps the start of the walk that has made the new steps. */
static void start_learn(struct walk_thread *t)
{
    const struct walk_step *step = t->fresh.step;
    uintptr_t sp = t->fresh.count ? step->sp : 0;
    struct walk_start *start = &t->start[t->start_new];
    size_t natives = 0;

    while (natives < t->fresh.count && start_keeps(&step[natives], sp))
        natives++;
    if (!natives || natives > WALK_START_STEPS || natives == t->fresh.count || step[natives].native)
        return;
    if (step[natives].ip & WALK_EXACT)
        return; /* a fault's address: what comes is taken for a call's */
    for (size_t i = 1; i <= natives; i++)
        if (!step[i].ip_at)
            return;
    *start = (struct walk_start){.ip = step->ip, .count = (uint32_t)natives};
    start_words(step, start);
    start->sp = (uint32_t)(step[natives].sp - sp);
    start->length = start->sp + (uint32_t)sizeof(uintptr_t);
    t->start_last = t->start_new;
    t->start_new = (t->start_new + 1) % WALK_STARTS;
}

/* ---- the walk ---- */

/* The rule is not at hand. */
static __attribute__((noinline)) void near_fill(struct walk *walk, struct walk_thread *t,
                                                unsigned at, uintptr_t ip)
{
    struct walk_words words;
    uint32_t made = walk_rule_find(walk, ip, t->epoch, &words);
    uint64_t bit = UINT64_C(1) << at % 64;

    if (t->met++ == NEAR_FILL)
        memory_pages_fill(t->near, sizeof(t->near));
    t->near[at] = (struct walk_near){ip, words};
    if (made)
        t->near_mortal[at / 64] |= bit;
    else
        t->near_mortal[at / 64] &= ~bit;
}

/* Code was unloaded. */
static void forget(struct walk_thread *t)
{
    t->steps.count = 0;
    memset(t->node, 0, sizeof(t->node));
    for (unsigned i = 0; i < COUNT_OF(t->near_mortal); i++)
        for (; t->near_mortal[i]; t->near_mortal[i] &= t->near_mortal[i] - 1)
            t->near[i * 64 + (unsigned)__builtin_ctzll(t->near_mortal[i])].ip = 0;
}

static inline struct walk_rule rule_of(struct walk *walk, struct walk_thread *t, uintptr_t ip)
{
    unsigned at = walk_near(ip);

    if (UNLIKELY(t->near[at].ip != ip || !walk_words_hold(ip, &t->near[at].words)))
        near_fill(walk, t, at, ip);
    return walk_rule_unpack(t->near[at].words);
}

/* A signal came: on with the interrupted registers, which the kernel saved on this stack. */
static enum walk_why step_signal(const struct walk_thread *t, struct place *at)
{
    const uintptr_t *words = (const uintptr_t *)at->sp;

    if (t->high - at->sp < SIGNAL_WORDS * sizeof(*words) || words[SIGNAL_RSP] <= at->sp ||
        words[SIGNAL_RSP] >= t->high || words[SIGNAL_RSP] % sizeof(*words))
        return WALK_BOUNDS;
    *at = (struct place){
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
        ((const struct metadata_method *)rule->of)->function_id != filter->function)
        return WALK_FILTER;
    return walk_steps_add(&t->fresh, filter->steps.step, filter->steps.count) ? WALK_CERTAIN
                                                                              : WALK_MEMORY;
}

/* To the caller. */
static inline enum walk_why step_up(const struct walk_thread *t, uintptr_t low, uintptr_t cfa,
                                    const struct walk_rule *rule, struct place *at)
{
    uintptr_t ret = cfa + (uintptr_t)(intptr_t)rule->ret, fp = cfa + (uintptr_t)(intptr_t)rule->fp;

    if (UNLIKELY(!has_word(t, low, ret)))
        return WALK_BOUNDS;
    at->fp_at = NULL;
    if (!rule->keeps_fp) {
        if (UNLIKELY(!has_word(t, low, fp)))
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

static inline bool is_nameless(const struct walk_rule *rule)
{
    return rule->kind == KIND_DYNAMIC || rule->kind == KIND_STUB;
}

/* Field by field: what is stored in pieces is slow to be read as a whole. */
static inline bool step_add(struct walk_thread *t, const struct walk_rule *rule,
                            const struct place *at)
{
    struct walk_step *step;

    if (UNLIKELY(!array_reserve(&t->fresh.step, &t->fresh.capacity, t->fresh.count + 1)))
        return false;
    step = &t->fresh.step[t->fresh.count++];
    step->sp = at->sp;
    step->ip = at->ip;
    step->fp = at->fp;
    step->ip_at = at->ip_at;
    step->fp_at = at->fp_at;
    step->of = rule->of;
    step->begun = 0;
    step->native = rule->kind == KIND_NATIVE;
    step->by_fp = rule->by_fp;
    step->managed = rule->kind == KIND_MANAGED;
    step->nameless = is_nameless(rule);
    step->dynamic = rule->kind == KIND_DYNAMIC;
    return true;
}

/* The oldest code of a thread, or none that is known; a signal's. *at goes on from there. */
static enum walk_why step_other(struct walk_thread *t, const struct walk_rule *rule,
                                struct place *at, bool *ends)
{
    *ends = rule->kind == KIND_END;
    if (*ends)
        return WALK_CERTAIN;
    if (rule->kind == KIND_UNSURE)
        return (enum walk_why)rule->why;
    if (!t->first)
        t->first = at->sp;
    return step_signal(t, at);
}

/* The step made last is one that ends at or beyond the next hooked frame. Is it that frame? */
static enum walk_why step_hooked(struct walk_thread *t, struct walk_hooked *hooked, uintptr_t cfa)
{
    struct walk_step *step = &t->fresh.step[t->fresh.count - 1];

    if (!hooked_meet(hooked, step, cfa))
        return WALK_HOOKED;
    step->begun = hooked_begun(hooked);
    return WALK_CERTAIN;
}

/* left: steps of the last walk that may be met. *kept: those that were. */
static enum walk_why walk_from(struct walk *walk, struct walk_thread *t, struct place *at,
                               struct walk_hooked *hooked, size_t left, size_t *kept)
{
    const uintptr_t low = at->sp;
    enum walk_why why;
    bool ends;

    for (size_t steps = 0; steps < FRAMES_MAX; steps++) {
        struct walk_rule rule;
        uintptr_t cfa;

        if (left && (*kept = same_from(t, at, &left, hooked)))
            return WALK_CERTAIN;
        rule = rule_of(walk, t, at->ip);
        if (UNLIKELY(rule.kind >= KIND_SIGNAL)) {
            why = step_other(t, &rule, at, &ends);
            if (ends || why != WALK_CERTAIN)
                return why;
            continue;
        }
        if (rule.kind != KIND_NATIVE && !t->first)
            t->first = at->sp;
        cfa = (rule.by_fp ? at->fp : at->sp) + (uintptr_t)(intptr_t)rule.cfa;
        if (UNLIKELY(cfa <= at->sp || cfa > t->high || cfa % sizeof(cfa)))
            return WALK_BOUNDS;
        if (UNLIKELY(is_nameless(&rule) && rule.framed && at->sp != at->fp - rule.distance))
            return WALK_DYNAMIC; /* it may be a filter, of which nobody tells */
        if (UNLIKELY(!step_add(t, &rule, at)))
            return WALK_MEMORY;
        if (passes_filter(t, &rule, cfa))
            return step_filter(t, &rule);
        if (UNLIKELY(cfa >= hooked->sp) && (why = step_hooked(t, hooked, cfa)) != WALK_CERTAIN)
            return why;
        why = step_up(t, low, cfa, &rule, at);
        if (UNLIKELY(why != WALK_CERTAIN))
            return why;
        if (UNLIKELY((at->ip & ~WALK_EXACT) < LOWEST))
            return rule.kind == KIND_NATIVE ? WALK_CERTAIN : WALK_BOUNDS;
    }
    return WALK_LONG;
}

enum walk_why walk_up(struct walk *walk, struct walk_thread *t, const uintptr_t *fp,
                      struct walk_hooked *hooked)
{
    struct walk_hooked none = {.next = 0};
    struct place at = {.ip = fp[1], .sp = (uintptr_t)(fp + 2), .fp = fp[0]};
    uint32_t epoch = load_acquire(&walk->epoch);
    size_t kept = 0, depth = hooked ? hooked->next : 0;
    bool above = false, memo;
    enum walk_why why;

    t->fresh.count = 0;
    t->first = 0;
    if (UNLIKELY(t->epoch != epoch)) {
        t->epoch = epoch;
        if (RULE(RULE_WALK_EPOCH))
            forget(t);
    }
    if (UNLIKELY(t->unsure))
        return WALK_MEMORY;
    if (UNLIKELY(at.sp < t->low || at.sp >= t->high))
        return WALK_BOUNDS; /* on another stack than the thread's: a fiber's */
    /* A filter runs on its method's frame, above others: what is below it is not what is there. */
    memo = hooked && !t->filters;
    if (!memo) {
        hooked = &none;
        depth = 0;
    }
    hooked_start(hooked, t->anchored);
    if (memo)
        above = start_above(t, &at);
    why = walk_from(walk, t, &at, hooked, memo ? t->steps.count : 0, &kept);
    if (why == WALK_CERTAIN && hooked->next && !(kept && hooked_below(hooked)))
        why = WALK_HOOKED; /* the stack has ended before it */
    if (why != WALK_CERTAIN)
        return why;
    if (memo && !above)
        start_learn(t);
    if (!take_over(walk, t, kept))
        return WALK_MEMORY;
    t->anchored = memo;
    hooked_end(hooked, depth);
    return WALK_CERTAIN;
}
