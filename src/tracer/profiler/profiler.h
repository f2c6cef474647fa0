/*
 * profiler/profiler.h - the callback object: reads the options, wires the folders together, starts and stops them.
 * Does no work itself: each callback is one line that hands it to the folder that owns the fact.
 */
#ifndef SHADOWTRACE_PROFILER_PROFILER_H
#define SHADOWTRACE_PROFILER_PROFILER_H

#include "alloc/alloc.h"
#include "check/check.h"
#include "check/threads.h"
#include "code/resolve.h"
#include "hooks/calls.h"
#include "events/events.h"
#include "control/control.h"
#include "sampler/sampler.h"
#include "log/log.h"
#include "metadata/metadata.h"
#include "options/options.h"
#include "select/corelib.h"
#include "profiler/process.h"
#include "profiler/reclaim.h"
#include "select/selection.h"
#include "thread/names.h"
#include "profiler/unframed.h"
#include "values/values.h"

#include <shadowtrace/clr/callback.h>

struct profiler {
    struct clr_callback base; /* what the runtime holds; idle until initialize() went all the way */
    _Atomic(uint32_t) references;
    _Atomic(bool) asked; /* to initialize() */
    bool recording;      /* initialize() went all the way */
    _Atomic(bool) stopped;
    struct options options;
    struct process process;
    struct clr_info *info;
    int info_version;
    char runtime[64];
    bool unverified;
    bool before_10; /* .NET 8 or 9 */
    bool begins;    /* what an async method waits in keeps where it was begun */
    bool elt2;
    bool values; /* --args or --returns */
    struct metadata *metadata;
    struct tree *tree;
    struct tree_sites *sites;
    struct code_resolver resolver;
    struct event_hub hub;
    struct agreement agreement;
    struct check *check;
    struct check_threads *check_threads; /* NULL: not asked for */
    struct alloc *alloc;
    struct events *events; /* NULL: nothing but allocations is recorded */
    struct log *log;
    struct control *control;
    _Atomic(bool) started; /* all threads that have to be there are */
    bool served;           /* its socket; the resolver's */
    struct profile profile;
    struct sampler *sampler;      /* NULL: no --profile */
    struct check_threads *walker; /* its snapshots; NULL: not asked for */
    char uncontrolled[256];       /* why there is no control socket although it was wanted */
    struct thread_names thread_names;
    struct selection selection;
    struct corelib corelib;
    struct unframed unframed;
    struct reclaim reclaim;        /* the resolver's */
    _Atomic(uint32_t) collections; /* begun: every thread has been outside of an allocation since */
    uint64_t rested_ns;            /* the resolver's: when it last gave back pages of metadata */
};

extern struct profiler profiler; /* one in a process, as the runtime has it */
extern const struct clr_callback_vtbl profiler_vtbl;

/* What the object starts with: IUnknown and Initialize; each further slot does nothing, and says S_OK. */
const struct clr_callback_vtbl *profiler_vtbl_idle(void);

hresult profiler_initialize(struct profiler *p, struct clr_unknown *info);
/*
 * In a callback that shows or changes the stack: the frame that a hook has not told of yet, or told of too early. That
 * is so where an abort is thrown inside the runtime's wrapper of ELT2 hooks: on .NET 8 and 9. And frames that no hook will tell
 * of: of suspended methods (stack_drop_suspended).
 */
void profiler_complete_stack(struct profiler *p);
bool profiler_use_precompiled(struct profiler *p, uintptr_t function_id);
void profiler_shutdown(struct profiler *p);

/* What the runtime calls first. The one exported symbol. */
hresult DllGetClassObject(const struct clr_guid *clsid, const struct clr_guid *iid, void **out);

static inline struct profiler *profiler_of(struct clr_callback *self)
{
    return container_of(self, struct profiler, base);
}

#endif
