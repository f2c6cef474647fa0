/*
 * support/heap.h - how much memory a test program holds, everything counted: its own, jansson's, zstd's. To be included
 * by one file of the program: it takes the place of malloc, or listens to the sanitizer's.
 */
#ifndef SHADOWTRACE_TESTS_SUPPORT_HEAP_H
#define SHADOWTRACE_TESTS_SUPPORT_HEAP_H

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

/* Below 0 when blocks are freed that came from elsewhere: the loader, or an aligned allocation. */
static _Atomic(ptrdiff_t) heap_held, heap_most;

/* From now on. Call while nothing is held that should count. */
static inline void heap_begin(void)
{
    heap_most = heap_held;
}

/* The most that was held since heap_begin, in bytes, beyond `before` (what was held then). */
static inline size_t heap_peak(ptrdiff_t before)
{
    ptrdiff_t most = heap_most;

    return most > before ? (size_t)(most - before) : 0;
}

static inline void heap_took(size_t size)
{
    ptrdiff_t now = (heap_held += (ptrdiff_t)size), most = heap_most;

    while (now > most && !atomic_compare_exchange_weak(&heap_most, &most, now))
        ;
}

#ifdef __SANITIZE_ADDRESS__

int __sanitizer_install_malloc_and_free_hooks(void (*took)(const volatile void *, size_t),
                                              void (*freed)(const volatile void *));
size_t __sanitizer_get_allocated_size(const volatile void *block);

static void heap_on_malloc(const volatile void *block, size_t size)
{
    (void)block;
    heap_took(size);
}

static void heap_on_free(const volatile void *block)
{
    if (block)
        heap_held -= (ptrdiff_t)__sanitizer_get_allocated_size(block);
}

__attribute__((constructor)) static void heap_listen(void)
{
    __sanitizer_install_malloc_and_free_hooks(heap_on_malloc, heap_on_free);
}

#elif !defined(__SANITIZE_THREAD__)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static inline void *heap_counted(void *block)
{
    if (block)
        heap_took(malloc_usable_size(block));
    return block;
}

/* To be found by the libraries as well. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return heap_counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return heap_counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    size_t before = block ? malloc_usable_size(block) : 0;
    void *grown = __libc_realloc(block, size);

    if (grown || !size) {
        heap_held -= (ptrdiff_t)before;
        heap_counted(grown);
    }
    return grown;
}

void free(void *block)
{
    if (block)
        heap_held -= (ptrdiff_t)malloc_usable_size(block);
    __libc_free(block);
}

#pragma GCC visibility pop

#endif
#endif
