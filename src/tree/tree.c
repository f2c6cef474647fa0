#include "tree/tree.h"

#include "base/memory.h"

#include <errno.h>

#define CHUNK_BITS  14
#define CHUNK_NODES (1u << CHUNK_BITS)
#define BUCKET_BITS 20 /* at the most */

_Static_assert(sizeof(struct tree_node) == 48, "see tree.h");

/*
 * Nodes are found by a chained hash that only grows: a node is pushed onto its chain by compare-and-swap and never
 * leaves, so look-ups need no protection. Progress: look-up wait-free but for the length of the chain; insertion
 * lock-free. Bucket pages are committed as they are touched.
 */
struct tree {
    struct tree_config config;
    _Atomic(uint32_t) count; /* ids given out */
    _Atomic(uint64_t) refused;
    _Atomic(uint32_t) *buckets; /* id of the newest node of a chain, 0 none */
    unsigned bucket_bits;
    uint32_t chunks; /* entries of the array below */
    _Atomic(struct tree_node *) chunk[];
};

static uint64_t hash(const struct tree_node *parent, uintptr_t method, uintptr_t ip)
{
    uint64_t h = (uintptr_t)parent * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ (h >> 29) ^ method) * UINT64_C(0xbf58476d1ce4e5b9);
    return (h ^ (h >> 32) ^ ip) * UINT64_C(0x94d049bb133111eb);
}

static size_t bucket_bytes(const struct tree *tree)
{
    return sizeof(*tree->buckets) << tree->bucket_bits;
}

/* The slot of an id; its chunk is mapped if need be. NULL: out of memory. */
static struct tree_node *slot(struct tree *tree, uint32_t id)
{
    _Atomic(struct tree_node *) *at = &tree->chunk[id >> CHUNK_BITS];
    struct tree_node *chunk = load_acquire(at);

    if (!chunk) {
        struct tree_node *made = memory_pages_map(CHUNK_NODES * sizeof(*made));

        if (!made)
            return NULL;
        if (cas_acq_rel(at, &chunk, made)) /* pairs with the load above and in tree_node_by_id */
            chunk = made;
        else
            memory_pages_unmap(made, CHUNK_NODES * sizeof(*made));
    }
    return &chunk[id & (CHUNK_NODES - 1)];
}

static struct tree_node *reserve(struct tree *tree)
{
    uint32_t id = load_relaxed(&tree->count);

    while (id < tree->config.max_nodes) {
        struct tree_node *node =
            slot(tree, id); /* before the id is given out: an id without a node would never end */

        if (!node)
            break;
        if (cas_acq_rel(&tree->count, &id, id + 1)) {
            node->id = id;
            return node;
        }
    }
    add_relaxed(&tree->refused, 1);
    return NULL;
}

int tree_new(const struct tree_config *config, struct tree **out)
{
    uint32_t chunks = (config->max_nodes >> CHUNK_BITS) + 1;
    struct tree *tree = memory_zalloc(1, sizeof(*tree) + chunks * sizeof(tree->chunk[0]));
    struct tree_node *root;

    *out = NULL;
    if (!tree)
        return -ENOMEM;
    tree->config = *config;
    tree->chunks = chunks;
    tree->bucket_bits = 1;
    while (tree->bucket_bits < BUCKET_BITS && 4u << tree->bucket_bits < config->max_nodes)
        tree->bucket_bits++;
    tree->buckets = memory_pages_map(bucket_bytes(tree));
    root = tree->buckets ? reserve(tree) : NULL;
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
    for (uint32_t i = 0; i < tree->chunks; i++)
        memory_pages_unmap(load_relaxed(&tree->chunk[i]), CHUNK_NODES * sizeof(struct tree_node));
    memory_pages_unmap(tree->buckets, bucket_bytes(tree));
    memory_free(tree);
}

struct tree_node *tree_root(struct tree *tree)
{
    return load_relaxed(&tree->chunk[0]);
}

/* A published id: its chunk is there. */
static struct tree_node *known(const struct tree *tree, uint32_t id)
{
    return &load_acquire(&tree->chunk[id >> CHUNK_BITS])[id & (CHUNK_NODES - 1)];
}

static struct tree_node *chain_find(const struct tree *tree, uint32_t from, uint32_t until,
                                    const struct tree_node *parent, uintptr_t method, uintptr_t ip)
{
    while (from != until) {
        struct tree_node *node = known(tree, from);

        if (node->parent == parent && node->method == method && node->ip == ip)
            return node;
        from = node->next;
    }
    return NULL;
}

static struct tree_node *child_find_or_make(struct tree *tree, struct tree_node *parent,
                                            uintptr_t method, uintptr_t ip, uintptr_t hint)
{
    _Atomic(uint32_t) *bucket =
        &tree->buckets[hash(parent, method, ip) >> (64 - tree->bucket_bits)];
    uint32_t head = load_acquire(bucket), searched = head;
    struct tree_node *node = chain_find(tree, head, 0, parent, method, ip), *twin;

    if (node)
        return node;
    node = reserve(tree);
    if (!node)
        return NULL;
    node->parent = parent;
    node->method = method;
    node->ip = ip;
    store_relaxed(&node->hint, hint);
    store_relaxed(&node->il, TREE_IL_PENDING);
    if (tree->config.created)
        tree->config.created(tree->config.context, node);
    node->next = head;
    while (!cas_acq_rel(bucket, &head, node->id)) { /* pairs with the acquire of every look-up */
        twin = chain_find(tree, head, searched, parent, method, ip);
        if (twin) {
            store_release(&node->state, TREE_HOLE);
            return twin;
        }
        searched = node->next = head;
    }
    store_release(&node->state, TREE_LIVE);
    return node;
}

struct tree_node *tree_child(struct tree *tree, struct tree_node *parent, uintptr_t method,
                             uintptr_t ip)
{
    struct tree_node *node = load_acquire(&parent->last_child); /* pairs with the release below */

    if (LIKELY(node && node->ip == ip && node->method == method))
        return node;
    node = child_find_or_make(tree, parent, method, ip, 0);
    if (!node)
        return parent;
    store_release(&parent->last_child, node);
    return node;
}

struct tree_node *tree_site(struct tree *sites, uintptr_t method, uintptr_t ip, uintptr_t hint)
{
    struct tree_node *root = tree_root(sites),
                     *node = child_find_or_make(sites, root, method, ip, hint);

    return node ? node : root;
}

struct tree_node *tree_node_by_id(struct tree *tree, uint32_t id)
{
    struct tree_node *chunk;

    if (id >= tree_count(tree))
        return NULL;
    chunk = load_acquire(&tree->chunk[id >> CHUNK_BITS]);
    return chunk ? &chunk[id & (CHUNK_NODES - 1)] : NULL;
}

uint32_t tree_count(const struct tree *tree)
{
    return load_acquire(&tree->count);
}

uint64_t tree_refused(const struct tree *tree)
{
    return load_relaxed(&tree->refused);
}
