/*
 * rich/rich.h - the JIT's rich debug info of own code: which statement of which method, inlined
 * ones too, a piece of native code belongs to. Of other code it is kept where an own method was
 * inlined, which is rare. The JIT makes it only if DOTNET_RichDebugInfo=1 was set as the process
 * began; the runtime then leaks what the JIT reports (shadowtrace-limits(7)). .NET 8 to 10 keep it
 * where it can be read: stored.h. A later one sends it as an event for each body, and only to an
 * EventPipe session with the verbose events of the JIT: so the session is a separate one.
 */
#ifndef SHADOWTRACE_RICH_RICH_H
#define SHADOWTRACE_RICH_RICH_H

#include "clr/runtime.h"
#include "metadata/metadata.h"
#include "rich/stored.h"

#include <pthread.h>

#define RICH_VARIABLE "DOTNET_RichDebugInfo"
#define RICH_NONE     UINT32_MAX

/* A method in a body: node 0 is the one that was compiled, the others were inlined. */
struct rich_node {
    uintptr_t function; /* FunctionID */
    uint32_t parent;    /* node; RICH_NONE: of node 0, or .NET 8 did not say */
    uint32_t il; /* of the call in the parent; of some runtimes it is garbage: rich_trusted */
};

/* From `native` on, the code is of the statement at `il` of a node's method. */
struct rich_map {
    uint32_t native, node, il;
};

/* By which call a node was inlined, as code/ keeps it: any number; 0: nothing is kept. */
typedef _Atomic(uint32_t) rich_call;

/*
 * The code at [start, start + size). Immutable once listed; it ends with the method's record. Of
 * one in which nothing is inlined that matters, only that is kept: `nodes` is 1, without any here.
 */
struct rich_body {
    struct rich_body *next;
    uintptr_t start;
    uint32_t size, nodes, maps;
    uint32_t epoch;             /* metadata_epoch() before it was read */
    bool settled;               /* it is the pool's */
    _Atomic(uint32_t *) parent; /* of nodes, as found later: rich_parents(); NULL: their own */
    _Atomic(rich_call *) call;  /* of nodes: rich_calls(); NULL: not needed yet */
    struct rich_map *map;       /* by native; behind the nodes */
    struct rich_node node[];
};

/* Where a body's code is. */
struct rich_code {
    uintptr_t start;
    uint32_t size;
};

/* What is kept, and bodies of which it is not known what was inlined, by reason. */
enum rich_lost { RICH_DAMAGED, RICH_NO_MEMORY, RICH_LATE, RICH_LOST_REASONS };
struct rich_counts {
    _Atomic(uint64_t) bodies, bytes;
    _Atomic(uint64_t) hosts; /* of the bodies: those of other code with own methods */
    _Atomic(uint64_t) lost[RICH_LOST_REASONS];
    _Atomic(uint64_t) awaited;                  /* bodies that ran before their info was there */
    _Atomic(uint64_t) left_out, left_out_bytes; /* objects that are not recorded: rich_caused() */
};
const char *rich_lost_name(enum rich_lost reason); /* in the log */

/* What is being told on a thread: the last body that it compiled, and chunks of its info. */
struct rich_load {
    pthread_t thread;
    uintptr_t function; /* 0: the slot is free */
    uintptr_t start;
    uint32_t size;
    bool own;      /* it may be own code */
    uint64_t used; /* when, for the one to give up */
    bool lost;     /* the rest is of no use */
    uint8_t *data; /* chunks so far; NULL: none */
    size_t data_size;
};
#define RICH_LOADS 64 /* threads that compile at the same time */

#define RICH_KNOWN_BITS 11 /* of what is known to be of no use, by hash */

