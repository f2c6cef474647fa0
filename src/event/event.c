#include "event/event.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_LIMIT_NS 200000000ull /* for space, per event */
#define WAIT_STEP_NS  100000

const char *event_lost_name(enum event_lost reason)
{
    static const char *const names[EVENT_LOST_REASONS] = {
        "ring_full", "no_ring", "no_class", "stopped", "no_memory", "write_failed",
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

int event_ring_new(struct event_hub *hub, struct event_ring **out)
{
    size_t mapped = sizeof(struct event_ring) + hub->slots * sizeof(struct event);
    struct event_ring *ring = memory_pages_map(mapped);

    *out = NULL;
    if (!ring)
        return -ENOMEM;
    ring->slots = (struct event *)(void *)(ring + 1);
    ring->mask = hub->slots - 1;
    ring->mapped = mapped;
    ring->hub = hub;
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

static bool has_space(struct event_ring *ring, uint64_t head)
{
    if (LIKELY(head - ring->tail_seen <= ring->mask))
        return true;
    ring->tail_seen = load_acquire(
        &ring->tail); /* slots read before they are written again; pairs with the writer */
    return head - ring->tail_seen <= ring->mask;
}

/* Wait for the writer. A writer that has not moved since it was last waited for in vain is not waited for again. */
static bool wait_for_space(struct event_ring *ring, uint64_t head)
{
    const struct timespec step = {0, WAIT_STEP_NS};
    uint64_t until;

    if (ring->hub->drop || load_relaxed(&ring->hub->stopped) ||
        ring->stuck_at == ring->tail_seen + 1)
        return false;
    until = clock_ns() + WAIT_LIMIT_NS;
    do {
        wake_up(&ring->hub->writer);
        nanosleep(&step, NULL);
        if (has_space(ring, head)) {
            ring->stuck_at = 0;
            return true;
        }
    } while (clock_ns() < until && !load_relaxed(&ring->hub->stopped));
    ring->stuck_at = ring->tail_seen + 1;
    return false;
}

void event_lose(struct event_ring *ring, enum event_lost reason)
{
    store_relaxed(&ring->lost[reason], load_relaxed(&ring->lost[reason]) + 1);
}

static int put(struct event_ring *ring, uint64_t head, const struct event *event)
{
    ring->slots[head & ring->mask] = *event;
    store_release(&ring->head, head + 1); /* slot before head; pairs with the writer's acquire */
    if (UNLIKELY((head & (ring->mask >> 2)) == 0))
        wake_up(&ring->hub->writer); /* each quarter: a system call only if it sleeps */
    return 0;
}

int event_post(struct event_ring *ring, const struct event *event)
{
    uint64_t head = load_relaxed(&ring->head);

    if (UNLIKELY(!has_space(ring, head)) && !wait_for_space(ring, head))
        return -ENOSPC;
    return put(ring, head, event);
}

int event_offer(struct event_ring *ring, const struct event *event)
{
    uint64_t head = load_relaxed(&ring->head);

    return has_space(ring, head) ? put(ring, head, event) : -ENOSPC;
}
