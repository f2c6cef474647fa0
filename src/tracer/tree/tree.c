#include "tree/tree.h"

#include "base/memory.h"

#include <errno.h>

#define BEGUN_GONE UINT8_MAX /* in tree.begun: freed, but a waiting thread may have its id */
#define SIBLINGS   4 /* children in a node's own list; nineteen of twenty nodes have no more */

_Static_assert(sizeof(struct tree_node) == 16, "see tree.h");

/*
 * A node has a short list of children, most of them next to it in memory; further children go into
 * a chained hash of the whole tree. Nodes are pushed and removed as sites are (sites.c). A full
 * list takes no more until a child is removed from it; a search then looks in both, and two nodes
 * of one path are created only if that happens in the meantime.
 */

int tree_new(const struct tree_config *config, struct tree **out)
{
    struct tree_sites_config calls = {config->max_nodes, config->created, config->context, false};
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
        tree_numbers_init(&tree->numbers, sizeof(struct tree_node),
                          offsetof(struct tree_node, next), tree->config.max_nodes) ||
        tree_buckets_init(&tree->buckets, tree->config.max_nodes) ||
        !tree_numbers_next(&tree->numbers, &root)) {
        tree_free(tree);
        return -ENOMEM;
    }
    tree->begun = memory_pages_map(tree->numbers.most); /* pages come as they are touched */
    if (!tree->begun) {
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
    memory_pages_unmap(tree->begun, tree->numbers.most);
    tree_numbers_fini(&tree->numbers);
    tree_buckets_fini(&tree->buckets);
    tree_sites_free(tree->calls);
    memory_free(tree);
}

/* Siblings, or the nodes of one bucket, youngest first, each by its distance from `origin`. */
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
    for (uint32_t at = chain->head; at; at = load_relaxed(&node->next)) {
        node = tree_node_at(chain->origin, at);
        if (tree_node_at(node, -load_relaxed(&node->up)) == parent &&
            tree_is_call(tree, node, method, ip))
            return node;
        chain->length++;
    }
    return NULL;
}

/* The node, or NULL and the chain that it belongs on. */
static struct tree_node *child_find(const struct tree *tree, struct tree_node *parent,
                                    uintptr_t method, uintptr_t ip, struct chain *chain)
{
    struct chain list = {.origin = parent, .first = &parent->down};
    struct tree_node *node = chain_find(tree, &list, parent, method, ip);
    bool room = list.length < SIBLINGS;

    *chain = list;
    if (node || (room && !load_relaxed(&tree->pruned)))
        return node;
    *chain =
        (struct chain){.origin = tree->nodes,
                       .first = tree_bucket(&tree->buckets, tree_id(tree, parent), method, ip)};
    node = chain_find(tree, chain, parent, method, ip);
    if (!node && room) /* the list was full once, and is not any more */
        *chain = list;
    return node;
}

static uint32_t call_of(struct tree *tree, const struct tree_node *parent, uintptr_t method,
                        uintptr_t ip)
{
    uintptr_t inside = tree_method(tree, tree_goes_on(tree, parent) ? tree_parent(parent) : parent);
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
    if (id % 16 == 0) /* one of twenty nodes is in a bucket */
        tree_buckets_made(&tree->buckets, id / 16);
    node = &tree->nodes[id];
    store_relaxed(&node->down, 0);
    store_relaxed(&node->call_mark, call);
    store_release(&node->up, (uint32_t)(node - parent)); /* last: then tree_prune looks at it */
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
        store_relaxed(&made->next, chain.head);
        if (cas_acq_rel(chain.first, &chain.head, (uint32_t)(made - chain.origin)))
            return made;
    }
    if (made)
        store_relaxed(&made->up, 0); /* another thread made the same first: this id is never used */
    return found;
}

void tree_begin(struct tree *tree, uint32_t id, unsigned depth)
{
    uint8_t known = 0;

    if (depth && depth <= TREE_BEGUN_DEPTH)
        cas_acq_rel(&tree->begun[id], &known, (uint8_t)depth);
}

