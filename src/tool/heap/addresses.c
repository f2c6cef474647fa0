#include "heap/addresses.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define PAGE_SHIFT 10 /* some ten to forty objects: two cache lines of addresses */
#define DIGIT      11 /* bits that one pass of sorting looks at */
#define COUNT_MAX  (UINT32_MAX / 2)

int heap_addresses_add(struct heap_addresses *a, uint64_t address)
{
    if (a->count == COUNT_MAX)
        return -EFBIG;
    if (!array_reserve(&a->address, &a->capacity, a->count + 2))
        return -ENOMEM;
    a->address[0] = 0;
    a->address[++a->count] = address;
    return 0;
}

static bool ascending(const uint64_t *all, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (all[i] <= all[i - 1])
            return false;
    return true;
}

/* Whether the digit differs between any two of them; and where each value of it begins. */
static bool digit_starts(const uint64_t *all, size_t count, unsigned shift,
                         size_t starts[1 << DIGIT])
{
    size_t at = 0;

    memset(starts, 0, sizeof(*starts) << DIGIT);
    for (size_t i = 0; i < count; i++)
        starts[all[i] >> shift & ((1 << DIGIT) - 1)]++;
    if (starts[all[0] >> shift & ((1 << DIGIT) - 1)] == count)
        return false;
    for (size_t i = 0; i < 1 << DIGIT; i++) {
        size_t here = starts[i];

        starts[i] = at;
        at += here;
    }
    return true;
}

/* By their digits, the lowest first. Returns: where they are then, `all` or `other`. */
static uint64_t *sorted(uint64_t *all, uint64_t *other, size_t count)
{
    size_t starts[1 << DIGIT];

    for (unsigned shift = 0; shift < 64; shift += DIGIT) {
        uint64_t *from = all;

        if (!digit_starts(all, count, shift, starts))
            continue;
        for (size_t i = 0; i < count; i++)
            other[starts[from[i] >> shift & ((1 << DIGIT) - 1)]++] = from[i];
        all = other;
        other = from;
    }
    return all;
}

static int sort(struct heap_addresses *a)
{
    uint64_t *all = a->address + 1, *other, *now;
    size_t kept = 0;

    if (ascending(all, a->count))
        return 0;
    other = memory_alloc(a->count * sizeof(*other));
    if (!other)
        return -ENOMEM;
    now = sorted(all, other, a->count);
    for (size_t i = 0; i < a->count; i++) /* those that came again once */
        if (!kept || all[kept - 1] != now[i])
            all[kept++] = now[i];
    a->count = kept;
    memory_free(other);
    return 0;
}

static size_t slot_of(const struct heap_addresses *a, uint64_t address)
{
    return (size_t)(hash_word((address >> PAGE_SHIFT) + 1) >> (64 - a->bits));
}

static struct heap_address_page *page_of(const struct heap_addresses *a, uint64_t address)
{
    uint64_t page = (address >> PAGE_SHIFT) + 1;
    size_t at = slot_of(a, address), mask = ((size_t)1 << a->bits) - 1;

    while (a->pages[at].page && a->pages[at].page != page)
        at = (at + 1) & mask;
    return &a->pages[at];
}

int heap_addresses_finish(struct heap_addresses *a)
{
    size_t pages = 0;
    int err = a->count ? sort(a) : 0;

    if (err)
        return err;
    for (size_t i = 1; i <= a->count; i++)
        pages += i == 1 || a->address[i] >> PAGE_SHIFT != a->address[i - 1] >> PAGE_SHIFT;
    for (a->bits = 1; (size_t)1 << a->bits < 2 * pages;)
        a->bits++;
    a->pages = memory_zalloc((size_t)1 << a->bits, sizeof(*a->pages));
    if (!a->pages)
        return -ENOMEM;
    for (size_t i = a->count; i; i--) {
        struct heap_address_page *page = page_of(a, a->address[i]);

        page->page = (a->address[i] >> PAGE_SHIFT) + 1;
        page->first = (uint32_t)i;
    }
    return 0;
}

void heap_addresses_free(struct heap_addresses *a)
{
    memory_free_all(a->address, a->pages);
    *a = (struct heap_addresses){.address = NULL};
}

void heap_addresses_prefetch(const struct heap_addresses *a, uint64_t address)
{
    __builtin_prefetch(&a->pages[slot_of(a, address)]);
}

uint32_t heap_addresses_page(const struct heap_addresses *a, uint64_t address)
{
    uint32_t first = page_of(a, address)->first;

    __builtin_prefetch(&a->address[first]);
    return first;
}

uint32_t heap_addresses_find_from(const struct heap_addresses *a, uint64_t address, uint32_t first)
{
    size_t at = first;

    if (!at)
        return 0;
    while (at <= a->count && a->address[at] < address)
        at++;
    return at <= a->count && a->address[at] == address ? (uint32_t)at : 0;
}

uint32_t heap_addresses_find(const struct heap_addresses *a, uint64_t address)
{
    return heap_addresses_find_from(a, address, page_of(a, address)->first);
}

uint32_t heap_addresses_before(const struct heap_addresses *a, uint64_t address)
{
    size_t low = 0, high = a->count; /* address[low] <= address */

    while (low < high) {
        size_t middle = high - (high - low) / 2;

        if (a->address[middle] <= address)
            low = middle;
        else
            high = middle - 1;
    }
    return (uint32_t)low;
}
