/*
 * tree/tree.h - the context tree, one per process. A node is a method called from one instruction
 * of its parent's node; a path from the root is a call stack. Nodes are made once, numbered, and
 * never moved. The call itself is a site, shared by all nodes in which the same instruction calls
 * the same method: there are thirty times as many nodes. Paths through unloaded code are freed in
 * two steps: tree_prune, then tree_back, when nobody looks at them any more.
 *
 *                              | tree_child       | tree_node_by_id
 *   at the same time           | safe (lock-free) | safe (wait-free)
 */
#ifndef SHADOWTRACE_TREE_TREE_H
#define SHADOWTRACE_TREE_TREE_H

#include "tree/sites.h"

/*
 * 16 bytes: there may be millions, and looking one up is a cache miss. A node names others by their
 * distance: all nodes of a tree are one array, in the order of their ids.
 */
struct tree_node {
    _Atomic(uint32_t) call_mark; /* the site of the call : 24, the writer's own mark : 8 */
    _Atomic(uint32_t) up;        /* the distance to the parent before it; 0: the root, or unused */
    _Atomic(uint32_t) down;      /* the distance to its youngest child */
    _Atomic(uint32_t) next;      /* on its chain, see tree.c; changed by tree_prune; 0 ends it */
};

/* Before and after are signed: a number that is used again may lie on the other side. */
static inline struct tree_node *tree_node_at(const struct tree_node *from, uint32_t distance)
{
    return (struct tree_node *)(uintptr_t)(from + (int32_t)distance);
}

#define TREE_CALL_BITS 24
#define TREE_CALL_MASK ((1u << TREE_CALL_BITS) - 1)

struct tree_config {
    uint32_t max_nodes; /* beyond it tree_child gives none */
    /* A new call, as tree_sites_config. */
    void (*created)(void *context, struct tree_site *call);
    void *context;
    /*
     * Can code of one of both methods be unloaded? A later call at the same address is another one
     * then, and no two nodes share it. May be NULL: never.
     */
    bool (*unloads)(uintptr_t method, uintptr_t target);
};

/* Fields are tree.c's own; here for the inline functions. */
struct tree {
    struct tree_node *nodes; /* by id */
    struct tree_sites *calls;
    struct tree_config config;
    struct tree_numbers numbers;
    struct tree_buckets buckets;
    _Atomic(bool) pruned;    /* once: lists that were full may have room */
    _Atomic(uint8_t) *begun; /* by id: how deep a beginning that is, see tree_begin(); 0: none */
};

int tree_new(const struct tree_config *config, struct tree **out); /* 0 or -ENOMEM */
void tree_free(struct tree *tree);

static inline struct tree_node *tree_root(const struct tree *tree)
{
    return tree->nodes;
}
static inline uint32_t tree_id(const struct tree *tree, const struct tree_node *node)
{
    return (uint32_t)(node - tree->nodes); /* 0 is the root */
}

/* NULL for the root. */
static inline struct tree_node *tree_parent(const struct tree_node *node)
{
    uint32_t up = load_relaxed(&node->up);

    return up ? tree_node_at(node, -up) : NULL;
}

/* The call of a node: its target is the node's method, its method the parent's. Root: zeros. */
static inline struct tree_site *tree_call(const struct tree *tree, const struct tree_node *node)
{
    return tree_site_at(tree->calls, load_relaxed(&node->call_mark) & TREE_CALL_MASK);
}
static inline uintptr_t tree_method(const struct tree *tree, const struct tree_node *node)
{
    return tree_call(tree, node)->target;
}

/* The writer's mark, 0 at first. tree_marks_clear: of all nodes. Threads: one. */
static inline uint8_t tree_mark(const struct tree_node *node)
{
    return (uint8_t)(load_relaxed(&node->call_mark) >> TREE_CALL_BITS);
}
static inline void tree_mark_set(struct tree_node *node, uint8_t mark)
{
    uint32_t call = load_relaxed(&node->call_mark) & TREE_CALL_MASK;

    store_relaxed(&node->call_mark, call | (uint32_t)mark << TREE_CALL_BITS);
}
void tree_marks_clear(struct tree *tree);

/*
 * tree_child - the node of `method` called from `ip` under `parent`, made if it is new.
 * Returns: the node; NULL when max_nodes is reached or memory runs out, counted (tree_refused): the
 *          path ends at `parent`, and whatever uses its id says so: TREE_CUT.
 * Owns:    the tree. Threads: any, lock-free. May run: in callbacks; a new node may map pages.
 */
static inline struct tree_node *tree_child(struct tree *tree, struct tree_node *parent,
                                           uintptr_t method, uintptr_t ip);
