/*
 * heap/addresses.h - the addresses of objects, ascending, and the way from an address to its
 * number. Objects count from 1; number 0 stands for whatever is none.
 */
#ifndef SHADOWTRACE_HEAP_ADDRESSES_H
#define SHADOWTRACE_HEAP_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

struct heap_addresses {
    uint64_t *address; /* by number; [0] is 0 */
    size_t count;      /* of objects */
    size_t capacity;
    /* Pages of the heap that objects begin in, to the first of them: a hash table. */
    struct heap_address_page {
        uint64_t page; /* + 1; 0: free */
        uint32_t first;
    } * pages;
    unsigned bits; /* log2 of how many it has */
};

/*
 * heap_addresses_add - in any order, also again, before heap_addresses_finish. Returns: 0; -EFBIG;
 * -ENOMEM.
 */
int heap_addresses_add(struct heap_addresses *a, uint64_t address);
int heap_addresses_finish(struct heap_addresses *a); /* Returns: 0 or -ENOMEM. */
void heap_addresses_free(struct heap_addresses *a);  /* begins as all zeros */

/* The object that begins there; 0 none. */
uint32_t heap_addresses_find(const struct heap_addresses *a, uint64_t address);

/*
 * The same in three steps, so that several can be under way: what memory is asked for, the first
 * object of the page (0 none), from which on it is looked for.
 */
void heap_addresses_prefetch(const struct heap_addresses *a, uint64_t address);
uint32_t heap_addresses_page(const struct heap_addresses *a, uint64_t address);
uint32_t heap_addresses_find_from(const struct heap_addresses *a, uint64_t address, uint32_t first);

/* The last that begins there or before; 0 none. */
uint32_t heap_addresses_before(const struct heap_addresses *a, uint64_t address);

#endif
