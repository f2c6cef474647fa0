/*
 * tree/sites.h - instructions that call or allocate, each known by its return address and kept
 * once, however many stacks hold it. Sites are made once, numbered from 1 on, and never moved.
 * Sites of unloaded code are freed in two steps: tree_sites_prune, then tree_sites_back, when
 * nobody looks at them any more. A method and a target are opaque words here.
 */
#ifndef SHADOWTRACE_TREE_SITES_H
#define SHADOWTRACE_TREE_SITES_H

#include "tree/numbers.h"

#define TREE_IL_PENDING \
    (-1) /* nobody has resolved the instruction yet; other values are the resolver's */

/* In an ip (no code has such addresses): the call that returns there led to a dynamic method. */
#define TREE_IP_DYNAMIC (UINT64_C(1) << 62)
/* The same: of an instruction at which the processor raised an exception, not behind a call. */
#define TREE_IP_FAULT (UINT64_C(1) << 61)

enum tree_state {
    TREE_RESERVED, /* the id is given out, the site is being made */
    TREE_LIVE,     /* it is found (release: the fields below are set) */
    TREE_HOLE,     /* not used: another thread made the same first, or it was given back */
};

/* Where an ip lies that is not in the code of its site's method. */
enum tree_outside {
    TREE_INSIDE, /* it is, or nothing is known of it */
    TREE_OUTSIDE_DYNAMIC,
    TREE_OUTSIDE_UNHOOKED, /* in a method that has no hooks */
    TREE_OUTSIDE_HOST,     /* in one into which own methods are inlined */
};

struct tree_site {
    uintptr_t method; /* that the instruction is in; 0: none of those known */
    uintptr_t ip;     /* return address; 0: not known */
    /* Of a call: the method called (0: see tree_go_on). Of an allocation: the class met first. */
    uintptr_t target;
    _Atomic(int32_t) il;    /* TREE_IL_PENDING until resolved (release) */
    uint32_t inlined;       /* the resolver's, with il: frames of methods that were inlined; or 0 */
    _Atomic(uint32_t) next; /* on its chain, see sites.c; changed by tree_sites_prune; 0 ends it */
    uint32_t under; /* of a call that only the children of one node share: 1 + its id; else 0. Of an
                       allocation: 0, or tree_site_alloc_from() */
    _Atomic(uint8_t) state; /* enum tree_state */
    uint8_t outside;        /* enum tree_outside; `created` says so */
};

struct tree_sites_config {
    uint32_t max_sites;
    /* A new site, on the thread that made it, before any other thread can find it; may be NULL. */
    void (*created)(void *context, struct tree_site *site);
    void *context;
    bool by_target; /* an allocation's is part of what it is: one call may stand for several */
};

/* Fields are sites.c's own; here for the inline functions. */
struct tree_sites {
    struct tree_sites_config config;
    struct tree_numbers numbers;
    struct tree_buckets buckets;
    _Atomic(uint32_t) reopened; /* the least id made again since tree_sites_reopened() */
};

int tree_sites_new(const struct tree_sites_config *config,
                   struct tree_sites **out); /* or -ENOMEM */
void tree_sites_free(struct tree_sites *sites);

/*
 * tree_site_call - the id of the instruction of `method` before `ip` that calls `target`;
 * tree_site_alloc - of the one that allocates; a new site keeps `class` as its target.
 * Returns: the id; 0 when max_sites is reached or memory runs out, counted. Threads: any,
 *          lock-free.
 */
uint32_t tree_site_call(struct tree_sites *sites, uintptr_t method, uintptr_t ip, uintptr_t target,
                        uint32_t under);
uint32_t tree_site_alloc(struct tree_sites *sites, uintptr_t method, uintptr_t ip, uintptr_t class);
/* For what was allocated at `from`, a site outside of the method, which the call at `ip` led to. */
uint32_t tree_site_alloc_from(struct tree_sites *sites, uintptr_t method, uintptr_t ip,
                              uintptr_t class, uint32_t from);

/* The site with that id, of any state. */
static inline struct tree_site *tree_site_at(const struct tree_sites *sites, uint32_t id)
{
    return (struct tree_site *)(void *)sites->numbers.array + id;
}

/* The same, or NULL past the newest id. */
struct tree_site *tree_site_by_id(const struct tree_sites *sites, uint32_t id);

/*
 * tree_sites_prune - takes off the sites of methods that are `gone`, and adds their ids to list.
 * calls: the sites that call such a method, too; else a class that is `gone_class` is forgotten.
 * Returns: 0, or -ENOMEM: then nothing has changed. Threads: one; look-ups go on beside it.
 */
struct tree_gone {
    bool (*method)(uintptr_t method); /* never asked of 0 */
    bool (*class)(uintptr_t class);
};
bool tree_site_is_gone(const struct tree_site *site, const struct tree_gone *gone, bool calls);
int tree_sites_prune(struct tree_sites *sites, const struct tree_gone *gone, bool calls,
                     struct tree_list *list);
void tree_sites_back(struct tree_sites *sites, const struct tree_list *list);

/* The least id that was made since the last call, if it is below `id`; else `id`. Threads: one. */
uint32_t tree_sites_reopened(struct tree_sites *sites, uint32_t id);

/* IL offset as resolved; TREE_IL_PENDING too while the site is being made. */
static inline int32_t tree_site_il(const struct tree_site *site)
{
    return load_acquire(&site->state) == TREE_LIVE ? load_acquire(&site->il) : TREE_IL_PENDING;
}

#endif
