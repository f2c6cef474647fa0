#include "walk/internal.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/memory.h"

#define PAGE_BITS   12
#define PAGES_MAX   64 /* that a body which is kept may lie in */
#define CHAINS_BITS 8  /* at first */

/* A body, in one of its pages. Places are numbers from 1 on. */
struct link {
    uintptr_t page;
    uint32_t body, next; /* next: of its chain, or of those that are free */
};

struct walk_bodies {
    struct walk_body *body;
    struct link *link;
    uint32_t *chain; /* by hash of the page */
    size_t bodies, body_capacity, links, link_capacity;
    unsigned chains_bits;
    uint32_t free_body, free_link; /* a free body's successor: in its `epoch` */
};

struct walk_bodies *walk_bodies_new(void)
{
    struct walk_bodies *b = memory_zalloc(1, sizeof(*b));

    if (!b || !(b->chain = memory_zalloc((size_t)1 << CHAINS_BITS, sizeof(*b->chain)))) {
        memory_free(b);
        return NULL;
    }
    b->chains_bits = CHAINS_BITS;
    b->bodies = b->links = 1;
    return b;
}

void walk_bodies_free(struct walk_bodies *b)
{
    if (b)
        memory_free_all(b->body, b->link, b->chain, b);
}

static uint32_t *chain_of(const struct walk_bodies *b, uintptr_t page)
{
    return &b->chain[hash_word(page) >> (64 - b->chains_bits)];
}

static bool is_old(const struct walk_body *body, uint32_t epoch)
{
    return body->epoch && body->epoch != epoch;
}

const struct walk_body *walk_bodies_find(const struct walk_bodies *b, uintptr_t at, uint32_t epoch)
{
    uintptr_t page = at >> PAGE_BITS;

    for (uint32_t i = *chain_of(b, page); i; i = b->link[i].next) {
        const struct walk_body *body = &b->body[b->link[i].body];

        if (b->link[i].page == page && at >= body->low && at < body->high && !is_old(body, epoch))
            return body;
    }
    return NULL;
}

bool walk_bodies_page(const struct walk_bodies *b, uintptr_t at, uint32_t epoch)
{
    uintptr_t page = at >> PAGE_BITS;
    uint32_t i = *chain_of(b, page);

    while (i && (b->link[i].page != page || is_old(&b->body[b->link[i].body], epoch)))
        i = b->link[i].next;
    return i;
}

/* Twice as many chains. */
static bool spread(struct walk_bodies *b)
{
    uint32_t *chain = memory_zalloc((size_t)2 << b->chains_bits, sizeof(*chain));
    uint32_t *old = b->chain, next;
    size_t chains = (size_t)1 << b->chains_bits;

    if (!chain)
        return false;
    b->chain = chain;
    b->chains_bits++;
    for (size_t i = 0; i < chains; i++)
        for (uint32_t at = old[i]; at; at = next) {
            next = b->link[at].next;
            b->link[at].next = *chain_of(b, b->link[at].page);
            *chain_of(b, b->link[at].page) = at;
        }
    memory_free(old);
    return true;
}

static uint32_t new_body(struct walk_bodies *b)
{
    uint32_t at = b->free_body;

    if (at) {
        b->free_body = b->body[at].epoch;
        return at;
    }
    return array_reserve(&b->body, &b->body_capacity, b->bodies + 1) ? (uint32_t)b->bodies++ : 0;
}

static uint32_t new_link(struct walk_bodies *b)
{
    uint32_t at = b->free_link;

    if (at) {
        b->free_link = b->link[at].next;
        return at;
    }
    return array_reserve(&b->link, &b->link_capacity, b->links + 1) ? (uint32_t)b->links++ : 0;
}

void walk_bodies_add(struct walk_bodies *b, const struct walk_body *body)
{
    uintptr_t first = body->low >> PAGE_BITS, last = (body->high - 1) >> PAGE_BITS;
    uint32_t at;

    if (body->high <= body->low || last - first >= PAGES_MAX ||
        walk_bodies_find(b, body->low, body->epoch) ||
        (b->links > (size_t)1 << b->chains_bits && !spread(b)) || !(at = new_body(b)))
        return;
    b->body[at] = *body;
    for (uintptr_t page = first; page <= last; page++) {
        uint32_t link = new_link(b);

        if (!link)
            return; /* not found on that page */
        b->link[link] = (struct link){page, at, *chain_of(b, page)};
        *chain_of(b, page) = link;
    }
}

void walk_bodies_forget(struct walk_bodies *b, uint32_t epoch)
{
    for (size_t i = 0; i < (size_t)1 << b->chains_bits; i++)
        for (uint32_t *at = &b->chain[i]; *at;) {
            struct link *link = &b->link[*at];
            uint32_t gone = *at;

            if (!is_old(&b->body[link->body], epoch)) {
                at = &link->next;
                continue;
            }
            *at = link->next;
            link->next = b->free_link;
            b->free_link = gone;
        }
    for (uint32_t i = 1; i < b->bodies; i++)
        if (b->body[i].high && is_old(&b->body[i], epoch)) {
            b->body[i] = (struct walk_body){.epoch = b->free_body};
            b->free_body = i;
        }
}
