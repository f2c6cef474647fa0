/*
 * names/internal.h - what the files of src/tracer/names/ share: the records as they lie in tables, and the interfaces
 * between them. names.c makes records, text.c and signature.c word them, site.c maps code, resolver.c is the thread.
 */
#ifndef SHADOWTRACE_NAMES_INTERNAL_H
#define SHADOWTRACE_NAMES_INTERNAL_H

#include "names/il.h"
#include "names/names.h"
#include "names/table.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/gate.h"

#include <pthread.h>

/* Types of System.Private.CoreLib that are told apart by token; 0 while not found. */
enum {
    NAMES_CANON,
    NAMES_STRING,
    NAMES_ASYNC_HELPERS,
    NAMES_HIDDEN,
    NAMES_TOKENS = NAMES_HIDDEN + 3
};

/*
 * What was unloaded is given back in steps, see names_retire(): retired, it is in no table; then it is on a list of its
 * kind, to be made another record. Memory of records never is anything else, and keeps its number.
 */
struct names_life {
    uint32_t number;      /* place in names_records; 0: none yet */
    bool retired;         /* the resolver's */
    _Atomic(bool) listed; /* it is a record; release: all else in it is set */
};

struct names_module_entry {
    struct names_entry entry;
    struct names_module record;
    uint32_t token[NAMES_TOKENS]; /* CoreLib only */
    _Atomic(bool) gone;           /* unloaded: nothing of its metadata may be read */
    struct readytorun *ready;     /* the resolver's: code compiled ahead of time; NULL: none */
    bool ready_asked;             /* the resolver's */
    struct names_life life;
};

/* Text for want of memory to make any. */
#define NAMES_FALLBACK_SIZE 24

struct names_class_entry {
    struct names_entry entry;
    struct names_class record;
    uint32_t element_type; /* of an array: CorElementType, for elements that have no record */
    struct names_life life;
    char fallback[NAMES_FALLBACK_SIZE]; /* written with the record */
};

struct names_method_entry {
    struct names_entry entry;
    struct names_method record;
    struct names_life life;
    bool recheck;            /* may be unloaded, or nobody can tell: ask again at every mapping */
    _Atomic(uint32_t) epoch; /* of the last look whether what it is made of is still loaded */
    char fallback[NAMES_FALLBACK_SIZE]; /* written with the record */
};

/* One piece of a method's native code: a tier, an OSR body, a ReJIT. Immutable once listed. */
struct names_body {
    struct names_body *next;
    uintptr_t start;
    uint32_t epoch; /* when it was asked for */
    uint32_t order; /* 0: the first that was made of the method; then 1, 2, ... as they were made */
    uint32_t ranges; /* hot first; native offsets count through them in this order */
    uint32_t entries;
    struct clr_code_info *range, only_range; /* mostly there is one */
    struct clr_debug_il_to_native_map *map;  /* by native_start_offset */
    struct il_pieces pieces;                 /* none: without IL */
    bool again;                              /* listed already: this one is whole */
    bool sole;                               /* without map, which one instruction does not need */
};

/*
 * Records by id, append-only. Chunk k holds NAMES_CHUNK << k of them and never moves, so that readers need no lock.
 */
#define NAMES_CHUNK  1024u
#define NAMES_CHUNKS 22

struct names_records {
    _Atomic(_Atomic(void *) *) chunk[NAMES_CHUNKS];
    _Atomic(uint32_t) count; /* written under making */
};

/* Memory of one size that waits to be used again. */
struct names_kept {
    uintptr_t first; /* 0: none; its first word names the next */
};
#define NAMES_ARGS_KEPT 8 /* type arguments of one type; arrays of more are freed */

struct il_memo;