struct tree_node *tree_go_on(struct tree *tree, struct tree_node *parent, uint32_t id)
{
    /* One path is several by where it was begun: that must not be what paths are lost for. */
    if (tree_count(tree) > tree->numbers.most / 2)
        return NULL;
    return tree_child(tree, parent, 0, id);
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

uint64_t tree_made(const struct tree *tree)
{
    return tree_count(tree) + load_relaxed(&tree->numbers.again);
}

uint64_t tree_refused(const struct tree *tree)
{
    return load_relaxed(&tree->numbers.refused) + load_relaxed(&tree->calls->numbers.refused);
}

/* ---- what was unloaded ---- */

/* What is known of each node while the tree is pruned. */
enum fate { UNKNOWN, STAYS, GOES };

struct pruning {
    struct tree *tree;
    uint32_t count; /* nodes, as it began */
    uint8_t *fate;  /* by node; pages */
    uint8_t *goes;  /* by call; pages */
    uint32_t calls;
    struct tree_list path; /* scratch */
};

/* Does the call of a node go, or one below it? 0: all on its path have their fate; or -ENOMEM. */
static int find_fate(struct pruning *p, uint32_t id)
{
    const struct tree_node *node = &p->tree->nodes[id];
    uint8_t fate = STAYS;

    for (p->path.count = 0; node && !p->fate[tree_id(p->tree, node)]; node = tree_parent(node)) {
        if (p->path.count == p->path.capacity &&
            tree_list_room(&p->path, 2 * p->path.capacity + 64))
            return -ENOMEM;
        p->path.number[p->path.count++] = tree_id(p->tree, node);
    }
    if (node)
        fate = p->fate[tree_id(p->tree, node)];
    while (p->path.count) {
        uint32_t at = p->path.number[--p->path.count];
        uint32_t call = load_relaxed(&p->tree->nodes[at].call_mark) & TREE_CALL_MASK;

        if (load_acquire(&p->tree->nodes[at].up) && call < p->calls && p->goes[call])
            fate = GOES;
        p->fate[at] = fate;
    }
    return 0;
}

/* The chain that a node is on: its parent's own list, or one of the hash. */
static struct chain chain_of(const struct tree *tree, const struct tree_node *node)
{
    struct tree_node *parent = tree_parent(node);
    const struct tree_site *call = tree_call(tree, node);
    struct chain chain = {.origin = parent, .first = &parent->down};
    uint32_t at = load_acquire(chain.first);

    while (at && tree_node_at(parent, at) != node)
        at = load_relaxed(&tree_node_at(parent, at)->next);
    if (!at) {
        chain.origin = tree->nodes;
        chain.first = tree_bucket(&tree->buckets, tree_id(tree, parent), call->target, call->ip);
    }
    return chain;
}

/* As unlink_site in sites.c. */
static void unlink_node(struct tree *tree, struct tree_node *node)
{
    struct chain chain = chain_of(tree, node);
    uint32_t self = (uint32_t)(node - chain.origin), at = self, next = load_relaxed(&node->next);
    _Atomic(uint32_t) *link = chain.first;

    if (cas_acq_rel(link, &at, next))
        return;
    while (at && at != self) {
        link = &tree_node_at(chain.origin, at)->next;
        at = load_acquire(link);
    }
    if (at)
        store_release(link, next);
}

/* Fates of all nodes, and how many go. */
static int find_fates(struct pruning *p, size_t *go)
{
    p->fate[0] = STAYS;
    *go = 0;
    for (uint32_t id = 1; id < p->count; id++) {
        if (!p->fate[id] && find_fate(p, id))
            return -ENOMEM;
        *go += p->fate[id] == GOES;
    }
    return 0;
}

static int prune(struct pruning *p, const struct tree_gone *gone, struct tree_list *nodes,
                 struct tree_list *calls)
{
    size_t first = calls->count, go;
    int err;

    for (uint32_t id = 1; id < p->calls; id++)
        p->goes[id] = tree_site_is_gone(tree_site_at(p->tree->calls, id), gone, true);
    err = find_fates(p, &go);
    if (!err)
        err = tree_list_room(nodes, nodes->count + go);
    if (!err)
        err = tree_sites_prune(p->tree->calls, gone, true, calls);
    if (err || (!go && calls->count == first))
        return err;
    store_relaxed(&p->tree->pruned, true);
    for (uint32_t id = 1; id < p->count; id++)
        if (p->fate[id] == GOES) {
            unlink_node(p->tree, &p->tree->nodes[id]);
            nodes->number[nodes->count++] = id;
        }
    return 0;
}

int tree_prune(struct tree *tree, const struct tree_gone *gone, struct tree_list *nodes,
               struct tree_list *calls)
{
    struct pruning p = {.tree = tree,
                        .count = tree_count(tree),
                        .calls = load_acquire(&tree->calls->numbers.count)};
    int err = -ENOMEM;

    p.fate = memory_pages_map(p.count);
    p.goes = memory_pages_map(p.calls);
    if (p.fate && p.goes)
        err = prune(&p, gone, nodes, calls);
    memory_pages_unmap(p.fate, p.count);
    memory_pages_unmap(p.goes, p.calls);
    tree_list_fini(&p.path);
    return err;
}

void tree_back(struct tree *tree, const struct tree_list *nodes, const struct tree_list *calls)
{
    for (size_t i = 0; i < nodes->count; i++) {
        struct tree_node *node = &tree->nodes[nodes->number[i]];
        bool begun = load_relaxed(&tree->begun[nodes->number[i]]);

        store_relaxed(&node->up, 0);
        store_relaxed(&node->call_mark, 0);
        store_relaxed(&node->down, 0);
        if (begun)
            store_relaxed(&tree->begun[nodes->number[i]], BEGUN_GONE);
        else
            tree_numbers_back(&tree->numbers, nodes->number[i]);
    }
    tree_sites_back(tree->calls, calls);
}
