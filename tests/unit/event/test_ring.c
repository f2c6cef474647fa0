/* One thread writes events into its ring, another takes them out. The consumer here is the test. */
#include "event/event.h"

#include "base/clock.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RINGS_EACH 500u
#define WAIT_NS    UINT64_C(200000000) /* what event_post promises to wait at the most */

static struct event event_of(uint64_t number)
{
    return (struct event){.ticks = number,
                          .subject = number * 3,
                          .node = (uint32_t)number,
                          .site = (uint32_t)(number >> 7),
                          .bytes_kind =
                              event_pack(number & 0xffff, EVENT_HEAP_NORMAL, EVENT_ALLOC)};
}

static int post(struct event_ring *ring, uint64_t number)
{
    const struct event event = event_of(number);

    return event_post(ring, &event);
}

/* Member by member: an inlined memcmp() is nothing that TSan sees. */
static bool same(const struct event *a, const struct event *b)
{
    return a->ticks == b->ticks && a->subject == b->subject && a->node == b->node &&
           a->site == b->site && a->bytes_kind == b->bytes_kind;
}

/* Take what there is, at most `limit`; the events must be *next, *next + 1, ... Returns how many. */
static uint64_t take(struct event_ring *ring, uint64_t limit, uint64_t *next, uint64_t *wrong)
{
    uint64_t tail = load_relaxed(&ring->tail), head = load_acquire(&ring->head), from = tail;

    for (; tail != head && tail - from < limit; tail++, ++*next) {
        const struct event expected = event_of(*next);

        if (!same(event_at(ring, tail), &expected))
            ++*wrong;
    }
    store_release(&ring->tail, tail);
    return tail - from;
}

static struct event_ring *ring_new(struct event_hub *hub)
{
    struct event_ring *ring;

    assert_int_equal(event_ring_new(hub, &ring), 0);
    assert_ptr_equal(event_hub_adopt(hub), ring);
    return ring;
}

/* Until it is refused; how many were taken. */
static uint64_t fill(struct event_ring *ring)
{
    uint64_t count = 0;

    while (!event_post(ring, &(struct event){.ticks = 1}))
        count++;
    return count;
}

TEST(a_ring_in_need_has_all_the_memory_that_others_do_not_use)
{
    enum { WINDOW = 16384, BYTES = 64 * WINDOW * sizeof(struct event) };
    struct event_hub hub = {
        .slots = WINDOW, .drop = true, .bytes_most = BYTES, .bytes_left = BYTES};
    struct event_ring *rings[8];
    uint64_t all = 0;

    for (size_t i = 0; i < COUNT_OF(rings); i++)
        rings[i] = ring_new(&hub);
    assert_true(load_relaxed(&hub.bytes_left) == BYTES); /* none has grown */
    assert_int_equal(fill(rings[1]),
                     63 * WINDOW); /* a whole ring: a window is between tail and head */
    for (size_t i = 2; i < COUNT_OF(rings); i++)
        all += fill(rings[i]);
    assert_int_equal(all, 6 * WINDOW + 2 * WINDOW); /* what each has, and what was left */
    assert_true(load_relaxed(&hub.bytes_left) == 0);
    for (size_t i = 0; i < COUNT_OF(rings); i++)
        event_ring_free(rings[i]);
    assert_true(load_relaxed(&hub.bytes_left) == BYTES);
}

TEST(packing_keeps_size_heap_and_kind)
{
    static const uint64_t sizes[] = {0, 8, 24, UINT64_C(1) << 32, (UINT64_C(1) << 48) - 8};

    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (unsigned heap = EVENT_HEAP_NORMAL; heap <= EVENT_HEAP_FROZEN; heap++) {
            const struct event e = {
                .bytes_kind = event_pack(sizes[i], (enum event_heap)heap, EVENT_SNAPSHOT)};

            assert_true(event_bytes(&e) == sizes[i]);
            assert_int_equal(event_heap(&e), heap);
            assert_int_equal(event_kind(&e), EVENT_SNAPSHOT);
        }
}

