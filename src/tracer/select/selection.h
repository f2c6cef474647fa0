/*
 * select/selection.h - which methods are hooked, and --only: hooking a few while precompiled code
 * stays usable.
 *
 * COR_PRF_MONITOR_ENTERLEAVE makes the runtime reject a module's precompiled code when the module
 * is loaded. With
 * --only the flag is down while any module is being loaded, and up otherwise. Precompiled code of a
 * wanted method is refused one by one (JITCachedFunctionSearchStarted), so that it is compiled, and
 * hooked by the mapper. While such a method is compiled the flag is up, until the mapper's call. A
 * module that another thread loads then may lose its precompiled code, which costs time; a method
 * without hooks would make stacks wrong. Should one be compiled without hooks anyway, it is
 * counted, and the resolver has it compiled again.
 */
#ifndef SHADOWTRACE_SELECT_SELECTION_H
#define SHADOWTRACE_SELECT_SELECTION_H

#include "clr/runtime.h"
#include "clr/guard.h"
#include "metadata/metadata.h"
#include "options/options.h"

#include <pthread.h>

#define SELECTION_TYPES  4096 /* a power of two */
#define SELECTION_OTHERS 64   /* a power of two */

struct selection {
    struct clr_info *info; /* borrowed, as is all below */
    struct metadata *metadata;
    const struct options *options;
    bool keeps_precompiled;               /* --only, --own: the flag goes up and down */
    const struct options_patterns *named; /* what is hooked by its name: of --only, or --own-code */
    /* ELT2 on .NET 8 and 9: methods for unmanaged callers are not hooked: the runtime's wrapper
     * crashes when a native thread enters through one, with empty hooks too. */
    bool spares_unmanaged_callers;
    /* ELT2 from .NET 10 on: the wrapper loses the register in which a method of runtime async
     * returns its continuation. Under any hooks, unoptimised code of CoreLib's that suspends what
     * awaits (metadata_method.suspends) would go on instead: its suspending return is merged with
     * others. */
    bool spares_async;
    /* Own methods are not inlined into dynamic methods, of which the runtime keeps no map: there
     * they would have no frame and no line. */
    bool keeps_calls;
    bool has_async; /* from .NET 10 on */
    bool begins;    /* what an async method waits in keeps where it was begun: see alloc_begun() */
    bool spares_thunks;   /* .NET 11: forms of runtime-async methods that return a Task */
    bool corelib_without; /* .NET 10: CoreLib has none but metadata_method.suspends */
    _Atomic(bool)
        async; /* a method of runtime async was compiled, or such code may be precompiled */
    _Atomic(uint64_t) spared; /* methods left without hooks for such a reason */
    pthread_mutex_t lock; /* guards what follows; held for list work and for changing the flag */
    unsigned loading;     /* modules being loaded */
    unsigned wanted;      /* methods to be hooked for which the mapper is to be called yet */
    bool up;              /* the flag */
    struct selection_missed *missed; /* compiled without hooks: to be compiled again */
    _Atomic(uint64_t) missed_count;
    _Atomic(uint64_t) types[SELECTION_TYPES];    /* what is known of types; see type_may_match() */
    _Atomic(uintptr_t) others[SELECTION_OTHERS]; /* modules that are others', and stay loaded */
};

void selection_init(struct selection *s, const struct clr_runtime *runtime,
                    struct metadata *metadata, const struct options *options,
                    struct clr_guard *guard);

/* Where a function is defined. */
struct selection_definition {
    uintptr_t module_id;
    uintptr_t class_id; /* 0: not known here */
    uint32_t token;     /* mdMethodDef */
};

/* Returns false when the runtime does not say. Threads: any; mapper and callbacks. */
bool selection_define(const struct selection *s, uintptr_t function_id,
                      struct selection_definition *out);

/*
 * May this function be one to hook? Its module tells of --own; the namespace and the name of its
 * outermost type of most that --only and --own-code do not name: without a record, or a text.
 * Threads: any; mapper and callbacks.
 */
bool selection_may_want(struct selection *s, const struct selection_definition *function);

/* Is this method to be hooked? Makes its name if a pattern asks. Threads: any; mapper and
 * callbacks. */
bool selection_wants(struct selection *s, struct metadata_method *method);

/* May this method, which is to be hooked, return without a Leave (metadata_method.continues)?
 * Threads: as above. */
bool selection_continues(struct selection *s, const struct metadata_method *method);

void selection_load_started(struct selection *s);
void selection_load_finished(struct selection *s);

/* Around a compilation, on its thread: notes whether the mapper was asked in between. */
void selection_compile_started(struct selection *s, uintptr_t function_id);
void selection_mapped(struct selection *s);
void selection_compile_finished(struct selection *s, uintptr_t function_id);

/* Around the compilation of a dynamic method, on its thread. */
void selection_dynamic_started(void);
void selection_dynamic_finished(void);

/* May this function be inlined into what the thread compiles? */
bool selection_may_inline(const struct selection *s, uintptr_t function_id);

/* Have missed methods compiled again. Returns: whether there were any. Threads: the resolver. */
bool selection_patch(struct selection *s);

#endif
