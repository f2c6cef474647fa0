#include "support/test.h"

#include "report/estimate.h"

#include <math.h>

/* Events of one size, of which each stands for weight / bytes of them. */
static void add(double *sums, uint64_t bytes, double mean, unsigned events)
{
    const struct log_alloc a = {
        .bytes = bytes, .allocs = 1, .weight = (double)bytes / -expm1(-(double)bytes / mean)};
    struct report_estimate e;

    report_estimate_of(&a, &e);
    sums[0] += events * e.bytes;
    sums[1] += events * e.bytes_variance;
    sums[2] += events * e.allocs;
    sums[3] += events * e.allocs_variance;
}

TEST(the_interval_is_that_of_the_score)
{
    /* Ten samples of small objects are as a Poisson count of ten: 5.43 to 18.41. */
    struct report_amount a = report_estimate_interval(1024000, 1024000.0 * 102400, 0);

    assert_true(fabs(a.low / 102400 - 5.4324) < 1e-3);
    assert_true(fabs(a.high / 102400 - 18.4095) < 1e-3);
    assert_true(a.value - a.low < a.high - a.value);
}

TEST(what_was_seen_is_there_and_what_is_exact_has_no_range)
{
    struct report_amount a = report_estimate_interval(1000, 1e6, 900);

    assert_true(a.low == 900);
    a = report_estimate_interval(1000, 0, 1000);
    assert_true(a.low == 1000 && a.high == 1000);
}

TEST(where_nothing_was_sampled_there_may_be_3_69_means)
{
    assert_true(fabs(report_estimate_none(102400) / 102400 - 3.6889) < 1e-3);
}

TEST(objects_of_one_size_class_can_be_counted_those_of_several_cannot)
{
    double sums[4] = {0};

    add(sums, 24, 102400, 40);
    assert_false(report_estimate_mixes(sums[0], sums[1], sums[2], sums[3]));
    add(sums, 32, 102400, 40); /* of the same class */
    assert_false(report_estimate_mixes(sums[0], sums[1], sums[2], sums[3]));
    add(sums, 10000, 102400, 40);
    assert_true(report_estimate_mixes(sums[0], sums[1], sums[2], sums[3]));
}

TEST(large_objects_that_are_all_seen_mix_with_small_ones)
{
    double sums[4] = {0};

    add(sums, 24, 102400, 1);
    add(sums, 10 << 20, 102400, 20);
    assert_true(report_estimate_mixes(sums[0], sums[1], sums[2], sums[3]));
}

static struct report_amount alive(double bytes, double allocs, double mean)
{
    return report_estimate_interval(bytes, report_estimate_alive_variance(bytes, allocs, mean), 0);
}

/* Half a million objects of 24 bytes, 100 arrays of 1 MB: what their samples would give, or more. */
TEST(what_is_alive_has_the_range_of_its_samples)
{
    const double mean = 102400;
    struct report_amount small = alive(12e6, 500000, mean), large = alive(100 << 20, 100, mean),
                         one = alive(10 << 20, 1, mean);
    double samples = 12e6 / mean;

    assert_true(small.low < 12e6 - 1.7 * 12e6 / sqrt(samples));
    assert_true(small.high > 12e6 + 1.8 * 12e6 / sqrt(samples));
    assert_true(small.high < 12e6 + 2.4 * 12e6 / sqrt(samples));
    assert_true(large.high - large.low < 0.05 * (100 << 20));
    assert_true(one.low == one.high && one.low == 10 << 20); /* it is certain */
    large = alive(0, 0, mean);
    assert_true(large.low == 0 && large.high == 0);
}

/* The variance of as many objects of one size as their samples stand for. */
static double truly(double size, double mean)
{
    double taken = -expm1(-size / mean);

    return size * size * (1 - taken) / taken;
}

/* Arrays of 100 KB and of 2 MB at one site: of a million bytes each the samples would be certain. */
TEST(small_arrays_may_hide_behind_large_ones)
{
    const double mean = 102400, sizes[] = {24, 1000, 20000, 80000, 102400, 300000, 2e6, 20e6};
    const size_t count = sizeof(sizes) / sizeof(*sizes);

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            for (double share = 0.1; share < 1; share += 0.1) {
                double bytes = 1000 * (share * sizes[i] + (1 - share) * sizes[k]),
                       true_variance = 1000 * (share * truly(sizes[i], mean) +
                                               (1 - share) * truly(sizes[k], mean));

                assert_true(report_estimate_alive_variance(bytes, 1000, mean) >=
                            0.99 * true_variance);
            }
}

TEST(a_difference_is_as_uncertain_as_both)
{
    struct report_estimate of = {.bytes = 100e6, .bytes_variance = 100e6 * 1e5},
                           less = {.bytes = 60e6, .bytes_variance = 60e6 * 1e5},
                           none = {.bytes = 0};
    struct report_amount both = report_estimate_difference(&of, &less),
                         alone = report_estimate_difference(&of, &none),
                         as = report_estimate_interval(100e6, 100e6 * 1e5, 0);
    double reach = 1.96 * sqrt(160e6 * 1e5);

    assert_true(both.value == 40e6);
    assert_true(fabs(both.high - 40e6 - reach) < 0.1 * reach);
    assert_true(fabs(40e6 - both.low - reach) < 0.1 * reach);
    assert_true(fabs(alone.low - as.low) < 1 && fabs(alone.high - as.high) < 1);
    both = report_estimate_difference(&less, &of); /* it has shrunk */
    assert_true(both.value == -40e6 && both.high < 0 && both.low < -40e6);
}
