/*
 * stack/registry.c - which threads have a stack: made at a thread's first frame, given back a
 * grace period after its end.
 */
#include "stack/stack_hot.h"

#include "base/clock.h"
#include "rcu/grace.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

static pthread_key_t key;
_Atomic(bool) stack_stopped;
static _Atomic(uint32_t) generation; /* what stack_generation_set() was told last */
/* Newest first; pushed by anyone, unlinked by stack_reclaim only. */
static _Atomic(struct stack *) registry;
static _Atomic(uint64_t) refused, attached;
/* Odd while a stack is moved from the registry to the sums below, over stacks that are freed. */
static _Atomic(uint32_t) moving;
static _Atomic(uint64_t) ended_calls, ended_repairs[STACK_REPAIRS];

/*
 * A stack that is on the registry takes the word of now, unless stack_generation_set() has given
 * it one meanwhile: then that is the newer. One of the two sees the other: here the list comes
 * before the word, there the word before the list.
 */
static void generation_take(struct stack *s)
{
    uint32_t none = 0;

    fence_full();
    cas_acq_rel(&s->generation, &none, load_acquire(&generation));
}

/*
 * While a thread has no stack, `state` of its words says what went before: without memory for one,
 * the SP of the oldest frame that it would have; and whether it has had one that was given back.
 */
#define HAD_ONE 1u

static uintptr_t refused_sp(void)
{
    return stack_self == &stack_none ? load_relaxed(&stack_words.state) & ~(uintptr_t)HAD_ONE : 0;
}

static bool had_one(void)
{
    return load_relaxed(&stack_words.state) & HAD_ONE;
}

static void words_copy(struct stack_words *to, const struct stack_words *from)
{
    to->top = from->top;
    to->limit = from->limit;
    store_relaxed(&to->state, load_relaxed(&from->state));
}

/*
 * Into the thread's memory. Of a thread whose destructors run nobody may tell its end: they run a
 * few times, and then no more.
 */
static void words_take(struct stack *s)
{
    bool last = had_one();

    words_copy(&stack_words, &s->own);
    s->words = &stack_words;
    store_release(&s->shown, last ? NULL : &stack_words);
}

void stack_words_give(struct stack *s)
{
    words_copy(&s->own, &stack_words);
    s->words = &s->own;
    store_release(&s->shown, &s->own);
    fence_full(); /* pairs with the fence in stack_hold() */
    while (RULE(RULE_GRACE_PERIOD) && load_acquire(&s->holds) && !load_relaxed(&stack_stopped))
        sched_yield(); /* a copy of this stack is being made */
    words_copy(&stack_words, &stack_none.own);
    store_relaxed(&stack_words.state, HAD_ONE);
}

/* First frame of this thread. Lock-free: pushes onto the registry; the kernel gives the pages. */
static struct stack *stack_attach(void)
{
    struct stack *s = stack_new(), *head;

    if (!s) {
        add_relaxed(&refused, 1);
        return NULL;
    }
    if (!stack_config()->unannounced &&
        pthread_setspecific(key, s)) { /* without the destructor it would never be given back */
        stack_free(s);
        add_relaxed(&refused, 1);
        return NULL;
    }
    if (stack_config()->unannounced)
        store_release(&s->shown, &s->own); /* there are no hooks */
    else
        words_take(s);
    s->number = add_relaxed(&attached, 1) + 1;
    head = load_relaxed(&registry);
    do
        store_relaxed(&s->next, head);
    while (!cas_acq_rel(&registry, &head,
                        s)); /* all of s before anyone finds it; pairs with registry walks */
    generation_take(s);
    stack_self = s;
    return s;
}

/*
 * For an Enter. A stack that begins in the middle would look complete: after a refusal, the thread
 * gets no stack until the missing frames are gone.
 */
struct stack *stack_entered(uintptr_t sp)
{
    struct stack *s = stack_self;

    if (load_relaxed(&stack_stopped) || sp < refused_sp())
        return NULL;
    if (s != &stack_none)
        return s;
    s = stack_attach();
    if (!s)
        store_relaxed(&stack_words.state, sp | had_one());
    return s;
}

static void give_back(struct stack *s)
{
    const struct stack_config *config = stack_config();

    if (config->detached)
        config->detached(config->context, s);
    store_release(&s->gone, true); /* s belongs to stack_reclaim from here on */
}

/* Destructor of the key. An Enter after it starts a new stack, in a new round of destructors. */
static void stack_detach(void *data)
{
    stack_self = &stack_none;
    stack_words_give(data);
    give_back(data);
}

void stack_thread_ended(uint32_t os_thread)
{
    struct grace_section section = grace_enter();
    struct stack *s = load_acquire(&registry);

    while (s && (s->os_thread != os_thread || load_acquire(&s->gone)))
        s = load_acquire(&s->next);
    if (s && s == stack_self)
        stack_self = &stack_none;
    if (s)
        give_back(s);
    grace_leave(section);
}

int stack_start(const struct stack_config *c)
{
    stack_configure(c);
#ifdef SHADOWTRACE_NEGATIVE
    stack_rules_read();
#endif
    return c->unannounced ? 0 : -pthread_key_create(&key, stack_detach);
}

