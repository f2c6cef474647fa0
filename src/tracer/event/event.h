/*
 * event/event.h - fixed-size records that leave the traced threads, each through its own
 * single-producer ring, and the count of what did not fit. The writer (src/tracer/log/) is the one
 * consumer.
 *
 * A ring is made of windows, and the producer goes on in the lowest one that is free, so that no
 * more memory is touched than events ever waited: slot of event i is i % W of window place[i / W %
 * EVENT_WINDOWS]. One that grows begins with a few windows; each further one it takes, when it is
 * needed, from what all rings have together: a thread in need has all that others do not use.
 *
 * Life of a ring: the thread makes it at its first event and pushes it onto the hub; the writer
 * adopts it, drains it, and frees it once the thread closed it and it is empty.
 */
#ifndef SHADOWTRACE_EVENT_EVENT_H
#define SHADOWTRACE_EVENT_EVENT_H

#include "event/agreement.h"

#include "base/atomics.h"
#include "base/parker.h"

#include <errno.h>
#include <stdbool.h>

enum event_kind {
    EVENT_ALLOC = 1,
    EVENT_MISMATCH,    /* payload: struct event_mismatch */
    EVENT_SNAPSHOT,    /* payload: struct event_stack, of the allocation before (--capture both) */
    EVENT_THREAD_NAME, /* payload: struct event_name */
    EVENT_FAMILY,      /* payload: struct event_family */
    EVENT_TRANSITION,  /* subject: struct metadata_method * or 0; bytes: enum event_transition */
    EVENT_CALL, /* subject: struct metadata_method * of an enter, else 0; bytes: event_call_pack */
    EVENT_VALUES, /* payload: struct values_record */
    /* subject: id of the youngest frame's values, for the next event, of the same ticks */
    EVENT_VALUES_OF,
    EVENT_SAMPLE, /* subject: OS thread and PROFILE_EVENT_ bits; node; site: depth. See profile.h */
    /* node: where an async method is to wait, of an unrecorded allocation; no line but the node */
    EVENT_WAITS,
    EVENT_SAMPLE_RATE, /* subject: bytes per sampled event from here on; 0: all events */
    EVENT_WEIGHT, /* subject: bytes that the next event stands for, of which nothing else says */
};

/* Which way, and whether it is the call or its return. */
enum event_transition {
    EVENT_TO_NATIVE_CALL,
    EVENT_TO_NATIVE_RETURN,
    EVENT_TO_MANAGED_CALL,
    EVENT_TO_MANAGED_RETURN,
};

/*
 * What an EVENT_CALL tells; `node` is how many calls of the thread the log has open before it,
 * `site` the id of its arguments or result (--args, --returns), 0: none.
 */
enum event_call {
    EVENT_CALL_ENTER, /* subject: struct metadata_method * */
    EVENT_CALL_LEAVE, /* the youngest of those open */
    EVENT_CALL_TAIL,  /* the same, by a tail call */
    /* without either: by an exception, or unseen; subject: younger ones of the log that go on */
    EVENT_CALL_UNWOUND,
    EVENT_CALL_MISSING, /* subject: as many calls, with all inside of them, had no room */
};

#define EVENT_WINDOWS 1024 /* of a ring, at the most */

#define EVENT_FAMILIES 11 /* enum options_family, which this level does not know */

enum event_heap { EVENT_HEAP_NORMAL, EVENT_HEAP_LARGE, EVENT_HEAP_PINNED, EVENT_HEAP_FROZEN };

/* One slot of a ring. */
struct event {
    uint64_t ticks;      /* clock_ticks() when it happened */
    uint64_t subject;    /* alloc: struct metadata_class *; else a payload, the consumer frees it */
    uint32_t node;       /* alloc: id in the context tree */
    uint32_t site;       /* alloc: id in the tree of sites, 0 not known */
    uint64_t bytes_kind; /* bytes : 48, heap : 8, kind : 8; see event_pack */
};

