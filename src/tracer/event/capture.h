/* event/capture.h - one allocation as its thread captured it: the input of a comparison. */
#ifndef SHADOWTRACE_EVENT_CAPTURE_H
#define SHADOWTRACE_EVENT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack;
struct frame;
struct event_ring;

struct capture {
    struct stack *stack;
    struct frame *top; /* stack_settle's */
    size_t depth;
    uint64_t shadow_ticks;   /* what capturing cost */
    uint64_t ticks;          /* when the allocation happened */
    uintptr_t class;         /* struct metadata_class * */
    uint32_t node;           /* id in the context tree */
    struct event_ring *ring; /* of the calling thread: differences go there */
    uintptr_t ip;            /* return address of the allocating call; 0: not known */
    bool walked;             /* the frames are a walk's: only methods are set */
};

#endif
