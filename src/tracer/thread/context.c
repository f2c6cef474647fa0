#include "thread/context.h"

#include "rcu/grace.h"

static struct context_config self;

void context_start(const struct context_config *config)
{
    self = *config;
}

uintptr_t context_call(const struct frame *frame)
{
    uintptr_t ret = frame_ret(frame);

    return LIKELY(self.lines) || ret == FRAME_RET_FILTER ? ret : 0;
}

/* The path could not be kept beyond this id: neither are the frames above it. */
static __attribute__((noinline)) uint32_t context_cut(struct frame *frame, struct frame *top,
                                                      uint32_t path)
{
    for (; frame < top; frame++)
        frame_node_set(frame, path | TREE_CUT);
    return path | TREE_CUT;
}

/*
 * For a method that a dynamic method called, which the method of `frame` called: the node for the
 * call there, if it is found; else for the call in the dynamic method.
 */
static __attribute__((noinline)) struct tree_node *through_dynamic(struct tree_node *parent,
                                                                   struct tree_node *node,
                                                                   const struct frame *frame,
                                                                   uintptr_t limit)
{
    const struct metadata_method *method =
        (const struct metadata_method *)load_relaxed(&frame->method);
    uintptr_t sp = load_relaxed(&frame[1].sp), ip;
    const struct code_place place = {frame_ret(&frame[1]), sp,
                                     *(const uintptr_t *)frame_record(&frame[1])};

    ip = code_caller(self.metadata, method, &place, limit);
    return ip ? tree_child(self.tree, parent, load_relaxed(&frame[1].method), ip | TREE_IP_DYNAMIC)
              : node;
}

uint32_t context_of(struct frame *top, size_t depth)
{
    struct tree *tree = self.tree;
    struct tree_node *node = tree_root(tree), *parent;
    struct frame *frame = top, *oldest = top - depth;

    while (frame > oldest && !frame_node(&frame[-1]))
        frame--;
    if (frame > oldest) {
        node = tree_node_by_id(tree, frame_node(&frame[-1]));
        if (UNLIKELY(!node))
            return context_cut(frame, top, frame_node(&frame[-1]));
    }
    for (; frame < top; frame++) {
        uint32_t flags = frame_flags(frame), begun = flags >> FRAME_BEGUN_SHIFT;
        struct tree_node *on = UNLIKELY(begun) ? tree_go_on(tree, node, begun) : NULL;

        parent = on ? on : node;
        node = tree_child(tree, parent, load_relaxed(&frame->method), context_call(frame));
        if (UNLIKELY(node && tree_call(tree, node)->outside == TREE_OUTSIDE_DYNAMIC))
            node = through_dynamic(parent, node, frame - 1, context_limit(top, depth));
        if (UNLIKELY(!node))
            return context_cut(frame, top, frame > oldest ? frame_node(&frame[-1]) : 0);
        frame_keep(frame, tree_id(tree, node), flags);
    }
    return tree_id(tree, node);
}

uint32_t context_now(void)
{
    struct stack *s = stack_peek();
    struct frame *top;
    size_t depth = s ? stack_look(s, &top) : 0;
    /* Not only for allocations, which hold up a collection: pruned nodes stay while looked at. */
    struct grace_section section = grace_enter();
    uint32_t node = depth ? context_of(top, depth) : 0;

    grace_leave(section);
    return node;
}
