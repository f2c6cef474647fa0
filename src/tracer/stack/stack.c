#include "stack/stack_hot.h"

#include "base/clock.h"
#include "rcu/grace.h"
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_FRAMES 1000u /* with header and sentinel just under 32 KiB */
#define MAX_FRAMES   (STATE_CHANGE - 1)

static struct frame none_frames[1] = {{.sp = UINTPTR_MAX}};
struct stack stack_none = {
    .top = none_frames + 1,
    .dispatch = {.reach = STACK_NONE, .run = STACK_NONE, .pending = STACK_NONE}};
_Thread_local struct stack *stack_self = &stack_none;
/* Without memory for a stack: the SP of the oldest frame that it would have; 0: none is missing. */
static _Thread_local uintptr_t refused_sp;

static struct stack_config config;
static pthread_key_t key;
_Atomic(bool) stack_stopped;
static _Atomic(uint32_t) generation; /* what stack_generation_set() was told last */
static _Atomic(struct stack *)
    registry; /* newest first; pushed by anyone, unlinked by stack_reclaim only */
static _Atomic(struct stack_block *) retired; /* outgrown blocks */
static _Atomic(uint64_t) refused, attached;
static _Atomic(uint32_t)
    moving; /* odd while a stack is moved from the registry to the sums below */
static _Atomic(uint64_t) ended_calls,
    ended_repairs[STACK_REPAIRS]; /* sums over stacks that are freed */

#ifdef SHADOWTRACE_NEGATIVE
uint32_t stack_rules_off;

static const char *const rule_names[STACK_RULES] = {
    "dead_on_enter", "dead_on_leave",   "filter_frame",    "filter_dispatch", "handler_cut",
    "thrown_cut",    "run_end",         "unwind_pending",  "first_leave",     "finally_leave",
    "alloc_settles", "nested_dispatch", "stale",           "live_above",      "finally_pair",
    "duplicate",     "superseded",      "cut_goes_on",     "hidden",          "silent_pass",
    "in_wrapper",    "suspended",       "unhooked_throws", "unhooked_gone",   "dynamic_runs",
    "ends_early",    "grace_period",
};

static void rules_read(void)
{
    const char *without = getenv("SHADOWTRACE_WITHOUT");

    for (unsigned i = 0; without && i < STACK_RULES; i++)
        if (strcmp(without, rule_names[i]) == 0)
            stack_rules_off = 1u << i;
}
#endif

const char *stack_repair_name(enum stack_repair repair)
{
    static const char *const names[STACK_REPAIRS] = {
        "dead_on_enter", "dead_on_leave", "orphan_leave", "handler_cut", "native_boundary",
        "unwound",       "filter",        "lost_frame",   "in_wrapper",  "suspended",
    };

    return (unsigned)repair < STACK_REPAIRS ? names[repair] : "?";
}

static struct stack_block *block_new(size_t frames)
{
    size_t size = sizeof(struct stack_block) + (frames + 1) * sizeof(struct frame);
    struct stack_block *block = memory_pages_map(size);

    if (!block)
        return NULL;
    block->mapped = size;
    block->capacity = frames;
    store_relaxed(&block->frames[0].sp, UINTPTR_MAX); /* I1 */
    return block;
}

static void stack_free(struct stack *s)
{
    struct stack_block *block = load_relaxed(&s->block);

    memory_pages_unmap(block, block->mapped);
    if (s->saves != s->saves_inside)
        memory_pages_unmap(s->saves, s->save_capacity * sizeof(*s->saves));
    memory_pages_unmap(s, sizeof(*s));
}

void stack_limit_set(struct stack *s)
{
    bool quiet = s->dispatch.pending == STACK_NONE && !s->dispatch.searching &&
                 (!s->save_count || s->saves[s->save_count - 1].filter);

    s->limit = quiet && !config.call_interval && !s->lost_sp ? s->end : NULL;
    store_relaxed(&s->dispatching, !quiet || s->save_count);
}