static inline uint64_t event_pack(uint64_t bytes, enum event_heap heap, enum event_kind kind)
{
    return bytes << 16 | (uint64_t)heap << 8 | (uint64_t)kind;
}
static inline uint64_t event_bytes(const struct event *e)
{
    return e->bytes_kind >> 16;
}
static inline enum event_heap event_heap(const struct event *e)
{
    return (enum event_heap)(e->bytes_kind >> 8 & 0xff);
}
static inline enum event_kind event_kind(const struct event *e)
{
    return (enum event_kind)(e->bytes_kind & 0xff);
}

/* Bytes of an EVENT_CALL: what it tells, and of an enter the method's log id. */
static inline uint64_t event_call_pack(enum event_call what, uint32_t method)
{
    return (uint64_t)method << 8 | what;
}
static inline enum event_call event_call_what(const struct event *e)
{
    return (enum event_call)(event_bytes(e) & 0xff);
}
static inline uint32_t event_call_method(const struct event *e)
{
    return (uint32_t)(event_bytes(e) >> 8);
}

/* --native: one native frame of a snapshot. */
struct event_native {
    uint32_t at;  /* managed frames of the snapshot that are younger */
    uint32_t run; /* frames of the same run have the same, later runs a larger one */
    uintptr_t ip; /* return address; 0: the run has more frames, which are not kept */
};

/* Both stacks of a comparison that failed. One block. */
struct event_mismatch {
    uintptr_t class; /* struct metadata_class * being allocated, or 0 */
    uint32_t node;
    int32_t refused;  /* HRESULT when the snapshot was refused with a shadow stack, else 0 */
    uint32_t first;   /* index of the first difference, from the root */
    uint32_t cause;   /* enum agreement_cause */
    uint32_t stopped; /* OS thread stopped and walked from outside; 0: it compared itself */
    bool in_call;     /* --check-calls: compared in an Enter hook */
    uint32_t
        repairs; /* bit mask of enum stack_repair that touched this stack since it was last empty */
    uint32_t shadow, snapshot; /* lengths */
    uint32_t natives;          /* struct event_native behind the methods */
    uintptr_t methods
        []; /* struct metadata_method *: the shadow stack's, then the snapshot's; leaf first */
};

/* A snapshot beside the allocation before it. */
struct event_stack {
    int32_t refused; /* HRESULT, else 0 */
    uint32_t count;
    uint32_t natives;    /* struct event_native behind the methods */
    uintptr_t methods[]; /* struct metadata_method *, resolved; leaf first */
};

struct event_name {
    uint32_t thread; /* log id; 0: unknown, then os names it */
    uint32_t os;
    char text[]; /* UTF-8 */
};

/* An event of another family than alloc: what it refers to; the rest as JSON members. One block. */
struct event_family {
    uint32_t family;  /* enum options_family */
    bool has_node;    /* the event's node says where */
    const char *kind; /* of the record; static */
    uintptr_t class;  /* struct metadata_class *, or 0 */
    uintptr_t method; /* struct metadata_method *, or 0; has its text */
    uint32_t size;    /* bytes of members */
    char members[];   /* `,"ns":12,"reason":"gc"`: valid JSON members, each after a comma */
};

/* Why an event was lost. Keys of the log's `lost` records, in this order. */
enum event_lost {
    EVENT_LOST_RING_FULL,    /* ring full, --full drop, or no space within the bounded wait */
    EVENT_LOST_NO_RING,      /* no memory for the thread's ring */
    EVENT_LOST_NO_CLASS,     /* the runtime did not say what the object is */
    EVENT_LOST_STOPPED,      /* came after the last drain, while the process ended */
    EVENT_LOST_NO_MEMORY,    /* the writer ran out of memory */
    EVENT_LOST_WRITE_FAILED, /* the log could not be written: disk full, file too large */
    EVENT_LOST_NO_STACK,     /* no memory for the thread's stack, or for frames of it */
    EVENT_LOST_REASONS
};
const char *event_lost_name(enum event_lost reason);

