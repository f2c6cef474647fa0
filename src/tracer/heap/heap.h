/*
 * heap/heap.h - tells the table of live objects (live/) what the runtime says of collections: the
 * bounds of generations as one begins, what survives and moves by events of a session, how deep it
 * went. And, for --check-live, has the runtime walk its heap beside the table.
 */
#ifndef SHADOWTRACE_HEAP_HEAP_H
#define SHADOWTRACE_HEAP_HEAP_H

#include "clr/runtime.h"
#include "event/agreement.h"
#include "event/event.h"
#include "live/live.h"
#include "metadata/metadata.h"
#include "session/session.h"

#define HEAP_WALK_VERSION 15 /* of ICorProfilerInfo, which walks the heap on request */

struct heap;

struct heap_config {
    const struct clr_runtime *runtime; /* borrowed, as is all below */
    struct metadata *metadata;
    struct live *live;
    struct session *session;
    struct event_hub *hub;
    struct agreement_live *agreement;
    uint32_t check; /* --check-live */
};

/* heap_new - and its subscription. Returns: 0 or -ENOMEM. */
int heap_new(const struct heap_config *config, struct heap **out);

/* heap_start - the session, in the first ThreadCreated: no collection comes before. */
void heap_start(struct heap *heap);

/* heap_check_start - the thread of --check-live, if that was asked for. 0 or -errno. */
int heap_check_start(struct heap *heap);
void heap_check_stop(struct heap *heap, unsigned timeout_ms);

/*
 * heap_needs_references - on a runtime that does not walk its heap on request, --check-live needs
 * COR_PRF_MONITOR_GC. heap_referred - from ObjectReferences then. Returns: whether more is wanted.
 * Threads: the one that the runtime walks its heap with.
 */
static inline bool heap_needs_references(const struct clr_runtime *runtime)
{
    return runtime->info_version < HEAP_WALK_VERSION;
}
bool heap_referred(struct heap *heap, uintptr_t object, uintptr_t class_id);

/* GarbageCollectionStarted, GarbageCollectionFinished. deepest: the oldest generation it names. */
void heap_collection_started(struct heap *heap, uint32_t deepest);
void heap_collection_finished(struct heap *heap);

/*
 * heap_moved - ranges of MovedReferences2, or of SurvivingReferences2 (to: as from), which come for
 * a collection whose heap the runtime walks (collect/graph.h). Taken only where the session is
 * silent: as a program ends, it is over before the last collection, that of --heap-at-exit.
 * Threads: any.
 */
void heap_moved(struct heap *heap, uint32_t count, const uintptr_t *from, const uintptr_t *to,
                const size_t *bytes);

#endif
