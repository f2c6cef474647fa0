/*
 * Copies of stacks, taken beside their running threads. A copy is exact when the word that every
 * change of a stack ends with was the same before and after; else what can be proved of it is
 * said: how many of its oldest frames cannot have changed in between.
 */
#include "stack/stack_hot.h"

#include "base/array.h"
#include "base/memory.h"
#include "rcu/grace.h"

#include <errno.h>

#define COPY_TRIES 16

/* A look at a stack: its words before frames are copied. */
struct look {
    uint32_t jumps_ended;
    uint64_t state;
    const struct stack_block *block;
};

/* In a read-side section, for as long as the block is read. */
static struct look look_begin(const struct stack *s, const struct stack_words *words)
{
    uint32_t jumps =
        load_acquire(&s->jumps_ended); /* before the state; pairs with stack_jump_end() */
    uint64_t state =
        load_acquire(&words->state); /* slots of that state; pairs with the release of its store */

    return (struct look){jumps, state, load_acquire(&s->block)};
}

/* The block may be the one before or after the word; a smaller one cannot hold that many. */
static void frames_copy(struct stack_copied *to, const struct look *look, uint32_t first,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count && first + i < look->block->capacity; i++) {
        const struct frame *from = &look->block->frames[1 + first + i];

        to[i] = stack_copied(from);
    }
}

/* A second look. */
struct look_after {
    uint64_t state;
    bool jumped; /* more than calls and returns may lie between, or frames were on the move */
    bool holds;  /* nothing has changed in between */
};

static struct look_after look_again(const struct stack *s, const struct stack_words *words,
                                    const struct look *look)
{
    struct look_after after;

    fence_acquire(); /* slots before this look; pairs with the fences of stack_enter and jumps */
    after.state = load_acquire(&words->state);
    after.jumped = load_relaxed(&s->jumps_begun) != look->jumps_ended; /* up to that state (I6) */
    after.holds =
        !after.jumped && after.state == look->state && load_acquire(&s->block) == look->block;
    return after;
}

/* One try. In a read-side section. */
static bool copy_once(const struct stack *s, const struct stack_words *words,
                      struct stack_copy *out)
{
    struct look look = look_begin(s, words);
    uint32_t depth = STATE_DEPTH(look.state);

    out->depth = depth;
    frames_copy(out->frames, &look, 0, depth < out->capacity ? depth : out->capacity);
    out->left = (struct stack_copied){.method = 0};
    if (depth < look.block->capacity)
        frames_copy(&out->left, &look, depth, 1);
    out->dispatching = load_relaxed(&s->dispatching);
    return look_again(s, words, &look).holds && depth <= out->capacity;
}

int stack_copy_thread(uint32_t os_thread, struct stack_copy *out)
{
    struct grace_section section =
        grace_enter(); /* keeps every listed stack and its block alive (I4) */
    const struct stack_words *words;
    struct stack *s;

    for (s = stack_registry(); s; s = load_acquire(&s->next))
        if (s->os_thread == os_thread && !load_acquire(&s->gone))
            break;
    out->exact = false;
    words = s ? stack_hold(s) : NULL;
    for (unsigned i = 0; words && i < COPY_TRIES && !out->exact; i++)
        out->exact = copy_once(s, words, out);
    if (words)
        stack_let_go(s);
    grace_leave(section); /* s is dead from here on; out is ours */
    return words ? 0 : -ESRCH;
}

/*
 * The number of frames, from the root, that were there all the time between two states, if only
 * calls and returns lay between. There were k = enters + leaves changes, and the depth moved by
 * enters - leaves: this gives the number of leaves, which limits the lowest depth.
 */
static uint32_t untouched(uint64_t before, uint64_t after)
{
    uint64_t changes = (after >> STATE_DEPTH_BITS) - (before >> STATE_DEPTH_BITS);
    int64_t moved = (int64_t)STATE_DEPTH(after) - (int64_t)STATE_DEPTH(before);
    int64_t leaves = ((int64_t)changes - moved) / 2;

    if (after < before || changes > UINT32_MAX || leaves > (int64_t)STATE_DEPTH(before))
        return 0;
    return STATE_DEPTH(before) - (uint32_t)leaves;
}

/* One try. In a read-side section. `room` is what frames[] takes. */
static void copy_try(const struct stack *s, const struct stack_words *words,
                     struct stack_copied *frames, size_t room, struct stack_copied_thread *out)
{
    struct look look = look_begin(s, words);
    struct look_after after;
    uint32_t depth = STATE_DEPTH(look.state);

    out->depth = depth;
    out->count = depth < room ? depth : (uint32_t)room;
    frames_copy(frames, &look, depth - out->count, out->count);
    out->dispatching = load_relaxed(&s->dispatching);
    after = look_again(s, words, &look);
    out->exact = after.holds;
    out->state = look.state;
    if (out->exact)
        out->certain = depth;
    else /* a jump changes the word once for many frames: then nothing can be said */
        out->certain = after.jumped ? 0 : untouched(look.state, after.state);
}

