/*
 * metadata/internal.h - what the files of src/tracer/metadata/ share: the records as they lie in
 * tables, and the interfaces between them.
 */
#ifndef SHADOWTRACE_METADATA_INTERNAL_H
#define SHADOWTRACE_METADATA_INTERNAL_H

#include "metadata/metadata.h"
#include "metadata/records.h"
#include "metadata/table.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/gate.h"

#include <pthread.h>

/* Types of System.Private.CoreLib that have special tokens; 0 while not found. */
enum {
    METADATA_CANON,
    METADATA_STRING,
    METADATA_ASYNC_HELPERS,
    METADATA_HIDDEN,
    METADATA_TOKENS = METADATA_HIDDEN + 3
};

struct metadata_module_entry {
    struct metadata_entry entry;
    struct metadata_module record;
    _Atomic(bool) tokens_known;
    _Atomic(uint32_t) token[METADATA_TOKENS]; /* CoreLib only, once tokens_known */
    _Atomic(bool) gone;                       /* unloaded: nothing of its metadata may be read */
    struct readytorun *ready; /* the resolver's: code compiled ahead of time; NULL: none */
    bool ready_asked;         /* the resolver's */
};

/* The text if there is no memory for the real one. */
#define METADATA_FALLBACK_SIZE 24

struct metadata_class_entry {
    struct metadata_entry entry;
    struct metadata_class record;
    uint32_t element_type; /* of an array: CorElementType, for elements that have no record */
    char fallback[METADATA_FALLBACK_SIZE]; /* written with the record */
};

struct metadata_method_entry {
    struct metadata_entry entry;
    struct metadata_method record;
    bool recheck;            /* may be unloaded, or nobody can tell: ask again at every mapping */
    _Atomic(uint32_t) epoch; /* of the last look whether what it is made of is still loaded */
    char fallback[METADATA_FALLBACK_SIZE]; /* written with the record */
};

/* Memory of one size that waits to be used again. */
struct metadata_kept {
    uintptr_t first; /* 0: none; its first word names the next */
};
#define METADATA_ARGS_KEPT 8 /* type arguments of one type; arrays of more are freed */

/* All records of one kind; making, to change it. */
struct metadata_kind {
    struct metadata_table table;
    struct metadata_records records; /* their entries */
    struct metadata_kept kept;
    uint32_t ids; /* given out */
};

/* Whether a type's MethodTable has its parent's where .NET 8 to 11 have it. */
enum metadata_parent_place { PARENT_UNKNOWN, PARENT_KNOWN, PARENT_ELSEWHERE };

struct metadata {
    struct metadata_config config;
    /* Guards every change of tables and records. The runtime is never called under it. */
    pthread_mutex_t making;
    struct memory_pool pool; /* records, their arguments and texts, and the tables of records */
    struct metadata_kind methods, classes, modules;
    struct metadata_kept kept_args[METADATA_ARGS_KEPT + 1]; /* making; by how many there are */
    _Atomic(uint32_t) unloads;                              /* modules gone */
    uint32_t retired;            /* the resolver's: as of the last metadata_retire() */
    _Atomic(uint32_t) holders;   /* metadata_hold() */
    _Atomic(bool) metadata_held; /* some is not given back yet, because of holders */
    struct metadata_given given;
    _Atomic(uint32_t) epoch;
    _Atomic(uint64_t) failures;
    _Atomic(hresult) last_failure;
    _Atomic(int) parent_place; /* enum metadata_parent_place */

    /* the resolver */
    pthread_t thread;
    bool started;
    struct parker parker;
    struct gate gate;                       /* its rounds */
    _Atomic(bool) stopping;                 /* a round ends early */
    _Atomic(uintptr_t) resolver;            /* pthread_self(), once it runs */
    _Atomic(int) resolver_os;               /* the same, gettid() */
    _Atomic(struct code_inlines *) inlines; /* of code/: inlined frames; NULL: none */
    struct rich *rich;                      /* of rich/, borrowed; NULL: no session for it */
    struct signature_names *names;          /* the resolver's own; NULL: none yet */
    void *memo;                             /* of code/, the resolver's own; memory_free ends it */
    void *callees;                          /* the same: where calls go */
    void *calls;                            /* the same: calls of pieces of code */
    struct metadata_table cells;            /* the same: methods that cells of images name */
    _Atomic(struct steps *) steps;          /* the same, of all threads; NULL: not needed yet */
    uint32_t resolved;          /* classes up to this id have their text; the resolver's */
    _Atomic(uint64_t) progress; /* places resolved; the resolver writes it */
};

/* Is this thread the resolver? */
static inline bool metadata_is_resolver(const struct metadata *metadata)
{
    return load_relaxed(&metadata->resolver) == (uintptr_t)pthread_self();
}

static inline struct metadata_module_entry *
metadata_module_entry(const struct metadata_module *module)
{
    return (struct metadata_module_entry *)((uintptr_t)module -
                                            offsetof(struct metadata_module_entry, record));
}

static inline struct metadata_class_entry *metadata_class_entry(const struct metadata_class *class)
{
    return (struct metadata_class_entry *)((uintptr_t) class -
                                           offsetof(struct metadata_class_entry, record));
}

static inline struct metadata_method_entry *
metadata_method_entry(const struct metadata_method *method)
{
    return (struct metadata_method_entry *)((uintptr_t)method -
                                            offsetof(struct metadata_method_entry, record));
}

bool metadata_reclaim(struct metadata *metadata); /* gives back what was outgrown; the resolver */

/* life.c: memory for a record, all zeros but for its number; NULL without memory. */
struct metadata_method_entry *metadata_method_take(struct metadata *metadata);
struct metadata_class_entry *metadata_class_take(struct metadata *metadata);
struct metadata_module_entry *metadata_module_take(struct metadata *metadata);
struct metadata_class **metadata_args_take(struct metadata *metadata, uint32_t count);
/* Frees it with what it holds: nobody uses it any more; or NULL. Caller does not hold `making`. */
void metadata_method_give(struct metadata *metadata, struct metadata_method_entry *m);
void metadata_class_give(struct metadata *metadata, struct metadata_class_entry *c);
void metadata_module_give(struct metadata *metadata, struct metadata_module_entry *m);

/*
 * Metadata of a module that is gone, if it can be released now; NULL: none. The caller holds
 * `making` and releases the metadata once it does not.
 */
struct clr_metadata *metadata_import_take(struct metadata *metadata,
                                          struct metadata_module_entry *module);

void metadata_release_all(
    struct metadata *metadata); /* those that were not unloaded, too: metadata_free() */

bool metadata_module_gone(const struct metadata_module *module);
bool metadata_class_gone(const struct metadata_class *class);
bool metadata_method_gone(const struct metadata_method *method);

/* CorMethodImpl, as the module's metadata has it; 0: not known. */
uint32_t metadata_method_flags(const struct metadata_method *method);

/* Counts a refusal of the runtime. */
void metadata_failed(struct metadata *metadata, hresult hr);

#define TEXT_MAX 4096 /* bytes of a name, at the most */

struct signature_names;
struct signature_scope;
/* What the type variables in a method's code and signature stand for. names: may be NULL. */
void name_scope(const struct metadata_method *method, struct signature_names *names,
                struct signature_scope *out);

/* The resolver's; NULL: another thread, or no memory. */
struct signature_names *metadata_names(struct metadata *metadata);

#endif
