/*
 * metadata/metadata.h - FunctionID, ClassID and ModuleID to records, and records to text as a .NET developer writes it. Owns the resolver thread.
 *
 * A record is made once, by whoever meets the id first (the mapper on a compiling thread, a callback on an allocating
 * one): module, token and type arguments are stored as plain data then. Its text is made later, by the resolver, from
 * the module's metadata, of which a reference is kept. What can be unloaded (a collectible module, or an instantiation
 * over one) is named at once by the thread that met it, so the resolver never reads what may go away.
 *
 *                                | metadata_method_map metadata_class_get | metadata_*_find | *_text, *_site_*   | resolver
 *   any of these at the same time | safe                            | safe         | safe               | safe
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
     * Run by the resolver on every round, after it has resolved the new classes: the work of other folders that has
     * to ask the runtime, or wait for a grace period. Returns whether it did anything (then the next round is soon).
     */
    bool (*poll)(void *context);
    void *context;
    void (*forget)(
        struct metadata_method *method); /* frees its bodies, before it is made another's */
    bool
        types_by_name; /* metadata_type_find() will be asked: metadata of what is unloaded is kept */
    unsigned pause_ms; /* between rounds while there is work; 0: 2 */
};

int metadata_new(const struct metadata_config *config, struct metadata **out); /* 0 or -ENOMEM */

/*
 * metadata_free - give back everything, the records too. Only before metadata_start() or after metadata_stop() returned true,
 * and when no thread can meet a record any more: a start that failed, a test.
 */
void metadata_free(struct metadata *metadata);

int metadata_start(
    struct metadata *metadata); /* starts the resolver (all signals blocked, named); 0 or -errno */

void metadata_hurry(struct metadata *metadata); /* the resolver's next round is now; threads: any */

/*
 * metadata_stop - the resolver begins no more rounds; one under way is waited for, for at most timeout_ms. What is open
 * stays open. Returns: whether none is under way; a resolver that hangs in the runtime is left alone. Records stay
 * valid for the life of the process.
 */
bool metadata_stop(struct metadata *metadata, unsigned timeout_ms);

/*
 * metadata_method_map - the record of a function, made at the first call.
 * Returns: 0, -ENOMEM, or -EINVAL when the runtime does not know the id (both counted in metadata_failures).
 * Owns:    names; a record lives until what it is of was unloaded, and metadata_release().
 * Threads: any. May run: in FunctionIDMapper2 and in callbacks; asks the runtime once per function, and on later
 *          calls only to see whether a function id that can be unloaded still means the same. Not in a hook.
 */
int metadata_method_map(struct metadata *metadata, uintptr_t function_id,
                        struct metadata_method **out);

/*
 * metadata_method_exact - one more record of a shared function: the instantiation that class_id (0: not known) and args[]
 * name. It is named at once, and not what metadata_method_find gives.
 * Returns: 0, -ENOMEM, or -EINVAL as metadata_method_map. Threads: any. May run: in an ELT2 hook, as long as the modules
 *          of all of them were met before.
 */
int metadata_method_exact(struct metadata *metadata, const struct metadata_method *shared,
                          uintptr_t class_id, const uintptr_t *args, uint32_t count,
                          struct metadata_method **out);

/* The newest record of function_id, or NULL. Asks nobody, lock-free. Threads: any. */
struct metadata_method *metadata_method_find(struct metadata *metadata, uintptr_t function_id);

/*
 * metadata_class_get - the same for a ClassID, from an allocation callback. `object` is one of that class, or 0: only an
 * object tells T[*] from T[], and only the first time that its class is met.
 */
int metadata_class_get(struct metadata *metadata, uintptr_t class_id, struct metadata_class **out);
int metadata_class_of(struct metadata *metadata, uintptr_t class_id, uintptr_t object,
                      struct metadata_class **out);

/* The record of class_id if it was met and is still loaded, or NULL. Asks nobody. Threads: any. May run: in a hook. */
struct metadata_class *metadata_class_find(struct metadata *metadata, uintptr_t class_id);

/*
 * metadata_module_get - the record of a ModuleID, made at the first call.
 * Returns: 0, -ENOMEM, or -EINVAL as metadata_method_map. Threads: any. May run: as metadata_method_map.
 */
int metadata_module_get(struct metadata *metadata, uintptr_t module_id,
                        struct metadata_module **out);

/* metadata_module_met - a module was loaded: from ModuleLoadFinished, for folders that look for types by name. */
void metadata_module_met(struct metadata *metadata, uintptr_t module_id);

/*
 * metadata_type_find - the definition that a mdTypeRef of `from` means, among the modules met so far: CoreLib's first,
 * then that of the only module that has a public type of this name.
 * Returns: its module and *type; NULL when there is none, or more than one.
 */
