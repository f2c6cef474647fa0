/*
 * tree/tree.h - the context tree: one per process. A node is a method called from one instruction of its parent's
 * node; a path from the root is a call stack. Nodes are made once, numbered, and never freed or moved.
 *
 * A method is an opaque word here. A second, flat tree holds the sites: instructions that allocate, each a child of
 * the root, so that a stack is one node however many objects its youngest method makes.
 *
 *                              | tree_child       | tree_node_by_id
 *   at the same time           | safe (lock-free) | safe (wait-free)
 */
#ifndef SHADOWTRACE_TREE_TREE_H
#define SHADOWTRACE_TREE_TREE_H

#include "base/atomics.h"

#define TREE_IL_PENDING \
    (-1) /* nobody has resolved the instruction yet; other values are the resolver's */

enum tree_state {
    TREE_RESERVED, /* the id is given out, the node is being made */
    TREE_LIVE,     /* in the tree (release: the fields below are set) */
    TREE_HOLE,     /* another thread made the same node first: this id is never used */
};

/*
 * 32 bytes: there may be millions, and looking one up is a cache miss. Other nodes are named by how far away they lie:
 * all nodes of a tree are one array, in the order of their ids.
 */
struct tree_node {
    uint64_t key; /* method : 48, low end of the return address : 16; see tree_key */
    uint32_t ip; /* the rest of the return address: in the parent's method; of a site: in its own */
    uint32_t up; /* the parent lies so many nodes before; 0 for the root only */
    union {
        _Atomic(uint32_t) down; /* so many nodes after lies the youngest of its list of children */
        uint32_t hint;          /* of a site: low end of the class met there first */
    };
    uint32_t next;          /* on its chain, see tree.c; fixed once published; 0 ends it */
    _Atomic(int32_t) il;    /* of the return address; TREE_IL_PENDING until resolved (release) */
    uint16_t hint_high;     /* the rest of the hint */
    _Atomic(uint8_t) state; /* enum tree_state */
    uint8_t written;        /* the writer's own mark */
};

/* Where a node's key lies for a method and a return address: words below 2^48, as user space's addresses are. */
static inline uint64_t tree_key(uintptr_t method, uintptr_t ip)
{
    return method | (uint64_t)ip << 48;
}

/* What a node is of: the method, opaque, 0 for the root; the return address, 0 not known; a site's class. */
static inline uintptr_t tree_method(const struct tree_node *node)
{
    return node->key & ((UINT64_C(1) << 48) - 1);
}
static inline uintptr_t tree_ip(const struct tree_node *node)
{
    return (uintptr_t)node->ip << 16 | node->key >> 48;
}
static inline uintptr_t tree_hint(const struct tree_node *site)
{
    return (uintptr_t)site->hint_high << 32 | site->hint;
}

/* NULL for the root. */
static inline struct tree_node *tree_parent(const struct tree_node *node)
{
    return node->up ? (struct tree_node *)(uintptr_t)(node - node->up) : NULL;
}

struct tree_config {
    uint32_t max_nodes; /* beyond it tree_child gives the parent */
    /* A new node, on the thread that made it, before any other thread can find it; may be NULL. */
    void (*created)(void *context, struct tree_node *node);
    void *context;
};

/* Fields are tree.c's own; here for the inline functions. */
struct tree {
    struct tree_node *nodes; /* by id */
    struct tree_config config;
    _Atomic(uint32_t) count; /* ids given out */
    _Atomic(uint32_t) ready; /* nodes that have memory; at least count */
    _Atomic(uint64_t) refused;
    _Atomic(uint32_t) *buckets; /* id of the youngest node of a chain, 0 none */
    unsigned bucket_bits;
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

/*
 * tree_child - the node of `method` called from `ip` under `parent`, made if it is new.
 * Returns: the node, never NULL: when max_nodes is reached or memory runs out it is `parent`, counted (tree_refused).
 * Owns:    the tree. Threads: any, lock-free. May run: in callbacks; a new node may map pages.
 */
static inline struct tree_node *tree_child(struct tree *tree, struct tree_node *parent,
                                           uintptr_t method, uintptr_t ip);
struct tree_node *tree_child_slow(struct tree *tree, struct tree_node *parent, uintptr_t method,
                                  uintptr_t ip); /* its other half */

/*
 * tree_site - in the tree of sites: the instruction before `ip` in `method`; `hint` is kept if it is new.
 * Returns: the node, or the root (id 0: no site) as tree_child gives the parent. Otherwise the same.
 */
struct tree_node *tree_site(struct tree *sites, uintptr_t method, uintptr_t ip, uintptr_t hint);

/* The node with that id, of any state, or NULL past the newest id. */
struct tree_node *tree_node_by_id(struct tree *tree, uint32_t id);
uint32_t tree_count(const struct tree *tree);   /* ids given out so far, the root's included */
uint64_t tree_refused(const struct tree *tree); /* look-ups answered with the parent instead */

static inline struct tree_node *tree_child(struct tree *tree, struct tree_node *parent,
                                           uintptr_t method, uintptr_t ip)
{
    uint32_t down = load_acquire(&parent->down); /* pairs with the release that pushes it */
    struct tree_node *node = parent + down;

    if (LIKELY(down && node->key == tree_key(method, ip) && node->ip == ip >> 16))
        return node;
    return tree_child_slow(tree, parent, method, ip);
}

#endif
