/*
 * --check-live: after every N collections, the runtime's walk of the heap is compared with the
 * table. A tracer thread requests the walk, or it runs within the collection (references.c).
 */
#include "heap/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

#include <shadowtrace/clr/constants.h>

#include <time.h>

#define TRIES       200
#define STEP_NS     1000000 /* between them */
#define EARLY_WALKS 16      /* it may still be missing in this many more */
#define PARK_NS     UINT64_C(1000000000)

struct walk {
    struct heap *heap;
    struct live_compare *compare;
    uint64_t objects, equal, missing, early, other;
};

/*
 * The runtime makes frozen objects, as System.RuntimeType, and tells of them a little later: a
 * thread may stop between. They do not move; whether one is in the table later on is looked at.
 */
static bool is_early(struct walk *walk, uintptr_t object)
{
    struct clr_info *info = walk->heap->config.runtime->info;
    struct heap_early *early = walk->heap->early, *free = NULL;
    int32_t frozen = 0;

    if (info->vtbl->is_frozen_object(info, object, &frozen) != S_OK || !frozen)
        return false;
    for (size_t i = 0; i < HEAP_EARLY; i++) {
        if (early[i].object == object)
            return early[i].walks <= EARLY_WALKS;
        if (!early[i].object)
            free = &early[i];
    }
    if (free)
        *free = (struct heap_early){object, 0};
    return free;
}

/* Forgets objects whose allocation has been reported meanwhile. */
static void early_settle(struct walk *walk)
{
    struct heap_early *early = walk->heap->early;

    for (size_t i = 0; i < HEAP_EARLY; i++) {
        early[i].walks++;
        if (early[i].object && live_compare_met(walk->compare, early[i].object))
            early[i].object = 0;
    }
}

/* class_id: 0: it is asked for. */
static void compare(struct walk *walk, uintptr_t object, uintptr_t class_id)
{
    struct clr_info *info = walk->heap->config.runtime->info;
    uint32_t id = live_compare_met(walk->compare, object);
    const struct metadata_class *class = NULL;

    walk->objects++;
    if (id && id != LIVE_OPEN)
        class = (const struct metadata_class *)live_class(walk->heap->config.live, id);
    if (!id && is_early(walk, object))
        walk->early++;
    else if (!id)
        walk->missing++;
    else if (id == LIVE_OPEN ||
             (class &&
              (class_id || info->vtbl->get_class_from_object(info, object, &class_id) == S_OK) &&
              class->class_id == class_id))
        walk->equal++;
    else
        walk->other++;
}

static int32_t met(uintptr_t object, void *context)
{
    compare(context, object, 0);
    return 1;
}

static void count(struct heap *heap, const struct walk *walk, uint64_t extra, uint64_t ns)
{
    struct agreement_live *a = heap->config.agreement;

    add_relaxed(&a->compared, walk->objects);
    add_relaxed(&a->equal, walk->equal);
    add_relaxed(&a->missing, walk->missing);
    add_relaxed(&a->early, walk->early);
    add_relaxed(&a->other_class, walk->other);
    add_relaxed(&a->extra, extra);
    add_relaxed(&a->suspended_ns, ns);
}

/* All threads stand. Returns: whether it was walked. */
static bool walk_heap(struct heap *heap, uint64_t began)
{
    struct clr_info *info = heap->config.runtime->info;
    struct walk walk = {.heap = heap};
    uint64_t extra;
    bool whole;

    if (load_relaxed(&heap->config.hub->stopped) || load_acquire(&heap->silent_ns))
        return true; /* nothing is noted any more, or told */
    if (load_acquire(&heap->beside))
        return false;
    walk.compare = live_compare_new(heap->config.live);
    if (!walk.compare)
        return false;
    early_settle(&walk);
    whole = info->vtbl->enumerate_gc_heap_objects(info, met, &walk) == S_OK;
    extra = live_compare_end(walk.compare);
    if (whole)
        count(heap, &walk, extra, clock_ns() - began);
    return whole;
}

/* The runtime does not stop while it collects, or is stopped by another. */
static bool check_once(struct heap *heap)
{
    const struct timespec step = {0, STEP_NS};
    struct agreement_live *a = heap->config.agreement;
    struct clr_info *info = heap->config.runtime->info;
    bool walked;

    for (unsigned i = 0; i < TRIES && !load_acquire(&heap->stopping); i++) {
        uint64_t began = clock_ns();

        if (info->vtbl->suspend_runtime(info) == S_OK) {
            walked = walk_heap(heap, began);
            info->vtbl->resume_runtime(info);
            return walked;
        }
        add_relaxed(&a->busy, 1);
        nanosleep(&step, NULL);
    }
    return load_acquire(&heap->stopping);
}

/* In GarbageCollectionFinished: the table is as the heap was told to be. */
void heap_check_told(struct heap *heap, const struct heap_references *told)
{
    struct walk walk = {.heap = heap};

    if (load_relaxed(&heap->config.hub->stopped)) /* nothing is noted any more */
        return;
    add_relaxed(&heap->config.agreement->walks, 1);
    metadata_hold(heap->config.metadata); /* classes, while they are looked at */
    if (told->count && !told->failed)
        walk.compare = live_compare_new(heap->config.live);
    if (walk.compare) {
        early_settle(&walk);
        for (size_t i = 0; i < told->count; i++)
            compare(&walk, told->object[i].address, told->object[i].class_id);
        count(heap, &walk, live_compare_end(walk.compare), clock_ns() - told->began_ns);
    } else {
        add_relaxed(&heap->config.agreement->not_walked, 1);
    }
    metadata_unhold(heap->config.metadata);
}

static void *check_main(void *context)
{
    struct heap *heap = context;
    uint32_t done = 0;

    pthread_setname_np(pthread_self(), "shadowtrace-hp");
    while (!load_acquire(&heap->stopping)) {
        uint32_t wanted = load_acquire(&heap->wanted);

        if (wanted == done) {
            parker_park(&heap->wake, PARK_NS);
            continue;
        }
        done = wanted;
        add_relaxed(&heap->config.agreement->walks, 1);
        metadata_hold(heap->config.metadata); /* classes, while they are looked at */
        if (!check_once(heap))
            add_relaxed(&heap->config.agreement->not_walked, 1);
        metadata_unhold(heap->config.metadata);
    }
    store_release(&heap->ended, true);
    return NULL;
}

int heap_check_start(struct heap *heap)
{
    bool walks = heap->config.check && !heap_needs_references(heap->config.runtime);
    int err = walks ? thread_start(&heap->thread, check_main, heap) : 0;

    if (err || !walks)
        store_relaxed(&heap->ended, true);
    return err;
}

void heap_check_stop(struct heap *heap, unsigned timeout_ms)
{
    store_release(&heap->stopping, true);
    parker_unpark(&heap->wake);
    thread_await(&heap->ended, timeout_ms);
}

void heap_check_wake(struct heap *heap)
{
    if (!heap->config.check || live_collections(heap->config.live) % heap->config.check ||
        heap_needs_references(heap->config.runtime))
        return;
    add_relaxed(&heap->wanted, 1);
    parker_unpark(&heap->wake);
}