TEST(events_come_out_in_order_across_the_end_of_the_ring)
{
    struct event_hub hub = {.slots = 8, .drop = true};
    struct event_ring *ring = ring_new(&hub);
    uint64_t next = 0, wrong = 0, number = 0;

    for (unsigned round = 0; round < 1000; round++) {
        unsigned count = round % 9; /* 0 to 8: none to all */

        for (unsigned i = 0; i < count; i++)
            assert_int_equal(post(ring, number++), 0);
        assert_int_equal(take(ring, 8, &next, &wrong), count);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(next, number);
    event_ring_free(ring);
}

TEST(a_full_ring_with_drop_refuses_at_once_and_keeps_what_it_has)
{
    struct event_hub hub = {.slots = 8, .drop = true};
    struct event_ring *ring = ring_new(&hub);
    uint64_t next = 0, wrong = 0, from = clock_ns();

    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(post(ring, i), 0);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(post(ring, 99), -ENOSPC);
    assert_true(clock_ns() - from < 1000 * WAIT_NS); /* nobody waited */
    assert_int_equal(take(ring, 1, &next, &wrong), 1);
    assert_int_equal(post(ring, 8), 0);
    assert_int_equal(post(ring, 99), -ENOSPC);
    assert_int_equal(take(ring, 8, &next, &wrong), 8);
    assert_int_equal(wrong, 0);
    event_ring_free(ring);
}

TEST(a_writer_that_does_not_move_is_waited_for_once)
{
    struct event_hub hub = {.slots = 4};
    struct event_ring *ring = ring_new(&hub);
    uint64_t from, next = 0, wrong = 0;

    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(post(ring, i), 0);
    from = clock_ns();
    assert_int_equal(post(ring, 99), -ENOSPC);
    assert_true(clock_ns() - from >= WAIT_NS);
    from = clock_ns();
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(post(ring, 99), -ENOSPC);
    assert_true(clock_ns() - from < 100 * WAIT_NS); /* nobody waited 200 times */
    assert_int_equal(take(ring, 1, &next, &wrong), 1);
    assert_int_equal(post(ring, 4), 0);
    from = clock_ns();
    assert_int_equal(post(ring, 99), -ENOSPC); /* it has moved since: worth waiting for again */
    assert_true(clock_ns() - from >= WAIT_NS);
    assert_int_equal(take(ring, 8, &next, &wrong), 4);
    assert_int_equal(wrong, 0);
    event_ring_free(ring);
}

TEST(a_hub_that_has_stopped_is_not_waited_for)
{
    struct event_hub hub = {.slots = 4};
    struct event_ring *ring = ring_new(&hub);
    uint64_t from;

    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(post(ring, i), 0);
    store_relaxed(&hub.stopped, true);
    from = clock_ns();
    for (unsigned i = 0; i < 200; i++)
        assert_int_equal(post(ring, 99), -ENOSPC);
    assert_true(clock_ns() - from < 100 * WAIT_NS);
    event_ring_free(ring);
}

TEST(losses_are_counted_by_reason)
{
    struct event_hub hub = {.slots = 4};
    struct event_ring *ring = ring_new(&hub);

    event_lose(ring, EVENT_LOST_RING_FULL);
    event_lose(ring, EVENT_LOST_RING_FULL);
    event_lose(ring, EVENT_LOST_NO_CLASS);
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++) {
        uint64_t expected = i == EVENT_LOST_RING_FULL ? 2 : i == EVENT_LOST_NO_CLASS;

        assert_int_equal(load_relaxed(&ring->lost[i]), expected);
        assert_int_equal(load_relaxed(&hub.lost[i]), 0);
        assert_string_not_equal(event_lost_name((enum event_lost)i), "?");
    }
    assert_string_equal(event_lost_name(EVENT_LOST_REASONS), "?");
    event_ring_free(ring);
}

TEST(rings_are_adopted_oldest_first)
{
    struct event_hub hub = {.slots = 4};
    struct event_ring *rings[10], *found;

    assert_null(event_hub_adopt(&hub));
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(event_ring_new(&hub, &rings[i]), 0);
        assert_int_equal(rings[i]->thread, i + 1);
        assert_int_equal(rings[i]->os, (uint32_t)syscall(SYS_gettid));
    }
    found = event_hub_adopt(&hub);
    for (unsigned i = 0; i < 10; i++) {
        assert_ptr_equal(found, rings[i]);
        found = found->next;
    }
    assert_null(found);
    assert_null(event_hub_adopt(&hub));
    for (unsigned i = 0; i < 10; i++)
        event_ring_free(rings[i]);
}

TEST(a_ring_without_memory_is_none)
{
    struct event_hub hub = {.slots = 4};
    struct event_ring *ring = (struct event_ring *)&hub;

    memory_fail_after(0);
    assert_int_equal(event_ring_new(&hub, &ring), -ENOMEM);
    memory_fail_after(-1);
    assert_null(ring);
    assert_null(event_hub_adopt(&hub));
}

TEST(a_freed_ring_gives_its_pages_back)
{
    struct event_hub hub = {.slots = 4096};
    struct event_ring *ring = ring_new(&hub);
    uintptr_t page = (uintptr_t)ring;
    unsigned char resident;

    assert_false(load_acquire(&ring->closed));
    event_ring_close(ring);
    assert_true(load_acquire(&ring->closed));
    assert_int_equal(page % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    assert_int_equal(mincore((void *)page, 1, &resident), 0);
    event_ring_free(ring);
    assert_int_equal(mincore((void *)page, 1, &resident), -1);
    assert_int_equal(errno, ENOMEM);
}

/* ---- two threads ---- */

struct race {
    struct event_hub hub;
    struct event_ring *ring;
    uint64_t events, posted, dropped, refused_early;
    _Atomic(bool) done;
};

static uint64_t mix(uint64_t sum, uint64_t number)
{
    return (sum ^ number) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 31);
}

/* Post it, however long the consumer does not run. A refusal is early unless it waited as long as the contract says, or
 * the consumer has not moved since the last wait in vain. */
