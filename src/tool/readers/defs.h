/*
 * readers/defs.h - what the ids of a log mean: modules, classes, methods, threads, and the context
 * tree.
 *
 * Everything here is canonical: two ids that mean the same (a class loaded again, a call site
 * compiled again by another tier) are one entry, and entries have numbers of their own, dense from
 * 0. Another recording in one log (logs put behind one another) starts the ids over; entries stay.
 *
 * Threads: one at a time.
 */
#ifndef SHADOWTRACE_READERS_DEFS_H
#define SHADOWTRACE_READERS_DEFS_H

#include "readers/index.h"
#include "readers/record.h"

/*
 * Id to number + 1. Ids count from 1, and most logs name nearly all of them: they lie in pages. A
 * page is made only where enough ids are there to pay for it; ids further out, of a log that is cut
 * or damaged, lie in a hash table. So a map takes at most some 80 bytes for each id that was set,
 * whatever the ids are.
 */
struct log_id_map {
    uint32_t **pages;
    size_t page_count, count; /* count: of ids that were set */
    struct log_far_id {
        uint32_t id, value;
    } * far; /* open addressing, half full at most; id 0: free */
    size_t far_mask, far_used;
};

/* A module, class or method. Number 0 of each table is "not known". */
struct log_def {
    const char *name;
    const char *path; /* of a module; "" else */
    const char *mvid; /* of a module: the build's id as text; NULL not known */
    uint32_t module;  /* number; 0 for a module itself */
    uint32_t token;   /* 0: none given */
    uint8_t owner;    /* of a module: enum sst_owner; of several definitions the last that says */
    uint8_t sort;     /* of a class: enum sst_sort */
    bool defined;     /* false: an id was used that nobody defined, name says which */
    bool precompiled; /* of a method: of a call in it is not known where, since it is that */
};

struct log_table {
    const char *what; /* "class", for problems */
    struct log_def *defs;
    size_t count, capacity;
    struct index index; /* over name, path, module, token */
    struct log_id_map ids;
};

/* A module's PDB, as the log has it. */
struct log_pdb {
    uint32_t module; /* number */
    bool packed;     /* by deflate; then unpacked_size is what the log says */
    uint8_t *bytes;
    size_t size;
    uint64_t unpacked_size;
};

struct log_thread_def {
    uint32_t id, os;    /* os 0: never said */
    uint32_t recording; /* number of the recording that it is of: from 1; 0: it has no header */
    const char *name;   /* the last one; NULL none */
    bool ended;
};

/*
 * A call path: `method` called from `il` in the parent's method. 16 bytes: a log may have millions.
 * Parents have lower numbers than their children, and so has what an async method that goes on was
 * begun on.
 */
struct log_call_path {
    uint32_t parent;
    uint32_t method : 31, filter : 1; /* number of the method */
    int32_t il;                       /* below 0: LOG_NO_IL - enum sst_call */
    uint32_t begun : 31,
        goes_on : 1; /* path, 0 none; whether the path or one of its parents has that */
};

#define LOG_PATH_EMPTY 0 /* no managed frame */
#define LOG_PATH_CUT \
    "(path not kept)" /* name of the frame that stands for those that were not kept */
#define LOG_PATH_DYNAMIC \
    "(dynamic method)"  /* of the frame of a dynamic method, which the log has no node of */
#define LOG_PATH_LOST 1 /* the id was never defined: nothing is known of the callers */

/* An inlined frame: what it calls or makes is at `il` of the method. */
struct log_inlining {
    uint32_t method, parent; /* parent: 1 + its number; 0: it was inlined into a node's method */
    int32_t il;
};

struct log_string {
    const char *text;
    uint32_t size;
    uint32_t method; /* the first method with that name, 0 none: what an inline stack means */
};

struct log_defs {
    struct log_table modules, classes, methods;
    struct log_pdb *pdbs;
    size_t pdb_count, pdb_capacity;
    struct log_thread_def *threads;
    size_t thread_count, thread_capacity;
    struct log_id_map thread_ids;
    struct log_call_path *paths;
    size_t path_count, path_capacity;
    struct index path_index;
    uint32_t *plain; /* by path: number + 1 of the same without beginnings; 0: nobody asked */
    size_t plain_capacity;
    struct log_id_map path_ids;
    struct log_inlining *frames; /* of inlined methods; their own ids are in frame_ids */
    size_t frame_count, frame_capacity;
    struct log_id_map frame_ids;
    bool physical;        /* inlined frames are left out; set before anything is read */
    uint32_t *leaf_first; /* methods of the inline stack that is read */
    size_t leaf_first_capacity;
    struct log_string *strings;
    size_t string_count, string_capacity;
    struct index string_index;
    char **blocks; /* where the strings' text lies */
    size_t block_count, block_capacity, block_left;
    struct log_recording recording;
    struct log_problems *problems;
    uint64_t undefined; /* ids that were used and not defined */
    bool no_offsets;    /* a log has none: recorded with --no-lines or --stacks inline */
    bool some_hooked;   /* a log was recorded with hooks in some methods only: --own, --only */
    bool hooked_frames; /* and its stacks have the frames of these methods only */
};

