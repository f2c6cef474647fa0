/*
 * report/calls.h - the call trace of a log, batch by batch: which calls of each thread are open,
 * when one begins and ends. What a damaged log leaves out is put right: calls that must have ended
 * have, calls that must be open are.
 */
#ifndef SHADOWTRACE_REPORT_CALLS_H
#define SHADOWTRACE_REPORT_CALLS_H

#include "readers/defs.h"

/* How a call ended. */
enum report_call_end {
    REPORT_CALL_OPEN, /* it did not, as far as the log goes */
    REPORT_CALL_LEFT,
    REPORT_CALL_TAIL,
    REPORT_CALL_UNWOUND,
    REPORT_CALL_UNKNOWN /* it did; how and when is not in the log */
};
const char *report_call_end_name(enum report_call_end end); /* "left", "tail_call", ... */

struct report_call {
    uint32_t method; /* id in the log; 0: not known */
    int32_t level;   /* the consumer's own, as are the next two */
    uint64_t inside;
    uint32_t row;
    uint32_t older, younger; /* the open calls beside it: index + 1; 0 none */
    bool ended;              /* below ones that are open: an exception went past these */
    uint64_t t;              /* when it began */
};

/*
 * Calls in the order in which they began. The last one is always open; some of those below may have
 * ended. `alive` is a Fenwick tree of the open calls: it finds the call with N younger ones in a
 * few steps.
 */
struct report_calls_thread {
    uint32_t id;
    struct report_call *calls; /* oldest first */
    uint32_t *alive;
    size_t size, capacity, alive_capacity;
    size_t open; /* how many of them are */
    uint64_t t;  /* of its latest event */
    void *user;  /* the consumer's own */
};

/* The youngest open call, and the next older one of a call; NULL: none. */
static inline struct report_call *report_call_youngest(const struct report_calls_thread *thread)
{
    return thread->size ? &thread->calls[thread->size - 1] : NULL;
}
static inline struct report_call *report_call_caller(const struct report_calls_thread *thread,
                                                     const struct report_call *call)
{
    return call->older ? &thread->calls[call->older - 1] : NULL;
}

struct report_calls {
    struct report_calls_thread *threads;
    size_t count, capacity;
    struct log_id_map ids; /* of threads: index */
    uint64_t events;       /* read so far: they pay for the calls that are made up */
    uint64_t made_up;
    /*
     * Each returns 0, or what ends the reading. The call is the youngest, but for `ended` of one
     * with younger ones.
     */
    int (*entered)(void *context, struct report_calls_thread *thread, struct report_call *call);
    int (*ended)(void *context, struct report_calls_thread *thread, struct report_call *call,
                 uint64_t t, enum report_call_end end);
    int (*missing)(void *context, struct report_calls_thread *thread, uint64_t t, uint64_t count);
    int (*values)(void *context, struct report_calls_thread *thread, uint64_t id); /* may be NULL */
    void *context;
};

void report_calls_fini(struct report_calls *c); /* `user` is the consumer's to free before */

/* The thread of that id, created if needed; NULL: out of memory. Valid until the next one. */
struct report_calls_thread *report_calls_thread(struct report_calls *c, uint32_t id);

/* report_calls_take - one batch. Returns: 0, -ENOMEM, or what a callback returned. */
int report_calls_take(struct report_calls *c, const struct log_batch *batch);

#endif