struct tree_node *tree_child_slow(struct tree *tree, struct tree_node *parent, uintptr_t method,
                                  uintptr_t ip); /* its other half */

/* The node with that id, or NULL past the newest id. */
static inline struct tree_node *tree_node_by_id(struct tree *tree, uint32_t id);
static inline uint32_t
tree_count(const struct tree *tree);            /* ids given out so far, the root's included */
uint64_t tree_made(const struct tree *tree);    /* nodes, those that were given back included */
uint64_t tree_refused(const struct tree *tree); /* look-ups that were given none */

/*
 * Set in the id of a node whose path goes on above it: what lies there was not kept. No node has
 * such an id: tree_node_by_id() gives NULL.
 */
#define TREE_CUT (1u << 31)

static inline bool tree_is_cut(uint32_t id)
{
    return id & TREE_CUT;
}
static inline uint32_t tree_uncut(uint32_t id)
{
    return id & ~TREE_CUT;
}

/*
 * Beginnings: nodes at which something was begun that goes on elsewhere. What goes on there is the
 * child of a node that is no call: its site has no target, and the beginning's id as instruction.
 *
 * tree_begin - makes `id` a beginning, below `depth` others that go on in each other; at most
 *              TREE_BEGUN_DEPTH: what begins itself over and over has no end. It stays one while it
 *              lives, and its id is not used again.
 * tree_is_beginning - whether it is; an id may be any number.
 * tree_go_on - the child of `parent` for what was begun at `id`; NULL when there are too many
 * nodes.
 * Threads: any. May run: tree_is_beginning anywhere, else as tree_child.
 */
#define TREE_BEGUN_DEPTH 32
void tree_begin(struct tree *tree, uint32_t id, unsigned depth);
struct tree_node *tree_go_on(struct tree *tree, struct tree_node *parent, uint32_t id);

/* How deep a beginning; 0: it is none. */
static inline unsigned tree_begun_depth(const struct tree *tree, uint32_t id);

/* The beginning that a node goes on from, whose parent it is for no call; 0 of any other node. */
static inline uint32_t tree_goes_on(const struct tree *tree, const struct tree_node *node)
{
    const struct tree_site *call = tree_call(tree, node);

    return call->target ? 0 : (uint32_t)call->ip;
}

/* The node that called this one: the parent, past nodes that are not calls. NULL for the root. */
static inline struct tree_node *tree_caller(const struct tree *tree, const struct tree_node *node)
{
    struct tree_node *parent = tree_parent(node);

    return parent && tree_goes_on(tree, parent) ? tree_parent(parent) : parent;
}

/* tree_next - tree_child by ids: one step of a path; a cut path stays cut. Returns: the new id. */
uint32_t tree_next(struct tree *tree, uint32_t path, uintptr_t method, uintptr_t ip);

/*
 * tree_prune - takes off what is `gone`: sites of calls of or in such methods, and each node on
 * whose path one is. Adds their ids to the lists. Returns: 0, or -ENOMEM: then nothing has changed.
 * Threads: one; look-ups go on beside it. What is pruned stays readable until tree_back(), which
 * frees its ids.
 */
int tree_prune(struct tree *tree, const struct tree_gone *gone, struct tree_list *nodes,
               struct tree_list *calls);
void tree_back(struct tree *tree, const struct tree_list *nodes, const struct tree_list *calls);

static inline bool tree_is_call(const struct tree *tree, const struct tree_node *node,
                                uintptr_t method, uintptr_t ip)
{
    const struct tree_site *call = tree_call(tree, node);

    return call->target == method && call->ip == ip;
}

static inline struct tree_node *tree_child(struct tree *tree, struct tree_node *parent,
                                           uintptr_t method, uintptr_t ip)
{
    /* Its own list: all of these have this parent. Pairs with the release that pushes it. */
    uint32_t at = load_acquire(&parent->down);
    struct tree_node *node;

    for (; at; at = load_relaxed(&node->next)) {
        node = tree_node_at(parent, at);
        if (LIKELY(tree_is_call(tree, node, method, ip)))
            return node;
    }
    return tree_child_slow(tree, parent, method, ip);
}

static inline uint32_t tree_count(const struct tree *tree)
{
    return load_acquire(&tree->numbers.count);
}

static inline unsigned tree_begun_depth(const struct tree *tree, uint32_t id)
{
    unsigned depth = id < tree_count(tree) ? load_relaxed(&tree->begun[id]) : 0;

    return depth <= TREE_BEGUN_DEPTH ? depth : 0;
}

static inline struct tree_node *tree_node_by_id(struct tree *tree, uint32_t id)
{
    return id < tree_count(tree) ? &tree->nodes[id] : NULL;
}

#endif