/* The text for an empty stack: "(no managed frame)", or "(no own frame)". */
const char *log_no_frame(const struct log_defs *d);

/*
 * log_defs_init - problems (borrowed) gets ids that are used but not defined, each once. 0 or
 * -ENOMEM.
 */
int log_defs_init(struct log_defs *d, struct log_problems *problems);
void log_defs_fini(struct log_defs *d); /* also after a failed init */

/*
 * log_defs_add - take what one record defines; others are passed over. Returns: 0; -EBADMSG:
 * unusable, noted as a problem; -ENOMEM.
 */
int log_defs_add(struct log_defs *d, const struct log_record *record);

/* log_defs_pdb - the PDB of a module (number) that the log has; NULL: it has none. */
const struct log_pdb *log_defs_pdb(const struct log_defs *d, uint32_t module);

/* log_defs_unusable - notes that a record lacks this member. Returns: -EBADMSG. */
int log_defs_unusable(const struct log_defs *d, const struct log_record *record, const char *key);

/*
 * log_defs_expect - everything that the record names must be defined by now. A missing id is a
 * problem, which is noted once. Returns: 0 or -ENOMEM.
 */
int log_defs_expect(struct log_defs *d, const struct log_record *record);

/*
 * Ids to numbers. An id that is not defined so far gets an entry that says so, and a problem. Id 0
 * of modules, classes and methods is number 0. Returns: 0 or -ENOMEM.
 */
int log_defs_class(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out);
int log_defs_method(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out);
int log_defs_thread(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out);
int log_defs_path(struct log_defs *d, uint32_t id, struct log_place at, uint32_t *out);

/*
 * The path of an inline stack, the class of an inline type. Returns: 0; -EBADMSG with a problem
 * noted; -ENOMEM.
 */
int log_defs_inline_path(struct log_defs *d, const struct log_alloc *alloc, uint32_t *out);
int log_defs_inline_class(struct log_defs *d, const struct log_alloc *alloc, uint32_t *out);

/* The path of an allocation, by node or inline stack; Returns: as log_defs_inline_path. */
int log_defs_alloc_path(struct log_defs *d, const struct log_alloc *alloc, struct log_place at,
                        uint32_t *out);

/* The IL offset in the innermost frame of that path; LOG_NO_IL. */
int32_t log_defs_alloc_il(const struct log_defs *d, const struct log_alloc *alloc);

/* A path as the machine's stack has it, wherever its frames were begun. Returns: 0 or -ENOMEM. */
int log_defs_plain(struct log_defs *d, uint32_t *path);

/* The plain path of any other event; LOG_PATH_EMPTY without a node. Returns: 0 or -ENOMEM. */
int log_defs_event_path(struct log_defs *d, const struct log_record *record, uint32_t *out);

/*
 * The map itself. log_id_map_get gives number + 1, 0 for an id that is not there; log_id_map_set 0
 * or -ENOMEM.
 */
uint32_t log_id_map_get(const struct log_id_map *ids, uint32_t id);
int log_id_map_set(struct log_id_map *ids, uint32_t id, uint32_t number);
void log_id_map_free(struct log_id_map *ids);

/* log_defs_path_add - a path that no node has; its parent exists. Returns: 0 or -ENOMEM. */
int log_defs_path_add(struct log_defs *d, const struct log_call_path *path, uint32_t *out);

/* log_defs_method_named - a name in place of a method: "(one of 3 callers)". 0 or -ENOMEM. */
#define LOG_SEVERAL "(one of "
int log_defs_method_named(struct log_defs *d, const char *name, uint32_t *out);

static inline const struct log_def *log_class(const struct log_defs *d, uint32_t number)
{
    return &d->classes.defs[number];
}
static inline const struct log_def *log_method(const struct log_defs *d, uint32_t number)
{
    return &d->methods.defs[number];
}
static inline const struct log_def *log_module(const struct log_defs *d, uint32_t number)
{
    return &d->modules.defs[number];
}
static inline const struct log_call_path *log_call_path(const struct log_defs *d, uint32_t number)
{
    return &d->paths[number];
}
static inline enum sst_call log_call_path_call(const struct log_call_path *path)
{
    return path->il < 0 ? (enum sst_call)(LOG_NO_IL - path->il) : SST_CALL_NONE;
}

#endif
