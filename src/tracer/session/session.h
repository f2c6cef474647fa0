/*
 * session/session.h - the tracer's EventPipe session: events that the runtime reports to profilers
 * in no other way. Subscribers register before the session starts; each gets the events of its
 * keywords. A second session can run for a while, for one subscriber.
 */
#ifndef SHADOWTRACE_SESSION_SESSION_H
#define SHADOWTRACE_SESSION_SESSION_H

#include "base/atomics.h"

#include <shadowtrace/clr/info.h>
#include <stdbool.h>

#define SESSION_SUBSCRIBERS         4
#define SESSION_KEYWORD_GC          UINT64_C(0x1)
#define SESSION_KEYWORD_HEAP_DUMP   UINT64_C(0x100000)      /* objects, references, roots */
#define SESSION_KEYWORD_GC_SURVIVAL UINT64_C(0x400000)      /* ranges that survive, and that move */
#define SESSION_KEYWORD_SAMPLING    UINT64_C(0x80000000000) /* objects, since .NET 10 */
#define SESSION_LEVEL_INFORMATIONAL 4
#define SESSION_LEVEL_VERBOSE       5

/* One event of the runtime's own provider. data: as ClrEtwAll.man lays it out. */
struct session_event {
    uint32_t id, version, size;
    const uint8_t *data;
};

/*
 * What a subscriber wants. told: on the thread on which it happened, as it happens; from several
 * threads at once. ids ends with 0.
 */
struct session_subscriber {
    uint64_t keywords;
    uint32_t level;
    const uint32_t *ids;
    void (*told)(void *context, const struct session_event *event);
    void *context;
};

/* All zero: nobody has subscribed. */
struct session {
    struct session_subscriber subscriber[SESSION_SUBSCRIBERS];
    size_t count;
    _Atomic(bool) asked; /* to start */
    _Atomic(bool) running;
    uint64_t id;
    _Atomic(const struct session_subscriber *) guest; /* NULL: there is no session beside it */
    uint64_t guest_id;
};

/* session_subscribe - Returns: false: there is no room. Threads: one, before the session starts. */
bool session_subscribe(struct session *s, const struct session_subscriber *subscriber);

/*
 * session_start - if anybody has subscribed; once. Needs COR_PRF_HIGH_MONITOR_EVENT_PIPE. Returns:
 * S_OK, S_FALSE when there is nothing to do, or what the runtime says. Threads: any that may call
 * the runtime; not in initialize, where it cannot start one.
 */
hresult session_start(struct session *s, struct clr_info *info, int info_version);

/*
 * session_stop - it tells of nothing any more, but by who has begun to. Threads: one, which may
 * call the runtime; not while it is started.
 */
void session_stop(struct session *s, struct clr_info *info);

/*
 * session_open - starts the second session. session_close - ends it; threads that have begun to
 * report an event may still finish that. Returns: S_OK or the runtime's error.
 * Owns:    the subscriber is borrowed, for ever. Threads: one for both; may call the runtime.
 */
hresult session_open(struct session *s, struct clr_info *info, int info_version,
                     const struct session_subscriber *subscriber);
void session_close(struct session *s, struct clr_info *info);

/* session_delivered - EventPipeEventDelivered. Threads: any. May run: while all others stand. */
void session_delivered(const struct session *s, const struct session_event *event);

/* Does it tell of events? */
static inline bool session_runs(const struct session *s)
{
    return load_acquire(&s->running);
}

#endif
