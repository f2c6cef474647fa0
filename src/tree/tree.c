#include "tree/tree.h"

#include "base/memory.h"

#include <errno.h>

#define SIBLINGS 4 /* children in a node's own list; nineteen of twenty nodes have no more */

_Static_assert(sizeof(struct tree_node) == 16, "see tree.h");

/*
 * A node's children hang on a list of its own, most of them next to it in memory; those that come when it is full, on
 * a chained hash of the whole tree. Both only grow: a node is pushed onto its chain by compare-and-swap and never
 * leaves, so look-ups need no protection. A list that was full once takes no more, so a child is on the list or in the
 * hash, never on both. Progress: look-up wait-free but for the length of the chain; insertion lock-free.
 */

int tree_new(const struct tree_config *config, struct tree **out)
{
    struct tree_sites_config calls = {config->max_nodes, config->created, config->context};
    struct tree *tree = memory_zalloc(1, sizeof(*tree));
    uint32_t root;

    *out = NULL;
    if (!tree)
        return -ENOMEM;
    tree->config = *config;
    if (tree->config.max_nodes > TREE_CUT)
        tree->config.max_nodes = TREE_CUT;
    if (calls.max_sites > 1u << TREE_CALL_BITS)
        calls.max_sites = 1u << TREE_CALL_BITS;
    if (tree_sites_new(&calls, &tree->calls) ||
        tree_numbers_init(&tree->numbers, sizeof(struct tree_node), tree->config.max_nodes) ||
        tree_buckets_init(&tree->buckets, tree->config.max_nodes) ||
        !tree_numbers_next(&tree->numbers, &root)) {
        tree_free(tree);
        return -ENOMEM;
    }
    tree->nodes = (struct tree_node *)(void *)tree->numbers.array;
    *out = tree;
    return 0;
}

void tree_free(struct tree *tree)
{
    if (!tree)
        return;
    tree_numbers_fini(&tree->numbers);
    tree_buckets_fini(&tree->buckets);
    tree_sites_free(tree->calls);
    memory_free(tree);
}

/* A list of siblings, or of the nodes of one bucket; the youngest first, each by its distance from `origin`. */
struct chain {
    struct tree_node *origin;
    _Atomic(uint32_t) *first;
    uint32_t head, length; /* as last searched */
};

static struct tree_node *chain_find(const struct tree *tree, struct chain *chain,
                                    const struct tree_node *parent, uintptr_t method, uintptr_t ip)
{
    struct tree_node *node;

    chain->length = 0;
    chain->head = load_acquire(chain->first); /* pairs with the release in tree_child_slow */
    for (uint32_t at = chain->head; at; at = node->next) {
        node = chain->origin + at;
        if (node - node->up == parent && tree_is_call(tree, node, method, ip))
            return node;
        chain->length++;
    }
    return NULL;
}

/* The node, or NULL and the chain that it belongs on. */
static struct tree_node *child_find(const struct tree *tree, struct tree_node *parent,
                                    uintptr_t method, uintptr_t ip, struct chain *chain)
{
    struct tree_node *node;

    *chain = (struct chain){.origin = parent, .first = &parent->down};
    node = chain_find(tree, chain, parent, method, ip);
    if (node || chain->length < SIBLINGS)
        return node;
    *chain =
        (struct chain){.origin = tree->nodes,
                       .first = tree_bucket(&tree->buckets, tree_id(tree, parent), method, ip)};
    return chain_find(tree, chain, parent, method, ip);
}

static uint32_t call_of(struct tree *tree, const struct tree_node *parent, uintptr_t method,
                        uintptr_t ip)
{
    uintptr_t inside = tree_method(tree, parent);
    bool alone = tree->config.unloads && tree->config.unloads(inside, method);

    return tree_site_call(tree->calls, inside, ip, method, alone ? tree_id(tree, parent) + 1 : 0);
}

static struct tree_node *node_new(struct tree *tree, const struct tree_node *parent,
                                  uintptr_t method, uintptr_t ip)
{
    uint32_t call = call_of(tree, parent, method, ip), id;
    struct tree_node *node;

    if (!call || !tree_numbers_next(&tree->numbers, &id))
        return NULL;
    node = &tree->nodes[id];
    node->up = (uint32_t)(node - parent);
    store_relaxed(&node->call_mark, call);
    return node;
}

struct tree_node *tree_child_slow(struct tree *tree, struct tree_node *parent, uintptr_t method,
                                  uintptr_t ip)
{
    struct chain chain;
    struct tree_node *made = NULL, *found;

    while (!(found = child_find(tree, parent, method, ip, &chain))) {
        if (!made && !(made = node_new(tree, parent, method, ip)))
            return NULL;
        made->next = chain.head;
        if (cas_acq_rel(chain.first, &chain.head, (uint32_t)(made - chain.origin)))
            return made;
    }
    if (made)
        made->up = 0; /* another thread made the same first: this id is never used */
    return found;
}

uint32_t tree_next(struct tree *tree, uint32_t path, uintptr_t method, uintptr_t ip)
{
    struct tree_node *parent = tree_node_by_id(tree, path), *node;

    if (!parent) /* cut before */
        return path;
    node = tree_child(tree, parent, method, ip);
    return node ? tree_id(tree, node) : path | TREE_CUT;
}

void tree_marks_clear(struct tree *tree)
{
    for (uint32_t id = 0; id < tree_count(tree); id++)
        atomic_fetch_and_explicit(&tree->nodes[id].call_mark, TREE_CALL_MASK,
                                  memory_order_relaxed); /* a node may be in the making */
}

uint64_t tree_refused(const struct tree *tree)
{
    return load_relaxed(&tree->numbers.refused) + load_relaxed(&tree->calls->numbers.refused);
}
