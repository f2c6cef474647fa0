/*
 * metadata/metadata.h - FunctionID, ClassID and ModuleID to records, and records to text as a .NET
 * developer writes it. Owns the resolver thread.
 *
 * A record is created once, by the first thread that sees the id (the mapper on a compiling thread,
 * a callback on an allocating one), with module, token and type arguments as plain data. The
 * resolver makes its text later from the module's metadata, to which a reference is kept. The
 * thread itself names what can be unloaded: the resolver never reads metadata that may go away.
 *
 * All of these may run at the same time: *_map, *_get, *_find, *_text, and the resolver.
 */
#ifndef SHADOWTRACE_METADATA_METADATA_H
#define SHADOWTRACE_METADATA_METADATA_H

#include "metadata/record.h"

#include <shadowtrace/clr/info.h>

#include <stdbool.h>

struct metadata;

/* How the runtime compiles, as far as it is known: what decides whether a body is optimised. */
struct metadata_tiers {
    bool tiered;      /* methods are compiled quickly first, and again once they are called often */
    bool quick_loops; /* those with loops, too */
    bool instrumented; /* a second body, unoptimised as well, counts for the third (dynamic PGO) */
    bool precompiled;  /* unprofiled, the runtime would use code compiled ahead of time */
};

struct metadata_config {
    struct metadata_tiers tiers;
    struct clr_info *info; /* the runtime; borrowed, outlives names */
    int info_version;      /* 3 to 15: which interface `info` really is */
    /*
     * Run by the resolver in every round, after new classes were named: work of other folders that
     * asks the runtime or waits for a grace period. Returns: whether it did any (then the next
     * round is soon).
     */
    bool (*poll)(void *context);
    void *context;
    void (*forget)(
        struct metadata_method *method); /* frees its bodies, before it is made another's */
    uintptr_t native_low, native_high;   /* the runtime's image: no method has its code there */
    struct owners *owners; /* tells whose code modules are; NULL: not known; borrowed */
    bool rich_trusted;     /* of rich debug info, offsets of inlined calls are right */
    bool maps_stored;      /* images have maps that can be read (clr/debug_map.h) */
    bool types_by_name;    /* metadata_type_find() is used: metadata of what is unloaded is kept */
    unsigned pause_ms;     /* between rounds while there is work; 0: 50 */
    unsigned idle_ms;      /* at most, after rounds without; 0: 50 */
};

int metadata_new(const struct metadata_config *config, struct metadata **out); /* 0 or -ENOMEM */

/*
 * metadata_free - frees everything, with the records: before metadata_start(), or after
 * metadata_stop() returned true and no thread can meet a record (a failed start, a test).
 */
void metadata_free(struct metadata *metadata);

int metadata_start(
    struct metadata *metadata); /* starts the resolver (by thread_start, named); 0 or -errno */

int metadata_thread(const struct metadata *metadata); /* its gettid(); 0: it does not run yet */
void metadata_hurry(struct metadata *metadata); /* the resolver's next round is now; threads: any */

/*
 * metadata_stop - the resolver begins no more rounds; waits up to timeout_ms for the one under way.
 * Records stay valid. Returns: whether none is under way; one that hangs in the runtime is left
 * alone.
 */
bool metadata_stop(struct metadata *metadata, unsigned timeout_ms);

/*
 * metadata_method_map - the record of a function, made at the first call.
 * Returns: 0, -ENOMEM, or -EINVAL if the runtime does not know the id (see metadata_failures).
 * Owns:    the record, until its function was unloaded and metadata_release() ran.
 * Threads: any. May run: in FunctionIDMapper2 and callbacks, not in a hook; asks the runtime once
 *          per function, later only whether an id that can be unloaded still means the same.
 */
int metadata_method_map(struct metadata *metadata, uintptr_t function_id,
                        struct metadata_method **out);

/*
 * metadata_method_exact - one more record of a shared function: the instantiation that class_id
 * (0: not known) and args[] name. It is named at once; metadata_method_find() does not give it.
 * Returns: as metadata_method_map. Threads: any.
 * May run: in an ELT2 hook, if the modules of all of them were met before.
 */
int metadata_method_exact(struct metadata *metadata, const struct metadata_method *shared,
                          uintptr_t class_id, const uintptr_t *args, uint32_t count,
                          struct metadata_method **out);

/* The newest record of function_id, or NULL. Asks nobody, lock-free. Threads: any. */
struct metadata_method *metadata_method_find(struct metadata *metadata, uintptr_t function_id);

/*
 * metadata_class_get - the same for a ClassID, from an allocation callback. `object` is one of that
 * class, or 0: it tells T[*] from T[] when the class is first met.
 */
int metadata_class_get(struct metadata *metadata, uintptr_t class_id, struct metadata_class **out);
int metadata_class_of(struct metadata *metadata, uintptr_t class_id, uintptr_t object,
                      struct metadata_class **out);

/* The record of a class that was met and is loaded, or NULL. Threads: any. May run: in a hook. */
struct metadata_class *metadata_class_find(struct metadata *metadata, uintptr_t class_id);

/*
 * metadata_module_get - the record of a ModuleID, made at the first call.
 * Returns, threads, may run: as metadata_method_map.
 */
int metadata_module_get(struct metadata *metadata, uintptr_t module_id,
                        struct metadata_module **out);

/*
 * metadata_module_is_others - is a module surely no own code, now and for ever? One without a
 * record gets none. Threads, may run: as metadata_method_map.
 */
bool metadata_module_is_others(struct metadata *metadata, uintptr_t module_id);

/*
 * metadata_module_loaded - from ModuleLoadFinished: whose code it is may be told by a file beside
 * it. Before anything of the module is asked for.
 */
