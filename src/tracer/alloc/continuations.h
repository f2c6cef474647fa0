/*
 * alloc/continuations.h - the ClassIDs of what runtime async suspends methods in: one on .NET 10,
 * one for each layout from .NET 11 on. A set without removal, of fixed size: an id that finds no
 * place takes another's, whose objects then do not say where their methods were begun.
 */
#ifndef SHADOWTRACE_ALLOC_CONTINUATIONS_H
#define SHADOWTRACE_ALLOC_CONTINUATIONS_H

#include "base/atomics.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTINUATIONS       4096 /* a power of two */
#define CONTINUATIONS_REACH 8    /* places that an id may have */

struct continuations {
    _Atomic(bool) any;
    _Atomic(uintptr_t) class_id[CONTINUATIONS];
};

static inline _Atomic(uintptr_t) *continuations_place(struct continuations *set, uintptr_t class_id,
                                                      uintptr_t wanted)
{
    uint64_t first = hash_word(class_id) >> 32;

    for (unsigned i = 0; i < CONTINUATIONS_REACH; i++) {
        _Atomic(uintptr_t) *at = &set->class_id[(first + i) & (CONTINUATIONS - 1)];

        if (load_relaxed(at) == wanted)
            return at;
    }
    return NULL;
}

/* Before the first of them no argument of a method is read as one. */
static inline bool continuations_any(const struct continuations *set)
{
    return load_relaxed(&set->any);
}

/* Threads: any. A hook may ask: no lock, no allocation, at most eight loads. */
static inline bool continuations_has(const struct continuations *set, uintptr_t class_id)
{
    return class_id &&
           continuations_place((struct continuations *)(uintptr_t)set, class_id, class_id);
}

/* Two threads that add different ids at once may lose one: it is added with its next object. */
static inline void continuations_add(struct continuations *set, uintptr_t class_id)
{
    _Atomic(uintptr_t) *at;

    if (continuations_has(set, class_id)) /* other threads read the line */
        return;
    at = continuations_place(set, class_id, 0);
    if (!at)
        at = &set->class_id[hash_word(class_id) >> 32 & (CONTINUATIONS - 1)];
    store_relaxed(at, class_id);
    store_relaxed(&set->any, true);
}

#endif
