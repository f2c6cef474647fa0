#include "live/internal.h"

#include "base/hash.h"
#include "base/memory.h"

#include <string.h>

#define STEP_BYTES (1u << 15) /* by which room for single places grows, at least */

static uint32_t *slot_of(const struct live *live, uintptr_t number)
{
    uint32_t at = (uint32_t)(hash_word(number) >> 32) & (live->block_slots - 1);

    while (live->block_slot[at] && live->block[live->block_slot[at]].number != number)
        at = (at + 1) & (live->block_slots - 1);
    return &live->block_slot[at];
}

struct block *block_find(const struct live *live, uintptr_t number)
{
    uint32_t found = live->block_slots ? *slot_of(live, number) : 0;

    return found ? &live->block[found] : NULL;
}

static bool slots_grow(struct live *live)
{
    if (!slots_double(live, &live->block_slot_pages, &live->block_slot, &live->block_slots))
        return false;
    for (uint32_t i = 1; i <= live->blocks; i++)
        *slot_of(live, live->block[i].number) = i;
    return true;
}

static struct block *block_new(struct live *live, uintptr_t number)
{
    size_t count = live->blocks + 2, size = count * sizeof(*live->block);

    if (size > live->block_pages.size && !pages_room(live, &live->block_pages, 2 * size))
        return NULL;
    live->block = live->block_pages.data; /* it may have moved, whatever fails now */
    if (count * sizeof(*live->dirty) > live->dirty_pages.size &&
        !pages_room(live, &live->dirty_pages, 2 * count * sizeof(*live->dirty)))
        return NULL;
    live->dirty = live->dirty_pages.data;
    if (live->blocks >= live->block_slots / 2 && !slots_grow(live))
        return NULL;
    live->block[++live->blocks] = (struct block){.number = number};
    *slot_of(live, number) = live->blocks;
    return &live->block[live->blocks];
}

static void dirty(struct live *live, struct block *block)
{
    if (block->dirty)
        return;
    block->dirty = true;
    live->dirty[live->dirties++] = (uint32_t)(block - live->block);
}

/* Pages of a block that was emptied, in themselves; the next ones behind. */
struct spare {
    struct pages next;
};

static void spare_put(struct live *live, struct pages *pages)
{
    if (!pages->size)
        return;
    ((struct spare *)pages->data)->next = live->spare;
    live->spare = *pages;
    *pages = (struct pages){NULL, 0};
}

static void spare_free(struct live *live)
{
    struct pages next = ((struct spare *)live->spare.data)->next;

    pages_free(live, &live->spare);
    live->spare = next;
}

static void spares_free(struct live *live)
{
    while (live->spare.size)
        spare_free(live);
}

/* Room for `more` places. Single objects do not take a whole page at a time. */
static bool room(struct live *live, struct block *block, uint32_t more)
{
    size_t size = (block->count + (size_t)more) * sizeof(*block->place), beside = size / 8;

    if (LIKELY(size <= block->pages.size))
        return true;
    if (!block->pages.size && live->spare.size) {
        block->pages = live->spare;
        live->spare = ((struct spare *)block->pages.data)->next;
    }
    if (size > block->pages.size && live->spare.size) /* it would come on top of them */
        spare_free(live);
    if (more == 1 && beside < STEP_BYTES)
        beside = STEP_BYTES;
    if (size > block->pages.size && !pages_room(live, &block->pages, size + beside))
        return false;
    block->place = block->pages.data;
    return true;
}

/* The block of an address, with room for `more` places; NULL: out of memory. */
static struct block *destination(struct live *live, uintptr_t address, uint32_t more)
{
    uintptr_t number = address >> BLOCK_BITS;
    struct block *block = live->to;

    if (UNLIKELY(!block || block->number != number)) {
        block = block_find(live, number);
        if (!block)
            block = block_new(live, number);
        live->to = block;
        if (!block)
            return NULL;
    }
    return room(live, block, more) ? block : NULL;
}

static uint32_t offset_in(uintptr_t address)
{
    return (uint32_t)(address >> 3) & (BLOCK_WORDS - 1);
}

