/*
 * samples/samples.h - objects that the runtime itself samples, as its events tell of them on the
 * allocating thread: AllocationSampled since .NET 10, each byte with the same small probability;
 * AllocationTick before, of about each 100 KB, which is not random.
 *
 * A short-lived thread of the tracer starts the session some time after the program: the runtime
 * makes manifests for it first, which would lengthen the start, and a thread that calls it is a
 * managed one from there on. What the program allocates until then is counted, not sampled.
 */
#ifndef SHADOWTRACE_SAMPLES_SAMPLES_H
#define SHADOWTRACE_SAMPLES_SAMPLES_H

#include "clr/runtime.h"
#include "event/event.h"
#include "session/session.h"

struct samples;

/*
 * One sample. The object is not initialised yet, and the thread is in cooperative mode: nobody may
 * ask the runtime about it, wait, or let a collection run.
 */
struct samples_taken {
    uintptr_t object, class_id;
    uint64_t bytes;  /* a multiple of 8 */
    uint64_t weight; /* of a tick: bytes allocated since the one before; 0: by size and mean */
    enum event_heap heap;
};

struct samples_config {
    const struct clr_runtime *runtime; /* borrowed, as is all below */
    struct session *session;
    /* When the session starts: from samples_ready, of CPU and by the clock, but not later than. */
    unsigned delay_ms, most_ms;
    unsigned unready_ms;          /* from samples_start, where nothing is ever ready; 0: at once */
    bool joined;                  /* by thread_join_all: the thread does not detach itself */
    bool suspends;                /* the event mask has COR_PRF_MONITOR_SUSPENDS anyway */
    void (*begin)(void *context); /* on that thread, before the session starts */
    void (*taken)(void *context, const struct samples_taken *sample);
    void *context;
};

/* What the program allocated before samples counted; without samples: all that it allocated. */
enum samples_before_how { SAMPLES_BEFORE_UNKNOWN, SAMPLES_BEFORE_EXACT, SAMPLES_BEFORE_MOST };
struct samples_before {
    enum samples_before_how how;
    uint64_t bytes; /* MOST: no more than that */
    uint64_t own;   /* what the session's own start allocated beside them */
};

/* The result. */
struct samples_state {
    uint64_t since_ns; /* samples count from here on; 0: the session did not start (yet) */
    struct samples_before before;
    hresult failed;  /* what the runtime said instead; S_OK: nothing */
    uint64_t told;   /* samples */
    uint64_t unread; /* events that did not look like one */
};

/* samples_new - and its subscription. Returns: 0, -ENOMEM, -ENOSPC: the session has no room. */
int samples_new(const struct samples_config *config, struct samples **out);

/*
 * samples_start - call it when there is a managed thread. A separate thread starts the session when
 * it is due; without a delay it starts at once. Threads: any; only the first call has an effect.
 * samples_ready - the runtime has started: Main is about to run, or runs. If a session starts
 * earlier, the main thread creates its manifests, and the tracer's thread is not a managed one.
 */
void samples_start(struct samples *samples);
void samples_ready(struct samples *samples);

/* samples_poll - makes that thread once the session is due; a program that ends before has none.
 * Returns: whether it waits for that. Threads: the resolver's. */
bool samples_poll(struct samples *samples, uint64_t now_ns);

/*
 * samples_hurry - it is due now, if samples_ready: a program that collects garbage has allocated
 * much. Returns:
 * whether samples_poll should be called soon. Threads: any. May run: while all others are stopped.
 */
bool samples_hurry(struct samples *samples);

/* samples_stopped - RuntimeSuspendFinished, on the thread that stopped the others. Threads: any. */
void samples_stopped(struct samples *samples);

/*
 * samples_unbegun - the program ends: if no session was started, none is any more, and all that was
 * allocated came before. Threads: one in Shutdown, of which the runtime still answers.
 */
void samples_unbegun(struct samples *samples);

/* samples_stop - it does not start any more. Waits for one that does, at most timeout_ms. */
void samples_stop(struct samples *samples, unsigned timeout_ms);

/* Threads: any. */
void samples_read(const struct samples *samples, struct samples_state *out);

/* How the log calls them: "runtime", or "ticks", which are not random. */
const char *samples_name(const struct samples *samples);

/*
 * samples_parse - what an event tells, by its payload. Returns: false: it is too short, or tells of
 * no class.
 */
bool samples_parse(const struct session_event *event, struct samples_taken *out);

#endif