struct rich {
    struct metadata *metadata;
    const struct clr_runtime *runtime;
    uint64_t session;
    bool stored; /* it is read where this runtime keeps it: rich/stored.h; no session */
    _Atomic(bool) running;
    char why_not[160]; /* there is no session although it was wanted; "": there is, or none was */
    _Atomic(uintptr_t) provider, private_provider; /* handles of both, once met */
    _Atomic(bool) causing; /* CoreLib answers the session, on `causing_on`; see rich_caused */
    pthread_t causing_on;
    bool caused;          /* it has; that thread's */
    pthread_mutex_t lock; /* of loads */
    struct rich_load load[RICH_LOADS];
    uint64_t uses;
    _Atomic(uintptr_t) others[1 << RICH_KNOWN_BITS]; /* functions that are no own code */
    _Atomic(uintptr_t) plain[1 << RICH_KNOWN_BITS];  /* code that holds nothing own: its start */
    struct rich_pages pages;
    struct rich_counts counts;
};

/*
 * rich_init - with metadata's methods.
 * Returns: whether the runtime says what was inlined; else rich->why_not says why not.
 */
bool rich_init(struct rich *rich, struct metadata *metadata, const struct clr_runtime *runtime);

/* rich_start - the session; if it fails, rich->why_not says why. Threads: initialize. */
void rich_start(struct rich *rich);

/*
 * rich_delivered - EventPipeEventDelivered. Returns: whether the event is of the session's private
 * provider, which nobody else listens to. Threads: any that compiles.
 */
bool rich_delivered(struct rich *rich, uintptr_t provider, uint32_t id, const uint8_t *data,
                    uint32_t size);

/*
 * rich_provider_created - EventPipeProviderCreated. rich_caused - is what the calling thread
 * allocates the session's doing? CoreLib's own source of the runtime's events, which the runtime
 * makes as it starts, describes all of them, in some 7,800 objects, because a session listens. That
 * happens between its provider and the next one of the thread. Threads: any; on the hot path.
 */
void rich_provider_created(struct rich *rich, uintptr_t provider);
static inline bool rich_caused(const struct rich *rich)
{
    return UNLIKELY(load_acquire(&rich->causing)) &&
           pthread_equal(rich->causing_on, pthread_self());
}

void rich_leave_out(struct rich *rich, uintptr_t object); /* counts one of them */

/*
 * rich_body_find - what is known of a method's body. It is read where the runtime keeps it, or the
 * session's event has brought it. Code may run on another thread before its event comes: while the
 * method is being compiled, it is waited for, a bounded time.
 * Returns: NULL: none, as of what was compiled ahead of time; *lost: or nobody knows.
 * Threads: the resolver, and callbacks about code that goes, which has none.
 */
const struct rich_body *rich_body_find(struct metadata *metadata,
                                       const struct metadata_method *method,
                                       const struct rich_code *code, bool *lost);

/*
 * rich_host - of other code, which need have no hooks: the body at an address, if own methods are
 * inlined there. Returns: its method, and *code; NULL: none, or not known.
 * Threads: any, in a callback; the address's code has to stay.
 */
struct metadata_method *rich_host(struct metadata *metadata, uintptr_t function, uintptr_t rejit,
                                  uintptr_t ip, struct rich_code *code);

/* rich_bodies_free - those of a method that is forgotten. */
void rich_bodies_free(struct metadata_method *method);

/*
 * rich_parents - what nodes were inlined into, where .NET 8 did not say it and somebody found it:
 * takes the array, one for each node. Returns: the array that is kept; it ends with the body.
 * Threads: any; the first one's is kept.
 */
const uint32_t *rich_parents(const struct rich_body *body, uint32_t *parent);

/* rich_calls - the body's, one for each node; NULL: no memory. Threads: any. */
rich_call *rich_calls(const struct rich_body *body);

/* rich_body_read - one from an event's payload. NULL: damaged, or no memory (*refused false). */
struct rich_body *rich_body_read(const uint8_t *data, size_t size, bool *refused);

/* Are the IL offsets of nodes right? 10 and 11 leave them uninitialised. */
static inline bool rich_trusted(unsigned major)
{
    return major < 10;
}

#endif
