/* Events of threads, when memory runs out. */
#include "events/events.h"

#include "base/memory.h"
#include "support/test.h"
#include "thread/thread.h"

#include <string.h>

TEST(a_thread_that_cannot_be_numbered_has_no_event_and_counts_as_lost)
{
    struct event_hub hub = {.slots = 8, .drop = true};
    const struct options options = {.events = 1u << OPTIONS_THREADS};
    const struct events_config config = {.hub = &hub, .options = &options};
    const struct stack_config stacks = {0};
    const struct event_family *payload;
    struct events *f;
    struct event_ring *ring;

    assert_int_equal(stack_start(&stacks), 0);
    thread_init(&hub);
    ring = thread_ring();
    assert_non_null(ring);
    f = events_new(&config);
    assert_non_null(f);
    memory_fail_after(0);
    events_thread_created(f, 0x1000);
    memory_fail_after(-1);
    events_thread_destroyed(f, 0x1000); /* that it was met is forgotten, too */
    assert_int_equal(load_relaxed(&ring->head), 0);
    assert_int_equal(load_relaxed(&hub.family_seen[OPTIONS_THREADS]), 2);
    assert_int_equal(load_relaxed(&hub.family_lost[OPTIONS_THREADS][EVENT_LOST_NO_MEMORY]), 2);

    events_thread_created(f, 0x2000);
    assert_int_equal(load_relaxed(&ring->head), 1);
    payload = (const struct event_family *)(uintptr_t)event_at(ring, 0)->subject;
    assert_memory_equal(payload->members, ",\"event\":\"created\",\"id\":1", payload->size);
    events_thread_destroyed(f, 0x2000);
    assert_int_equal(load_relaxed(&ring->head), 2);
    assert_int_equal(load_relaxed(&hub.family_lost[OPTIONS_THREADS][EVENT_LOST_NO_MEMORY]), 2);
    for (uint64_t i = 0; i < 2; i++)
        memory_free((void *)(uintptr_t)event_at(ring, i)->subject);
    store_relaxed(&ring->tail, 2);
    events_thread_ended(f, stack_peek());
    thread_ended(stack_peek());
    event_ring_free(ring);
    memory_free(f);
}
