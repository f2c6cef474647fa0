/*
 * base/memory.h - the allocation seam: every heap or page allocation of the project goes through
 * here, so that a test can make the n-th one fail and nothing else meets mmap.
 */
#ifndef SHADOWTRACE_BASE_MEMORY_H
#define SHADOWTRACE_BASE_MEMORY_H

#include "base/atomics.h"

#include <stdbool.h>
#include <stddef.h>

/* As malloc, calloc, realloc, strdup; released with memory_free. Threads: any. */
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
 * Owns:    the caller, until memory_pages_unmap with the same size (bytes; both round up to pages).
 * Threads: any.
 * May run: anywhere, in a hook's slow path too: takes no lock of the tracer or of libc,
 *          keeps errno.
 */
void *memory_pages_map(size_t size);
void memory_pages_unmap(void *pages, size_t size);

/* memory_pages_clear - zeroed, and given back to the kernel until they are touched, if possible. */
void memory_pages_clear(void *pages, size_t size);

/*
 * memory_pages_grow - more of them, with what the first `size` bytes hold; they may move. pages
 * NULL, size 0: new ones. Returns: the pages, to be unmapped with `larger`; NULL: nothing has
 * changed.
 */
void *memory_pages_grow(void *pages, size_t size, size_t larger);

/*
 * memory_pages_reserve - address space without memory; memory_pages_use gives pages of it theirs,
 * zeroed; twice is harmless. Otherwise as memory_pages_map.
 * Returns: the space or NULL; whether there is memory.
 */
void *memory_pages_reserve(size_t size);
bool memory_pages_use(void *pages, size_t size);

/*
 * memory_pages_fill - pages that are surely used soon get their memory at once, if the kernel can:
 * that costs less than a fault for each. What they hold does not change. May run: as above.
 */
void memory_pages_fill(void *pages, size_t size);

/* memory_pages_share - bytes that one reservation may take: RLIMIT_AS limits address space. */
size_t memory_pages_share(void);

/*
 * memory_file_map - part of a file, to be read; `offset` is a multiple of pages.
 * memory_file_discard gives its pages back to the kernel: what is read again comes from the file
 * again.
 * Returns: the bytes, for good, or NULL.
 * Threads: any. May run: anywhere; errno is kept.
 */
const void *memory_file_map(int fd, uint64_t offset, size_t size);
void memory_file_discard(const void *bytes, size_t size);

/*
 * Small blocks that live as long as their pool, in separate pages: among the temporary blocks of
 * the traced program they would keep its heap from shrinking.
 * memory_pool_zalloc: zeroed, aligned to 16 bytes, or NULL. Threads: any, lock-free.
 * memory_pool_free:   all of them, once nobody uses any. A pool begins as all zeros.
 */
struct memory_pool {
    _Atomic(struct memory_pool_chunk *) newest;
};
void *memory_pool_zalloc(struct memory_pool *pool, size_t count, size_t size);
void memory_pool_free(struct memory_pool *pool);

/*
 * memory_fail_after - for tests: `count` more allocations succeed, then each one fails; negative,
 * as at the start: none fails. Threads: set it while one thread runs.
 */
void memory_fail_after(long count);

#endif