struct metadata_module *metadata_type_find(struct metadata *metadata,
                                           const struct metadata_module *from, uint32_t type_ref,
                                           uint32_t *type);

/*
 * metadata_module_unloaded - a module went, from ModuleUnloadFinished: its id may be used again, and ids of an older
 * epoch that can be unloaded are checked again before they are believed. Per-thread caches compare metadata_epoch().
 *
 * Its metadata is given back here, for it is by far the most that an unloaded module leaves, and no thread of ours need get
 * to run for it. Nobody reads it any more: what can be unloaded is described and named, its code is mapped by threads that
 * keep it alive meanwhile (they compile it, run it or make its objects), and other threads read it as holders only.
 */
void metadata_module_unloaded(struct metadata *metadata, uintptr_t module_id);
uint32_t metadata_epoch(const struct metadata *metadata);
const _Atomic(uint32_t) *
metadata_epoch_word(const struct metadata *metadata); /* where it is kept */

/*
 * What was unloaded is given back, to be made other records, by the resolver alone and in this order:
 * metadata_retire   - takes what was unloaded off the tables. From here on nobody meets it any more who did not before.
 *                  Returns: whether there was anything; metadata_method_retired() and metadata_class_retired() then say what.
 * metadata_held     - whether anybody goes on with what it found before (below): waited for.
 * metadata_release  - nobody has any of it any more: no stack, no event, no node, nobody who holds.
 * Log ids are never given twice, memory is: it is and remains that of a record of its kind.
 */
bool metadata_retire(struct metadata *metadata);
bool metadata_method_retired(const struct metadata_method *method);
bool metadata_class_retired(const struct metadata_class *class);
bool metadata_held(struct metadata *metadata);
void metadata_release(struct metadata *metadata);

/*
 * metadata_release_imports - gives back the metadata of what was unloaded while somebody held. All other goes as it is
 * unloaded. Threads: the resolver.
 */
void metadata_release_imports(struct metadata *metadata);

/* What metadata_release() has given back so far. Threads: any. */
struct metadata_given {
    _Atomic(uint64_t) modules, classes, methods;
};
const struct metadata_given *metadata_given_back(const struct metadata *metadata);

/*
 * metadata_hold - what is found from here on, on stacks of other threads too, is not given back before metadata_unhold().
 * Threads: any, as often as they like; for less than a second.
 */
void metadata_hold(struct metadata *metadata);
void metadata_unhold(struct metadata *metadata);

/*
 * Records by number: 1, 2, ..., NULL past the last. One that was given back is not `listed`: skip it.
 * Classes are resolved by the resolver as they appear.
 */
const struct metadata_class *metadata_class_at(const struct metadata *metadata, uint32_t number,
                                               bool *listed);
const struct metadata_module *metadata_module_at(const struct metadata *metadata, uint32_t number,
                                                 bool *listed);
const struct metadata_method *metadata_method_at(const struct metadata *metadata, uint32_t number,
                                                 bool *listed);

/* Is it for unmanaged callers only (the attribute of that name)? Asks metadata of what stays. Threads: any. */
bool metadata_method_unmanaged_callers(const struct metadata_method *method);

/* Is it a method of runtime async (miAsync)? Asks the module's metadata. Threads: any. */
bool metadata_method_async(const struct metadata_method *method);

/*
 * metadata_method_awaited - may this be code that the runtime made of a method that returns a Task, for methods of runtime
 * async to await: code that returns a continuation? Right for a method that is not generic, neither it nor its type; of
 * generic ones it is said of every method that returns a Task or a ValueTask, since there it cannot be told.
 * Threads: any; mapper and callbacks.
 */
bool metadata_method_awaited(const struct metadata *metadata, const struct metadata_method *method);

/* Text, or NULL when nobody has resolved it yet. Threads: any. */
const char *metadata_method_text(const struct metadata_method *method);
const char *metadata_class_text(const struct metadata_class *class);

/*
 * metadata_method_resolve, metadata_class_resolve - make the text now. Idempotent; when memory or metadata fail the text
 * is "?method 0x06000001" with the token, so that a reader of the log always finds one.
 * Threads: any that may call the runtime's metadata: the resolver; a callback for what is collectible.
 */
const char *metadata_method_resolve(struct metadata *metadata, struct metadata_method *method);
const char *metadata_class_resolve(struct metadata *metadata, struct metadata_class *class);

/* How often the runtime refused to say what an id is, and what it said last. Threads: any. */
uint64_t metadata_failures(const struct metadata *metadata, hresult *last);

#endif
