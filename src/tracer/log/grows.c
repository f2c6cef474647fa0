#include "log/grows.h"

#include "base/array.h"
#include "base/atomics.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>

#define FIRST_SLOTS 1024 /* a power of two */
#define NEW_OF      20
#define FEW         10
#define CROWD_OF    200

struct place {
    struct grows_place what;
    uint32_t key, key_alive; /* the key that has most */
    uint32_t rises;
    uint64_t alive, went; /* of this look */
    uint64_t seen;        /* alive at the one before */
    uint64_t base;        /* alive before it began to rise; and what had gone: */
    uint64_t base_went, last;
};

struct grows {
    uint32_t after;
    uint32_t *of_key; /* index + 1; 0: none */
    size_t keys;
    struct place *place;
    size_t places, capacity;
    uint32_t *slot; /* as of_key */
    size_t slots;
    uint64_t looks;
    size_t places_at[GROWS_LOOKS + 1]; /* by look, the last ones */
    struct grown grown[GROWS_MOST];
    size_t count;
};

int grows_new(uint32_t after, struct grows **out)
{
    *out = memory_zalloc(1, sizeof(**out));
    if (!*out)
        return -ENOMEM;
    (*out)->after = after < GROWS_LOOKS ? after : GROWS_LOOKS;
    return 0;
}

void grows_free(struct grows *g)
{
    if (g)
        memory_free_all(g->of_key, g->place, g->slot, g);
}

/* ---- places ---- */

static uint32_t *slot_of(const struct grows *g, const struct grows_place *what)
{
    uint64_t hash = hash_mix((uint64_t)what->method << 32 | (uint32_t)what->il, what->class);
    size_t at = (size_t)(hash >> 32) & (g->slots - 1);

    for (; g->slot[at]; at = (at + 1) & (g->slots - 1)) {
        const struct grows_place *there = &g->place[g->slot[at] - 1].what;

        if (there->method == what->method && there->il == what->il && there->class == what->class)
            break;
    }
    return &g->slot[at];
}

static bool slots_grow(struct grows *g)
{
    size_t slots = g->slots ? 2 * g->slots : FIRST_SLOTS;
    uint32_t *larger = memory_zalloc(slots, sizeof(*larger));

    if (!larger)
        return false;
    memory_free(g->slot);
    g->slot = larger;
    g->slots = slots;
    for (size_t i = 0; i < g->places; i++)
        *slot_of(g, &g->place[i].what) = (uint32_t)i + 1;
    return true;
}

int grows_note(struct grows *g, uint32_t key, const struct grows_place *place)
{
    uint32_t *slot;

    if (!g->after)
        return 0;
    if (!array_reserve_zeroed(&g->of_key, &g->keys, (size_t)key + 1) ||
        !array_reserve(&g->place, &g->capacity, g->places + 1) ||
        (g->places >= g->slots / 4 * 3 && !slots_grow(g)))
        return -ENOMEM;
    slot = slot_of(g, place);
    if (!*slot) {
        g->place[g->places++] = (struct place){.what = *place};
        *slot = (uint32_t)g->places;
    }
    g->of_key[key] = *slot;
    return 0;
}

/* ---- looks ---- */

void grows_begin(struct grows *g)
{
    for (size_t i = 0; i < g->places; i++) {
        struct place *p = &g->place[i];

        if (!p->rises) /* else they go on to rise from there */
            p->base_went = p->went;
        p->seen = p->alive;
        p->alive = p->went = p->key_alive = 0;
    }
}

void grows_add(struct grows *g, uint32_t key, uint32_t alive, uint32_t went)
{
    struct place *p = key < g->keys && g->of_key[key] ? &g->place[g->of_key[key] - 1] : NULL;

    if (!p)
        return;
    p->alive += alive;
    p->went += went;
    if (alive >= p->key_alive) {
        p->key = key;
        p->key_alive = alive;
    }
}

static bool is_growing(struct grows *g, struct place *p)
{
    if (p->alive <= p->seen || g->looks == 1) {
        p->rises = 0;
        return false;
    }
    if (!p->rises++)
        p->base = p->seen;
    p->last = p->alive - p->seen;
    return p->rises >= g->after && p->went - p->base_went < p->alive - p->base &&
           2 * p->last * p->rises >= p->alive - p->base;
}

static void put(struct grows *g, const struct place *p)
{
    const struct grown grown = {p->key, p->rises, p->alive - p->base};
    size_t at = g->count;

    if (at < GROWS_MOST)
        g->count++;
    else if (g->grown[--at].objects >= grown.objects)
        return;
    for (; at > 0 && g->grown[at - 1].objects < grown.objects; at--)
        g->grown[at] = g->grown[at - 1];
    g->grown[at] = grown;
}

/* The number of places `after` looks ago; 0 before the first look. */
static size_t places_before(const struct grows *g)
{
    return g->looks > g->after ? g->places_at[(g->looks - g->after) % COUNT_OF(g->places_at)] : 0;
}

void grows_end(struct grows *g)
{
    size_t growing = 0, some = 0;

    g->count = 0;
    if (!g->after)
        return;
    g->places_at[++g->looks % COUNT_OF(g->places_at)] = g->places;
    for (size_t i = 0; i < g->places; i++) {
        some += g->place[i].alive > 0;
        if (!is_growing(g, &g->place[i]))
            continue;
        growing++;
        put(g, &g->place[i]);
    }
    if ((g->places - places_before(g)) * NEW_OF > g->places ||
        (growing > FEW && growing * CROWD_OF > some))
        g->count = 0;
}

const struct grown *grows_at(const struct grows *g, size_t index)
{
    return index < g->count ? &g->grown[index] : NULL;
}
