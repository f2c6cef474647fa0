/*
 * alloc/alloc.h - the allocation callback: what was allocated, how large, where, by which thread: one event.
 *
 * The thread's own stack is exact in its own callback. The context node is kept on the frames, so an event costs the
 * frames entered since the last one, whatever the depth.
 */
#ifndef SHADOWTRACE_ALLOC_ALLOC_H
#define SHADOWTRACE_ALLOC_ALLOC_H

#include "event/capture.h"
#include "event/event.h"
#include "metadata/metadata.h"
#include "options/options.h"
#include "stack/stack.h"
#include "tree/tree.h"

struct alloc;

struct alloc_config {
    struct clr_info *info; /* borrowed, as are the rest */
    int info_version;
    struct metadata *metadata;
    struct tree *tree;
    struct tree_sites *sites;
    struct event_hub *hub;
    const struct options *options;
    /* Compare this capture with a snapshot; *state is the thread's own, NULL at first. NULL function: never. */
    void (*compare)(void *context, void **state, const struct capture *capture);
    /* Id of a node from a snapshot instead of the shadow stack (--capture snapshot); NULL function: from the latter. */
    uint32_t (*capture)(void *context, void **state);
    /* The event of such a node was posted; NULL function: nobody asks. */
    void (*captured)(void *context, void **state, const struct capture *capture);
    void (*state_free)(void *context, void *state);
    /* Id of the values of the youngest frame of this stack that has some, 0 none; NULL function: never any. */
    uint32_t (*values)(struct stack *stack);
    /* An object of this class was recorded; NULL function: nobody asks. May let a collection run. */
    void (*class_met)(struct metadata_class *class);
    uintptr_t (*leaf)(
        void *context); /* instruction of the youngest frame, by a snapshot: see site.h */
    bool (*nameless)(void *context, uintptr_t ip); /* as struct site_table has it, and the next */
    bool by_helper;
    uintptr_t native_low, native_high; /* the runtime's image */
    bool begins; /* what an async method waits in keeps where it was begun: alloc_begun() */
    void *context;
};

int alloc_new(const struct alloc_config *config, struct alloc **out); /* 0 or -ENOMEM */

/*
 * alloc_begun - the node at which an async method, just entered at caller's SP `sp`, was begun; passed: stack_config.begun.
 * Returns: its id; 0 where it is not known, and of a method that runs for the first time.
 * Threads: the stack's own. May run: in an Enter hook; reads the object, which does not move meanwhile.
 */
uint32_t alloc_begun(const struct alloc *alloc, const struct stack *stack,
                     const struct metadata_method *method, uintptr_t sp, const uintptr_t *passed);

/*
 * alloc_record - ObjectAllocated. Threads: the allocating one. May run: in that callback only (asks for the object's
 * size and, for a class met first, what it is); may wait for ring space as event_post does.
 */
void alloc_record(struct alloc *alloc, uintptr_t object, uintptr_t class_id);

/* alloc_meet - as alloc_record, but for class_met only: allocations are not recorded. */
void alloc_meet(struct alloc *alloc, uintptr_t object, uintptr_t class_id);

/* The calling thread's ring, made if there is none; NULL when memory ran out. For events of other callbacks. */
struct event_ring *alloc_ring(struct alloc *alloc);

/* The ring of a stack's thread, NULL if it has none. */
struct event_ring *alloc_ring_of(struct stack *stack);

/* The comparison's own data of the calling thread, to whom `stack` belongs; NULL when memory ran out. */
void **alloc_state(struct alloc *alloc, struct stack *stack);

/* Id of the calling thread's stack as it is now, 0 when it is empty, or cut. For events of other callbacks. */
uint32_t alloc_node(struct alloc *alloc);

/* The thread of this stack ends: its ring is closed, its data freed. From stack_config.detached. */
void alloc_thread_ended(struct alloc *alloc, struct stack *stack);

/* A collection started or ended: what is known of heap ranges is void. Threads: any. */
void alloc_heap_changed(struct alloc *alloc);

#endif
