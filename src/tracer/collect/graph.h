/*
 * collect/graph.h - what the runtime tells of the heap within one full collection: objects and what
 * they refer to, roots, dependent handles. It goes into a file (heap_file.h) as it comes; what is
 * kept are the numbers of classes and methods.
 *
 * COR_PRF_MONITOR_GC has the runtime tell: the thread that asks for the collection sets it before
 * and clears it behind (graph_open, graph_close); in between the callbacks below are taken from
 * GarbageCollectionStarted of a full collection to its GarbageCollectionFinished.
 *
 * The runtime refuses it while collections may run beside the program. Then a session (session.h)
 * has it tell the same by events, of each blocking collection that a profiler asked for. The table
 * of live objects is not exact there, so that nothing is said of sites.
 *
 * The runtime remembers the types that it has named in such events, even when they are unloaded,
 * and then crashes within the next such collection (seen on 10.0.12). So a dump by events that
 * meets types that can be unloaded is the last one.
 */
#ifndef SHADOWTRACE_COLLECT_GRAPH_H
#define SHADOWTRACE_COLLECT_GRAPH_H

#include "collect/heap_file.h"

#include "metadata/metadata.h"
#include "session/session.h"

struct graph;

/* Who knows the names of fields (fields/fields.h), as the dump comes to them. */
struct graph_names {
    void *context;
    void (*open)(void *context);                         /* the program runs */
    void (*statics)(void *context, struct graph *graph); /* graph_static(); in the collection */
    void (*fields)(void *context, struct graph *graph, const struct metadata_class *class,
                   uint32_t number); /* graph_field(); the program runs again */
    void (*close)(void *context);
};

struct graph_config {
    struct clr_info *info; /* borrowed, as is all below */
    int info_version;
    struct metadata *metadata;
    struct session *session;
    void *context;
    uint64_t (*zero_ns)(void *context); /* CLOCK_MONOTONIC at t = 0 of the log */
    /*
     * Where living objects were allocated: graph_site() for each. In GarbageCollectionFinished,
     * when addresses are what they are from then on. NULL: that is not known.
     */
    void (*sites)(void *context, struct graph *graph);
    const struct graph_names *names; /* NULL: fields have none */
};

int graph_new(const struct graph_config *config, struct graph **out); /* 0 or -ENOMEM */

enum graph_failure {
    GRAPH_DONE,
    GRAPH_NO_FILE, /* it cannot be made or written: -errno */
    GRAPH_REFUSED, /* the runtime does not tell: an hresult */
    GRAPH_UNLOADS, /* by events, and types of an earlier one can be unloaded */
    GRAPH_UNTOLD,  /* no full collection, or the runtime did not report it */
    GRAPH_TORN,    /* its reports are inconsistent: -EPROTO, -ENOMEM */
};

struct graph_result {
    enum graph_failure failure;
    int32_t why;         /* of it, as said there */
    uint32_t collection; /* its number */
    struct heap_file_counts counts;
};

/*
 * graph_open - the next full collection is written to a file of that path. graph_close - it has
 * been; names follow, and the file is whole or gone. graph_close for what graph_open failed at says
 * so again. asked: ForceGC succeeded on this thread: only then may the runtime be asked to look
 * types up here, for names of fields. Threads: one for both; asks the runtime, so not in a
 * callback.
 */
enum graph_failure graph_open(struct graph *g, const char *path);
void graph_close(struct graph *g, bool asked, struct graph_result *out);

/* From the callbacks of those names: on the one thread that the runtime walks its heap with. */
void graph_begun(struct graph *g, uint32_t number, bool full);
void graph_finished(struct graph *g);
/* Returns: whether more is wanted; else the runtime may end its walk. */
bool graph_object(struct graph *g, uintptr_t object, uintptr_t class_id, uint32_t count,
                  const uintptr_t *references);
void graph_roots(struct graph *g, uint32_t count, const uintptr_t *objects, const int32_t *kinds,
                 const int32_t *flags, const uintptr_t *ids);
void graph_pairs(struct graph *g, uint32_t count, const uintptr_t *keys, const uintptr_t *values);

/* site: id of a live_site line. Within graph_config.sites. */
void graph_site(struct graph *g, uintptr_t object, uint32_t site);

/* A static field that holds an object; its class is added. Within graph_names.statics. */
void graph_static(struct graph *g, const struct metadata_class *class,
                  const struct heap_file_static *field, const char *name);
/* Whether the collection found an object of a type of that module. Within graph_names.statics. */
bool graph_met(const struct graph *g, const struct metadata_module *module);
/* Within graph_names.fields. */
void graph_field(struct graph *g, const struct heap_file_field *field, const char *name);

#endif
