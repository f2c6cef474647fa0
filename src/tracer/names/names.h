/*
 * names/names.h - FunctionID, ClassID and ModuleID to records, and records to text as a .NET developer writes it. Owns the resolver thread.
 *
 * A record is made once, by whoever meets the id first (the mapper on a compiling thread, a callback on an allocating
 * one): module, token and type arguments are stored as plain data then. Its text is made later, by the resolver, from
 * the module's metadata, of which a reference is kept. What can be unloaded (a collectible module, or an instantiation
 * over one) is named at once by the thread that met it, so the resolver never reads what may go away.
 *
 *                                | names_method_map names_class_get | names_*_find | *_text, *_site_*   | resolver
 *   any of these at the same time | safe                            | safe         | safe               | safe
 */
#ifndef SHADOWTRACE_NAMES_NAMES_H
#define SHADOWTRACE_NAMES_NAMES_H

#include "base/atomics.h"

#include <shadowtrace/clr/info.h>

#include <stdbool.h>

struct names;

struct names_module {
    uint32_t id; /* in the log; 1, 2, ... */
    uintptr_t module_id;
    bool collectible;            /* COR_PRF_MODULE_COLLECTIBLE: may be unloaded */
    bool corelib;                /* System.Private.CoreLib */
    struct clr_metadata *import; /* one reference; NULL: none was to be had, or it was unloaded */
    char *name, *path;           /* assembly's simple name, and its file; UTF-8; path may be "" */
    char mvid[37]; /* module version id, which every build has its own of, as text; "" not known */
    uint32_t written; /* as of a class */
};

/* A type: a definition with type arguments, or an array of one. Immutable but for the atomics. */
struct names_class {
    uint32_t id;    /* in the log; 1, 2, ... */
    uint32_t token; /* mdTypeDef; 0 for an array */
    uintptr_t class_id;
    struct names_module *module; /* NULL: not known */
    struct names_class *element; /* of an array; else NULL */
    uint32_t rank;               /* of an array: 1 is T[] */
    bool bounded;                /* of an array of rank 1: T[*], it may have a lower bound */
    uint32_t args;               /* number of type arguments */
    uint32_t written; /* the writer's own: the part of the log that has its line; 0: none yet */
    struct names_class *
        *arg;   /* an entry is NULL where the runtime does not say (shared canonical code) */
    bool canon; /* System.__Canon: stands for any reference type in shared code */
    bool variable_size; /* array or string: objects differ in size */
    bool collectible;
    _Atomic(uint32_t)
        fixed_bytes; /* object size rounded up to 8, learned at the first object; 0 not yet */
    _Atomic(uint32_t) epoch;  /* of the last check that class_id still means this */
    _Atomic(uint8_t) verdict; /* the folder above's own: 0 none yet (is the type to be recorded?) */
    _Atomic(uint8_t) waits;   /* enum names_waits (names/machine.h), once somebody asked */
    _Atomic(const void *)
        layout;                 /* the same: how its values lie in memory; NULL: nobody asked yet */
    _Atomic(const char *) text; /* NULL until resolved; freed with the record */
};

/*
 * A method: the client id of its hooks. function_id is first: lower folders read it as an opaque word (stack.h).
 * The same function has the same record in every tier; a reused FunctionID gets a new record.
 */
struct names_method {
    uintptr_t function_id;
    uint32_t id;                 /* in the log; 1, 2, ... */
    uint32_t token;              /* mdMethodDef */
    struct names_module *module; /* NULL: not known */
    struct names_class
        *owner;       /* declaring type with its arguments, NULL where the runtime does not say */
    uint32_t args;    /* number of the method's own type arguments */
    uint32_t written; /* as of a class */
    struct names_class **arg; /* entries may be NULL, as above */
    bool collectible;
    bool hidden; /* of one of the three types of CoreLib that the snapshot hides: never hook it */
    bool unmanaged_callers; /* names_method_unmanaged_callers(), if it may be unloaded */
    bool suspends;          /* of CoreLib's AsyncHelpers: suspends what awaits, by runtime async */
    bool hooked;            /* what the mapper answered */
    bool
        continues; /* runtime async: returns a continuation, and where it suspends, without a Leave */
    _Atomic(bool)
        spared; /* left without hooks because with them the runtime fails (select/selection.h) */
    bool machine_asked; /* the two after it are known; the mapper's */
    uint32_t machine;   /* names/machine.h: mdTypeDef of the machine whose MoveNext it is; else 0 */
    _Atomic(uint32_t) machine_at;
    uint8_t continued;          /* enum names_continued (names/machine.h); the mapper's */
    bool traced;                /* its calls are events (--events calls); the mapper's */
    _Atomic(uint32_t) compiled; /* how often the JIT made code of it, if that is recorded */
    bool shared; /* code for more than one instantiation: owner and arguments say only part of it */
    _Atomic(void *)
        plan; /* the folder above's own: how its arguments are read; NULL: they are not */
    _Atomic(uint64_t)
        verdict; /* the folder above's own: 0 none yet (are its allocations to be recorded?) */
    _Atomic(const char *) text; /* NULL until resolved; freed with the record */
    _Atomic(struct names_body *)
        bodies; /* native code of this method so far known, newest first; resolver's */
};

