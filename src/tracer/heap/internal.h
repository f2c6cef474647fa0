/* heap/internal.h - heap.c: collections; check.c, references.c: the walk of --check-live. */
#ifndef SHADOWTRACE_HEAP_INTERNAL_H
#define SHADOWTRACE_HEAP_INTERNAL_H

#include "heap/heap.h"

#include "base/parker.h"

#include <pthread.h>

#define HEAP_EARLY 64

/* A frozen object that was seen before its allocation was reported. */
struct heap_early {
    uintptr_t object; /* 0: free */
    uint32_t walks;   /* since */
};

struct heap_object {
    uintptr_t address, class_id;
};

/* What the runtime's walk within a collection has reported. Written by the thread that walks. */
struct heap_references {
    _Atomic(bool) wanted; /* of the collection at hand */
    bool failed;          /* memory ran out */
    struct heap_object *object;
    size_t count, size; /* bytes */
    uint64_t began_ns;
};

struct heap {
    struct heap_config config;
    struct clr_gc_generation_range *range; /* as the runtime gave them */
    struct live_bound *bound;
    size_t ranges, bounds; /* room */
    uint64_t began_ns;
    bool known;                  /* bounds of this collection are */
    uint32_t deepest;            /* as GarbageCollectionStarted says; wrong beside another one */
    _Atomic(uint32_t) depth;     /* as the collection's own event says */
    _Atomic(bool) told;          /* it came, for the collection at hand */
    _Atomic(bool) walked;        /* its ranges came by callbacks instead */
    _Atomic(bool) beside;        /* a collection has begun that runs beside the program */
    bool over;                   /* the table knows */
    _Atomic(uint64_t) silent_ns; /* since when the session is silent; 0: it reports */
    /* --check-live */
    struct parker wake;
    pthread_t thread;
    struct heap_early early[HEAP_EARLY];
    struct heap_references references;
    _Atomic(uint32_t) wanted;
    _Atomic(bool) stopping, ended;
};

/* check.c */
void heap_check_wake(struct heap *heap); /* a collection has ended */
void heap_check_told(struct heap *heap, const struct heap_references *told);

/* references.c: a collection begins; it is over, and the table gets the result. */
void heap_references_begin(struct heap *heap);
void heap_references_end(struct heap *heap);

#endif
