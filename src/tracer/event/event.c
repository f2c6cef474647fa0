#include "event/event.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_LIMIT_NS 200000000ull /* for space, per event */
#define WAIT_STEP_NS  100000
#define WINDOW_LEAST \
    16384 /* slots of a window of a ring that grows, at the least: what a core's cache holds */
#define WINDOW_SMALL 1024 /* of one that does not: it is drained before it fills many */

const char *event_lost_name(enum event_lost reason)
{
    static const char *const names[EVENT_LOST_REASONS] = {
        "ring_full", "no_ring", "no_class", "stopped", "no_memory", "write_failed", "no_stack",
    };

    return (unsigned)reason < EVENT_LOST_REASONS ? names[reason] : "?";
}

void event_hub_add(struct event_hub *hub, struct event_ring *ring)
{
    struct event_ring *head = load_relaxed(&hub->fresh);

    do
        ring->next = head;
    while (!cas_acq_rel(&hub->fresh, &head, ring)); /* pairs with event_hub_adopt */
}

/* Slots of a ring that grows, as far as there is memory; the base if that makes no windows. */
static size_t slots_allowed(const struct event_hub *hub)
{
    size_t slots = hub->slots;

    while (2 * slots * sizeof(struct event) <= hub->bytes_most)
        slots *= 2;
    return slots >= 2 * WINDOW_LEAST ? slots : hub->slots;
}

/* Slots of a window of a ring of `slots`. */
static size_t window_size(const struct event_hub *hub, size_t slots)
{
    bool grows = slots > hub->slots;
    size_t window = grows ? WINDOW_LEAST : WINDOW_SMALL;

    while (slots / window + !grows > EVENT_WINDOWS)
        window *= 2;
    return slots / window < 2 ? slots : window;
}

/* spare: a window beyond these, of a ring that does not grow: the one that head may be in. */
static void windows_init(struct event_ring *ring, size_t slots, size_t window, size_t spare)
{
    size_t windows = slots / window + spare;

    ring->windows = (uint32_t)windows;
    ring->window_mask = window - 1;
    ring->window_bits = (uint32_t)__builtin_ctzll(window);
    ring->first = 1;
    if (windows > 1) /* what each ring has, and the one that head may be in */
        ring->first = (uint32_t)(ring->hub->slots >> ring->window_bits) + 1;
    if (windows > 1 && ring->first < 2)
        ring->first = 2;
    if (ring->first > windows)
        ring->first = (uint32_t)windows;
    for (; ring->granted < ring->first; ring->granted++)
        event_window_free(ring, ring->granted);
    ring->room = windows > 1 ? (ring->granted - 1) * window : slots;
    ring->wake_mask = ((slots > ring->hub->slots ? window : ring->hub->slots) - 1) >> 2;
}

static struct event_ring *map(struct event_hub *hub, size_t slots)
{
    size_t window = window_size(hub, slots), spare = slots <= hub->slots && window < slots;
    size_t mapped = sizeof(struct event_ring) + (slots + spare * window) * sizeof(struct event);
    struct event_ring *ring = memory_pages_map(mapped);

    if (!ring)
        return NULL;
    ring->slots = (struct event *)(void *)(ring + 1);
    ring->now = ring->slots;
    ring->mapped = mapped;
    ring->hub = hub;
    windows_init(ring, slots, window, spare);
    return ring;
}

int event_ring_new(struct event_hub *hub, struct event_ring **out)
{
    size_t slots = slots_allowed(hub);
    struct event_ring *ring = map(hub, slots);

    *out = NULL;
    for (; !ring && slots / 2 >= 2 * WINDOW_LEAST && slots / 2 > hub->slots; slots /= 2)
        ring = map(hub, slots / 2);
    if (!ring && slots > hub->slots)
        ring = map(hub, hub->slots);
    if (!ring)
        return -ENOMEM;
    ring->os = (uint32_t)syscall(SYS_gettid);
    ring->thread = add_relaxed(&hub->threads, 1) + 1;
    event_hub_add(hub, ring);
    *out = ring;
    return 0;
}

void event_ring_close(struct event_ring *ring)
{
    store_release(&ring->closed, true); /* after the last head; pairs with the writer's acquire */
}

void event_ring_free(struct event_ring *ring)
{
    uint64_t grown = (uint64_t)(ring->granted - ring->first) * (ring->window_mask + 1);

    add_relaxed(&ring->hub->bytes_left, (int64_t)(grown * sizeof(struct event)));
    memory_pages_unmap(ring, ring->mapped);
}

struct event_ring *event_hub_adopt(struct event_hub *hub)
{
    struct event_ring *fresh = exchange_acq_rel(&hub->fresh, NULL), *oldest = NULL;

    while (fresh) {
        struct event_ring *next = fresh->next;

        fresh->next = oldest;
        oldest = fresh;
        fresh = next;
    }
    return oldest;
}

/* Wait for the writer, but not again for one that has not moved since the last wait in vain. */
bool event_wait(struct event_ring *ring, uint64_t head)
{
    const struct timespec step = {0, WAIT_STEP_NS};
    uint64_t until;

    if (ring->hub->drop || load_relaxed(&ring->hub->stopped) ||
        ring->stuck_at == ring->tail_seen + 1)
        return false;
    until = clock_ns() + WAIT_LIMIT_NS;
    do {
        parker_unpark(&ring->hub->writer);
        nanosleep(&step, NULL);
        if (event_has_space(ring, head)) {
            ring->stuck_at = 0;
            return true;
        }
    } while (clock_ns() < until && !load_relaxed(&ring->hub->stopped));
    ring->stuck_at = ring->tail_seen + 1;
    return false;
}

/* A writer that wakes often enough is let sleep: a system call is dear on a program's thread. */
void event_wake(struct event_ring *ring, uint64_t head)
{
    ring->tail_seen = load_acquire(&ring->tail); /* as event_has_space */
    if (!head || head - ring->tail_seen >= ring->wake_mask)
        parker_unpark(&ring->hub->writer); /* a system call only if it sleeps */
}

void event_lose(struct event_ring *ring, enum event_lost reason)
{
    store_relaxed(&ring->lost[reason], load_relaxed(&ring->lost[reason]) + 1);
}
