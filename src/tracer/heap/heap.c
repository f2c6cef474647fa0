#include "heap/internal.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/memory.h"
#include "stack/stack_hot.h" /* RULE */

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <string.h>

/* Events of the runtime's provider, and where their members are (ClrEtwAll.man). */
enum { GC_START = 1, GC_SURVIVING = 21, GC_MOVED = 22 };
#define START_DEPTH  4  /* u32 */
#define START_TYPE   12 /* u32 */
#define DEEPEST      2
#define RANGES_COUNT 4 /* u32 */
#define RANGES_HEAD  10
#define MOVED_SIZE   24 /* from, to, bytes: u64 each */
#define STAYS_SIZE   16 /* from, bytes */
#define MOST_RANGES  512

enum { TYPE_BACKGROUND = 1 }; /* beside the program */

#define ENDING_NS 2000000000ull /* more than a runtime takes to end */

static uint32_t u32_at(const struct session_event *event, uint32_t at)
{
    uint32_t value = 0;

    if (at + sizeof(value) <= event->size)
        memcpy(&value, event->data + at, sizeof(value));
    return value;
}

static uintptr_t u64_at(const uint8_t *data)
{
    uint64_t value;

    memcpy(&value, data, sizeof(value));
    return (uintptr_t)value;
}

static void started(struct heap *heap, const struct session_event *event)
{
    if (u32_at(event, START_DEPTH) > DEEPEST)
        return; /* ProcessInfo, of another provider that each session has, has the same id */
    store_relaxed(&heap->depth, u32_at(event, START_DEPTH));
    store_release(&heap->told, true);
    if (u32_at(event, START_TYPE) == TYPE_BACKGROUND) {
        live_inexact(heap->config.live, SST_LIVE_CONCURRENT);
        store_release(&heap->beside, true);
    }
}

static void ranges(struct heap *heap, const struct session_event *event, uint32_t size)
{
    uint32_t count = u32_at(event, RANGES_COUNT), done = 0;
    struct live_range range[MOST_RANGES];

    if (event->size < RANGES_HEAD || (event->size - RANGES_HEAD) / size < count) {
        live_inexact(heap->config.live, SST_LIVE_SESSION);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *row = event->data + RANGES_HEAD + (size_t)i * size;

        range[done].from = u64_at(row);
        range[done].to = size == MOVED_SIZE ? u64_at(row + 8) : range[done].from;
        range[done++].size = u64_at(row + size - 8);
        if (done == MOST_RANGES || i + 1 == count) {
            live_moved(heap->config.live, range, done);
            done = 0;
        }
    }
}

static void told(void *context, const struct session_event *event)
{
    if (event->id == GC_START)
        started(context, event);
    else if (!load_acquire(&((struct heap *)context)->beside))
        ranges(context, event, event->id == GC_MOVED ? MOVED_SIZE : STAYS_SIZE);
}

void heap_moved(struct heap *heap, uint32_t count, const uintptr_t *from, const uintptr_t *to,
                const size_t *bytes)
{
    struct live_range range[MOST_RANGES];
    uint32_t done = 0;

    if (!heap->known || load_acquire(&heap->told))
        return;
    for (uint32_t i = 0; i < count; i++) {
        range[done++] = (struct live_range){.from = from[i], .to = to[i], .size = bytes[i]};
        if (done == MOST_RANGES || i + 1 == count) {
            live_moved(heap->config.live, range, done);
            done = 0;
        }
    }
    store_release(&heap->walked, true);
}

int heap_new(const struct heap_config *config, struct heap **out)
{
    static const uint32_t ids[] = {GC_START, GC_SURVIVING, GC_MOVED, 0};
    struct heap *heap = memory_zalloc(1, sizeof(*heap));
    const struct session_subscriber subscriber = {.keywords = SESSION_KEYWORD_GC |
                                                              SESSION_KEYWORD_GC_SURVIVAL,
                                                  .level = SESSION_LEVEL_INFORMATIONAL,
                                                  .ids = ids,
                                                  .told = told,
                                                  .context = heap};

    *out = heap;
    if (!heap || !session_subscribe(config->session, &subscriber))
        return -ENOMEM;
    heap->config = *config;
    return 0;
}

