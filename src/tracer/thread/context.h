/*
 * thread/context.h - the calling thread's stack as a node of the context tree. The frames keep
 * their nodes, so that it costs the frames entered since the last time, whatever the depth.
 */
#ifndef SHADOWTRACE_THREAD_CONTEXT_H
#define SHADOWTRACE_THREAD_CONTEXT_H

#include "code/code.h"
#include "metadata/metadata.h"
#include "stack/stack_hot.h"
#include "tree/tree.h"

struct context_config {
    struct metadata *metadata; /* borrowed, as is the tree */
    struct tree *tree;
    bool lines; /* calls of a method differ by their instructions */
};

void context_start(const struct context_config *config); /* once, before any other */

/* Id of the node of these frames (stack_settle, stack_look). Caller: a callback that holds up
 * pruning. */
uint32_t context_of(struct frame *top, size_t depth);

/* Id of the calling thread's stack now; 0: empty. TREE_CUT: it is cut. Threads: any; callbacks. */
uint32_t context_now(void);

/* What tells a frame's call from others of its method: the return address, if lines are wanted. */
uintptr_t context_call(const struct frame *frame);

/* The oldest address of the stack that frames of the thread reach. */
static inline uintptr_t context_limit(const struct frame *top, size_t depth)
{
    return load_relaxed(&top[-(ptrdiff_t)depth].sp);
}

#endif
