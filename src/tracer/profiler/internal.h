/*
 * profiler/internal.h - the profiler: what its files share. There is one in a process, as the
 * runtime has it.
 *
 *     object.c     what the runtime holds: IUnknown, the callbacks, the class factory
 *     profiler.c   initialize and shutdown
 *     attach.c     the same in a process that runs already, and leaving it
 *     wire.c       makes the rooms and hands each what it needs
 *     rounds.c     what the resolver does each round; reclaim.c and unframed.c are parts of it
 *     budget.c     --budget
 *     registers.c  are the hooks' registers as expected
 *     complete.c   a shadow stack as a callback is to see it
 *     serve.c      what the control socket asks
 */
#ifndef SHADOWTRACE_PROFILER_INTERNAL_H
#define SHADOWTRACE_PROFILER_INTERNAL_H

#include "alloc/alloc.h"
#include "check/check.h"
#include "check/threads.h"
#include "clr/guard.h"
#include "code/resolve.h"
#include "collect/collect.h"
#include "control/control.h"
#include "events/events.h"
#include "events/pinned.h"
#include "events/unhandled.h"
#include "fields/fields.h"
#include "heap/heap.h"
#include "log/log.h"
#include "options/options.h"
#include "owner/owner.h"
#include "profiler/process.h"
#include "rich/rich.h"
#include "sampler/sampler.h"
#include "samples/samples.h"
#include "select/corelib.h"
#include "select/selection.h"
#include "thread/names.h"
#include "walk/walk.h"

#include <shadowtrace/clr/callback.h>

struct profiler {
    struct clr_callback base; /* what the runtime holds; idle until initialize went all the way */
    _Atomic(uint32_t) references;
    _Atomic(bool) asked;         /* to initialize */
    bool recording;              /* initialize went all the way */
    _Atomic(bool) leaving, left; /* it is to be detached; the recording has ended for it */
    _Atomic(bool) complete;      /* attached: the runtime can detach it */
    bool attached;               /* to a process that was running; see attach.h */
    /*
     * Ends the recording and detaches, on a separate thread. NULL: loaded at the start.
     * Returns: 0; -EALREADY; -errno: no thread could be started. Threads: any.
     */
    int (*leave)(struct profiler *p);
    _Atomic(bool) stopped;
    struct options options;
    struct process process;
    struct clr_runtime runtime;
    struct clr_guard guard;
    _Atomic(uint32_t) proven; /* Enter hooks whose registers are as expected; see registers.h */
    struct owners *owners;
    struct metadata *metadata;
    struct tree *tree;
    struct tree_sites *sites;
    struct code_resolver resolver; /* the resolver's */
    struct event_hub hub;
    struct agreement agreement;
    struct check *check;
    struct walk *walk;                   /* NULL: nothing is walked */
    struct check_threads *check_threads; /* NULL: no --check-threads */
    struct alloc *alloc;
    struct session session;
    struct rich rich;
    bool has_rich;             /* its session is to be started */
    struct live *live;         /* NULL: no --live */
    struct heap *heap;         /* NULL: no --live, or that is estimated */
    struct samples *samples;   /* NULL: the runtime samples nothing for us */
    _Atomic(uint32_t) modules; /* loaded, as long as they are few */
    _Atomic(bool) describes;   /* modules as they are loaded, for samples */
    struct {
        uintptr_t *id; /* of modules whose load the runtime has reported as finished */
        size_t count, capacity;
        _Atomic(uintptr_t) asked; /* the one that modules_describe() asks about; 0: none */
    } loaded;                     /* modules.c */
    struct alive *alive;          /* NULL: what is alive is not estimated */
    struct events *events;        /* NULL: nothing but allocations is recorded */
    struct unhandled *unhandled;  /* NULL: it was attached to; see wire.c */
    struct log *log;
    struct control *control;
    struct collect *collect;
    struct graph *graph;  /* of its dumps */
    struct fields fields; /* and their names of fields */
    struct graph_names field_names;
    _Atomic(bool) started; /* all tracer threads */
    struct profile profile;
    struct sampler *sampler;      /* NULL: no --profile */
    struct check_threads *walker; /* its snapshots; NULL: no --profile-snapshot */
    char uncontrolled[256];       /* why there is no control socket although it was wanted */
    struct thread_names thread_names;
    struct selection selection;
    struct corelib corelib;
    _Atomic(uint32_t) collections; /* begun: every thread has been outside of an allocation since */
};

extern struct profiler profiler;

#endif
