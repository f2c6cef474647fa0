/*
 * hooks/calls_inline.h - posting the events of a call, for the two files of the call trace.
 * Compiled into calls_hot.c for general registers only: nothing here may call anything.
 */
#ifndef SHADOWTRACE_HOOKS_CALLS_INLINE_H
#define SHADOWTRACE_HOOKS_CALLS_INLINE_H

#include "hooks/calls.h"

#include "base/clock.h"
#include "hooks/elt.h"
#include "metadata/metadata.h"
#include "stack/stack_hot.h"

extern struct calls_config calls_config; /* written by calls_start only */

/* Room for as many events? */
static inline bool calls_room(struct event_ring *ring, uint64_t slots)
{
    uint64_t head = load_relaxed(&ring->head);

    if (LIKELY(head - ring->tail_seen + slots <= ring->room))
        return true;
    ring->tail_seen = load_acquire(&ring->tail); /* slots read before they are written again */
    while (head - ring->tail_seen + slots > ring->room)
        if (!event_grow(ring))
            return false;
    return true;
}

static inline void calls_put(struct calls_thread *t, uint64_t ticks, uint64_t subject,
                             uint64_t what, uint32_t values)
{
    struct event_ring *ring = t->ring;
    uint64_t head = load_relaxed(&ring->head);
    struct event *slot = event_next(ring, head);

    slot->ticks = ticks;
    slot->subject = subject;
    slot->node = t->posted;
    slot->site = values;
    slot->bytes_kind = event_pack(what, EVENT_HEAP_NORMAL, EVENT_CALL);
    store_release(&ring->head,
                  head + 1); /* slot before head; the writer looks often, it is not woken */
}

static inline void calls_count(_Atomic(uint64_t) *counter)
{
    store_relaxed(counter, load_relaxed(counter) + 1);
}

/* Returns whether the log has the call now. */
static inline bool calls_post_enter(struct calls_thread *t, const struct metadata_method *method,
                                    uint64_t ticks, uint32_t values)
{
    calls_count(&t->ring->calls_seen);
    if (UNLIKELY(!calls_room(t->ring, t->posted + 3ull))) {
        t->missing++;
        calls_count(&t->ring->calls_lost);
        return false;
    }
    if (UNLIKELY(t->missing)) {
        calls_put(t, ticks, t->missing, EVENT_CALL_MISSING, 0);
        t->missing = 0;
    }
    calls_put(t, ticks, (uintptr_t)method, event_call_pack(EVENT_CALL_ENTER, method->id), values);
    t->posted++;
    return true;
}

/* Calls that were held back below this one, oldest first, and it. */
static inline void calls_post_held(struct stack *s, struct calls_thread *t, struct frame *last)
{
    struct frame *first = last, *frames = load_relaxed(&s->block)->frames + 1;

    while (first > frames && !(frame_flags(&first[-1]) & FRAME_TRACED))
        first--;
    for (; first <= last; first++) {
        if (!(frame_flags(first) & FRAME_HELD))
            continue;
        frame_flags_set(first, frame_flags(first) & ~FRAME_HELD);
        if (calls_post_enter(t, (const struct metadata_method *)load_relaxed(&first->method),
                             t->entered[first - frames], 0))
            frame_flags_set(first, frame_flags(first) | FRAME_TRACED);
        else if (first != last)
            t->open--;
    }
}

/* The frame is pushed. */
static inline void calls_entered(struct stack *s, struct calls_thread *t, struct frame *frame,
                                 uint32_t values)
{
    const struct metadata_method *method =
        (const struct metadata_method *)load_relaxed(&frame->method);

    if (!method->traced || (calls_config.max_depth && t->open >= calls_config.max_depth) ||
        UNLIKELY(load_relaxed(&t->ring->hub->stopped)))
        return;
    if (t->entered) {
        ptrdiff_t depth = frame - load_relaxed(&s->block)->frames - 1;

        if (depth >= CALLS_HELD_MAX)
            return;
        t->entered[depth] = clock_ticks();
        frame_flags_set(frame, frame_flags(frame) | FRAME_HELD);
        t->open++;
    } else if (calls_post_enter(t, method, clock_ticks(), values)) {
        frame_flags_set(frame, frame_flags(frame) | FRAME_TRACED);
        t->open++;
    }
}

/* The frame is about to be popped; `younger`: calls that are open above it in the log and go on. */
static inline void calls_leaving(struct stack *s, struct calls_thread *t, struct frame *frame,
                                 enum event_call what, uint64_t younger, uint32_t values)
{
    uint64_t now;

    if (!(frame_flags(frame) & (FRAME_TRACED | FRAME_HELD)))
        return;
    t->open--;
    if (UNLIKELY(load_relaxed(&t->ring->hub->stopped)))
        return;
    now = clock_ticks();
    if (frame_flags(frame) & FRAME_HELD) {
        if (now - t->entered[frame - load_relaxed(&s->block)->frames - 1] < calls_config.min_ticks)
            return;
        calls_post_held(s, t, frame);
        if (!(frame_flags(frame) & FRAME_TRACED))
            return;
    }
    if (LIKELY(calls_room(t->ring, 1)))
        calls_put(t, now, younger, what, values);
    t->posted--;
}

#endif
