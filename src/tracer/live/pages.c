/* What the table takes memory with, and sorts in it. */
#include "live/internal.h"

#include "base/cpu.h"
#include "base/memory.h"

#include <string.h>

#define FIRST_SLOTS 1024 /* a power of two */

static void took(struct live *live, size_t size)
{
    uint64_t memory = add_relaxed(&live->memory, size) + size;

    for (uint64_t most = load_relaxed(&live->memory_most);
         most < memory && !cas_acq_rel(&live->memory_most, &most, memory);)
        ;
}

bool pages_room(struct live *live, struct pages *pages, size_t size)
{
    size_t larger = (size + cpu_page_size() - 1) & ~(cpu_page_size() - 1);
    void *grown = NULL;

    if (larger <= pages->size)
        return true;
    if (load_relaxed(&live->memory) + (larger - pages->size) <= load_relaxed(&live->limit))
        grown = memory_pages_grow(pages->data, pages->size, larger);
    if (!grown) {
        live_inexact(live, SST_LIVE_MEMORY);
        return false;
    }
    took(live, larger - pages->size);
    pages->data = grown;
    pages->size = larger;
    return true;
}

bool slots_double(struct live *live, struct pages *pages, uint32_t **slot, uint32_t *slots)
{
    uint32_t wanted = *slots ? 2 * *slots : FIRST_SLOTS;

    if (!pages_room(live, pages, wanted * sizeof(**slot)))
        return false;
    *slot = pages->data;
    *slots = wanted;
    memory_pages_clear(pages->data, wanted * sizeof(**slot));
    return true;
}

void pages_trim(struct live *live, struct pages *pages, size_t size)
{
    size_t kept = (size + cpu_page_size() - 1) & ~(cpu_page_size() - 1);

    if (kept >= pages->size)
        return;
    if (kept) {
        memory_pages_unmap((char *)pages->data + kept, pages->size - kept);
        add_relaxed(&live->memory, kept - pages->size);
        pages->size = kept;
    } else {
        pages_free(live, pages);
    }
}

void pages_free(struct live *live, struct pages *pages)
{
    memory_pages_unmap(pages->data, pages->size);
    add_relaxed(&live->memory, -(uint64_t)pages->size);
    *pages = (struct pages){NULL, 0};
}

void live_inexact(struct live *live, enum sst_live_why why)
{
    uint32_t exact = SST_LIVE_EXACT;

    cas_acq_rel(&live->why, &exact, (uint32_t)why);
}

/* ---- sorting ---- */

static size_t piece_end(const struct pair *pair, size_t at, size_t count, uint64_t mask)
{
    while (++at < count && (pair[at - 1].a & mask) <= (pair[at].a & mask))
        ;
    return at;
}

static void merge(const struct pair *a, size_t a_count, const struct pair *b, size_t b_count,
                  struct pair *out, uint64_t mask)
{
    while (a_count && b_count)
        if ((a->a & mask) <= (b->a & mask)) {
            *out++ = *a++;
            a_count--;
        } else {
            *out++ = *b++;
            b_count--;
        }
    memcpy(out, a_count ? a : b, (a_count + b_count) * sizeof(*out));
}

/* Ascending pieces, two by two. Returns: how many pieces there are then. */
static size_t pass(const struct pair *from, size_t count, struct pair *to, uint64_t mask)
{
    size_t pieces = 0;

    for (size_t at = 0; at < count; pieces++) {
        size_t middle = piece_end(from, at, count, mask);
        size_t end = middle < count ? piece_end(from, middle, count, mask) : middle;

        merge(from + at, middle - at, from + middle, end - middle, to + at, mask);
        at = end;
    }
    return pieces;
}

bool pairs_sort(struct live *live, struct pair *pair, size_t count, uint64_t mask)
{
    struct pair *other;

    if (!count || piece_end(pair, 0, count, mask) == count)
        return true;
    if (!pages_room(live, &live->scratch, count * sizeof(*pair)))
        return false;
    other = live->scratch.data;
    for (;;) {
        size_t pieces = pass(pair, count, other, mask);

        if (pieces > 1)
            pieces = pass(other, count, pair, mask);
        else
            memcpy(pair, other, count * sizeof(*pair));
        if (pieces <= 1)
            return true;
    }
}
