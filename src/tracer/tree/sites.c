#include "tree/sites.h"

#include "base/memory.h"

#include <errno.h>

/*
 * A chained hash. Compare-and-swap pushes a site onto its chain; one thread alone takes sites off
 * and leaves their links alone, so that a reader that stands on one finds its way. A site is used
 * again once all who may stand on it are gone. Look-up is wait-free, insertion lock-free.
 */

_Static_assert(sizeof(struct tree_site) == 48,
               "the tree looks at one for each node that it passes");

int tree_sites_new(const struct tree_sites_config *config, struct tree_sites **out)
{
    struct tree_sites *sites = memory_zalloc(1, sizeof(*sites));
    uint32_t none;

    *out = NULL;
    if (!sites)
        return -ENOMEM;
    sites->config = *config;
    store_relaxed(&sites->reopened, UINT32_MAX);
    if (tree_numbers_init(&sites->numbers, sizeof(struct tree_site),
                          offsetof(struct tree_site, next), config->max_sites) ||
        tree_buckets_init(&sites->buckets, config->max_sites) ||
        !tree_numbers_next(&sites->numbers, &none)) {
        tree_sites_free(sites);
        return -ENOMEM;
    }
    store_relaxed(&tree_site_at(sites, none)->state, TREE_HOLE);
    *out = sites;
    return 0;
}

void tree_sites_free(struct tree_sites *sites)
{
    if (!sites)
        return;
    tree_numbers_fini(&sites->numbers);
    tree_buckets_fini(&sites->buckets);
    memory_free(sites);
}

/* What has to be the same; an allocation's target need not be. */
struct key {
    uintptr_t method, ip, target;
    uint32_t under;
    bool any_target, unhashed; /* unhashed: the target is not part of the hash */
};

static uint32_t chain_find(const struct tree_sites *sites, uint32_t at, const struct key *key)
{
    const struct tree_site *site;

    for (; at; at = load_relaxed(&site->next)) {
        site = tree_site_at(sites, at);
        if (site->ip == key->ip && site->method == key->method && site->under == key->under &&
            (key->any_target || site->target == key->target))
            return at;
    }
    return 0;
}

static uint32_t make(struct tree_sites *sites, const struct key *key)
{
    struct tree_site *site;
    uint32_t id;

    if (!tree_numbers_next(&sites->numbers, &id))
        return 0;
    tree_buckets_made(&sites->buckets, id);
    site = tree_site_at(sites, id);
    store_relaxed(&site->state, TREE_RESERVED); /* it may have been another one */
    site->method = key->method;
    site->ip = key->ip;
    site->target = key->target;
    site->under = key->under;
    site->outside = TREE_INSIDE;
    site->inlined = 0;
    store_relaxed(&site->il, TREE_IL_PENDING);
    if (sites->config.created)
        sites->config.created(sites->config.context, site);
    return id;
}

/* Who resolves sites has passed this one. */
static void reopen(struct tree_sites *sites, uint32_t id)
{
    uint32_t least = load_relaxed(&sites->reopened);

    while (id < least && !cas_acq_rel(&sites->reopened, &least, id))
        ;
}

uint32_t tree_sites_reopened(struct tree_sites *sites, uint32_t id)
{
    uint32_t least = load_relaxed(&sites->reopened);

    if (least == UINT32_MAX)
        return id;
    least = exchange_acq_rel(&sites->reopened, UINT32_MAX);
    return least < id ? least : id;
}

static uint32_t find_or_make(struct tree_sites *sites, const struct key *key)
{
    _Atomic(uint32_t) *first = tree_bucket(&sites->buckets, key->method, key->ip,
                                           key->unhashed ? key->under : key->target ^ key->under);
    uint32_t head = load_acquire(first); /* pairs with the release that pushes */
    uint32_t made = 0, found;

    while (!(found = chain_find(sites, head, key))) {
        if (!made && !(made = make(sites, key)))
            return 0;
        store_relaxed(&tree_site_at(sites, made)->next, head);
        if (cas_acq_rel(first, &head, made)) {
            store_release(&tree_site_at(sites, made)->state, TREE_LIVE);
            if (load_relaxed(&sites->numbers.again))
                reopen(sites, made);
            return made;
        }
    }
    if (made)
        store_release(&tree_site_at(sites, made)->state, TREE_HOLE);
    return found;
}

uint32_t tree_site_call(struct tree_sites *sites, uintptr_t method, uintptr_t ip, uintptr_t target,
                        uint32_t under)
{
    return find_or_make(sites, &(struct key){method, ip, target, under, false, false});
}

uint32_t tree_site_alloc(struct tree_sites *sites, uintptr_t method, uintptr_t ip, uintptr_t class)
{
    return tree_site_alloc_from(sites, method, ip, class, 0);
}

uint32_t tree_site_alloc_from(struct tree_sites *sites, uintptr_t method, uintptr_t ip,
                              uintptr_t class, uint32_t from)
{
    return find_or_make(sites,
                        &(struct key){method, ip, class, from, !sites->config.by_target, true});
}

struct tree_site *tree_site_by_id(const struct tree_sites *sites, uint32_t id)
{
    return id < load_acquire(&sites->numbers.count) ? tree_site_at(sites, id) : NULL;
}

bool tree_site_is_gone(const struct tree_site *site, const struct tree_gone *gone, bool calls)
{
    return load_acquire(&site->state) == TREE_LIVE &&
           ((site->method && gone->method(site->method)) ||
            (calls && site->target && gone->method(site->target)));
}

/* Takes a site off its chain. Only new ones come meanwhile, at its head. */
static void unlink_site(struct tree_sites *sites, uint32_t id, bool calls)
{
    struct tree_site *site = tree_site_at(sites, id);
    _Atomic(uint32_t) *link = tree_bucket(&sites->buckets, site->method, site->ip,
                                          calls ? site->target ^ site->under : site->under);
    uint32_t at = id, next = load_relaxed(&site->next);

    if (cas_acq_rel(link, &at, next))
        return;
    while (at && at != id) {
        link = &tree_site_at(sites, at)->next;
        at = load_acquire(link);
    }
    if (at)
        store_release(link, next);
}

int tree_sites_prune(struct tree_sites *sites, const struct tree_gone *gone, bool calls,
                     struct tree_list *list)
{
    uint32_t count = load_acquire(&sites->numbers.count);
    size_t room = list->count;

    for (uint32_t id = 1; id < count; id++)
        room += tree_site_is_gone(tree_site_at(sites, id), gone, calls);
    if (tree_list_room(list, room))
        return -ENOMEM;
    for (uint32_t id = 1; id < count && list->count < room; id++)
        if (tree_site_is_gone(tree_site_at(sites, id), gone, calls)) {
            unlink_site(sites, id, calls);
            list->number[list->count++] = id;
        }
    for (uint32_t id = 1; !calls && id < count; id++) {
        struct tree_site *site = tree_site_at(sites, id);

        if (load_acquire(&site->state) == TREE_LIVE && site->target && gone->class(site->target))
            site->target = 0;
    }
    return 0;
}

void tree_sites_back(struct tree_sites *sites, const struct tree_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        store_release(&tree_site_at(sites, list->number[i])->state, TREE_HOLE);
        tree_numbers_back(&sites->numbers, list->number[i]);
    }
}
