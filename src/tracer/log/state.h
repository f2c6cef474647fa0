/*
 * log/state.h - all that the writer knows: of the log, of each traced thread. It is the writer
 * thread's alone, but for what is said to be others'.
 */
#ifndef SHADOWTRACE_LOG_STATE_H
#define SHADOWTRACE_LOG_STATE_H

#include "log/log.h"

#include "base/clock.h"
#include "base/parker.h"
#include "log/file.h"

#include <jansson.h>
#include <pthread.h>
#include <time.h>

#define LOG_CALLS_OF 8192 /* methods; a power of two */

/* Which ids have been written; grows as needed. */
struct log_ids {
    uint8_t *seen;
    size_t capacity;
};

/* deferred.c: a queue of events. */
struct log_deferred {
    struct log_deferred_block *oldest, *youngest; /* NULL when it is empty */
    size_t first;                                 /* index of the oldest event in its block */
    size_t count;
};

/* What the writer knows of one traced thread; hangs on its ring. */
struct log_thread {
    struct event_ring *ring;
    struct log_thread *next;
    bool defined;             /* its line is written */
    uint64_t last_ns;         /* `t` of a thread never falls */
    struct log_calls *calls;  /* calls.c; NULL: none yet */
    char *name;               /* UTF-8, NULL: none given */
    uint64_t reported_checks; /* compared and refused, as last written */
    uint32_t values;          /* of the event with these ticks: the youngest frame's values */
    uint64_t values_ticks;
    struct log_value *live; /* values.c: --stacks inline */
    size_t live_count, live_capacity;
    uint64_t sample; /* bytes per sampled event, as of its latest EVENT_SAMPLE_RATE; 0: all */
    uint64_t weight; /* of the event at hand, by its EVENT_WEIGHT; 0: by size and `sample` */
    struct log_deferred deferred; /* events taken from the ring that wait for a definition */
    uint64_t grace;               /* events that log_grace_over() waits for */
    uint64_t before_live;         /* events of before the collection that is being written */
    uint64_t behind;              /* events that the line of log->behind stands behind */
};

/* Of the call trace: entered = left + tail_calls + unwound + ends_missing + those open. */
struct log_call_sums {
    uint64_t entered, left, tail_calls, unwound, ends_missing;
    uint64_t missing;                  /* calls that had no room in a ring */
    uint64_t open_ended;               /* open when their thread went */
    uint64_t entered_lost, ended_lost; /* of these in lines that never came into the file */
};

/* What another thread wants of the writer: message.c. */
struct log_message {
    struct log_message *next;
    json_t *line;   /* to be written; NULL: a question */
    uint64_t ticks; /* when it was posted */
    enum sst_kind kind;
    void (*answer)(struct log *log,
                   struct log_message *message); /* on the writer; sets err, text */
    bool behind; /* the line stands behind all that is in the rings, and is flushed */
    uint32_t limit;
    int err;
    char *text; /* the answer */
    struct parker done;
    _Atomic(unsigned) holders; /* who asked, and the writer: the last one frees it */
    _Atomic(bool) answered;
};

/* Images that native frames lie in; the id is the place + 1. */
struct log_images {
    struct log_image *image;
    size_t count, capacity;
};

