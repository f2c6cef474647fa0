/*
 * alloc/alloc.h - the allocation callback: what was allocated, how large, where, by which thread:
 * one event.
 *
 * The thread's own stack is exact in its own callback. The frames keep their context nodes, so an
 * event costs the frames entered since the last one, whatever the depth.
 */
#ifndef SHADOWTRACE_ALLOC_ALLOC_H
#define SHADOWTRACE_ALLOC_ALLOC_H

#include "check/check.h"
#include "clr/runtime.h"
#include "event/event.h"
#include "live/live.h"
#include "metadata/metadata.h"
#include "options/options.h"
#include "samples/alive.h"
#include "samples/samples.h"
#include "stack/stack.h"
#include "tree/tree.h"
#include "walk/walk.h"

struct alloc;

struct alloc_config {
    const struct clr_runtime *runtime; /* borrowed, as is all below */
    struct metadata *metadata;
    struct tree *tree;
    struct tree_sites *sites;
    struct event_hub *hub;
    const struct options *options;
    struct check *check;
    struct walk *walk;   /* paths are walked; else NULL */
    struct live *live;   /* NULL: no --live, or it is estimated: */
    struct alive *alive; /* NULL: it is not */
    bool begins;         /* what an async method waits in keeps where it was begun: alloc_begun() */
};

int alloc_new(const struct alloc_config *config, struct alloc **out); /* 0 or -ENOMEM */

/*
 * alloc_begun - the node at which an async method, just entered at caller's SP `sp`, was begun;
 * passed: stack_config.begun.
 * Returns: its id; 0 where it is not known, and of a method that runs for the first time.
 * Threads: the stack's own. May run: in an Enter hook; reads the object, which does not move
 *          meanwhile.
 */
uint32_t alloc_begun(const struct alloc *alloc, const struct stack *stack,
                     const struct metadata_method *method, uintptr_t sp, const uintptr_t *passed);

/*
 * alloc_record - ObjectAllocated. Threads: the allocating one. May run: in that callback only (asks
 * for the object's size and, for a class met first, what it is); may wait for ring space as
 * event_post does.
 */
void alloc_record(struct alloc *alloc, uintptr_t object, uintptr_t class_id);

/*
 * alloc_sampled - an object that the runtime has sampled. Threads: the allocating one. May run: in
 * the sampler's event; never waits: what finds no room is lost, and counted.
 */
void alloc_sampled(struct alloc *alloc, const struct samples_taken *sample);

/* alloc_sampling_ns - processor time of the program that samples have taken. Threads: any. */
uint64_t alloc_sampling_ns(const struct alloc *alloc);

/* alloc_meet - as alloc_record, but for class_met only: allocations are not recorded. */
void alloc_meet(struct alloc *alloc, uintptr_t object, uintptr_t class_id);

/* The thread of this stack ends. From stack_config.detached. */
void alloc_thread_ended(struct stack *stack);

/* A collection started or ended: what is known of heap ranges is void. Threads: any. */
void alloc_heap_changed(struct alloc *alloc);

#endif
