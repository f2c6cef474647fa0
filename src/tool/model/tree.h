/*
 * model/tree.h - a call tree of those of a model's cells that a filter lets through, in the shape
 * that a view wants: places (a method, a line or an instruction of it) as nodes, the heaviest
 * child first. Node 0 is the root: it stands for no frame, and its total is the tree's.
 *
 * Nodes lie in preorder: children of node i are i + 1, then end of that one, ... below end of i.
 *
 *     for (uint32_t child = node + 1; child < nodes[node].end; child = nodes[child].end)
 */
#ifndef SHADOWTRACE_MODEL_TREE_H
#define SHADOWTRACE_MODEL_TREE_H

#include "model/shape.h"

struct model_node {
    uint32_t parent; /* the root's is the root */
    uint32_t end;    /* behind its subtree */
    uint32_t place;
    uint32_t depth; /* of the root 0 */
};

struct model_tree {
    const struct model *model;
    struct model_node *nodes;
    uint32_t node_count;
    struct model_place *places; /* in the order of their names */
    uint32_t place_count;
    /* By node; NULL: all 0, never of bytes and allocs. self is the node's own, total that of its
     * subtree. */
    double *self[MODEL_WEIGHTS], *total[MODEL_WEIGHTS];
    /* Cells of the model that the filter let through, by the node that they are of. */
    uint32_t *cells;
    uint32_t cell_count;
    uint32_t *first_cell; /* by node, one more than nodes: cells of node i are [i], [i + 1) */
    char **texts;         /* the tree's own names */
    uint32_t text_count;
    /* What min_share folded: nodes, and bytes that now stand at an ancestor. */
    uint32_t folded_nodes;
    double folded_bytes;
};

/*
 * model_tree_new - Returns: 0; -ENOMEM; -ENOENT: a glob matches nothing, why says which, and the
 * nearest name. Owns: *out is the caller's until model_tree_free; the model must live as long.
 */
int model_tree_new(const struct model *m, const struct model_filter *filter,
                   const struct model_shape *shape, struct model_tree **out, char *why,
                   size_t why_size);
void model_tree_free(struct model_tree *t);

/*
 * model_tree_ids - 128 bits for each node, the high word first: a hash (FNV-1a) of its place's full
 * name, module and line (with grain IL also the offset), and of its parent's id. No number, address
 * or build of a log goes in: the same stack has the same id in every process.
 * Returns: 0 or -ENOMEM; *out has two words a node, to be freed with memory_free.
 */
int model_tree_ids(const struct model_tree *t, uint64_t (**out)[2]);

/*
 * model_place_ids - what those are made of: the hash of each place; and of its method, type or name
 * alone, wherever in it. Two places may have one of either: methods of one name in two modules of
 * one name. Returns: 0 or -ENOMEM; both to be freed with memory_free.
 */
int model_place_ids(const struct model_tree *t, uint64_t (**out)[2], uint64_t (**bases)[2]);

/*
 * model_place_def - the method or the type of a place; NULL: the place has neither.
 * model_place_name - its name in the log, or the place's own; "" of a root.
 */
const struct log_def *model_place_def(const struct log_defs *d, const struct model_place *p);
const char *model_place_name(const struct log_defs *d, const struct model_place *p);

#endif
