/* Counters of the comparison: cost histograms, depths, and the table of refusals. */
#include "event/agreement.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct agreement a;

static int setup(void **state)
{
    (void)state;
    memset(&a, 0, sizeof(a));
    return 0;
}

TEST_EACH(setup, NULL);

/* The bucket that a cost falls into. */
static unsigned bucket_of(uint64_t ns)
{
    unsigned bucket = 0;

    setup(NULL);
    agreement_cost(&a, 1, ns, 0);
    while (bucket < AGREEMENT_BUCKETS && !load_relaxed(&a.shadow.bucket[bucket]))
        bucket++;
    assert_true(bucket < AGREEMENT_BUCKETS);
    assert_int_equal(load_relaxed(&a.shadow.bucket[bucket]), 1);
    return bucket;
}

TEST(bucket_middles_rise)
{
    for (unsigned i = 1; i < AGREEMENT_BUCKETS; i++)
        assert_true(agreement_bucket_ns(i) > agreement_bucket_ns(i - 1));
}

TEST(a_longer_time_never_falls_into_an_earlier_bucket)
{
    unsigned last = 0;

    for (uint64_t ns = 0; ns < UINT64_C(1) << 44; ns += ns < 4096 ? 1 : ns / 61) {
        unsigned bucket = bucket_of(ns);

        assert_in_range(bucket, last, last + 1);
        last = bucket;
    }
    assert_int_equal(last, AGREEMENT_BUCKETS - 1);
    assert_int_equal(bucket_of(UINT64_MAX), AGREEMENT_BUCKETS - 1);
}

TEST(a_bucket_stands_for_its_values_to_an_eighth)
{
    for (uint64_t ns = 0; ns < UINT64_C(1) << 40; ns += ns < 4096 ? 1 : ns / 61) {
        uint64_t middle = agreement_bucket_ns(bucket_of(ns)),
                 off = middle > ns ? middle - ns : ns - middle;

        assert_true(off * 8 <= ns);
    }
    for (unsigned i = 0; i < AGREEMENT_BUCKETS; i++)
        assert_int_equal(bucket_of(agreement_bucket_ns(i)), i);
}

TEST(costs_are_summed_and_kept_apart)
{
    uint64_t shadow = 0, snapshot = 0;

    for (unsigned i = 0; i < 100; i++) {
        agreement_cost(&a, 5, 10, 5000);
        agreement_cost(&a, 500, 100, 70000);
    }
    for (unsigned i = 0; i < AGREEMENT_BUCKETS; i++) {
        shadow += load_relaxed(&a.shadow.bucket[i]);
        snapshot += load_relaxed(&a.snapshot.bucket[i]);
    }
    assert_int_equal(shadow, 200);
    assert_int_equal(snapshot, 200);
    assert_int_equal(load_relaxed(&a.shadow.sum), 100 * 110);
    assert_int_equal(load_relaxed(&a.snapshot.sum), 100 * 75000);
}

TEST(each_depth_has_one_row)
{
    assert_int_equal(agreement_depth_from(0), 0);
    for (unsigned row = 0; row < AGREEMENT_DEPTHS; row++) {
        uint32_t first = agreement_depth_from(row), past = agreement_depth_from(row + 1);

        assert_true(past > first);
        setup(NULL);
        agreement_cost(&a, first, 1, 2);
        agreement_cost(&a, past - 1, 3, 4);
        for (unsigned i = 0; i < AGREEMENT_DEPTHS; i++) {
            assert_int_equal(load_relaxed(&a.depth[i].count), i == row ? 2 : 0);
            assert_int_equal(load_relaxed(&a.depth[i].shadow_ns), i == row ? 4 : 0);
            assert_int_equal(load_relaxed(&a.depth[i].snapshot_ns), i == row ? 6 : 0);
        }
    }
    assert_int_equal(agreement_depth_from(1000), agreement_depth_from(AGREEMENT_DEPTHS));
}

TEST(refusals_are_counted_by_result)
{
    agreement_refused(&a.refusals, (int32_t)0x80131360);
    agreement_refused(&a.refusals, (int32_t)0x80004005);
    agreement_refused(&a.refusals, (int32_t)0x80131360);
    assert_true(load_relaxed(&a.refusals.of[0].result) == 0x80131360);
    assert_int_equal(load_relaxed(&a.refusals.of[0].count), 2);
    assert_true(load_relaxed(&a.refusals.of[1].result) == 0x80004005);
    assert_int_equal(load_relaxed(&a.refusals.of[1].count), 1);
    assert_int_equal(load_relaxed(&a.refusals.of[2].count), 0);
}

TEST(results_past_the_table_share_its_last_row)
{
    uint64_t sum = 0;

    for (unsigned round = 0; round < 3; round++)
        for (uint32_t i = 0; i < 2 * AGREEMENT_REFUSALS; i++)
            agreement_refused(&a.refusals, (int32_t)(0x80130000u + i));
    for (unsigned i = 0; i < AGREEMENT_REFUSALS - 1; i++) {
        assert_true(load_relaxed(&a.refusals.of[i].result) == 0x80130000u + i);
        assert_int_equal(load_relaxed(&a.refusals.of[i].count), 3);
    }
    assert_true(load_relaxed(&a.refusals.of[AGREEMENT_REFUSALS - 1].result) ==
                0); /* no one result: "other" */
    for (unsigned i = 0; i < AGREEMENT_REFUSALS; i++)
        sum += load_relaxed(&a.refusals.of[i].count);
    assert_int_equal(sum, 3 * 2 * AGREEMENT_REFUSALS);
}

TEST(every_cause_has_a_name)
{
    for (unsigned i = 0; i < AGREEMENT_CAUSES; i++)
        assert_string_not_equal(agreement_cause_name((enum agreement_cause)i), "?");
    assert_string_equal(agreement_cause_name(AGREEMENT_CAUSES), "?");
}

static void *refuse(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < 20000; i++) {
        agreement_refused(&a.refusals, (int32_t)(0x80130000u + i % 20));
        agreement_cost(&a, i, i, i);
    }
    return NULL;
}

TEST(threads_at_once_lose_no_count_and_make_no_row_twice)
{
    pthread_t threads[4];
    uint64_t refused = 0, costs = 0;

    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, refuse, NULL), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < AGREEMENT_REFUSALS; i++) {
        refused += load_relaxed(&a.refusals.of[i].count);
        for (unsigned j = 0; j < i; j++)
            assert_true(load_relaxed(&a.refusals.of[i].result) !=
                        load_relaxed(&a.refusals.of[j].result));
    }
    for (unsigned i = 0; i < AGREEMENT_DEPTHS; i++)
        costs += load_relaxed(&a.depth[i].count);
    assert_int_equal(refused, 80000);
    assert_int_equal(costs, 80000);
}
