/* metadata/record.h - what is known of a module, a class and a method. */
#ifndef SHADOWTRACE_METADATA_RECORD_H
#define SHADOWTRACE_METADATA_RECORD_H

#include "base/atomics.h"

#include <shadowtrace/clr/metadata.h>

#include <stdbool.h>

#define METADATA_PDB_ID 20 /* bytes of a PDB's id */

struct metadata_module {
    uint32_t id; /* in the log; 1, 2, ... */
    uintptr_t module_id;
    bool collectible;            /* COR_PRF_MODULE_COLLECTIBLE: may be unloaded */
    bool corelib;                /* System.Private.CoreLib */
    struct clr_metadata *import; /* one reference; NULL: not available, or unloaded */
    char *name, *path;           /* assembly's simple name, and its file; UTF-8; path may be "" */
    char mvid[37];               /* module version id, of this very build, as text; "" not known */
    uint8_t owner;               /* enum sst_owner: whose code it is */
    bool has_pdb;                /* it was built with the one of this id: */
    uint8_t pdb_id[METADATA_PDB_ID];
    const uint8_t *pdb_packed; /* in the image; NULL: it is a file */
    uint32_t packed_size, pdb_size;
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
    struct metadata_class **arg; /* entries are NULL where the runtime does not say (shared code) */
    bool canon;                  /* System.__Canon: any reference type, in shared code */
    bool variable_size;          /* array or string: objects differ in size */
    bool collectible;
    _Atomic(uint32_t) fixed_bytes; /* object size, a multiple of 8; 0 until the first object */
    _Atomic(uint32_t) epoch;       /* of the last check that class_id still means this */
    _Atomic(uint8_t) verdict;      /* a higher folder's: is the type recorded? 0: not asked yet */
    _Atomic(uint8_t) waits;        /* enum metadata_waits (state_machine.h), once asked */
    _Atomic(uint8_t) sort;         /* enum sst_sort; there once the text is */
    _Atomic(const void *) layout; /* a higher folder's: how values lie in memory; NULL: not asked */
    _Atomic(const char *) text;   /* NULL until resolved; freed with the record */
};

/*
 * A method: the client id of its hooks. function_id is first: lower folders read it as an opaque
 * word (stack.h). A function has one record in every tier; a reused FunctionID gets a new record.
 */
struct metadata_method {
    uintptr_t function_id;
    uint32_t id;                    /* in the log; 1, 2, ... */
    uint32_t token;                 /* mdMethodDef */
    struct metadata_module *module; /* NULL: not known */
    struct metadata_class *owner;   /* declaring type; NULL where the runtime does not say */
    uint32_t args;                  /* number of the method's own type arguments */
    uint32_t written;               /* as of a class */
    struct metadata_class **arg;    /* entries may be NULL, as above */
    bool collectible;
    bool hidden;            /* of a type of CoreLib that the snapshot hides: never hook it */
    bool unmanaged_callers; /* metadata_method_unmanaged_callers(), if it may be unloaded */
    bool suspends;          /* of CoreLib's AsyncHelpers: suspends what awaits, by runtime async */
    bool hooked;            /* what the mapper answered */
    bool continues;         /* runtime async: returns a continuation; suspends without a Leave */
    _Atomic(bool) spared;   /* not hooked: the runtime fails with hooks (select/selection.h) */
    bool machine_asked;     /* the next two are known; the mapper's */
    uint32_t machine;       /* mdTypeDef of the state machine whose MoveNext it is; else 0 */
    _Atomic(uint32_t) machine_at; /* see state_machine.h */
    uint8_t continued;            /* enum metadata_continued (state_machine.h); the mapper's */
    bool traced;                  /* its calls are events (--events calls); the mapper's */
    _Atomic(uint32_t) compiled;   /* how often the JIT made code of it, if that is recorded */
    bool shared; /* code of several instantiations: owner and arguments say only part of it */
    _Atomic(void *) plan;       /* a higher folder's: how arguments are read; NULL: they are not */
    _Atomic(uint64_t) verdict;  /* a higher folder's: are its allocations recorded? 0: not asked */
    _Atomic(const char *) text; /* NULL until resolved; freed with the record */
    _Atomic(struct code_body *) bodies; /* known native code, newest first; of code/ */
    _Atomic(struct il_pieces *) pieces; /* of its IL, if it was inlined; of code/; NULL: not made */
    _Atomic(struct rich_body *) rich;   /* what the JIT said of its code, newest first; of rich/ */
    _Atomic(uint32_t) rich_due;         /* the JIT works on it, and says more; of rich/ */
    _Atomic(bool) rich_lost;            /* some of what it said is not kept; of rich/ */
    _Atomic(uintptr_t) rich_none;       /* start of the body last seen to have none; of rich/ */
};

#endif