/* How the runtime compiles, as far as it is known: what decides whether a body is optimised. */
struct names_tiers {
    bool tiered;      /* methods are compiled quickly first, and again once they are called often */
    bool quick_loops; /* those with loops, too */
    bool instrumented; /* a second body, unoptimised as well, counts for the third (dynamic PGO) */
    bool precompiled;  /* unprofiled, the runtime would use code compiled ahead of time */
};

struct names_config {
    struct names_tiers tiers;
    struct clr_info *info; /* the runtime; borrowed, outlives names */
    int info_version;      /* 3 to 15: which interface `info` really is */
    /*
     * Run by the resolver on every round, after it has resolved the new classes: the work of other folders that has
     * to ask the runtime, or wait for a grace period. Returns whether it did anything (then the next round is soon).
     */
    bool (*poll)(void *context);
    void *context;
    bool types_by_name; /* names_type_find() will be asked: metadata of what is unloaded is kept */
    unsigned pause_ms;  /* between rounds while there is work; 0: 2 */
};

int names_new(const struct names_config *config, struct names **out); /* 0 or -ENOMEM */

/*
 * names_free - give back everything, the records too. Only before names_start() or after names_stop() returned true,
 * and when no thread can meet a record any more: a start that failed, a test.
 */
void names_free(struct names *names);

int names_start(
    struct names *names); /* starts the resolver (all signals blocked, named); 0 or -errno */

void names_hurry(struct names *names); /* the resolver's next round is now; threads: any */

/*
 * names_stop - the resolver begins no more rounds; one under way is waited for, for at most timeout_ms. What is open
 * stays open. Returns: whether none is under way; a resolver that hangs in the runtime is left alone. Records stay
 * valid for the life of the process.
 */
bool names_stop(struct names *names, unsigned timeout_ms);

/*
 * names_method_map - the record of a function, made at the first call.
 * Returns: 0, -ENOMEM, or -EINVAL when the runtime does not know the id (both counted in names_failures).
 * Owns:    names; a record lives until what it is of was unloaded, and names_release().
 * Threads: any. May run: in FunctionIDMapper2 and in callbacks; asks the runtime once per function, and on later
 *          calls only to see whether a function id that can be unloaded still means the same. Not in a hook.
 */
int names_method_map(struct names *names, uintptr_t function_id, struct names_method **out);

/*
 * names_method_exact - one more record of a shared function: the instantiation that class_id (0: not known) and args[]
 * name. It is named at once, and not what names_method_find gives.
 * Returns: 0, -ENOMEM, or -EINVAL as names_method_map. Threads: any. May run: in an ELT2 hook, as long as the modules
 *          of all of them were met before.
 */
int names_method_exact(struct names *names, const struct names_method *shared, uintptr_t class_id,
                       const uintptr_t *args, uint32_t count, struct names_method **out);

/* The newest record of function_id, or NULL. Asks nobody, lock-free. Threads: any. */
struct names_method *names_method_find(struct names *names, uintptr_t function_id);

/*
 * names_class_get - the same for a ClassID, from an allocation callback. `object` is one of that class, or 0: only an
 * object tells T[*] from T[], and only the first time that its class is met.
 */
int names_class_get(struct names *names, uintptr_t class_id, struct names_class **out);
int names_class_of(struct names *names, uintptr_t class_id, uintptr_t object,
                   struct names_class **out);