struct log {
    struct log_config config;
    _Atomic(struct log_message *) messages; /* newest first; pushed by any thread */
    struct log_message *held; /* taken, and to be written behind what comes before; oldest first */
    uint64_t held_ns;         /* since when; 0: none is */
    const struct log_message *behind; /* whose turn it is to be behind the rings; NULL: none's */
    uint64_t behind_ns;               /* since when */
    struct log_watch *watch;          /* while somebody looks at call sites: watch.c */
    /* log_counts() */
    _Atomic(uint64_t) shown_written, shown_bytes, shown_file, shown_part, shown_cut;
    _Atomic(uint64_t) shown_lost[EVENT_LOST_REASONS];
    struct log_file file;
    pthread_t thread;
    bool started;
    json_t *unhandled;                        /* the line of an exception; NULL: none so far */
    _Atomic(const char *) uncontrolled;       /* why there is no socket; NULL */
    _Atomic(const char *) heap_file, no_heap; /* --heap-at-exit: written, why not; NULL */
    _Atomic(bool) waits; /* the writer sleeps for something to get its name, but not long */
    _Atomic(bool) stopping, ended; /* set by others, by the writer */
    struct parker over;            /* log_stop sleeps here until ended */
    _Atomic(int) writer_os;        /* gettid(); 0: it does not run yet */
    _Atomic(uint64_t) got_on;      /* once stopping: how often the writer has seen progress */
    _Atomic(bool) gives_up;        /* set by log_stop: what is not written by now is lost */
    uint64_t zero_ns;              /* CLOCK_MONOTONIC at t = 0 */
    time_t started_at;             /* the same as a date: of the recording, not of its part */
    json_t *parents;               /* log_parents() at that time; NULL: not known */
    uint64_t born;
    struct log_thread *threads;
    struct log_ids defined_threads;
    uint32_t part; /* 1, 2, ...: each defines everything again; see `written` of records */
    struct log_images images;
    bool headless;      /* this part has no header yet: the writer begins it, or memory ran out */
    bool unadopted;     /* a ring waits for the same reason */
    uint8_t generation; /* mark of a node that this part of the log has; 1 to 255 */
    struct tree_node **path; /* scratch: nodes to be defined, leaf first */
    size_t path_capacity;
    uint64_t not_written[SST_KIND_COUNT]; /* dropped, of kinds that nothing else counts */
    uint64_t reported_not_written;
    double estimated_allocs, estimated_bytes; /* what the sampled ones stand for, if `sampled` */
    bool sampled;
    uint64_t row_allocs, row_bytes; /* --log sites: counted, and in no line yet */
    uint64_t lost_here[EVENT_LOST_REASONS];
    uint64_t deferred; /* events in all queues */
    /* Of rings that are freed. */
    uint64_t seen_by_ended, lost_ended[EVENT_LOST_REASONS];
    uint64_t reported_taken, reported_lost[EVENT_LOST_REASONS], reported_repairs[STACK_REPAIRS];
    uint64_t family_lost[EVENT_FAMILIES][EVENT_LOST_REASONS]; /* the writer's own */
    uint64_t reported_family_lost[EVENT_FAMILIES];
    uint64_t calls_seen_ended, calls_lost_ended; /* of rings that are freed */
    struct log_call_sums calls;
    uint64_t next_report_ns;
    /* --log sites: when sums are written next, how long after that again, when they last were */
    uint64_t next_sites_ns, sites_ns, swapped_ns;
    uint64_t reported_ticks[PROFILE_SOURCES];
    bool sampling_written;
    double ns_per_pair;
    json_t *unmatched;       /* log_unmatched()'s, once it is made */
    struct log_sites *sites; /* --log sites */
    struct log_live *live;   /* --live */
    /* Log ids of nodes: their own until some are given out again, see forget.c. */
    _Atomic(uint32_t) *node_id; /* by node: 0 its own, NODE_ID_OPEN none yet; pages; NULL */
    uint32_t node_ids;          /* given out, the newest; 0: all are their own */
    uint32_t node_max;          /* the largest of those that are their own */
    _Atomic(uint32_t) grace_asked, grace_over;
    uint32_t grace_begun;
    uint64_t grace_swaps; /* of log->sites */
    struct log_deferred_block *spare;
    unsigned spares;
    uint32_t calls_of[LOG_CALLS_OF]; /* ids of methods that are written: calls.c, a cache */
};

static inline uint64_t log_written(const struct log *log) /* allocations */
{
    return log->file.put.allocs + log->row_allocs;
}

#endif
