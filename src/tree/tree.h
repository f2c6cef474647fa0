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

struct tree;

enum tree_state {
    TREE_RESERVED, /* the id is given out, the node is being made */
    TREE_LIVE,     /* in the tree (release: the fields below are set) */
    TREE_HOLE,     /* another thread made the same node first: this id is never used */
};

/* 48 bytes: there may be millions. */
struct tree_node {
    struct tree_node *parent; /* NULL for the root only */
    uintptr_t method;         /* opaque; 0 for the root */
    uintptr_t ip; /* return address in the parent's method; of a site: in its own; 0 not known */
    union {
        _Atomic(struct tree_node *)
            last_child;          /* a guess that saves a look-up: any child, checked before use */
        _Atomic(uintptr_t) hint; /* of a site: the class met there first; opaque */
    };
    uint32_t next;          /* hash chain by id, fixed once published; 0 ends it */
    uint32_t id;            /* 0 is the root */
    _Atomic(int32_t) il;    /* of `ip`; TREE_IL_PENDING until resolved (release) */
    _Atomic(uint8_t) state; /* enum tree_state */
    uint8_t written;        /* the writer's own mark */
};

struct tree_config {
    uint32_t max_nodes; /* beyond it tree_child gives the parent */
    /* A new node, on the thread that made it, before any other thread can find it; may be NULL. */
    void (*created)(void *context, struct tree_node *node);
    void *context;
};

int tree_new(const struct tree_config *config, struct tree **out); /* 0 or -ENOMEM */
void tree_free(struct tree *tree);

struct tree_node *tree_root(struct tree *tree);

/*
 * tree_child - the node of `method` called from `ip` under `parent`, made if it is new.
 * Returns: the node, never NULL: when max_nodes is reached or memory runs out it is `parent`, counted (tree_refused).
 * Owns:    the tree. Threads: any, lock-free. May run: in callbacks; a new node may map pages.
 */
struct tree_node *tree_child(struct tree *tree, struct tree_node *parent, uintptr_t method,
                             uintptr_t ip);

/*
 * tree_site - in the tree of sites: the instruction before `ip` in `method`; `hint` is kept if it is new.
 * Returns: the node, or the root (id 0: no site) as tree_child gives the parent. Otherwise the same.
 */
struct tree_node *tree_site(struct tree *sites, uintptr_t method, uintptr_t ip, uintptr_t hint);

/* The node with that id, of any state, or NULL past the newest id. */
struct tree_node *tree_node_by_id(struct tree *tree, uint32_t id);
uint32_t tree_count(const struct tree *tree);   /* ids given out so far, the root's included */
uint64_t tree_refused(const struct tree *tree); /* look-ups answered with the parent instead */

#endif
