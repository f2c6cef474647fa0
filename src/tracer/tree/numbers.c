#include "tree/numbers.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>

#define CHUNK       (1u << 14) /* entries per chunk */
#define FILL_BYTES  32768      /* that get their memory at once */
#define BUCKET_BITS 16         /* at the most */

static size_t bytes(const struct tree_numbers *numbers)
{
    return numbers->size * (((size_t)numbers->most + CHUNK) & ~(size_t)(CHUNK - 1));
}

int tree_numbers_init(struct tree_numbers *numbers, size_t size, size_t link, uint32_t most)
{
    numbers->size = size;
    numbers->link = link;
    numbers->most = most;
    while (bytes(numbers) > memory_pages_share() && numbers->most > CHUNK)
        numbers->most /= 2; /* what is beyond is refused and counted; the program needs the rest */
    numbers->array = memory_pages_reserve(bytes(numbers));
    return numbers->array ? 0 : -ENOMEM;
}

void tree_numbers_fini(struct tree_numbers *numbers)
{
    memory_pages_unmap(numbers->array, bytes(numbers));
}

/* Sees to it that the thing with this number has memory. */
static bool get_ready(struct tree_numbers *numbers, uint32_t number)
{
    uint32_t ready = load_acquire(&numbers->ready);

    while (number >= ready) {
        if (!memory_pages_use(numbers->array + ready * numbers->size, CHUNK * numbers->size))
            return false;
        if (cas_acq_rel(&numbers->ready, &ready, ready + CHUNK))
            return true;
    }
    return true;
}

/* A number was given out. If its thing is the first in a piece, that gets its memory. */
static void fill(struct tree_numbers *numbers, uint32_t number)
{
    size_t end = (number + (size_t)1) * numbers->size,
           ready = load_relaxed(&numbers->ready) * numbers->size;
    size_t piece = end / FILL_BYTES * FILL_BYTES;

    if (LIKELY(end - piece >= numbers->size) || piece >= ready)
        return;
    memory_pages_fill(numbers->array + piece,
                      ready - piece < FILL_BYTES ? ready - piece : FILL_BYTES);
}

static _Atomic(uint32_t) *link_of(const struct tree_numbers *numbers, uint32_t number)
{
    return (_Atomic(uint32_t) *)(void *)(numbers->array + number * numbers->size + numbers->link);
}

static uint64_t back_word(uint64_t before, uint32_t number)
{
    return ((before >> 32) + 1) << 32 |
           number; /* no word comes twice while somebody looks at one */
}

static bool take_back(struct tree_numbers *numbers, uint32_t *number)
{
    uint64_t back = load_acquire(&numbers->back); /* the link; pairs with tree_numbers_back */

    while ((uint32_t)back) {
        uint32_t next = load_relaxed(link_of(numbers, (uint32_t)back));

        if (cas_acq_rel(&numbers->back, &back, back_word(back, next))) {
            *number = (uint32_t)back;
            add_relaxed(&numbers->again, 1);
            return true;
        }
    }
    return false;
}

void tree_numbers_back(struct tree_numbers *numbers, uint32_t number)
{
    uint64_t back = load_relaxed(&numbers->back);

    add_relaxed(&numbers->given, 1);
    do
        store_relaxed(link_of(numbers, number), (uint32_t)back);
    while (!cas_acq_rel(&numbers->back, &back, back_word(back, number)));
}

int tree_list_room(struct tree_list *list, size_t count)
{
    return array_reserve(&list->number, &list->capacity, count) ? 0 : -ENOMEM;
}

void tree_list_fini(struct tree_list *list)
{
    memory_free(list->number);
    *list = (struct tree_list){0};
}

bool tree_numbers_next(struct tree_numbers *numbers, uint32_t *number)
{
    uint32_t next = load_relaxed(&numbers->count);

    if (take_back(numbers, number))
        return true;
    while (next < numbers->most) {
        if (!get_ready(numbers, next)) /* before it is given out: without a thing it never ends */
            break;
        if (cas_acq_rel(&numbers->count, &next, next + 1)) {
            *number = next;
            fill(numbers, next);
            return true;
        }
    }
    add_relaxed(&numbers->refused, 1);
    return false;
}

static size_t bucket_bytes(const struct tree_buckets *buckets)
{
    return sizeof(*buckets->first) << buckets->bits;
}

int tree_buckets_init(struct tree_buckets *buckets, uint32_t things)
{
    buckets->bits = 1;
    while (buckets->bits < BUCKET_BITS && 4u << buckets->bits < things)
        buckets->bits++;
    buckets->first = memory_pages_map(bucket_bytes(buckets));
    return buckets->first ? 0 : -ENOMEM;
}

void tree_buckets_fill(struct tree_buckets *buckets)
{
    memory_pages_fill(buckets->first, bucket_bytes(buckets));
}

void tree_buckets_fini(struct tree_buckets *buckets)
{
    memory_pages_unmap(buckets->first, bucket_bytes(buckets));
}