struct names {
    struct names_config config;
    pthread_mutex_t
        making; /* guards every change of tables and records; the runtime is never called under it */
    struct memory_pool
        pool; /* of methods, classes, their arguments and texts, and the tables of records */
    struct names_table method_table, class_table, module_table; /* making, to change them */
    struct names_records methods, classes, modules;
    struct names_kept kept_methods, kept_classes, kept_modules; /* making */
    struct names_kept kept_args[NAMES_ARGS_KEPT + 1];           /* making; by how many there are */
    uint32_t method_ids, class_ids, module_ids;                 /* given out; making */
    uint32_t unloads, retired;   /* modules that have gone; making: as of the last names_retire() */
    _Atomic(uint32_t) holders;   /* names_hold() */
    _Atomic(bool) metadata_held; /* some is not given back yet, because of holders */
    struct names_given given;
    _Atomic(uint32_t) epoch;
    _Atomic(uint64_t) failures;
    _Atomic(hresult) last_failure;

    /* the resolver */
    pthread_t thread;
    bool started;
    struct parker parker;
    struct gate gate;            /* its rounds */
    _Atomic(bool) stopping;      /* a round ends early */
    _Atomic(uintptr_t) resolver; /* pthread_self(), once it runs */
    struct il_memo *memo;        /* the resolver's own */
    uint32_t resolved;           /* classes up to this id have their text; the resolver's */
};

static inline struct names_module_entry *names_module_entry(const struct names_module *module)
{
    return (struct names_module_entry *)((uintptr_t)module -
                                         offsetof(struct names_module_entry, record));
}

static inline struct names_class_entry *names_class_entry(const struct names_class *class)
{
    return (struct names_class_entry *)((uintptr_t) class -
                                        offsetof(struct names_class_entry, record));
}

static inline struct names_method_entry *names_method_entry(const struct names_method *method)
{
    return (struct names_method_entry *)((uintptr_t)method -
                                         offsetof(struct names_method_entry, record));
}

bool names_reclaim(struct names *names); /* gives back what was outgrown; the resolver */

/* life.c: memory for a record, all zeros but for its number; NULL without memory. */
struct names_method_entry *names_method_take(struct names *names);
struct names_class_entry *names_class_take(struct names *names);
struct names_module_entry *names_module_take(struct names *names);
struct names_class **names_args_take(struct names *names, uint32_t count);
/* The same, given back with what it holds: nobody has it any more. NULL is fine. Caller does not hold names->making. */
void names_method_give(struct names *names, struct names_method_entry *m);
void names_class_give(struct names *names, struct names_class_entry *c);
void names_module_give(struct names *names, struct names_module_entry *m);

/*
 * Metadata of a module that is gone, if it can be given back now; NULL: none. The caller holds names->making, and releases
 * it when it does no more.
 */
struct clr_metadata *names_metadata_take(struct names *names, struct names_module_entry *module);

void names_release_all(struct names *names); /* those that were not unloaded, too: names_free() */

bool names_module_gone(const struct names_module *module);
bool names_class_gone(const struct names_class *class);
bool names_method_gone(const struct names_method *method);

/* Counts a refusal of the runtime. */
void names_failed(struct names *names, hresult hr);

void names_bodies_free(struct names_method *method); /* no reader left */

/* The body that holds an address, and the address's offset in it; NULL: none of those listed so far. See site.c. */
const struct names_body *names_body_find(const struct names *names, struct names_method *method,
                                         uintptr_t ip, uint32_t *offset);

void *names_record_at(const struct names_records *records, uint32_t id); /* NULL past the newest */

#define TEXT_MAX 4096 /* bytes of a name, at the most */

/* Objects that optimised code may do without; see tier.c. */
enum names_spared { NAMES_SPARED_NONE, NAMES_SPARED_BOX, NAMES_SPARED_HANDLE };

/* Is there code of the method that was compiled ahead of time, and does without one (`class`)? Threads: the resolver. */
bool names_precompiled_without(struct names *names, const struct names_method *method,
                               enum names_spared what, struct names_class *class);

struct signature_scope;
/* What the type variables in a method's code and signature stand for. */
void text_scope(const struct names_method *method, struct signature_scope *out);

/* The same for a class that is part of a longer name; "?" and the token where there is no metadata. */
void text_append_class(struct buffer *out, const struct names_class *class);

#endif
