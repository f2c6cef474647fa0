/*
 * stack/storage.c - memory of a stack, and the changes of its frames that keep I1 to I6: push,
 * cut, splice.
 */
#include "stack/stack_hot.h"

#include "base/memory.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_FRAMES 1000u /* with header and sentinel just under 32 KiB */
#define MAX_FRAMES   (STATE_CHANGE - 1)

static struct frame none_frames[1] = {{.sp = UINTPTR_MAX}};
struct stack stack_none = {
    .words = &stack_none.own,
    .own = {.top = none_frames + 1},
    .dispatch = {.reach = STACK_NONE, .run = STACK_NONE, .pending = STACK_NONE}};
_Thread_local struct stack *stack_self = &stack_none;
_Thread_local struct stack_words stack_words = {.top = none_frames + 1};

static struct stack_config config;
static _Atomic(struct stack_block *) retired; /* outgrown blocks */

void stack_configure(const struct stack_config *c)
{
    config = *c;
}

const struct stack_config *stack_config(void)
{
    return &config;
}

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

void stack_free(struct stack *s)
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

    s->words->limit = quiet && !config.call_interval && !s->lost_sp && !s->off ? s->end : NULL;
    store_relaxed(&s->dispatching, !quiet || s->save_count);
}

static void block_use(struct stack *s, struct stack_block *block, uint32_t depth)
{
    s->words->top = block->frames + 1 + depth;
    s->end = block->frames + 1 + block->capacity;
    store_release(&s->block,
                  block); /* frames before the pointer; pairs with the acquire of a reader */
    stack_limit_set(s);
}

struct stack *stack_new(void)
{
    struct stack *s = memory_pages_map(sizeof(*s));
    struct stack_block *block = s ? block_new(FIRST_FRAMES) : NULL;

    if (!block) {
        memory_pages_unmap(s, sizeof(*s));
        return NULL;
    }
    s->words = &s->own;
    s->dispatch = stack_none.dispatch;
    s->os_thread = (uint32_t)syscall(SYS_gettid);
    s->saves = s->saves_inside;
    s->save_capacity = COUNT_OF(s->saves_inside);
    block_use(s, block, 0);
    return s;
}

void stack_count(struct stack *s, enum stack_repair why)
{
    s->touched |= 1u << why;
    store_relaxed(&s->repairs[why], load_relaxed(&s->repairs[why]) + 1);
}

void stack_cut(struct stack *s, uint32_t depth, enum stack_repair why)
{
    uint64_t state = load_relaxed(&s->words->state);
    uint32_t present = STATE_DEPTH(state);

    if (depth >= present)
        return;
    if (config.cutting)
        config.cutting(s, depth, present);
    stack_count(s, why);
    stack_no_calls(s, 1);
    s->words->top -= present - depth;
    stack_jump_begin(s);
    store_release(&s->words->state, state + STATE_CHANGE - (present - depth));
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

bool stack_misses(struct stack *s, uintptr_t sp)
{
    if (s->words->top >= s->end && sp < s->lost_sp)
        return true;
    s->lost_sp = 0;
    stack_limit_set(s);
    return false;
}

bool stack_misses_frames(struct stack *s)
{
    return s->lost_sp && stack_misses(s, 0);
}

void stack_push(struct stack *s, uintptr_t method, struct frame_at at, uintptr_t ret)
{
    struct frame *top;

    if (UNLIKELY(s->lost_sp) && stack_misses(s, at.sp)) {
        stack_count(s, STACK_LOST_FRAME);
        return;
    }
    if (s->words->top >= s->end && !stack_grow(s)) {
        s->lost_sp = at.sp;
        stack_limit_set(s);
        stack_count(s, STACK_LOST_FRAME);
        return;
    }
    top = s->words->top;
    fence_release(); /* as in stack_enter */
    frame_set(top, method, at, ret);
    s->words->top = top + 1;
    store_release(&s->words->state, load_relaxed(&s->words->state) + STATE_ENTER);
}

void stack_splice(struct stack *s, uint32_t from, uint32_t to, enum stack_repair why)
{
    uint64_t state = load_relaxed(&s->words->state);
    uint32_t live = STATE_DEPTH(state) - to;

    if (config.cutting)
        config.cutting(s, from, to);
    stack_count(s, why);
    stack_no_calls(s, 1);
    stack_jump_begin(s);
    for (uint32_t i = 0; i < live; i++) {
        struct frame *to_frame = stack_frame(s, from + i);
        const struct frame *from_frame = stack_frame(s, to + i);

        frame_set(to_frame, load_relaxed(&from_frame->method), frame_place(from_frame),
                  frame_ret(from_frame));
        frame_keep(to_frame, 0, frame_flags(from_frame)); /* its context has changed */
    }
    s->words->top -= to - from;
    store_release(&s->words->state, state + STATE_CHANGE - (to - from));
    stack_jump_end(s);
}

struct stack_block *stack_blocks_retired(void)
{
    return exchange_acq_rel(&retired, NULL);
}

void stack_blocks_free(struct stack_block *block)
{
    while (block) {
        struct stack_block *next = block->next;

        memory_pages_unmap(block, block->mapped);
        block = next;
    }
}