/* Before places that ascend from there on are put behind the list. */
static void follow(struct live *live, struct block *block, uint32_t offset)
{
    block->falls |= block->count && block->place[block->count - 1].offset > offset;
    dirty(live, block);
}

bool place_put(struct live *live, uintptr_t address, struct place place)
{
    struct block *block = destination(live, address, 1);

    if (!block)
        return false;
    place.offset = offset_in(address);
    follow(live, block, place.offset);
    block->place[block->count++] = place;
    return true;
}

static void trim(struct live *live, struct block *block)
{
    size_t needed = block->count * sizeof(*block->place);

    pages_trim(live, &block->pages, needed + needed / 8);
    block->place = block->pages.data;
}

/* The first place from `i` on that does not lie below an offset: mostly far away. */
static uint32_t places_below(const struct place *place, uint32_t i, uint32_t end, uint32_t offset)
{
    uint32_t step = 1;

    while (end - i > step && place[i + step].offset < offset) {
        i += step;
        step *= 2;
    }
    if (end - i > step)
        end = i + step;
    while (i < end) {
        uint32_t middle = i + (end - i) / 2;

        if (place[middle].offset < offset)
            i = middle + 1;
        else
            end = middle;
    }
    return i;
}

/* A walk through the places that a block had before the collection. */
struct passage {
    uint32_t index; /* of the block */
    uint32_t i;     /* the place that is next */
    uint32_t kept;  /* places that stay in the sorted part */
    const struct live_bound *bound;
};

/* Places up to `end`, which go the same way, into the block that the first one goes to. */
static void move(struct live *live, struct passage *at, uint32_t end, uintptr_t to)
{
    uint32_t count = end - at->i, offset = offset_in(to), shift;
    struct block *block = &live->block[at->index], *dest;
    struct place *place = block->place, *put;
    bool stays =
        block->number == to >> BLOCK_BITS && (!at->kept || place[at->kept - 1].offset < offset);

    if (stays) {
        put = &place[at->kept];
        at->kept += count;
    } else {
        dest = destination(live, to, count);
        block = &live->block[at->index]; /* there may be a new one */
        place = block->place;
        if (!dest) {
            for (; at->i < end; at->i++)
                died(live, &place[at->i], at->bound ? at->bound->generation : live->depth);
            return;
        }
        follow(live, dest, offset);
        put = &dest->place[dest->count];
        dest->count += count;
    }
    shift = offset - place[at->i].offset;
    if (put == &place[at->i] && !shift) {
        at->i = end;
        return;
    }
    for (; at->i < end; at->i++) {
        *put = place[at->i];
        put++->offset += shift;
    }
}

/* How far from an address on all goes the same way. */
static uintptr_t way_end(const struct live_bound *bound, const struct live_range *range,
                         uintptr_t address, uintptr_t to)
{
    uintptr_t rest = bound->end - address;

    if (range->from + range->size - address < rest)
        rest = range->from + range->size - address;
    if (BLOCK_BYTES - (to & (BLOCK_BYTES - 1)) < rest)
        rest = BLOCK_BYTES - (to & (BLOCK_BYTES - 1));
    return address + rest;
}

/* What the places of before have become; those that move go behind the lists they belong to. */
static void collect(struct live *live, uint32_t index, struct cursor *at)
{
    uintptr_t base = live->block[index].number << BLOCK_BITS;
    uint32_t sorted = live->block[index].sorted;
    struct passage p = {.index = index};
    struct block *block;

    while (p.i < sorted) {
        struct place *place = live->block[index].place;
        uintptr_t address = base + (uintptr_t)place[p.i].offset * 8, to = address, end;
        const struct live_range *range;

        p.bound = bound_at(live, at, address);
        range = p.bound ? range_from(live, at, address) : NULL;
        if (p.bound && (!range || range->from > address)) {
            rows_ahead(live, &place[p.i], sorted - p.i);
            died(live, &place[p.i++], p.bound->generation);
            continue;
        }
        end = address + 8;
        if (range) {
            to = address - range->from + range->to;
            end = way_end(p.bound, range, address, to);
        }
        move(live, &p,
             end - base < BLOCK_BYTES
                 ? places_below(place, p.i, sorted, (uint32_t)((end - base + 7) / 8))
                 : sorted,
             to);
    }
    block = &live->block[index];
    if (p.kept < sorted && block->count > sorted)
        memmove(&block->place[p.kept], &block->place[sorted],
                (block->count - sorted) * sizeof(*block->place));
    block->count -= sorted - p.kept;
    block->sorted = p.kept;
    if (p.kept && block->count > p.kept) /* others may have come before these went up */
        block->falls |= block->place[p.kept - 1].offset > block->place[p.kept].offset;
    if (!block->count)
        spare_put(live, &block->pages); /* what moves needs no room twice */
    dirty(live, block);
}

