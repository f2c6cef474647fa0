/*
 * base/memory.h - the allocation seam: every heap or page allocation of the project goes through here, so that a
 * test can make the n-th one fail, and so that nothing but this file meets mmap.
 */
#ifndef SHADOWTRACE_BASE_MEMORY_H
#define SHADOWTRACE_BASE_MEMORY_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>

/* As malloc, calloc, realloc, strdup: NULL when out of memory; released with memory_free. Threads: any. */
void *memory_alloc(size_t size);
void *memory_zalloc(size_t count, size_t size);
void *memory_realloc(void *block, size_t size);
char *memory_strdup(const char *text);
void memory_free(void *block);

/* memory_free_all - several, each also NULL. */
#define memory_free_all(...) \
    memory_free_blocks((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
void memory_free_blocks(void *const *blocks, size_t count);

/*
 * memory_pages_map - zeroed pages straight from the kernel, committed as they are touched.
 * Returns: the pages, or NULL when the kernel refuses.
 * Owns:    the caller, until memory_pages_unmap with the same size (bytes, rounded up to pages by both).
 * Threads: any.
 * May run: anywhere, the slow path of a hook included: no lock of ours or of libc is taken, errno is kept.
 */
void *memory_pages_map(size_t size);
void memory_pages_unmap(void *pages, size_t size);

/* memory_pages_clear - zeroed again, and given back to the kernel until they are touched, if it takes them. */
void memory_pages_clear(void *pages, size_t size);

/*
 * memory_pages_grow - more of them, with what the first `size` bytes hold; they may have moved. pages NULL, size 0: new.
 * Returns: the pages, to be unmapped with `larger`; NULL: there is no memory, and nothing has changed.
 */
void *memory_pages_grow(void *pages, size_t size, size_t larger);

/*
 * memory_pages_reserve - address space that no memory stands behind; memory_pages_use gives pages of it theirs, zeroed.
 * Giving it twice changes nothing. Returns: the space or NULL; whether there is memory. Otherwise as memory_pages_map.
 */
void *memory_pages_reserve(size_t size);
bool memory_pages_use(void *pages, size_t size);

/*
 * memory_pages_share - of the address space, what one reservation may take where it is limited (RLIMIT_AS); bytes.
 */
size_t memory_pages_share(void);

/*
 * memory_file_map - part of a file, to be read; `offset` is a multiple of pages. memory_file_rest gives its pages back to
 * the kernel: what is read again comes from the file again. Returns: the bytes, for good, or NULL.
 * Threads: any. May run: anywhere; errno is kept.
 */
const void *memory_file_map(int fd, uint64_t offset, size_t size);
void memory_file_rest(const void *bytes, size_t size);

/*
 * Small blocks that live as long as their pool, in pages of its own: among the temporary blocks of the traced program's
 * threads they would keep its heap from shrinking again.
 * memory_pool_zalloc: zeroed, aligned to 16 bytes; NULL when out of memory. Threads: any, lock-free.
 * memory_pool_free:   all of them, once nobody uses any. A pool begins as all zeros.
 */
struct memory_pool {
    _Atomic(struct memory_pool_chunk *) newest;
};
void *memory_pool_zalloc(struct memory_pool *pool, size_t count, size_t size);
void memory_pool_free(struct memory_pool *pool);

/*
 * memory_fail_after - for tests: let `count` more allocations of this seam succeed, then fail every one;
 * a negative count (the state at start) never fails. Threads: set it while one thread runs.
 */
void memory_fail_after(long count);

#endif
