#include "tree/numbers.h"

#include "base/memory.h"

#include <errno.h>

#define CHUNK       (1u << 14) /* things whose memory is had at a time */
#define BUCKET_BITS 16         /* at the most */

static size_t bytes(const struct tree_numbers *numbers)
{
    return numbers->size * (((size_t)numbers->most + CHUNK) & ~(size_t)(CHUNK - 1));
}

int tree_numbers_init(struct tree_numbers *numbers, size_t size, uint32_t most)
{
    numbers->size = size;
    numbers->most = most;
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

bool tree_numbers_next(struct tree_numbers *numbers, uint32_t *number)
{
    uint32_t next = load_relaxed(&numbers->count);

    while (next < numbers->most) {
        if (!get_ready(numbers, next)) /* before it is given out: without a thing it never ends */
            break;
        if (cas_acq_rel(&numbers->count, &next, next + 1)) {
            *number = next;
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

void tree_buckets_fini(struct tree_buckets *buckets)
{
    memory_pages_unmap(buckets->first, bucket_bytes(buckets));
}