static void post_in_the_end(struct race *race, uint64_t number)
{
    for (;;) {
        const uint64_t stuck_at = race->ring->stuck_at, start = clock_ns();

        if (!post(race->ring, number))
            return;
        if (race->ring->stuck_at != stuck_at && clock_ns() - start < WAIT_NS)
            race->refused_early++;
        sched_yield();
    }
}

static void *produce(void *context)
{
    struct race *race = context;
    uint64_t next = 0;

    for (uint64_t i = 0; i < race->events; i++) {
        if (!race->hub.drop)
            post_in_the_end(race, next++);
        else if (post(race->ring, next))
            race->dropped++;
        else
            next++;
    }
    race->posted = next;
    event_ring_close(race->ring);
    store_release(&race->done, true);
    return NULL;
}

/* Take until the other side closed the ring and it is empty. */
static void consume(struct race *race, uint64_t *next, uint64_t *wrong, uint64_t *sum)
{
    uint64_t last = 0;

    while (!load_acquire(&race->ring->closed) ||
           load_acquire(&race->ring->head) != load_relaxed(&race->ring->tail)) {
        if (!take(race->ring, 7, next, wrong)) /* an odd number, to meet every position */
            parker_park(&race->hub.writer, 1000000);
        for (; last < *next; last++)
            *sum = mix(*sum, last);
    }
}

static void run_race(struct race *race)
{
    uint64_t next = 0, wrong = 0, sum = 0, expected = 0;
    pthread_t producer;

    race->ring = ring_new(&race->hub);
    assert_int_equal(pthread_create(&producer, NULL, produce, race), 0);
    consume(race, &next, &wrong, &sum);
    pthread_join(producer, NULL);
    assert_int_equal(wrong, 0);
    assert_int_equal(next, race->posted);
    assert_int_equal(race->posted + race->dropped, race->events);
    assert_int_equal(race->refused_early, 0);
    for (uint64_t i = 0; i < race->posted; i++)
        expected = mix(expected, i);
    assert_true(sum == expected);
    event_ring_free(race->ring);
}

TEST(a_full_ring_waits_while_a_consumer_drains)
{
    struct race race = {.hub = {.slots = 8}, .events = 2000};

    run_race(&race);
}

TEST(nothing_is_torn_or_reordered_between_two_threads)
{
    struct race race = {.hub = {.slots = 4096}, .events = 500000};

    run_race(&race);
}

TEST(windows_are_used_again)
{
    enum { SLOTS = 65536 };
    const uint64_t bytes = SLOTS * sizeof(struct event);
    struct race race = {.hub = {.slots = 4, .bytes_most = bytes, .bytes_left = (int64_t)bytes * 4},
                        .events = 2000000};
    struct event_hub hub = {
        .slots = 4, .drop = true, .bytes_most = bytes, .bytes_left = (int64_t)bytes * 4};
    struct event_ring *ring = ring_new(&hub);
    const struct event *high = ring->slots;
    uint64_t next = 0, wrong = 0;

    for (uint64_t i = 0; i < 20 * SLOTS;
         i++) { /* the consumer is 100 events behind, or a whole window */
        const struct event event = event_of(i);

        assert_int_equal(event_post(ring, &event), 0);
        if (event_at(ring, i) > high)
            high = event_at(ring, i);
        if (i >= 100)
            take(ring, 1, &next, &wrong);
    }
    assert_int_equal(wrong, 0);
    assert_true(high < ring->slots + SLOTS / 2); /* two windows of four */
    take(ring, UINT64_MAX, &next, &wrong);
    for (uint64_t i = 20 * SLOTS; !event_post(ring, &(struct event){.ticks = 1}); i++)
        assert_true(i - 20 * SLOTS < ring->room);
    assert_int_equal(load_relaxed(&ring->head) - load_relaxed(&ring->tail), ring->room);
    event_ring_free(ring);
    run_race(&race);
}

TEST(what_is_dropped_is_refused_and_nothing_else_is_missing)
{
    struct race race = {.hub = {.slots = 64, .drop = true}, .events = 500000};

    run_race(&race);
}

static void *make_rings(void *context)
{
    struct event_hub *hub = context;
    struct event_ring *ring;

    for (unsigned i = 0; i < RINGS_EACH; i++)
        if (!event_ring_new(hub, &ring)) {
            post(ring, 0);
            event_ring_close(ring);
        }
    return NULL;
}

TEST(rings_made_by_many_threads_are_all_adopted)
{
    enum { THREADS = 4 };
    struct event_hub hub = {.slots = 4, .drop = true};
    pthread_t threads[THREADS];
    uint64_t found = 0, ids = 0;

    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_rings, &hub), 0);
    while (found < THREADS * RINGS_EACH) {
        struct event_ring *ring = event_hub_adopt(&hub), *next;

        for (; ring; ring = next, found++) {
            next = ring->next;
            while (!load_acquire(&ring->closed))
                ;
            assert_int_equal(load_acquire(&ring->head), 1);
            ids += ring->thread;
            event_ring_free(ring);
        }
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(ids, found * (found + 1) / 2);
    assert_null(event_hub_adopt(&hub));
}

static int start(void **state)
{
    (void)state;
    clock_start();
    return 0;
}

TEST_GROUP(start, NULL);