/*
 * Which of seen[from ..] is of this stack; seen_count: none. Stacks keep their order in the
 * registry, so that looking on from the one found last finds all, and only those that have come
 * since are looked for in vain.
 */
static size_t find_seen(const struct stack *s, const struct stack_copies *all, size_t from)
{
    while (from < all->seen_count && all->seen[from].number != s->number)
        from++;
    return from;
}

/* Whether it is as it was when it was seen; then that is its copy. In a read-side section. */
static bool is_unchanged(const struct stack *s, const struct stack_words *words,
                         const struct stack_seen *seen, struct stack_copied_thread *out)
{
    out->state = load_acquire(&words->state);
    out->dispatching = load_relaxed(&s->dispatching);
    if (out->state != seen->state || out->dispatching != seen->dispatching)
        return false;
    out->depth = out->certain = STATE_DEPTH(out->state);
    out->tries = 1;
    return out->exact = out->unchanged = true;
}

static void copy_thread(const struct stack *s, const struct stack_words *words,
                        struct stack_copies *all, size_t earlier, struct stack_copied_thread *out)
{
    size_t room = all->capacity - all->used;

    if (room > all->most)
        room = all->most;
    *out = (struct stack_copied_thread){.number = s->number,
                                        .os_thread = s->os_thread,
                                        .first = all->used,
                                        .earlier = earlier < all->seen_count ? earlier : SIZE_MAX};
    if (earlier < all->seen_count && is_unchanged(s, words, &all->seen[earlier], out))
        return;
    while (out->tries < COPY_TRIES && !out->exact) {
        copy_try(s, words, all->frames + all->used, room, out);
        out->tries++;
    }
    all->used += out->count;
    all->frames_wanted += out->depth < all->most ? out->depth : all->most;
}

int stack_copy_all(struct stack_copies *out)
{
    struct grace_section section;
    uint64_t newest = 0; /* of those seen; a stack above it has come since */
    size_t next = 0;

    for (size_t i = 0; i < out->seen_count; i++)
        newest = out->seen[i].number > newest ? out->seen[i].number : newest;
    out->count = out->used = out->threads_wanted = out->frames_wanted = 0;
    section = grace_enter(); /* keeps every listed stack and its block alive (I4) */
    for (struct stack *s = stack_registry(); s; s = load_acquire(&s->next)) {
        const struct stack_words *words = load_acquire(&s->gone) ? NULL : stack_hold(s);
        size_t earlier = out->seen_count;
        uint32_t depth;

        if (!words)
            continue;
        depth = STATE_DEPTH(load_acquire(&words->state));
        if (s->number <= newest)
            earlier = find_seen(s, out, next);
        if (earlier < out->seen_count)
            next = earlier + 1;
        if (out->threads_wanted++ < out->thread_capacity)
            copy_thread(s, words, out, earlier, &out->threads[out->count++]);
        else
            out->frames_wanted += out->most < depth ? out->most : depth;
        stack_let_go(s);
    }
    grace_leave(section); /* every s is dead from here on; out is ours */
    return out->threads_wanted > out->count || out->frames_wanted > out->used ? -ENOSPC : 0;
}

int stack_copies_grow(struct stack_copies *copies)
{
    size_t threads = copies->threads_wanted, frames = copies->frames_wanted;

    if (threads > copies->thread_capacity &&
        !array_reserve(&copies->threads, &copies->thread_capacity, 2 * threads))
        return -ENOMEM;
    if (frames > copies->capacity && !array_reserve(&copies->frames, &copies->capacity, 2 * frames))
        return -ENOMEM;
    return 0;
}

void stack_copies_free(struct stack_copies *copies)
{
    memory_free(copies->threads);
    memory_free(copies->frames);
    copies->threads = NULL;
    copies->frames = NULL;
}

/* One look; frames that come meanwhile are not asked for. Returns false: they moved, look again. */
static bool look_for(const struct stack *s, const struct stack_words *words,
                     bool (*is)(uintptr_t method), bool *found)
{
    struct look look = look_begin(s, words);
    uint32_t depth = STATE_DEPTH(look.state);

    *found = false;
    for (uint32_t i = 0; i < depth && i < look.block->capacity && !*found; i++) {
        uintptr_t method = load_relaxed(&look.block->frames[1 + i].method);

        *found = method && is(method);
    }
    return !look_again(s, words, &look).jumped;
}

bool stack_any(bool (*is)(uintptr_t method))
{
    struct grace_section section = grace_enter(); /* as in stack_copy_all */
    bool found = false;

    for (struct stack *s = stack_registry(); s && !found; s = load_acquire(&s->next)) {
        bool looked = load_acquire(&s->gone);
        const struct stack_words *words = looked ? NULL : stack_hold(s);

        for (unsigned i = 0; i < COPY_TRIES && words && !looked; i++)
            looked = look_for(s, words, is, &found);
        if (words)
            stack_let_go(s);
        found |= !looked;
    }
    grace_leave(section);
    return found;
}