/* The record of class_id if it was met and is still loaded, or NULL. Asks nobody. Threads: any. May run: in a hook. */
struct names_class *names_class_find(struct names *names, uintptr_t class_id);

/*
 * names_module_get - the record of a ModuleID, made at the first call.
 * Returns: 0, -ENOMEM, or -EINVAL as names_method_map. Threads: any. May run: as names_method_map.
 */
int names_module_get(struct names *names, uintptr_t module_id, struct names_module **out);

/* names_module_met - a module was loaded: from ModuleLoadFinished, for folders that look for types by name. */
void names_module_met(struct names *names, uintptr_t module_id);

/*
 * names_type_find - the definition that a mdTypeRef of `from` means, among the modules met so far: CoreLib's first,
 * then that of the only module that has a public type of this name.
 * Returns: its module and *type; NULL when there is none, or more than one.
 */
struct names_module *names_type_find(struct names *names, const struct names_module *from,
                                     uint32_t type_ref, uint32_t *type);

/*
 * names_module_unloaded - a module went, from ModuleUnloadFinished: its id may be used again, and ids of an older
 * epoch that can be unloaded are checked again before they are believed. Per-thread caches compare names_epoch().
 *
 * Its metadata is given back here, for it is by far the most that an unloaded module leaves, and no thread of ours need get
 * to run for it. Nobody reads it any more: what can be unloaded is described and named, its code is mapped by threads that
 * keep it alive meanwhile (they compile it, run it or make its objects), and other threads read it as holders only.
 */
void names_module_unloaded(struct names *names, uintptr_t module_id);
uint32_t names_epoch(const struct names *names);
const _Atomic(uint32_t) *names_epoch_word(const struct names *names); /* where it is kept */

/*
 * What was unloaded is given back, to be made other records, by the resolver alone and in this order:
 * names_retire   - takes what was unloaded off the tables. From here on nobody meets it any more who did not before.
 *                  Returns: whether there was anything; names_method_retired() and names_class_retired() then say what.
 * names_held     - whether anybody goes on with what it found before (below): waited for.
 * names_release  - nobody has any of it any more: no stack, no event, no node, nobody who holds.
 * Log ids are never given twice, memory is: it is and remains that of a record of its kind.
 */
bool names_retire(struct names *names);
bool names_method_retired(const struct names_method *method);
bool names_class_retired(const struct names_class *class);
bool names_held(struct names *names);
void names_release(struct names *names);

/*
 * names_release_metadata - gives back the metadata of what was unloaded while somebody held. All other goes as it is
 * unloaded. Threads: the resolver.
 */
void names_release_metadata(struct names *names);

/* What names_release() has given back so far. Threads: any. */
struct names_given {
    _Atomic(uint64_t) modules, classes, methods;
};
const struct names_given *names_given_back(const struct names *names);

/*
 * names_hold - what is found from here on, on stacks of other threads too, is not given back before names_unhold().
 * Threads: any, as often as they like; for less than a second.
 */
void names_hold(struct names *names);
void names_unhold(struct names *names);

/*
 * Records by number: 1, 2, ..., NULL past the last. One that was given back is not `listed`: skip it.
 * Classes are resolved by the resolver as they appear.
 */
const struct names_class *names_class_at(const struct names *names, uint32_t number, bool *listed);
const struct names_module *names_module_at(const struct names *names, uint32_t number,
                                           bool *listed);
const struct names_method *names_method_at(const struct names *names, uint32_t number,
                                           bool *listed);

/* Is it for unmanaged callers only (the attribute of that name)? Asks metadata of what stays. Threads: any. */
bool names_method_unmanaged_callers(const struct names_method *method);

/* Is it a method of runtime async (miAsync)? Asks the module's metadata. Threads: any. */
bool names_method_async(const struct names_method *method);

/*
 * names_method_awaited - may this be code that the runtime made of a method that returns a Task, for methods of runtime
 * async to await: code that returns a continuation? Right for a method that is not generic, neither it nor its type; of
 * generic ones it is said of every method that returns a Task or a ValueTask, since there it cannot be told.
 * Threads: any; mapper and callbacks.
 */
bool names_method_awaited(const struct names *names, const struct names_method *method);

/* Text, or NULL when nobody has resolved it yet. Threads: any. */
const char *names_method_text(const struct names_method *method);
const char *names_class_text(const struct names_class *class);

