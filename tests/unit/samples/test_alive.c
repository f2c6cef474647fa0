/* Weak handles that a made-up runtime gives, and what they say of samples after collections. */
#include "samples/alive.h"

#include "base/memory.h"
#include "live/internal.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define MEAN  102400
#define SMALL 24

static uintptr_t object[6 * ALIVE_MOST]; /* by handle; 0: dead */
static uint32_t handles, given_back;
static hresult answer;

static hresult create(struct clr_info *self, uintptr_t at, int32_t type, void ***handle)
{
    (void)self;
    if (answer != S_OK || type != 1)
        return E_FAIL;
    object[handles] = at;
    *handle = (void **)&object[handles++];
    return S_OK;
}

static hresult destroy(struct clr_info *self, void **handle)
{
    (void)self;
    *(uintptr_t *)(void *)handle = UINTPTR_MAX;
    given_back++;
    return S_OK;
}

static void (*meanwhile)(void); /* what happens while the samples are walked */

static hresult read_handle(struct clr_info *self, void **handle, uintptr_t *out)
{
    (void)self;
    if (meanwhile)
        meanwhile();
    *out = *(uintptr_t *)(void *)handle;
    assert_true(*out != UINTPTR_MAX); /* a handle that was given back */
    return S_OK;
}

static const struct clr_info_vtbl vtbl = {
    .create_handle = create, .destroy_handle = destroy, .get_object_id_from_handle = read_handle};
static struct clr_info info = {&vtbl};
static struct clr_runtime runtime = {.info = &info, .info_version = 13};
static struct live *live;
static struct live_sums sums;
static struct alive *alive;

static int setup(void **state)
{
    struct alive_config config = {.runtime = &runtime, .mean = MEAN};

    (void)state;
    handles = given_back = 0;
    answer = S_OK;
    memset(&sums, 0, sizeof(sums));
    assert_int_equal(live_new(UINT64_C(1) << 30, &live), 0);
    config.live = live;
    assert_int_equal(alive_new(&config, &alive), 0);
    return 0;
}

/* There is one in a process, for good: what it holds is not given back. */
static int teardown(void **state)
{
    (void)state;
    live_sums_free(&sums);
    live_free(live);
    return 0;
}

TEST_EACH(setup, teardown);

static void follow(uint32_t node, uint64_t bytes, double mean)
{
    const struct live_entry what = {
        .node = node, .site = node, .class = 1, .size = (uint32_t)(bytes / 8)};
    static uint64_t chance;

    chance = chance * 6364136223846793005u + 1442695040888963407u;
    alive_follow(alive, 0x1000 + node, &what, (double)bytes / -expm1(-(double)bytes / mean),
                 (double)(chance >> 11) * 0x1p-53);
}

static const struct live_total *collect(void)
{
    alive_collection_started(alive, 2);
    alive_collection_finished(alive);
    assert_true(live_take(live, &sums));
    return &sums.total;
}

static struct live_row *row_at(uint32_t node)
{
    for (size_t i = 0; i < sums.rows; i++)
        if (sums.row[i].node == node)
            return &sums.row[i];
    return NULL;
}

TEST(a_sample_that_survives_counts_with_all_that_it_stands_for)
{
    const struct live_total *total;

    follow(1, SMALL, MEAN);
    follow(2, 10 << 20, MEAN);
    total = collect();
    assert_int_equal(total->collection, 1);
    assert_int_equal(total->why, SST_LIVE_SAMPLED);
    assert_int_equal(row_at(1)->survived, 4267);
    assert_int_equal(row_at(1)->survived_bytes, 102416); /* a multiple of 8, as all sizes */
    assert_int_equal(row_at(2)->survived, 1);
    assert_int_equal(row_at(2)->survived_bytes, 10 << 20);
    assert_int_equal(total->objects, 4268);
}

TEST(what_dies_young_is_in_no_sums_and_what_dies_later_takes_all_of_it_back)
{
    follow(1, SMALL, MEAN);
    follow(2, SMALL, MEAN);
    object[0] = 0;
    collect();
    assert_null(row_at(1));
    assert_int_equal(row_at(2)->survived, 4267);
    object[1] = 0;
    assert_int_equal(collect()->objects, 0);
    assert_int_equal(sums.total.bytes, 0);
    assert_int_equal(sums.died[row_at(2)->died - 1].objects, 4267);
    assert_int_equal(sums.died[row_at(2)->died - 1].age, 1);
}

TEST(handles_of_the_dead_are_given_back_once_and_by_the_resolver)
{
    struct alive_state now;

    follow(1, SMALL, MEAN);
    follow(2, SMALL, MEAN);
    object[0] = 0;
    collect();
    assert_int_equal(given_back, 0);
    assert_true(alive_poll(alive));
    assert_false(alive_poll(alive));
    assert_int_equal(given_back, 1);
    collect();
    alive_read(alive, &now);
    assert_int_equal(now.followed, 1);
    assert_int_equal(now.missed, 0);
}

