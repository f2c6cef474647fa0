#include "base/memory.h"

#include "base/atomics.h"
#include "base/memory_scope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define POOL_CHUNK 262144 /* bytes */
#define SHARE      128    /* there are a few reservations, and threads and heaps of the program */

#ifdef MADV_POPULATE_WRITE
#define FILL MADV_POPULATE_WRITE
#else
#define FILL 23
#endif

static _Atomic(long) fail_after = -1;

static int must_fail(void)
{
    long left = load_relaxed(&fail_after);

    if (LIKELY(left < 0))
        return 0;
    if (left == 0)
        return 1;
    store_relaxed(&fail_after, left - 1);
    return 0;
}

void memory_fail_after(long count)
{
    store_relaxed(&fail_after, count);
}

void *memory_alloc(size_t size)
{
    if (must_fail())
        return NULL;
    return scope_open() ? scope_alloc(size) : malloc(size);
}

void *memory_zalloc(size_t count, size_t size)
{
    if (must_fail())
        return NULL;
    return scope_open() ? scope_zalloc(count, size) : calloc(count, size);
}

void *memory_realloc(void *block, size_t size)
{
    if (must_fail())
        return NULL;
    return scope_open() ? scope_realloc(block, size) : realloc(block, size);
}

char *memory_strdup(const char *text)
{
    if (must_fail())
        return NULL;
    return scope_open() ? scope_strdup(text) : strdup(text);
}

void memory_free(void *block)
{
    if (UNLIKELY(scope_open()))
        scope_free(block);
    else
        free(block);
}

void memory_free_blocks(void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memory_free(blocks[i]);
}

static void *map(size_t size, int protection, int flags, int fd, uint64_t offset)
{
    int saved = errno;
    void *pages;

    if (must_fail())
        return NULL;
    pages = mmap(NULL, size, protection, MAP_PRIVATE | flags, fd, (off_t)offset);
    if (pages != MAP_FAILED && UNLIKELY(scope_open()) && !scope_mapped(pages, size)) {
        munmap(pages, size);
        pages = MAP_FAILED;
    }
    errno = saved;
    return pages == MAP_FAILED ? NULL : pages;
}

void *memory_pages_map(size_t size)
{
    return map(size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Returns false for pages that the process has locked. */
static bool give_back(void *pages, size_t size)
{
    int saved = errno, err = madvise(pages, size, MADV_DONTNEED);

    errno = saved;
    return !err;
}

void memory_pages_clear(void *pages, size_t size)
{
    if (!give_back(pages, size))
        memset(pages, 0, size);
}

void *memory_pages_grow(void *pages, size_t size, size_t larger)
{
    int saved = errno;
    void *grown;

    if (!pages)
        return memory_pages_map(larger);
    if (must_fail())
        return NULL;
    grown = mremap(pages, size, larger, MREMAP_MAYMOVE);
    if (grown != MAP_FAILED && UNLIKELY(scope_open()))
        scope_moved(pages, grown, larger);
    errno = saved;
    return grown == MAP_FAILED ? NULL : grown;
}

void *memory_pages_reserve(size_t size)
{
    return map(size, PROT_NONE, MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

size_t memory_pages_share(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return (size_t)limit.rlim_cur / SHARE;
}

bool memory_pages_use(void *pages, size_t size)
{
    int saved = errno;
    bool given = !must_fail() && mprotect(pages, size, PROT_READ | PROT_WRITE) == 0;

    errno = saved;
    return given;
}

void memory_pages_fill(void *pages, size_t size)
{
    const uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t low = (uintptr_t)pages & ~mask, high = ((uintptr_t)pages + size + mask) & ~mask;
    int saved = errno;

    madvise((void *)low, high - low, FILL); /* before Linux 5.14 they come one by one */
    errno = saved;
}

void memory_pages_unmap(void *pages, size_t size)
{
    int saved = errno;

    if (pages && UNLIKELY(scope_open()))
        scope_unmapped(pages, size);
    if (pages)
        munmap(pages, size);
    errno = saved;
}

const void *memory_file_map(int fd, uint64_t offset, size_t size)
{
    return map(size, PROT_READ, 0, fd, offset);
}

void memory_file_discard(const void *bytes, size_t size)
{
    give_back((void *)(uintptr_t)bytes, size);
}

struct memory_pool_chunk {
    struct memory_pool_chunk *older;
    size_t size;          /* bytes, this header included */
    _Atomic(size_t) used; /* the same; may go beyond */
    size_t padding;
};

static struct memory_pool_chunk *chunk_new(struct memory_pool_chunk *older, size_t bytes)
{
    size_t size = sizeof(*older) + bytes > POOL_CHUNK ? sizeof(*older) + bytes : POOL_CHUNK;
    struct memory_pool_chunk *chunk = memory_pages_map(size);

    if (!chunk)
        return NULL;
    chunk->older = older;
    chunk->size = size;
    store_relaxed(&chunk->used, sizeof(*chunk));
    return chunk;
}

void *memory_pool_zalloc(struct memory_pool *pool, size_t count, size_t size)
{
    size_t bytes = (count * size + 15) & ~(size_t)15;
    struct memory_pool_chunk *chunk = load_acquire(&pool->newest);

    if (must_fail())
        return NULL;
    for (;;) {
        size_t at = chunk ? add_relaxed(&chunk->used, bytes) : 0;
        struct memory_pool_chunk *made;

        if (chunk && at + bytes <= chunk->size)
            return (char *)chunk + at;
        made = chunk_new(chunk, bytes);
        if (!made)
            return NULL;
        if (cas_acq_rel(&pool->newest, &chunk, made)) { /* pairs with the load above */
            chunk = made;
            if (chunk->size == POOL_CHUNK) /* small blocks will fill it */
                memory_pages_fill(chunk, POOL_CHUNK);
        } else {
            memory_pages_unmap(made, made->size);
        }
    }
}

void memory_pool_free(struct memory_pool *pool)
{
    struct memory_pool_chunk *chunk = exchange_acq_rel(&pool->newest, NULL);

    while (chunk) {
        struct memory_pool_chunk *older = chunk->older;

        memory_pages_unmap(chunk, chunk->size);
        chunk = older;
    }
}