void blocks_collect(struct live *live)
{
    struct cursor at = {0, 0};
    uintptr_t next = 0; /* blocks below are done */

    for (size_t i = 0; i < live->bounds; i++) {
        const struct live_bound *bound = &live->bound[i];
        uintptr_t number = bound->start >> BLOCK_BITS;
        struct cursor here = {i, at.range};

        if (!bound_at(live, &here, bound->start))
            continue;
        for (number = number > next ? number : next;
             number << BLOCK_BITS < bound->end && bound->start < bound->end; number++) {
            struct block *block = block_find(live, number);

            if (block && block->sorted)
                collect(live, (uint32_t)(block - live->block), &at);
            next = number + 1;
            settle_let(live);
        }
    }
}

/* From the end on: what is behind the sorted part is taken out of its way first. */
static bool merge(struct live *live, struct block *block)
{
    uint32_t sorted = block->sorted, more = block->count - sorted, out = block->count;
    struct place *place = block->place, *tail = place + sorted;

    if (!block->falls)
        return true;
    if (!pairs_sort(live, (struct pair *)tail, more, UINT32_MAX))
        return false;
    if (!sorted || place[sorted - 1].offset < tail->offset)
        return true;
    if (more * sizeof(*tail) > live->scratch.size &&
        !pages_room(live, &live->scratch, more * sizeof(*tail)))
        return false;
    tail = memcpy(live->scratch.data, tail, more * sizeof(*tail));
    while (more) {
        if (sorted && place[sorted - 1].offset > tail[more - 1].offset)
            place[--out] = place[--sorted];
        else
            place[--out] = tail[--more];
    }
    return true;
}

/* Without memory to sort it, what has come is let go. */
static void let_go(struct live *live, struct block *block)
{
    live_inexact(live, SST_LIVE_MEMORY);
    for (uint32_t i = block->sorted; i < block->count; i++)
        died(live, &block->place[i], live->depth);
    block->count = block->sorted;
}

void blocks_merge(struct live *live)
{
    for (uint32_t i = 0; i < live->dirties; i++) {
        struct block *block = &live->block[live->dirty[i]];

        if (block->count > block->sorted && RULE(RULE_LIVE_MERGE) && !merge(live, block))
            let_go(live, block);
        block->sorted = block->count;
        block->dirty = block->falls = false;
        trim(live, block);
        settle_let(live);
    }
    live->dirties = 0;
    spares_free(live);
}

void blocks_free(struct live *live)
{
    spares_free(live);
    for (uint32_t i = 1; i <= live->blocks; i++)
        pages_free(live, &live->block[i].pages);
    pages_free(live, &live->block_pages);
    pages_free(live, &live->block_slot_pages);
    pages_free(live, &live->dirty_pages);
    pages_free(live, &live->scratch);
}

void live_each(struct live *live, void (*each)(void *context, uintptr_t object, uint32_t key),
               void *context)
{
    live_settle(live);
    pthread_mutex_lock(&live->lock); /* not while somebody forgets keys */
    for (uint32_t i = 1; i <= live->blocks; i++) {
        const struct block *block = &live->block[i];

        for (uint32_t k = 0; k < block->count; k++)
            each(context, (block->number << BLOCK_BITS) + (uintptr_t)block->place[k].offset * 8,
                 block->place[k].key);
    }
    pthread_mutex_unlock(&live->lock);
}
