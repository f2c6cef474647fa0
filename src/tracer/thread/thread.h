/*
 * thread/thread.h - a traced thread, as all who record on it share it: its ring, and what each room
 * keeps of it. It hangs on the thread's stack, and is made when something is first recorded there.
 */
#ifndef SHADOWTRACE_THREAD_THREAD_H
#define SHADOWTRACE_THREAD_THREAD_H

#include "event/event.h"
#include "stack/stack_hot.h"

/* The owner's alone. Members but the ring are NULL until their room makes them; it frees them. */
struct thread {
    struct event_ring *ring;
    struct events_thread *events; /* src/tracer/events/ */
    struct unhandled_thread *unhandled;
    struct check_thread *check; /* src/tracer/check/ */
    struct walk_thread *walk;   /* src/tracer/walk/ */
    struct pinned *pinned;      /* events/pinned.h: its exceptions, the latest first */
};

/* thread_init - once, before any event. hub: borrowed; rings are made on it. */
void thread_init(struct event_hub *hub);

/* That of the calling thread's stack; NULL: no memory. Threads: owner. May run: in hooks. */
struct thread *thread_of(struct stack *stack);

/* The calling thread's ring, created if needed; NULL: out of memory, or after stack_stop(). */
struct event_ring *thread_ring(void);

/* The ring of a stack's thread, NULL if it has none. */
struct event_ring *thread_ring_of(const struct stack *stack);

/* The thread of this stack ends: its ring is closed. Last of all, from stack_config.detached. */
void thread_ended(struct stack *stack);

#endif
