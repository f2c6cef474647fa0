/*
 * base/atomics.h - C11 atomics with the memory order in the name, and macros that every folder
 * uses.
 *
 * base/ holds what all other folders may include: atomics, the allocation seam, the clock, text
 * buffers, threads and how they wait, files, paths, hashes.
 */
#ifndef SHADOWTRACE_BASE_ATOMICS_H
#define SHADOWTRACE_BASE_ATOMICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LIKELY(x)       __builtin_expect(!!(x), 1)
#define UNLIKELY(x)     __builtin_expect(!!(x), 0)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define CACHE_LINE      64
#define INTO_CALLER     static inline __attribute__((always_inline)) /* compiled into each caller */

#define load_relaxed(p)        atomic_load_explicit((p), memory_order_relaxed)
#define load_acquire(p)        atomic_load_explicit((p), memory_order_acquire)
#define store_relaxed(p, v)    atomic_store_explicit((p), (v), memory_order_relaxed)
#define store_release(p, v)    atomic_store_explicit((p), (v), memory_order_release)
#define add_relaxed(p, v)      atomic_fetch_add_explicit((p), (v), memory_order_relaxed)
#define exchange_acq_rel(p, v) atomic_exchange_explicit((p), (v), memory_order_acq_rel)
#define or_acq_rel(p, v)       atomic_fetch_or_explicit((p), (v), memory_order_acq_rel)
#define and_acq_rel(p, v)      atomic_fetch_and_explicit((p), (v), memory_order_acq_rel)
/* Success: the store is a release, the load an acquire. Failure: *expected is what was found. */
#define cas_acq_rel(p, expected, desired) \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_acq_rel, \
                                            memory_order_acquire)
#define fence_release() atomic_thread_fence(memory_order_release)
#define fence_acquire() atomic_thread_fence(memory_order_acquire)
#define fence_full()    atomic_thread_fence(memory_order_seq_cst)

/* A node becomes the first of a list, to which others may add at the same time. */
#define list_push(head, node, next) \
    do { \
        (node)->next = load_relaxed(head); \
        while (!cas_acq_rel((head), &(node)->next, (node))) \
            ; \
    } while (0)

#ifndef container_of
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#endif

#endif
