/* Collections that the runtime tells of in part, too late or not at all. The runtime is made up. */
#include "heap/internal.h"

#include "base/memory.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

#define BASE  0x10000000u
#define SIZE  32
#define COUNT 100

static struct live *live;
static struct live_log *young;
static struct live_sums sums;
static struct session session;
static struct heap *heap;
static hresult answer;

static hresult start_session(struct clr_info *self, uint32_t count,
                             const struct clr_event_pipe_provider_config *configs, int32_t rundown,
                             uint64_t *id)
{
    (void)self;
    (void)count;
    (void)configs;
    (void)rundown;
    *id = 1;
    return answer;
}

static hresult bounds(struct clr_info *self, uint32_t most, uint32_t *count,
                      struct clr_gc_generation_range *range)
{
    (void)self;
    *count = 1;
    if (most)
        *range = (struct clr_gc_generation_range){
            .generation = 0, .range_start = BASE, .range_length_reserved = 1u << 20};
    return S_OK;
}

static const struct clr_info_vtbl vtbl = {.event_pipe_start_session = start_session,
                                          .get_generation_bounds = bounds};
static struct clr_info info = {&vtbl};
static struct clr_runtime runtime = {.info = &info, .info_version = 15};
static struct event_hub hub;
static struct agreement_live agreement;

static int setup(void **state)
{
    const struct heap_config config = {
        .runtime = &runtime, .session = &session, .hub = &hub, .agreement = &agreement};
    struct heap_config with = config;

    (void)state;
    memset(&session, 0, sizeof(session));
    answer = S_OK;
    assert_int_equal(live_new(64u << 20, &live), 0);
    with.live = live;
    assert_int_equal(heap_new(&with, &heap), 0);
    young = live_log_new(live);
    assert_non_null(young);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_free_all(heap->range, heap->bound, heap);
    live_sums_free(&sums);
    live_free(live);
    return 0;
}

TEST_EACH(setup, teardown);

static void allocate(void)
{
    const struct live_entry entry = {1, 2, 3, SIZE / 8};

    for (uintptr_t i = 0; i < COUNT; i++) {
        assert_true(live_note(young, BASE + i * SIZE));
        live_known(young, &entry);
    }
}

static void deliver(uint32_t id, const void *data, size_t size)
{
    const struct session_event event = {.id = id, .size = (uint32_t)size, .data = data};

    session_delivered(&session, &event);
}

/* GCStart, of generation 0; the first `survivors` objects survive. */
static void tell(uint32_t survivors)
{
    const uint32_t start[6] = {1, 0, 2, 0, 0, 0};
    uint8_t stay[26] = {0};
    const uint32_t count = 1;
    const uint64_t row[2] = {BASE, (uint64_t)survivors * SIZE};

    memcpy(stay + 4, &count, sizeof(count));
    memcpy(stay + 10, row, sizeof(row));
    deliver(1, start, sizeof(start));
    deliver(21, stay, sizeof(stay));
}

/* Collections of generation 0: the session tells what survives; it tells nothing. */
static void collect_told(uint32_t survivors)
{
    heap_collection_started(heap, 0);
    tell(survivors);
    heap_collection_finished(heap);
}

static void collect_untold(void)
{
    heap_collection_started(heap, 0);
    heap_collection_finished(heap);
}

static void expect(uint64_t collection, uint64_t objects, enum sst_live_why why)
{
    assert_true(live_take(live, &sums));
    assert_int_equal(sums.total.collection, collection);
    assert_int_equal(sums.total.objects, objects);
    assert_int_equal(sums.total.why, why);
}

TEST(what_is_told_of_is_exact)
{
    (void)state;
    heap_start(heap);
    allocate();
    collect_told(40);
    expect(1, 40, SST_LIVE_EXACT);
    assert_false(live_take(live, &sums));
}

TEST(a_collection_before_the_session_leaves_a_total_that_says_so_and_nothing_is_exact_again)
{
    (void)state;
    allocate();
    collect_untold();
    expect(1, 0, SST_LIVE_LATE);
    heap_start(heap);
    collect_told(40); /* of those nothing is known any more */
    expect(2, 0, SST_LIVE_LATE);
}

TEST(a_session_that_cannot_be_had_leaves_totals_that_say_so)
{
    (void)state;
    answer = E_FAIL;
    heap_start(heap);
    allocate();
    for (uint64_t i = 1; i < 4; i++) {
        collect_untold();
        expect(i, 0, SST_LIVE_SESSION);
    }
}

TEST(collections_while_the_runtime_ends_are_in_no_sums_and_spoil_none)
{
    (void)state;
    heap_start(heap);
    allocate();
    collect_told(40);
    for (int i = 0; i < 3; i++) { /* the session is over; nobody takes anything meanwhile */
        collect_untold();
    }
    expect(1, 40, SST_LIVE_EXACT);
    assert_false(live_take(live, &sums));
    collect_told(40); /* it was not: some were missed */
    assert_true(live_take(live, &sums));
    assert_int_equal(sums.total.why, SST_LIVE_SESSION);
}

TEST(ranges_that_are_cut_are_not_exact)
{
    const uint32_t start[6] = {1, 0, 2, 0, 0, 0};
    const uint32_t stay[4] = {0, 1000, 0, 0};

    (void)state;
    heap_start(heap);
    allocate();
    heap_collection_started(heap, 0);
    deliver(1, start, sizeof(start));
    deliver(21, stay, sizeof(stay));
    heap_collection_finished(heap);
    expect(1, 0, SST_LIVE_SESSION);
}

/* Wherever it runs out within a collection, the next one has what it needs. */
TEST(bounds_without_memory_cost_one_collection)
{
    for (long n = 0; n < 4; n++) {
        heap_start(heap);
        allocate();
        memory_fail_after(n);
        heap_collection_started(heap, 0);
        memory_fail_after(-1);
        tell(40);
        heap_collection_finished(heap);
        collect_told(40);
        assert_true(live_take(live, &sums));
        assert_int_equal(sums.total.collection, 2);
        assert_true(heap->bounds >= 1);
        teardown(state);
        live_sums_free(&sums);
        setup(state);
    }
}

TEST(a_collection_beside_the_program_ends_the_table)
{
    const uint32_t start[6] = {1, 2, 2, 1, 0, 0};

    (void)state;
    heap_start(heap);
    allocate();
    collect_told(40);
    heap_collection_started(heap, 2);
    deliver(1, start, sizeof(start));
    heap_collection_finished(heap);
    collect_untold();
    expect(1, 40, SST_LIVE_EXACT);
    expect(2, 40, SST_LIVE_CONCURRENT);
    assert_true(live_is_over(live));
    assert_false(live_take(live, &sums));
}
