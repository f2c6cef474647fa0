/*
 * --check-live before .NET 9, where the runtime does not walk its heap on request: it does so at
 * the end of each collection that COR_PRF_MONITOR_GC is set for, to tell what objects refer to.
 * Objects lie where they will by then, and the table knows it once the collection is over: they
 * are kept until then.
 */
#include "heap/internal.h"

#include "base/clock.h"
#include "base/memory.h"

#define FIRST_BYTES (1u << 20)

void heap_references_begin(struct heap *heap)
{
    struct heap_references *r = &heap->references;
    uint32_t check = heap->config.check;

    r->count = 0;
    r->failed = false;
    store_release(&r->wanted, check && heap_needs_references(heap->config.runtime) &&
                                  (live_collections(heap->config.live) + 1) % check == 0);
}

static bool make_room(struct heap_references *r)
{
    size_t larger = r->size ? 2 * r->size : FIRST_BYTES;
    void *grown;

    if ((r->count + 1) * sizeof(*r->object) <= r->size)
        return true;
    grown = memory_pages_grow(r->object, r->size, larger);
    if (!grown)
        return false;
    r->object = grown;
    r->size = larger;
    return true;
}

bool heap_referred(struct heap *heap, uintptr_t object, uintptr_t class_id)
{
    struct heap_references *r = &heap->references;

    if (!load_acquire(&r->wanted) || r->failed)
        return false;
    if (!r->count)
        r->began_ns = clock_ns();
    r->failed = !make_room(r);
    if (!r->failed)
        r->object[r->count++] = (struct heap_object){object, class_id};
    return !r->failed;
}

void heap_references_end(struct heap *heap)
{
    struct heap_references *r = &heap->references;

    if (!load_acquire(&r->wanted))
        return;
    store_release(&r->wanted, false);
    heap_check_told(heap, r);
}
