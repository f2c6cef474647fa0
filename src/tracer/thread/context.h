/*
 * thread/context.h - the calling thread's stack as a node of the context tree. The node is kept on the frames, so that it
 * costs the frames entered since the last one, whatever the depth.
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
    bool lines; /* calls of a method are told apart by their instructions */
};

void context_start(const struct context_config *config); /* once, before any other */

/* Id of the node of these frames: stack_settle's, or stack_look's. Caller: in a callback that holds up the tree's pruning. */
uint32_t context_of(struct frame *top, size_t depth);

/* Id of the calling thread's stack as it is now; 0: it is empty. With TREE_CUT: cut there. Threads: any; callbacks. */
uint32_t context_now(void);

/* What tells the call of a frame apart from others of the same method: its return address, if lines are wanted. */
uintptr_t context_call(const struct frame *frame);

/* The oldest address of the stack that frames of the thread reach. */
static inline uintptr_t context_limit(const struct frame *top, size_t depth)
{
    return load_relaxed(&top[-(ptrdiff_t)depth].sp);
}

#endif