TEST(too_many_are_thinned_without_bias_and_large_ones_stay)
{
    const double small = 6000 * 102412.0, large = 100 * (double)(10 << 20);
    const struct live_total *total;
    struct alive_state now;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < 6000; i++)
        follow(1, SMALL, MEAN);
    for (uint32_t i = 0; i < 100; i++)
        follow(2, 10 << 20, MEAN);
    total = collect();
    alive_read(alive, &now);
    assert_int_equal(now.mean, 2 * MEAN);
    assert_true(now.followed < 3500 && now.followed > 2700);
    /* 6,000 coins: a standard deviation of 77, each of 204,800 bytes */
    assert_true(fabs((double)total->bytes - small - large) < 6 * 77 * 204800.0);
    assert_true(fabs((double)row_at(2)->survived_bytes - large) < large / 1000);
    for (uint32_t i = 6000; i < 6100; i++)
        kept += object[i] != 0;
    assert_int_equal(kept, 100);
    /* From now on samples come at that mean, too. */
    for (uint32_t i = 0; i < 1000; i++)
        follow(3, SMALL, MEAN);
    collect();
    assert_true(fabs((double)row_at(3)->survived_bytes - 1000 * 102412.0) < 6 * 16 * 204800.0);
}

TEST(there_is_an_end_to_how_many_are_followed_and_the_rest_is_counted)
{
    struct alive_state now;

    for (uint32_t i = 0; i < ALIVE_MOST + 7; i++)
        follow(1, SMALL, MEAN);
    alive_read(alive, &now);
    assert_int_equal(now.followed, ALIVE_MOST);
    assert_int_equal(now.missed, 7);
}

static void *finish(void *context)
{
    alive_collection_finished(context);
    return NULL;
}

/* A background collection ends beside allocations while the writer has the sums. */
TEST(samples_that_come_while_the_sums_are_held_are_followed)
{
    struct alive_state now;
    pthread_t thread;

    follow(1, SMALL, MEAN);
    live_hold(live);
    alive_collection_started(alive, 2);
    assert_int_equal(pthread_create(&thread, NULL, finish, alive), 0);
    while (!load_acquire(&live->wanted))
        sched_yield();
    follow(2, SMALL, MEAN);
    live_unhold(live);
    assert_int_equal(pthread_join(thread, NULL), 0);
    alive_read(alive, &now);
    assert_int_equal(now.missed, 0);
    assert_int_equal(now.followed, 2);
    assert_true(live_take(live, &sums));
}

static uint32_t coming;

static void follow_coming(void)
{
    meanwhile = NULL;
    for (uint32_t i = 0; i < coming; i++)
        follow(7, SMALL, MEAN);
}

/* The walk of a background collection may be put aside for long, and as many allocations go on. */
static struct alive_state collect_while(uint32_t samples)
{
    struct alive_state now;

    coming = samples;
    meanwhile = follow_coming;
    collect();
    alive_read(alive, &now);
    return now;
}

/* Of a collection after that. */
static struct alive_state collect_later(void)
{
    struct alive_state now;

    collect();
    alive_read(alive, &now);
    return now;
}

TEST(samples_that_come_while_the_others_are_walked_are_followed)
{
    struct alive_state now;

    follow(1, SMALL, MEAN);
    now = collect_while(3);
    assert_int_equal(now.missed, 0);
    assert_int_equal(now.followed, 1);
    assert_null(row_at(7));
    now = collect_later();
    assert_int_equal(now.missed, 0);
    assert_int_equal(now.followed, 4);
    assert_non_null(row_at(7));
    assert_true(fabs((double)row_at(7)->survived_bytes - 3.0 * MEAN) < MEAN / 100);
}

TEST(samples_that_come_while_the_others_are_thinned_are_thinned_too)
{
    struct alive_state now;

    for (uint32_t i = 0; i < ALIVE_MOST * 6 / 10; i++)
        follow(1, SMALL, MEAN);
    collect_while(900);
    now = collect_later();
    assert_int_equal(now.missed, 0);
    assert_int_equal(now.mean, 2 * MEAN);
    assert_true(fabs((double)row_at(7)->survived_bytes - 900.0 * MEAN) < 6 * 15 * 2.0 * MEAN);
}

TEST(late_samples_have_an_end_and_all_their_handles_are_given_back)
{
    uint32_t missed;

    follow(1, SMALL, MEAN);
    missed = (uint32_t)collect_while(2 * ALIVE_MOST).missed;
    assert_true(missed > ALIVE_MOST && missed < 2 * ALIVE_MOST);
    assert_int_equal(handles - given_back, 1 + 2 * ALIVE_MOST - missed);
    alive_stop(alive);
    assert_int_equal(handles, given_back);
}

TEST(a_runtime_that_gives_no_handle_is_counted)
{
    struct alive_state now;

    answer = E_FAIL;
    follow(1, SMALL, MEAN);
    alive_read(alive, &now);
    assert_int_equal(now.followed, 0);
    assert_int_equal(now.missed, 1);
}

TEST(ticks_are_thinned_by_a_plain_coin)
{
    const struct live_entry what = {.node = 1, .site = 1, .class = 1, .size = 100000 / 8};

    for (uint32_t i = 0; i < 6000; i++)
        alive_follow(alive, 0x1000, &what, 106496, 0);
    collect();
    assert_true(fabs((double)sums.total.bytes - 6000 * 106496.0) < 6 * 77 * 2 * 106496.0);
}

TEST(without_handles_there_is_no_estimate)
{
    const struct clr_runtime old = {.info = &info, .info_version = 12};
    const struct alive_config config = {.runtime = &old, .live = live, .mean = MEAN};
    struct alive *none;

    assert_int_equal(alive_new(&config, &none), -ENOTSUP);
    assert_null(none);
}
