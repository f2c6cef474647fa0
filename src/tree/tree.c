#include "tree/tree.h"

#include "base/memory.h"

#include <errno.h>

#define CHUNK_NODES (1u << 14) /* whose memory is had at a time */
#define BUCKET_BITS 18         /* at the most */
#define SIBLINGS    4 /* children in a node's own list; nineteen of twenty nodes have no more */

_Static_assert(sizeof(struct tree_node) == 32, "see tree.h");

/*
 * A node's children hang on a list of its own, most of them next to it in memory; those that come when it is full, on
 * a chained hash of the whole tree. Both only grow: a node is pushed onto its chain by compare-and-swap and never
 * leaves, so look-ups need no protection. A list that was full once takes no more, so a child is on the list or in the
 * hash, never on both. Progress: look-up wait-free but for the length of the chain; insertion lock-free. Address space
 * for all nodes is reserved at the start; pages of it and of the buckets come as needed.
 */

static uint64_t hash(uint64_t parent, uintptr_t method, uintptr_t ip)
{
    uint64_t h = parent * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ (h >> 29) ^ method) * UINT64_C(0xbf58476d1ce4e5b9);
    return (h ^ (h >> 32) ^ ip) * UINT64_C(0x94d049bb133111eb);
}

static size_t bucket_bytes(const struct tree *tree)
{
    return sizeof(*tree->buckets) << tree->bucket_bits;
}

static size_t node_bytes(const struct tree *tree)
{
    return sizeof(struct tree_node) *
           (((size_t)tree->config.max_nodes + CHUNK_NODES) & ~(size_t)(CHUNK_NODES - 1));
}

/* Sees to it that the node with this id has memory. */
static bool get_ready(struct tree *tree, uint32_t id)
{
    uint32_t ready = load_acquire(&tree->ready);

    while (id >= ready) {
        if (!memory_pages_use(&tree->nodes[ready], CHUNK_NODES * sizeof(struct tree_node)))
            return false;
        if (cas_acq_rel(&tree->ready, &ready, ready + CHUNK_NODES))
            return true;
    }
    return true;
}

static struct tree_node *reserve(struct tree *tree)
{
    uint32_t id = load_relaxed(&tree->count);

    while (id < tree->config.max_nodes) {
        if (!get_ready(tree, id)) /* before the id is given out: an id without a node never ends */
            break;
        if (cas_acq_rel(&tree->count, &id, id + 1))
            return &tree->nodes[id];
    }
    add_relaxed(&tree->refused, 1);
    return NULL;
}

int tree_new(const struct tree_config *config, struct tree **out)
{
    struct tree *tree = memory_zalloc(1, sizeof(*tree));
    struct tree_node *root;

    *out = NULL;
    if (!tree)
        return -ENOMEM;
    tree->config = *config;
    tree->bucket_bits = 1;
    while (tree->bucket_bits < BUCKET_BITS && 4u << tree->bucket_bits < config->max_nodes)
        tree->bucket_bits++;
    tree->buckets = memory_pages_map(bucket_bytes(tree));
    tree->nodes = memory_pages_reserve(node_bytes(tree));
    root = tree->buckets && tree->nodes ? reserve(tree) : NULL;
    if (!root) {
        tree_free(tree);
        return -ENOMEM;
    }
    store_relaxed(&root->state, TREE_LIVE);
    *out = tree;
    return 0;
}

void tree_free(struct tree *tree)
{
    if (!tree)
        return;
    memory_pages_unmap(tree->nodes, node_bytes(tree));
    memory_pages_unmap(tree->buckets, bucket_bytes(tree));
    memory_free(tree);
}

/* A list of siblings, or of the nodes of one bucket; the youngest first, each by its distance from `origin`. */
struct chain {
    struct tree_node *origin;
    _Atomic(uint32_t) *first;
    uint32_t head, length; /* as last searched */
};

static struct tree_node *chain_find(struct chain *chain, const struct tree_node *parent,
                                    uintptr_t method, uintptr_t ip)
{
    uint64_t key = tree_key(method, ip);
    struct tree_node *node;

    chain->length = 0;
    chain->head = load_acquire(chain->first); /* pairs with the release in child_find_or_make */
    for (uint32_t at = chain->head; at; at = node->next) {
        node = chain->origin + at;
        if (node->key == key && node->ip == ip >> 16 && node - node->up == parent)
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
    uint64_t at;

    *chain = (struct chain){.origin = parent, .first = &parent->down};
    node = chain_find(chain, parent, method, ip);
    if (node || chain->length < SIBLINGS)
        return node;
    at = hash(tree_id(tree, parent), method, ip) >> (64 - tree->bucket_bits);
    *chain = (struct chain){.origin = tree->nodes, .first = &tree->buckets[at]};
    return chain_find(chain, parent, method, ip);
}

static struct tree_node *node_new(struct tree *tree, const struct tree_node *parent,
                                  uintptr_t method, uintptr_t ip, uintptr_t hint)
{
    struct tree_node *node = reserve(tree);

    if (!node)
        return NULL;
    node->key = tree_key(method, ip);
    node->ip = (uint32_t)(ip >> 16);
    node->up = (uint32_t)(node - parent);
    node->hint = (uint32_t)hint; /* of others than sites: no child yet */
    node->hint_high = (uint16_t)(hint >> 32);
    store_relaxed(&node->il, TREE_IL_PENDING);
    if (tree->config.created)
        tree->config.created(tree->config.context, node);
    return node;
}

static struct tree_node *child_find_or_make(struct tree *tree, struct tree_node *parent,
                                            uintptr_t method, uintptr_t ip, uintptr_t hint)
{
    struct chain chain;
    struct tree_node *made = NULL, *found;

    while (!(found = child_find(tree, parent, method, ip, &chain))) {
        if (!made && !(made = node_new(tree, parent, method, ip, hint)))
            return NULL;
        made->next = chain.head;
        if (cas_acq_rel(chain.first, &chain.head, (uint32_t)(made - chain.origin))) {
            store_release(&made->state, TREE_LIVE);
            return made;
        }
    }
    if (made)
        store_release(&made->state, TREE_HOLE);
    return found;
}

struct tree_node *tree_child_slow(struct tree *tree, struct tree_node *parent, uintptr_t method,
                                  uintptr_t ip)
{
    struct tree_node *node = child_find_or_make(tree, parent, method, ip, 0);

    return node ? node : parent;
}

struct tree_node *tree_site(struct tree *sites, uintptr_t method, uintptr_t ip, uintptr_t hint)
{
    struct tree_node *root = tree_root(sites),
                     *node = child_find_or_make(sites, root, method, ip, hint);

    return node ? node : root;
}

struct tree_node *tree_node_by_id(struct tree *tree, uint32_t id)
{
    return id < tree_count(tree) ? &tree->nodes[id] : NULL;
}

uint32_t tree_count(const struct tree *tree)
{
    return load_acquire(&tree->count);
}

uint64_t tree_refused(const struct tree *tree)
{
    return load_relaxed(&tree->refused);
}