static void block_use(struct stack *s, struct stack_block *block, uint32_t depth)
{
    s->top = block->frames + 1 + depth;
    s->end = block->frames + 1 + block->capacity;
    store_release(&s->block,
                  block); /* frames before the pointer; pairs with the acquire of a reader */
    stack_limit_set(s);
}

static struct stack *stack_new(void)
{
    struct stack *s = memory_pages_map(sizeof(*s));
    struct stack_block *block = s ? block_new(FIRST_FRAMES) : NULL;

    if (!block) {
        memory_pages_unmap(s, sizeof(*s));
        return NULL;
    }
    s->dispatch = stack_none.dispatch;
    s->os_thread = (uint32_t)syscall(SYS_gettid);
    s->saves = s->saves_inside;
    s->save_capacity = COUNT_OF(s->saves_inside);
    block_use(s, block, 0);
    return s;
}

/*
 * A stack that is on the registry takes the word of now, unless stack_generation_set() has given it one meanwhile: then that
 * is the newer. One of the two sees the other: here the list comes before the word, there the word before the list.
 */
static void generation_take(struct stack *s)
{
    uint32_t none = 0;

    fence_full();
    cas_acq_rel(&s->generation, &none, load_acquire(&generation));
}

/* First frame of this thread. Lock-free: the registry is pushed onto, and the kernel gives the pages. */
static struct stack *stack_attach(void)
{
    struct stack *s = stack_new(), *head;

    if (!s) {
        add_relaxed(&refused, 1);
        return NULL;
    }
    if (pthread_setspecific(key, s)) { /* without the destructor it would never be given back */
        stack_free(s);
        add_relaxed(&refused, 1);
        return NULL;
    }
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
 * For an Enter. A stack that began in the middle would be taken for whole: after a refusal there is none until the frames
 * that it lacks are gone.
 */
static struct stack *stack_entered(uintptr_t sp)
{
    struct stack *s = stack_self;

