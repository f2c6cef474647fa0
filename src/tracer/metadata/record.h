/*
 * metadata/record.h - what is known of a module, a class and a method.
 */
#ifndef SHADOWTRACE_METADATA_RECORD_H
#define SHADOWTRACE_METADATA_RECORD_H

#include "base/atomics.h"

#include <shadowtrace/clr/metadata.h>

#include <stdbool.h>

struct metadata_module {
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
struct metadata_class {
    uint32_t id;    /* in the log; 1, 2, ... */
    uint32_t token; /* mdTypeDef; 0 for an array */
    uintptr_t class_id;
    struct metadata_module *module; /* NULL: not known */
    struct metadata_class *element; /* of an array; else NULL */
    uint32_t rank;                  /* of an array: 1 is T[] */
    bool bounded;                   /* of an array of rank 1: T[*], it may have a lower bound */
    uint32_t args;                  /* number of type arguments */
    uint32_t written; /* the writer's own: the part of the log that has its line; 0: none yet */
    struct metadata_class *
        *arg;   /* an entry is NULL where the runtime does not say (shared canonical code) */
    bool canon; /* System.__Canon: stands for any reference type in shared code */
    bool variable_size; /* array or string: objects differ in size */
    bool collectible;
    _Atomic(uint32_t)
        fixed_bytes; /* object size rounded up to 8, learned at the first object; 0 not yet */
    _Atomic(uint32_t) epoch;  /* of the last check that class_id still means this */
    _Atomic(uint8_t) verdict; /* the folder above's own: 0 none yet (is the type to be recorded?) */
    _Atomic(uint8_t)
        waits; /* enum metadata_waits (metadata/state_machine.h), once somebody asked */
    _Atomic(const void *)
        layout;                 /* the same: how its values lie in memory; NULL: nobody asked yet */
    _Atomic(const char *) text; /* NULL until resolved; freed with the record */
};

/*
 * A method: the client id of its hooks. function_id is first: lower folders read it as an opaque word (stack.h).
 * The same function has the same record in every tier; a reused FunctionID gets a new record.
 */
struct metadata_method {
    uintptr_t function_id;
    uint32_t id;                    /* in the log; 1, 2, ... */
    uint32_t token;                 /* mdMethodDef */
    struct metadata_module *module; /* NULL: not known */
    struct metadata_class
        *owner;       /* declaring type with its arguments, NULL where the runtime does not say */
    uint32_t args;    /* number of the method's own type arguments */
    uint32_t written; /* as of a class */
    struct metadata_class **arg; /* entries may be NULL, as above */
    bool collectible;
    bool hidden; /* of one of the three types of CoreLib that the snapshot hides: never hook it */
    bool unmanaged_callers; /* metadata_method_unmanaged_callers(), if it may be unloaded */
    bool suspends;          /* of CoreLib's AsyncHelpers: suspends what awaits, by runtime async */
    bool hooked;            /* what the mapper answered */
    bool
        continues; /* runtime async: returns a continuation, and where it suspends, without a Leave */
    _Atomic(bool)
        spared; /* left without hooks because with them the runtime fails (select/selection.h) */
    bool machine_asked; /* the two after it are known; the mapper's */
    uint32_t
        machine; /* metadata/state_machine.h: mdTypeDef of the machine whose MoveNext it is; else 0 */
    _Atomic(uint32_t) machine_at;
    uint8_t continued; /* enum metadata_continued (metadata/state_machine.h); the mapper's */
    bool traced;       /* its calls are events (--events calls); the mapper's */
    _Atomic(uint32_t) compiled; /* how often the JIT made code of it, if that is recorded */
    bool shared; /* code for more than one instantiation: owner and arguments say only part of it */
    _Atomic(void *)
        plan; /* the folder above's own: how its arguments are read; NULL: they are not */
    _Atomic(uint64_t)
        verdict; /* the folder above's own: 0 none yet (are its allocations to be recorded?) */
    _Atomic(const char *) text; /* NULL until resolved; freed with the record */
    _Atomic(struct code_body *)
        bodies; /* native code of this method so far known, newest first; resolver's */
};

#endif
