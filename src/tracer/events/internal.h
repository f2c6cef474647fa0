/* events/internal.h - what the files of src/tracer/events/ share. */
#ifndef SHADOWTRACE_EVENTS_INTERNAL_H
#define SHADOWTRACE_EVENTS_INTERNAL_H

#include "events/events.h"

#include "base/buffer.h"
#include "events/message.h"
#include "thread/context.h"
#include "thread/thread.h"

#include <pthread.h>

#define EVENTS_NESTED 64 /* compilations, exceptions and filters inside of one another */

struct events_gc {
    uint64_t number, started; /* ticks */
    uint32_t generations;     /* bit mask */
    bool induced;
    uint64_t before[5]; /* bytes by generation, COR_PRF_GC_GENERATION */
};

struct events_suspension {
    uint64_t started, stopped; /* ticks; 0: not yet */
    int32_t reason;
};

struct events_managed {
    struct events_managed *next;
    uintptr_t thread_id;
    uint32_t number;
};

enum events_exception_state {
    EXCEPTION_SEARCHING,
    EXCEPTION_FOUND,
    EXCEPTION_LEFT, /* into native code; its finally blocks may still run */
};

struct events_exception {
    uint32_t id;
    uint32_t depth;       /* of the shadow stack at the throw */
    uint32_t finally;     /* its depth while a finally of it runs, else 0 */
    uintptr_t finally_sp; /* SP of the frame whose finally that is; 0: the runtime did not say */
    enum events_exception_state state;
    uint64_t thrown; /* ticks */
};

/* One thread's own. */
struct events_thread {
    struct {
        uintptr_t function;
        uint64_t started;
    } jit[EVENTS_NESTED];
    uint32_t jits; /* compilations under way; those beyond the array are not timed */
    struct events_suspension resuming;
    struct events_exception exception[EVENTS_NESTED];
    uint32_t exceptions;
    uint32_t filter[EVENTS_NESTED]; /* `exceptions` when the filter began */
    uint32_t filters;
    uintptr_t searched; /* FunctionID that the search reported last */
};

struct events {
    struct events_config config;
    pthread_mutex_t lock;   /* guards what follows; the runtime is never called under it */
    struct events_gc gc[8]; /* a background collection has others inside */
    uint32_t gcs;
    uint64_t gc_count;
    struct events_suspension suspension; /* one at a time: the runtime's thread-store lock */
    struct events_managed *managed;
    uint32_t managed_count;
    _Atomic(uint32_t) exception_count;
    struct messages messages;
};

/* An event being made: members are appended, each with a comma before it. */
struct events_draft {
    enum options_family family;
    const char *kind;
    const struct metadata_class *class;
    const struct metadata_method *method;
    bool has_node;
    struct buffer members;
    char room[256]; /* for most */
};

#define EVENTS_DRAFT(name, family_, kind_) \
    { \
        .family = (family_), .kind = (kind_), .has_node = true, .members = BUFFER_ON((name).room) \
    }

static inline bool events_records(const struct events *ev, enum options_family family)
{
    return ev && options_records(ev->config.options, family);
}

void events_seen(struct events *ev, enum options_family family);
void events_lose(struct events *ev, enum options_family family, enum event_lost reason);

/* Post what the draft holds and release its memory; counts it as seen, and as lost if it is. */
void events_post(struct events *ev, struct events_draft *draft);

/* The calling thread's own data, NULL when memory ran out. */
struct events_thread *events_thread(void);

/* The method, or the class, with its text; NULL when the runtime does not know it. */
const struct metadata_method *events_method(struct events *ev, uintptr_t function);
const struct metadata_class *events_class(struct events *ev, uintptr_t class_id);

void events_text(struct events_draft *draft, const char *key, const char *text);
void events_number(struct events_draft *draft, const char *key, uint64_t value);
void events_status(struct events_draft *draft, hresult status); /* nothing for S_OK */

uint64_t events_ns(uint64_t from_ticks, uint64_t to_ticks);

#endif