    if (load_relaxed(&stack_stopped) || sp < refused_sp)
        return NULL;
    if (s != &stack_none)
        return s;
    s = stack_attach();
    refused_sp = s ? 0 : sp;
    return s;
}

/* Destructor of the thread-specific key. An Enter after this starts a new stack, in a new round of destructors. */
static void stack_detach(void *data)
{
    struct stack *s = data;

    stack_self = &stack_none;
    if (config.detached)
        config.detached(config.context, s);
    store_release(&s->gone, true); /* s belongs to stack_reclaim from here on */
}

int stack_start(const struct stack_config *c)
{
    config = *c;
#ifdef SHADOWTRACE_NEGATIVE
    rules_read();
#endif
    return -pthread_key_create(&key, stack_detach);
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

const struct stack_config *stack_config(void)
{
    return &config;
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
    return refused_sp ? NULL : stack_attach();
}

uint32_t stack_os_thread(const struct stack *s)
{
    return s->os_thread;
}

uint32_t stack_touched(const struct stack *s)
{
    return s->touched;
}

void stack_forget_repairs(struct stack *s)
{
    s->touched = 0;
}

void stack_count(struct stack *s, enum stack_repair why)
{
    s->touched |= 1u << why;
    store_relaxed(&s->repairs[why], load_relaxed(&s->repairs[why]) + 1);
}

void stack_cut(struct stack *s, uint32_t depth, enum stack_repair why)
{
    uint64_t state = load_relaxed(&s->state);
    uint32_t present = STATE_DEPTH(state);

    if (depth >= present)
        return;
    if (config.cutting)
        config.cutting(s, depth, present);
    stack_count(s, why);
    stack_no_calls(s, 1);
    s->top -= present - depth;
    stack_jump_begin(s);
    store_release(&s->state, state + STATE_CHANGE - (present - depth));
    stack_jump_end(s);
}

/* A larger block with the same frames. Returns whether there is room for one more. */
static bool stack_grow(struct stack *s)
{
    struct stack_block *old = load_relaxed(&s->block), *block, *head;
    uint32_t depth = stack_depth(s);

    if (old->capacity >= MAX_FRAMES)
        return false;
    block = block_new(old->capacity * 2 < MAX_FRAMES ? old->capacity * 2 : MAX_FRAMES);
    if (!block)
        return false;
    memcpy(block->frames + 1, old->frames + 1,
           depth * sizeof(struct frame)); /* our own stores: no tearing */
    block_use(s, block, depth);
    head = load_relaxed(&retired);
    do
        old->next = head;
    while (!cas_acq_rel(&retired, &head, old)); /* pairs with the exchange in stack_reclaim */
    return true;
}

/* There was no memory for a frame, and it is not gone: all that were there are, and what comes is above it. */
static bool misses(struct stack *s, uintptr_t sp)
{
    if (s->top >= s->end && sp < s->lost_sp)
        return true;
    s->lost_sp = 0;
    stack_limit_set(s);
    return false;
}

bool stack_misses_frames(struct stack *s)
{
    return s->lost_sp && misses(s, 0);
}

void stack_push(struct stack *s, uintptr_t method, uintptr_t sp, uintptr_t ret)
{
    struct frame *top;

    if (UNLIKELY(s->lost_sp) && misses(s, sp)) {
        stack_count(s, STACK_LOST_FRAME);
        return;
    }
    if (s->top >= s->end && !stack_grow(s)) {
        s->lost_sp = sp;
        stack_limit_set(s);
        stack_count(s, STACK_LOST_FRAME);
        return;
    }
    top = s->top;
    fence_release(); /* as in stack_enter */
    store_relaxed(&top->method, method);
    store_relaxed(&top->sp, sp);
    store_relaxed(&top->ret, ret);
    top->node = top->flags = 0;
    s->top = top + 1;
    store_release(&s->state, load_relaxed(&s->state) + STATE_ENTER);
}

void stack_splice(struct stack *s, uint32_t from, uint32_t to, enum stack_repair why)
{
    uint64_t state = load_relaxed(&s->state);
    uint32_t live = STATE_DEPTH(state) - to;

    if (config.cutting)
        config.cutting(s, from, to);
    stack_count(s, why);
    stack_no_calls(s, 1);
    stack_jump_begin(s);
    for (uint32_t i = 0; i < live; i++) {
        struct frame *to_frame = stack_frame(s, from + i);
        const struct frame *from_frame = stack_frame(s, to + i);

        store_relaxed(&to_frame->method, load_relaxed(&from_frame->method));
        store_relaxed(&to_frame->sp, load_relaxed(&from_frame->sp));
        store_relaxed(&to_frame->ret, load_relaxed(&from_frame->ret));
        to_frame->node = 0; /* its context has changed */
        to_frame->flags = from_frame->flags;
    }
    s->top -= to - from;
    store_release(&s->state, state + STATE_CHANGE - (to - from));
    stack_jump_end(s);
}

/* Whether the frame was called by the one below it, of the same method: code without metadata may lie between. */
static bool calls_itself(const struct stack *s, uint32_t index)
{
    const struct frame *frame = stack_frame(s, index);
    uintptr_t function = stack_function(frame);

    return config.function_at && index && stack_function(stack_frame(s, index - 1)) == function &&
           config.function_at(load_relaxed(&frame->ret)) == function;
}

uint32_t stack_run_end(const struct stack *s, uint32_t index)
{
    while (RULE(RULE_RUN_END) && calls_itself(s, index))
        index--;
    return index;
}

void stack_supersede(struct stack *s, uint32_t depth)
{
    while (s->save_count && !s->saves[s->save_count - 1].filter &&
           s->saves[s->save_count - 1].depth >= depth && RULE(RULE_SUPERSEDED))
        s->save_count--;
}

void stack_settle_pending(struct stack *s, enum stack_repair why)
{
    struct stack_dispatch d = s->dispatch;

    if (d.pending == STACK_NONE)
        return;
    s->dispatch.pending = STACK_NONE;
    d.pending = stack_run_end(s, d.pending);
    stack_supersede(s, d.pending + 1);
    if (d.mark < stack_depth(s) && d.pending < d.mark && RULE(RULE_LIVE_ABOVE)) {
        /* Entered since frames were last reported unwound: called by a handler that nobody reports, for it is in code
         * without metadata (DynamicMethod). The dispatch has ended there. */
        stack_splice(s, d.pending, d.mark, why);
        s->dispatch = stack_none.dispatch;
    } else {
        stack_cut(s, d.pending, why);
        if (s->dispatch.mark > stack_depth(s) && RULE(RULE_CUT_GOES_ON))
            s->dispatch.mark = stack_depth(s); /* cut, not left: the dispatch goes on */
    }
    stack_limit_set(s);
}

bool stack_unhooked(uintptr_t since, const struct frame *frame, struct stack_place *out)
{
    return config.unhooked && config.unhooked(since, frame, out);
}

bool stack_runs(const struct stack_place *place)
{
    return config.runs && config.runs(place);
}

/* In the first pass, and nothing waits to be cut. */
static bool searches(const struct stack *s)
{
    return s->dispatch.searching && s->dispatch.pending == STACK_NONE;
}

/* What lies at or below sp was left without notice. */
static void drop_dead(struct stack *s, uintptr_t sp)
{
    uint32_t depth = stack_depth(s);

    while (depth && load_relaxed(&stack_frame(s, depth - 1)->sp) <= sp)
        depth--;
    stack_cut(s, depth, STACK_DEAD_ON_ENTER);
    stack_normalise(s);
}

void stack_enter_slow(uintptr_t method, uintptr_t sp)
{
    uintptr_t ret = ((const uintptr_t *)sp)[-1];
    int saved = errno;
    struct stack *s = stack_entered(sp);

    if (!s) {
        errno = saved;
        return;
    }
    stack_normalise(s);
    if (searches(s) && load_relaxed(&s->top[-1].sp) <= sp && RULE(RULE_STALE))
        stack_swallowed(s); /* the thrower is gone */
    if (!s->dispatch.searching && s->dispatch.pending == STACK_NONE && RULE(RULE_DEAD_ON_ENTER))
        drop_dead(s, sp);
    if (searches(s) && RULE(RULE_NESTED))
        stack_save(s, false); /* a FirstChanceException handler, a helper of the machinery, ... */
    /*
     * Over frames reported unwound the new one is live: a helper of the machinery, or called by a handler without
     * metadata or by native code that swallowed the exception. Settled when somebody looks.
     */
    stack_push(s, method, sp, ret);
    if (UNLIKELY(config.call_interval) && ++s->uncalled >= config.call_interval) {
        s->uncalled = 0;
        config.called(config.context, s);
    }
    errno = saved;
}

void stack_enter_resumable(uintptr_t method, uintptr_t sp, const uintptr_t *passed)
{
    struct stack *s;
    struct frame *top;

    method &= ~STACK_TAGS;
    stack_enter(method, sp);
    s = stack_self;
    top = s->top;
    if (s == &stack_none || !config.begun || load_relaxed(&top[-1].sp) != sp)
        return; /* there was no memory for it */
    top[-1].flags |= config.begun(config.context, s, method, sp, passed) << FRAME_BEGUN_SHIFT;
}

void stack_leave_slow(uintptr_t method, uintptr_t sp)
{
    struct stack *s = stack_self;
    uint32_t depth = stack_depth(s), at = depth;

    (void)method;
    if (s == &stack_none || load_relaxed(&stack_stopped)) {
        if (!load_relaxed(&stack_stopped))
            add_relaxed(&ended_repairs[STACK_ORPHAN_LEAVE], 1);
        return;
    }
    while (at && load_relaxed(&stack_frame(s, at - 1)->sp) < sp)
        at--;
    if (s->lost_sp)
        (void)misses(s, sp);
    if (!at || load_relaxed(&stack_frame(s, at - 1)->sp) != sp) {
        stack_count(s, STACK_ORPHAN_LEAVE);
        return;
    }
    if (!RULE(RULE_DEAD_ON_LEAVE))
        at = depth;
    stack_cut(s, at, STACK_DEAD_ON_LEAVE);
    s->top--;
    store_release(&s->state, load_relaxed(&s->state) + STATE_LEAVE);
}

void stack_leave_low(uintptr_t method, uintptr_t sp)
{
    struct stack *s = stack_self;
    uint32_t at = stack_depth(s);

    /* Every younger frame, live or dead, was called from below this method's frame. */
    while (at && load_relaxed(&stack_frame(s, at - 1)->sp) < sp)
        at--;
    if (at && stack_function(stack_frame(s, at - 1)) == *(const uintptr_t *)method)
        sp = load_relaxed(&stack_frame(s, at - 1)->sp);
    stack_leave_slow(method, sp);
}

uintptr_t stack_top_sp(const struct stack *s)
{
    return load_relaxed(&s->top[-1].sp);
}

void stack_inside(struct stack *s, uintptr_t method, uintptr_t sp, bool leaving)
{
    const struct frame *left = s->top; /* as Leave found it, if nothing was entered since */
    uintptr_t ret;

    if (stack_top_sp(s) <= sp || !RULE(RULE_IN_WRAPPER))
        return;
    ret = ((const uintptr_t *)sp)[-1];
    if (leaving && s->top < s->end && load_relaxed(&left->method) == method &&
        load_relaxed(&left->sp) >= sp && load_relaxed(&left->sp) < stack_top_sp(s)) {
        sp = load_relaxed(&left->sp);
        ret = load_relaxed(&left->ret);
    } else if (leaving && stack_function(s->top - 1) == *(const uintptr_t *)method) {
        return; /* its Leave hook is yet to be called */
    }
    stack_push(s, method, sp, ret);
    stack_count(s, STACK_IN_WRAPPER);
    stack_no_calls(s, 1);
}

size_t stack_settle(struct stack *s, struct frame **top)
{
    if (UNLIKELY(s->limit != s->end))
        stack_normalise(s);
    if (UNLIKELY(searches(s)) && config.left && config.left(stack_top_sp(s)) &&
        RULE(RULE_SILENT_PASS))
        stack_swallowed(s);
    if (UNLIKELY(s->dispatch.pending != STACK_NONE) && RULE(RULE_ALLOC_SETTLES))
        stack_settle_pending(s, STACK_UNWOUND);
    *top = s->top;
    return stack_depth(s);
}

size_t stack_look(const struct stack *s, struct frame **top)
{
    uint32_t depth = stack_depth(s);

    if (s->dispatch.pending < depth && s->dispatch.mark >= depth)
        depth = s->dispatch.pending; /* else frames above it are live */
    *top = stack_frame(s, depth);
    return depth;
}

bool stack_dispatching(const struct stack *s)
{
    return load_relaxed(&s->dispatching);
}

static void totals_add(struct stack_totals *out, const struct stack *s)
{
    out->calls += (load_acquire(&s->state) >> STATE_DEPTH_BITS) - load_relaxed(&s->repair_changes);
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

double stack_measure(void (*pair)(uintptr_t method, uintptr_t sp), unsigned count)
{
    static const uintptr_t function = 0;
    uintptr_t words[2] = {0};
    struct stack *own = stack_self, *s = count ? stack_new() : NULL;
    uint64_t before, after;

    if (!s)
        return 0;
    s->limit = s->end; /* the price of a call as it is, not of looking at it (call_interval) */
    stack_self = s;
    before = clock_ticks();
    for (unsigned i = 0; i < count; i++)
        pair((uintptr_t)&function, (uintptr_t)&words[1]);
    after = clock_ticks();
    stack_self = own;
    stack_free(s);
    return (double)clock_duration_ns(after - before) / count;
}

/* From the registry to the sums of ended threads. */
static void ended_add(const struct stack *s)
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
    struct stack_block *blocks = exchange_acq_rel(&retired, NULL);

    if (!gone && !blocks)
        return false;
    if (RULE(RULE_GRACE_PERIOD))
        grace_wait(); /* every reader that could have found them has left its section */
    while (gone) {
        struct stack *next = gone->given_up;

        stack_free(gone);
        gone = next;
    }
    while (blocks) {
        struct stack_block *next = blocks->next;

        memory_pages_unmap(blocks, blocks->mapped);
        blocks = next;
    }
    return true;
}