void metadata_module_loaded(struct metadata *metadata, uintptr_t module_id);

/* metadata_module_met - from ModuleLoadFinished, for folders that look for types by name. */
void metadata_module_met(struct metadata *metadata, uintptr_t module_id);

/*
 * metadata_type_find - the definition that a mdTypeRef of `from` means, among the modules met so
 * far: CoreLib's, or that of the only module that has a public type of this name.
 * Returns: its module and *type; NULL if there is not exactly one.
 */
struct metadata_module *metadata_type_find(struct metadata *metadata,
                                           const struct metadata_module *from, uint32_t type_ref,
                                           uint32_t *type);

/*
 * metadata_module_unloaded - from ModuleUnloadFinished: the module's id may be used again, and ids
 * that can be unloaded are checked once more before they are believed. Per-thread caches compare
 * metadata_epoch().
 *
 * The module's metadata is released here: it is by far the most that an unloaded module leaves.
 * Nobody reads it any more: what can be unloaded was named at once, its code is mapped by threads
 * that keep it alive (they compile it, run it or make its objects), others read it as holders only.
 */
void metadata_module_unloaded(struct metadata *metadata, uintptr_t module_id);
uint32_t metadata_epoch(const struct metadata *metadata);
const _Atomic(uint32_t) *
metadata_epoch_word(const struct metadata *metadata); /* where it is kept */

/*
 * What was unloaded becomes other records, by the resolver alone and in this order:
 * metadata_unloaded - whether there may be any.
 * metadata_retire   - takes it off the tables: nobody meets it who did not before. Returns: whether
 *                     there was any; metadata_method_retired(), metadata_class_retired() say what.
 * metadata_held     - whether anybody still holds what it found before (below): wait for it.
 * metadata_release  - nobody has any of it any more: no stack, event, node or holder.
 * Log ids are never given twice. Memory is, for a record of the same kind.
 */
bool metadata_unloaded(struct metadata *metadata);
bool metadata_retire(struct metadata *metadata);
bool metadata_method_retired(const struct metadata_method *method);
bool metadata_class_retired(const struct metadata_class *class);
bool metadata_held(struct metadata *metadata);
void metadata_release(struct metadata *metadata);

/*
 * metadata_release_imports - releases the metadata of what was unloaded while somebody held it. All
 * other goes as it is unloaded. Threads: the resolver.
 */
void metadata_release_imports(struct metadata *metadata);

/* What metadata_release() has given back so far. Threads: any. */
struct metadata_given {
    _Atomic(uint64_t) modules, classes, methods;
};
const struct metadata_given *metadata_given_back(const struct metadata *metadata);

/*
 * metadata_hold - what is found from here on, on stacks of other threads too, stays until
 * metadata_unhold(). Threads: any, nested as often as they like; for less than a second.
 */
void metadata_hold(struct metadata *metadata);
void metadata_unhold(struct metadata *metadata);

/*
 * Records by number: 1, 2, ..., NULL past the last. One that was freed is not `listed`.
 * Classes are resolved by the resolver as they appear.
 */
const struct metadata_class *metadata_class_at(const struct metadata *metadata, uint32_t number,
                                               bool *listed);
const struct metadata_module *metadata_module_at(const struct metadata *metadata, uint32_t number,
                                                 bool *listed);
const struct metadata_method *metadata_method_at(const struct metadata *metadata, uint32_t number,
                                                 bool *listed);

/* Has it the attribute UnmanagedCallersOnly? Asks metadata of what stays. Threads: any. */
bool metadata_method_unmanaged_callers(const struct metadata_method *method);

/* Is it a method of runtime async (miAsync)? Asks the module's metadata. Threads: any. */
bool metadata_method_async(const struct metadata_method *method);

/*
 * metadata_method_awaited - may this be code that the runtime made of a method that returns a Task,
 * for methods of runtime async to await: code that returns a continuation? Also true if it returns
 * a Task or a ValueTask and the runtime does not say which function its token names.
 * Threads: any; mapper and callbacks.
 */
bool metadata_method_awaited(const struct metadata *metadata, const struct metadata_method *method);

/*
 * metadata_method_thunk - is a method of runtime async the form of it that returns a Task or a
 * ValueTask, which .NET 11 compiles under the function that its token names? Threads: mapper.
 */
bool metadata_method_thunk(const struct metadata *metadata, const struct metadata_method *method);

/*
 * metadata_method_pinvoke - is a method implemented by native code? .NET 11 reports its stub as a
 * frame; no runtime compiles it with hooks. Threads: any; mapper and callbacks.
 */
bool metadata_method_pinvoke(const struct metadata_method *method);

/* Text, or NULL when nobody has resolved it yet. Threads: any. */
const char *metadata_method_text(const struct metadata_method *method);
const char *metadata_class_text(const struct metadata_class *class);

/*
 * metadata_method_resolve, metadata_class_resolve - make the text now. Idempotent; without memory
 * or metadata it is "?method 0x06000001" with the token: a reader of the log always finds one.
 * Threads: any that may call the runtime's metadata: the resolver; a callback for what is
 *          collectible.
 */
const char *metadata_method_resolve(struct metadata *metadata, struct metadata_method *method);
const char *metadata_class_resolve(struct metadata *metadata, struct metadata_class *class);

/* How often the runtime refused to say what an id is, and what it said last. Threads: any. */
uint64_t metadata_failures(const struct metadata *metadata, hresult *last);

/*
 * metadata_progress - how many places in code the resolver has resolved: as long as this grows,
 * what waits for one is worth waiting for. metadata_progressed: one more. Threads: any; the
 * resolver.
 */
uint64_t metadata_progress(const struct metadata *metadata);
void metadata_progressed(struct metadata *metadata);

#endif
