/*
 * tree/numbers.h - things numbered 0, 1, 2, ... that lie in one array and do not move. Address
 * space for all is reserved at the start; pages come as needed. A freed number is used again.
 */
#ifndef SHADOWTRACE_TREE_NUMBERS_H
#define SHADOWTRACE_TREE_NUMBERS_H

#include "base/atomics.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>

struct tree_numbers {
    char *array;             /* zeroed */
    size_t size;             /* bytes of a thing */
    uint32_t most;           /* numbers there may be */
    _Atomic(uint32_t) count; /* given out */
    _Atomic(uint32_t) ready; /* whose things may have memory; at least count */
    _Atomic(uint64_t) refused;
    size_t link; /* offset of an _Atomic(uint32_t) in a thing that was given back: the next */
    _Atomic(uint64_t) back;  /* the first of them : 32, 0 none; how often this changed : 32 */
    _Atomic(uint64_t) again; /* numbers given out that had been given back */
    _Atomic(uint64_t) given; /* numbers given back */
};

/* From all zeros. 0 or -ENOMEM; tree_numbers_fini() in both cases. */
int tree_numbers_init(struct tree_numbers *numbers, size_t size, size_t link, uint32_t most);
void tree_numbers_fini(struct tree_numbers *numbers);

/*
 * tree_numbers_next - the next number, and memory for its thing.
 * Returns: false when there are `most`, or no memory; counted. Threads: any, lock-free.
 */
bool tree_numbers_next(struct tree_numbers *numbers, uint32_t *number);

/* tree_numbers_back - frees this number, not 0. Only the link of its thing changes. Threads: any.
 *  */
void tree_numbers_back(struct tree_numbers *numbers, uint32_t number);

/* Numbers, in the caller's memory. */
struct tree_list {
    uint32_t *number;
    size_t count, capacity;
};
int tree_list_room(struct tree_list *list, size_t count); /* for `count` entries: 0 or -ENOMEM */
void tree_list_fini(struct tree_list *list);

/* Buckets of a chained hash for `count` entries: a power of two of them, zeroed. */
struct tree_buckets {
    _Atomic(uint32_t) *first; /* number of the youngest thing of a chain, 0 none */
    unsigned bits;
};
int tree_buckets_init(struct tree_buckets *buckets, uint32_t things); /* as above */
void tree_buckets_fini(struct tree_buckets *buckets);

/* The thing with this number was made: of some, all pages of the buckets are surely used soon. */
#define TREE_BUCKETS_FILL 16
void tree_buckets_fill(struct tree_buckets *buckets);
static inline void tree_buckets_made(struct tree_buckets *buckets, uint32_t number)
{
    if (UNLIKELY(number == TREE_BUCKETS_FILL))
        tree_buckets_fill(buckets);
}

static inline _Atomic(uint32_t) *tree_bucket(const struct tree_buckets *buckets, uint64_t a,
                                             uint64_t b, uint64_t c)
{
    uint64_t h = hash_word(a);

    h = (h ^ (h >> 29) ^ b) * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ (h >> 32) ^ c) * UINT64_C(0x94d049bb133111eb);
    return &buckets->first[h >> (64 - buckets->bits)];
}

#endif
