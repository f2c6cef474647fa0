/*
 * hooks/calls.h - the call trace (--events calls): every enter, leave, tail call and unwind of a
 * chosen method is an event in the thread's ring. In hooks, so nothing here waits, locks or asks
 * the runtime.
 *
 * What is posted is balanced: a call is entered only if the ring has room for it and for the end
 * of every call that is open then; else all of it is missing, which the next event that has room
 * says. An end for which others took the room is missing on its own: each event says how many
 * calls are open before it.
 *
 * With --min-duration a call is held back until one inside of it, or itself, has lasted long
 * enough: a call lasts as long as those inside, so all that hold one back then are long enough
 * too, and are posted oldest first.
 */
#ifndef SHADOWTRACE_HOOKS_CALLS_H
#define SHADOWTRACE_HOOKS_CALLS_H

#include "event/event.h"
#include "options/options.h"
#include "stack/stack.h"

#define CALLS_HELD_MAX (1u << 20) /* frames; deeper calls are not traced with --min-duration */

struct calls_config {
    uint32_t max_depth; /* 0: any */
    uint64_t min_ticks; /* 0: none is held back */
};

/* One thread's own; hangs on its stack. */
struct calls_thread {
    struct event_ring *ring;
    uint32_t open;     /* calls on the stack that are traced or held back */
    uint32_t posted;   /* of these, entered in the log */
    uint64_t missing;  /* calls without room since the last event */
    uint64_t *entered; /* ticks, by depth; NULL: none is held back */
};

void calls_start(const struct options *options); /* after clock_start, before any hook runs */

/* From stack_config.cutting. Threads: the owner. */
void calls_cutting(struct stack *stack, uint32_t from, uint32_t to);

/* The thread of this stack ends: its calls end unwound. Before thread_ended(). */
void calls_thread_ended(struct stack *stack);

#endif