/* What the rings of a process share. Lives as long as the process. */
struct event_hub {
    _Atomic(struct event_ring *) fresh; /* made, not yet adopted; newest first */
    _Atomic(uint64_t)
        lost[EVENT_LOST_REASONS]; /* of threads without a ring, and the writer's own */
    /* of the families but alloc and calls: met, and of these lost before they were in a ring */
    _Atomic(uint64_t) family_seen[EVENT_FAMILIES];
    _Atomic(uint64_t) family_lost[EVENT_FAMILIES][EVENT_LOST_REASONS];
    _Atomic(uint64_t) beginnings_lost; /* EVENT_WAITS without room */
    struct parker writer;
    _Atomic(uint32_t) threads;   /* log ids given out */
    _Atomic(bool) stopped;       /* no more events are taken */
    bool drop;                   /* --full drop: never wait for space */
    uint32_t slots;              /* of each ring at the least; a power of two */
    uint64_t bytes_most;         /* of a ring that grows; 0: none does */
    _Atomic(int64_t) bytes_left; /* that rings may grow by, all together */
};

struct event_ring {
    /* producer's line */
    _Alignas(CACHE_LINE) _Atomic(uint64_t) head; /* slots written so far */
    uint64_t tail_seen;                /* tail as last read: saves touching the consumer's line */
    uint64_t stuck_at;                 /* 1 + tail when the last wait was in vain; 0: none was */
    struct event *now;                 /* the window that head is in */
    uint64_t free[EVENT_WINDOWS / 64]; /* bit mask of windows */
    uint64_t kept;                     /* i / W of the oldest window that is not free */
    _Atomic(uint64_t) seen;            /* allocations met by this thread, recorded or lost */
    _Atomic(uint64_t) lost[EVENT_LOST_REASONS];
    _Atomic(uint64_t) calls_seen, calls_lost; /* calls that were to be traced; without room */
    struct agreement_thread checked;          /* of this thread's stacks beside its snapshots */
    /* consumer's line */
    _Alignas(CACHE_LINE) _Atomic(uint64_t) tail; /* slots consumed so far */
    struct event_ring *next;                     /* hub list, then the writer's */
    void *writer;                                /* the writer's own data on this thread */
    /* fixed */
    _Alignas(CACHE_LINE) struct event *slots;
    uint64_t room;        /* the producer's: slots granted, but for a window if there are several */
    uint64_t window_mask; /* W - 1 */
    uint64_t wake_mask;   /* of head: where the writer is woken if as many events wait */
    uint32_t window_bits; /* W is 1 << that */
    uint32_t windows;     /* 1: the ring is used round and round */
    uint32_t granted; /* the producer's: windows that it may use, of these `first` from the start */
    uint32_t first;
    uint16_t place[EVENT_WINDOWS]; /* the producer's; published with the head that follows */
    struct event_hub *hub;
    uint32_t thread;      /* log id: 1, 2, ... */
    uint32_t os;          /* gettid() */
    _Atomic(bool) closed; /* release, after the thread's last event */
    size_t mapped;
};

/* Where event i lies, until the tail has passed it. Threads: the consumer. */
static inline struct event *event_at(const struct event_ring *ring, uint64_t i)
{
    uint16_t place = ring->place[(i >> ring->window_bits) % EVENT_WINDOWS];

    return ring->slots + ((uint64_t)place << ring->window_bits) + (i & ring->window_mask);
}

static inline void event_window_free(struct event_ring *ring, unsigned place)
{
    ring->free[place / 64] |= UINT64_C(1) << place % 64;
}

/* Another window, if there is one, and memory for it. Threads: the producer. May run: in hooks. */
static inline bool event_grow(struct event_ring *ring)
{
    int64_t bytes = (int64_t)((ring->window_mask + 1) * sizeof(struct event));
    _Atomic(int64_t) *left = &ring->hub->bytes_left;

    if (ring->granted == ring->windows || load_relaxed(left) < bytes)
        return false;
    if (add_relaxed(left, -bytes) < bytes) { /* others were faster */
        add_relaxed(left, bytes);
        return false;
    }
    event_window_free(ring, ring->granted++);
    ring->room += ring->window_mask + 1;
    return true;
}