void heap_start(struct heap *heap)
{
    const struct clr_runtime *runtime = heap->config.runtime;
    hresult result = session_start(heap->config.session, runtime->info, runtime->info_version);

    if (result != S_OK && result != S_FALSE)
        live_inexact(heap->config.live, SST_LIVE_SESSION);
}

/* The runtime's bounds. false: it does not say, or memory is out. */
static bool bounds_read(struct heap *heap, uint32_t *count)
{
    struct clr_info *info = heap->config.runtime->info;

    *count = 0;
    if (info->vtbl->get_generation_bounds(info, (uint32_t)heap->ranges, count, heap->range) != S_OK)
        return false;
    if (*count <= heap->ranges && *count <= heap->bounds)
        return true;
    if (!array_reserve(&heap->range, &heap->ranges, *count) ||
        !array_reserve(&heap->bound, &heap->bounds, heap->ranges))
        return false;
    return info->vtbl->get_generation_bounds(info, (uint32_t)heap->ranges, count, heap->range) ==
               S_OK &&
           *count <= heap->ranges;
}

void heap_collection_started(struct heap *heap, uint32_t deepest)
{
    uint32_t count;

    heap->began_ns = clock_ns();
    heap->deepest = deepest;
    live_settle(heap->config.live); /* ranges come, whatever else is known */
    if (load_acquire(&heap->beside))
        return;
    if (!session_runs(heap->config.session)) {
        live_inexact(heap->config.live, SST_LIVE_LATE);
        return;
    }
    heap->known = bounds_read(heap, &count);
    for (uint32_t i = 0; heap->known && i < count; i++)
        heap->bound[i] =
            (struct live_bound){heap->range[i].range_start,
                                heap->range[i].range_start + heap->range[i].range_length_reserved,
                                (uint32_t)heap->range[i].generation};
    if (!heap->known)
        return;
    live_begin(heap->config.live, heap->bound, count);
    heap_references_begin(heap);
}

/*
 * The runtime ends all sessions before it ends itself, and other threads run on between: such a
 * collection is in no sums, as what they allocate then. Is this one? Another that comes long after
 * the first was missed.
 */
static bool is_ending(struct heap *heap, uint64_t now)
{
    uint64_t since = load_relaxed(&heap->silent_ns);

    if (!heap->known || !session_runs(heap->config.session))
        return false;
    if (!since)
        store_release(&heap->silent_ns, now);
    return !since || now - since < ENDING_NS;
}

void heap_collection_finished(struct heap *heap)
{
    struct live_collection c = {.depth = load_relaxed(&heap->depth),
                                .ticks = clock_ticks(),
                                .began_ns = heap->began_ns,
                                .now_ns = clock_ns};

    if (load_acquire(&heap->beside)) { /* its end comes while the program runs and writes logs */
        if (!heap->over)
            live_over(heap->config.live, &c);
        heap->over = true;
        return;
    }
    if (!RULE(RULE_LIVE_DEPTH))
        c.depth = heap->deepest == 2 ? 1 : 2;
    if (!load_acquire(&heap->told))
        c.depth = heap->deepest;
    if (heap->known && (load_acquire(&heap->told) || load_acquire(&heap->walked))) {
        if (load_relaxed(&heap->silent_ns))
            live_inexact(heap->config.live, SST_LIVE_SESSION);
        live_end(heap->config.live, &c);
        heap_references_end(heap);
        heap_check_wake(heap);
    } else if (!is_ending(heap, clock_ns())) { /* nothing is known of what there was any more */
        if (session_runs(heap->config.session))
            live_inexact(heap->config.live, SST_LIVE_SESSION);
        live_skip(heap->config.live, &c);
    }
    heap->known = false;
    store_relaxed(&heap->told, false);
    store_relaxed(&heap->walked, false);
}