void stack_generation_set(uint32_t value)
{
    struct grace_section section;

    store_release(&generation, value);
    fence_full(); /* pairs with generation_take() */
    section = grace_enter();
    for (struct stack *s = load_acquire(&registry); s; s = load_acquire(&s->next))
        store_release(&s->generation, value);
    grace_leave(section);
}

uint32_t stack_generation(const struct stack *s)
{
    return load_acquire(&s->generation);
}

struct stack *stack_registry(void)
{
    return load_acquire(&registry);
}

void stack_stop(void)
{
    store_relaxed(&stack_stopped, true);
}

struct stack *stack_peek(void)
{
    return stack_self == &stack_none ? NULL : stack_self;
}

struct stack *stack_current(void)
{
    if (UNLIKELY(load_relaxed(&stack_stopped)))
        return NULL;
    if (LIKELY(stack_self != &stack_none))
        return stack_self;
    return refused_sp() ? NULL : stack_attach();
}

uint32_t stack_os_thread(const struct stack *s)
{
    return s->os_thread;
}

void stack_count_without(enum stack_repair why)
{
    add_relaxed(&ended_repairs[why], 1);
}

static void totals_add(struct stack_totals *out, struct stack *s)
{
    const struct stack_words *words = stack_hold(s);

    if (words) {
        out->calls +=
            (load_acquire(&words->state) >> STATE_DEPTH_BITS) - load_relaxed(&s->repair_changes);
        stack_let_go(s);
    }
    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        out->repairs[i] += load_relaxed(&s->repairs[i]);
}

void stack_totals_read(struct stack_totals *out)
{
    struct grace_section section = grace_enter(); /* keeps every listed stack alive (I4) */
    uint32_t before;

    do {
        before = load_acquire(&moving);
        memset(out, 0, sizeof(*out));
        for (struct stack *s = load_acquire(&registry); s; s = load_acquire(&s->next))
            totals_add(out, s);
        out->calls += load_relaxed(&ended_calls);
        for (unsigned i = 0; i < STACK_REPAIRS; i++)
            out->repairs[i] += load_relaxed(&ended_repairs[i]);
        fence_acquire();
    } while ((before & 1) ||
             load_relaxed(&moving) != before); /* a stack was between the list and the sums */
    grace_leave(section);
    out->threads = load_relaxed(&attached);
    out->refused = load_relaxed(&refused);
}

uint64_t stack_measure(void (*pair)(uintptr_t method, uintptr_t sp), unsigned count)
{
    static const uintptr_t function = 0;
    uintptr_t words[2] = {0};
    struct stack *own = stack_self, *s = count ? stack_new() : NULL;
    struct stack_words kept;
    uint64_t before, after;

    if (!s)
        return 0;
    words_copy(&kept, &stack_words);
    words_copy(&stack_words, &s->own);
    stack_words.limit = s->end; /* the price of a call as it is, not of looking at it */
    s->words = &stack_words;
    stack_self = s;
    before = clock_ticks();
    for (unsigned i = 0; i < count; i++)
        pair((uintptr_t)&function, (uintptr_t)&words[1]);
    after = clock_ticks();
    stack_self = own;
    words_copy(&stack_words, &kept);
    stack_free(s);
    return clock_duration_ns(after - before);
}

/* From the registry to the sums of ended threads. */
static void ended_add(struct stack *s)
{
    struct stack_totals sum = {0};

    totals_add(&sum, s);
    add_relaxed(&ended_calls, sum.calls);
    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        add_relaxed(&ended_repairs[i], sum.repairs[i]);
}

/* Take stacks of ended threads off the registry; returns them linked by `given_up`. */
static struct stack *registry_unlink_gone(void)
{
    struct stack *found = NULL;
    _Atomic(struct stack *) *link = &registry;
    struct stack *s;

    while ((s = load_acquire(link))) {
        struct stack *after = load_relaxed(&s->next), *expected = s;
        bool unlinked;

        if (!load_acquire(&s->gone)) {
            link = &s->next;
            continue;
        }
        store_relaxed(&moving,
                      load_relaxed(&moving) + 1); /* odd: readers of the totals try again */
        fence_release();
        unlinked = cas_acq_rel(link, &expected, after); /* only the head can have changed: a push */
        if (unlinked)
            ended_add(s);
        store_release(&moving, load_relaxed(&moving) + 1);
        if (unlinked) {
            s->given_up = found;
            found = s;
        } else {
            link = &registry;
        }
    }
    return found;
}

bool stack_reclaim(void)
{
    struct stack *gone = registry_unlink_gone();
    struct stack_block *blocks = stack_blocks_retired();

    if (!gone && !blocks)
        return false;
    if (RULE(RULE_GRACE_PERIOD))
        grace_wait(); /* every reader that could have found them has left its section */
    while (gone) {
        struct stack *next = gone->given_up;

        stack_free(gone);
        gone = next;
    }
    stack_blocks_free(blocks);
    return true;
}