/* Head enters a window, and there is room: one is free. */
static inline void event_window(struct event_ring *ring, uint64_t head)
{
    unsigned word = 0, place;

    if (ring->windows == 1)
        return;
    ring->tail_seen = load_acquire(&ring->tail); /* slots read before they are written again */
    for (; ring->kept < ring->tail_seen >> ring->window_bits; ring->kept++)
        event_window_free(ring, ring->place[ring->kept % EVENT_WINDOWS]);
    while (!ring->free[word])
        word++;
    place = 64 * word + (unsigned)__builtin_ctzll(ring->free[word]);
    ring->free[word] &= ring->free[word] - 1;
    ring->place[(head >> ring->window_bits) % EVENT_WINDOWS] = (uint16_t)place;
    ring->now = ring->slots + ((uint64_t)place << ring->window_bits);
}

/* Where the next event goes: there is room. Threads: the producer. May run: in hooks. */
static inline struct event *event_next(struct event_ring *ring, uint64_t head)
{
    if (UNLIKELY(!(head & ring->window_mask)))
        event_window(ring, head);
    return ring->now + (head & ring->window_mask);
}

/*
 * event_ring_new - the calling thread's ring. Returns: 0 or -ENOMEM. Owns: the hub; the thread ends
 * its use with event_ring_close(). Threads: the producer. May run: in callbacks, not in a hook.
 */
int event_ring_new(struct event_hub *hub, struct event_ring **out);
void event_ring_close(struct event_ring *ring);
void event_ring_free(struct event_ring *ring); /* consumer only, closed and empty */

/* Put a ring onto the hub: a new one, or one that the consumer could not take yet. Lock-free. */
void event_hub_add(struct event_hub *hub, struct event_ring *ring);

/* All rings made since the last call, oldest first, linked by next. Threads: the consumer. */
struct event_ring *event_hub_adopt(struct event_hub *hub);

/* Count one allocation of this thread as lost. Threads: the producer. */
void event_lose(struct event_ring *ring, enum event_lost reason);

/*
 * event_post - one event into the caller's ring. Inlined: it goes from registers into its slot;
 * from the stack it waits for older stores.
 * Returns: 0, or -ENOSPC when there is no space: at once if the hub says drop or has stopped, else
 *          after waiting 200 ms in vain; a writer that has not moved since is not waited for again.
 *          The caller counts the loss.
 * Threads: the producer. May run: in callbacks, never in a hook.
 */
INTO_CALLER int event_post(struct event_ring *ring, const struct event *event);
INTO_CALLER int event_offer(struct event_ring *ring,
                            const struct event *event);  /* the same, never waits: for hooks */
bool event_wait(struct event_ring *ring, uint64_t head); /* event_post: for space */
void event_wake(struct event_ring *ring, uint64_t head); /* the writer, if events pile up */

INTO_CALLER bool event_has_space(struct event_ring *ring, uint64_t head)
{
    if (LIKELY(head - ring->tail_seen < ring->room))
        return true;
    ring->tail_seen = load_acquire(
        &ring->tail); /* slots read before they are written again; pairs with the writer */
    return head - ring->tail_seen < ring->room || event_grow(ring);
}

INTO_CALLER int event_put(struct event_ring *ring, uint64_t head, const struct event *event)
{
    *event_next(ring, head) = *event;
    store_release(&ring->head, head + 1); /* slot before head; pairs with the writer's acquire */
    if (UNLIKELY((head & ring->wake_mask) == 0))
        event_wake(ring, head);
    return 0;
}

INTO_CALLER int event_post(struct event_ring *ring, const struct event *event)
{
    uint64_t head = load_relaxed(&ring->head);

    if (UNLIKELY(!event_has_space(ring, head)) && !event_wait(ring, head))
        return -ENOSPC;
    return event_put(ring, head, event);
}

INTO_CALLER int event_offer(struct event_ring *ring, const struct event *event)
{
    uint64_t head = load_relaxed(&ring->head);

    return event_has_space(ring, head) ? event_put(ring, head, event) : -ENOSPC;
}

#endif