/*
 * names_method_resolve, names_class_resolve - make the text now. Idempotent; when memory or metadata fail the text
 * is "?method 0x06000001" with the token, so that a reader of the log always finds one.
 * Threads: any that may call the runtime's metadata: the resolver; a callback for what is collectible.
 */
const char *names_method_resolve(struct names *names, struct names_method *method);
const char *names_class_resolve(struct names *names, struct names_class *class);

/*
 * names_site_call, names_site_alloc, names_site_unnamed - IL offset of the instruction that returns to `ip` inside `method`
 * (NULL: caller not hooked), told who was called or what was made there (NULL: not known); or that it was something
 * without a name, which only a delegate or a pointer leads to. The runtime's maps end at statements; where a statement
 * calls more than once, that tells which instruction it was.
 * Returns: the offset, >= 0, or one of enum names_site_kind: NAMES_SITE_UNMAPPED if nothing tells.
 * Threads: as names_method_resolve. Asks the runtime for code ranges and maps, once per body of native code; on a
 *          managed thread that may let a collection run: an ObjectID from before is worthless after it.
 */
int32_t names_site_call(struct names *names, struct names_method *method, uintptr_t ip,
                        struct names_method *callee);
int32_t names_site_alloc(struct names *names, struct names_method *method, uintptr_t ip,
                         struct names_class *made);
int32_t names_site_unnamed(struct names *names, struct names_method *method, uintptr_t ip);

/*
 * names_site_fault - the statement of an instruction at which the processor raised an exception: its first IL offset, as
 * the runtime maps it. Returns and threads: as names_site_call.
 */
int32_t names_site_fault(struct names *names, struct names_method *method, uintptr_t ip);

/*
 * names_site_unoptimised - is an allocation at `ip`, instruction `il`, one that the program does not make when nobody watches:
 * a box, or what stands for a token, made by a body compiled without optimisation, of a method of which there is optimised code compiled ahead of time that makes none, and
 * that the runtime would use if nobody asked for hooks?
 * The profiling API tells no tiers: see tier.c. What code makes that was compiled ahead of time: precompiled.c.
 * Returns: false too for what can be unloaded, and where nothing is known of the image.
 * Threads: the resolver; others get false.
 */
bool names_site_unoptimised(struct names *names, struct names_method *method, uintptr_t ip,
                            int32_t il, struct names_class *made);

enum names_site_kind {
    NAMES_SITE_PENDING = -1, /* not resolved yet: never returned by names_site_* */
    NAMES_SITE_NATIVE = -2,  /* returns into the runtime or other native code */
    NAMES_SITE_STUB =
        -3, /* jitted code without metadata, or a stub: outside of every known method */
    NAMES_SITE_DYNAMIC = -4, /* in a DynamicMethod */
    NAMES_SITE_UNMAPPED =
        -5, /* in the method's code, but the runtime maps it to no IL (prolog, epilog) */
    NAMES_SITE_NONE = -6, /* no return address was kept (filter frame, or not asked for) */
    NAMES_SITE_OTHER =
        -7, /* in the code of another method than the parent: an unhooked one between */
};

/*
 * names_site_outside - does the call that returns to `ip` lie in jitted code that is not of `method`?
 * Returns: NAMES_SITE_DYNAMIC, NAMES_SITE_STUB, NAMES_SITE_OTHER; 0: no, or the runtime does not say. Threads: any; callbacks.
 */
int32_t names_site_outside(struct names *names, struct names_method *method, uintptr_t ip);

/* A place on the calling thread's stack: code that a call there returns to, the stack pointer then, the frame pointer. */
struct names_place {
    uintptr_t ip, sp, fp;
};

/*
 * names_caller - goes up from a place in code without hooks, frame by frame, to the first that lies in `method`.
 * limit: the stack above it is not read. Frames without a frame pointer are told by their code's prolog.
 * Returns: its ip, right behind a call; 0: not found, or not for certain. Threads: any; callbacks.
 */
uintptr_t names_caller(struct names *names, const struct names_method *method,
                       const struct names_place *from, uintptr_t limit);

/* How often the runtime refused to say what an id is, and what it said last. Threads: any. */
uint64_t names_failures(const struct names *names, hresult *last);

#endif
