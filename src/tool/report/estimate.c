#include "report/estimate.h"

#include <math.h>

#define ONE_SIZE \
    0.85 /* what objects of one size class, half of the least, half of the most, have */
#define SINGLE \
    1.58 /* means that the smallest object weighs whose sample stands for itself: 1 / P below 1.5 */
#define LARGE 0.91 /* square means: what an object adds at most to the variance of its sum */

void report_spread_add(struct report_spread *to, const struct report_spread *more)
{
    to->bytes_variance += more->bytes_variance;
    to->allocs_variance += more->allocs_variance;
    to->seen_bytes += more->seen_bytes;
}

void report_estimate_of(const struct log_alloc *a, struct report_estimate *out)
{
    double bytes = (double)a->bytes, allocs = (double)a->allocs, scale;

    if (a->weight <= bytes || a->bytes == 0) {
        *out = (struct report_estimate){.bytes = bytes, .allocs = allocs};
        return;
    }
    /* a site record sums events of much the same weight: its mean stands for each of them */
    scale = a->weight / bytes;
    out->bytes = a->weight;
    out->allocs = allocs * scale;
    out->bytes_variance = a->weight * (a->weight - bytes) / (allocs > 0 ? allocs : 1);
    out->allocs_variance = allocs * (1 - 1 / scale) * scale * scale;
}

/*
 * 95 % of a sum of weights, by its score: the sum is as a count of k equal parts, k = value^2 /
 * variance, whose spread goes by the true number of parts, not by the k that came. A normal
 * interval around the value holds too seldom where there are few. What was seen is there.
 */
struct report_amount report_estimate_interval(double value, double variance, double seen)
{
    const double z = 1.959964;
    struct report_amount out = {value, value, value};
    double k, middle, reach;

    if (!(variance > 0))
        return out;
    k = value * value / variance;
    middle = k + z * z / 2;
    reach = z * sqrt(k + z * z / 4);
    out.low = value / k * (middle - reach);
    out.low = out.low > seen ? out.low : seen;
    out.high = value / k * (middle + reach);
    return out;
}

/* The size, in means, of the only object of which a sample of that weight was taken. */
static double size_of(double weight)
{
    double size = weight;

    for (int i = 0; i < 50; i++)
        size = weight * -expm1(-size);
    return size;
}

double report_estimate_alive_variance(double bytes, double allocs, double mean)
{
    double size, each;

    if (!(bytes > 0) || !(mean > 0))
        return 0;
    if (!(allocs > 0))
        return bytes * mean; /* more than any size would give */
    size = bytes / allocs / mean;
    if (allocs < 1.5 && size >= SINGLE)
        each = size * size * exp(-size_of(size));
    else if (size <= 1)
        each = size > 0 ? size * size / expm1(size) : 0;
    else
        each = LARGE;
    return allocs * each * mean * mean;
}

struct report_amount report_estimate_difference(const struct report_estimate *of,
                                                const struct report_estimate *less)
{
    struct report_amount whole = report_estimate_interval(of->bytes, of->bytes_variance, 0),
                         gone = report_estimate_interval(less->bytes, less->bytes_variance, 0),
                         out = {.value = of->bytes - less->bytes};

    out.low = out.value - hypot(whole.value - whole.low, gone.high - gone.value);
    out.high = out.value + hypot(whole.high - whole.value, gone.value - gone.low);
    return out;
}

double report_estimate_none(double mean)
{
    return -log(0.025) * mean; /* this amount is missed in 25 of 1,000 cases */
}

bool report_estimate_mixes(double bytes, double bytes_variance, double allocs,
                           double allocs_variance)
{
    double by_bytes, by_allocs;

    if (!(bytes_variance > 0) || !(allocs_variance > 0))
        return false;
    by_bytes = bytes * bytes / bytes_variance;
    by_allocs = allocs * allocs / allocs_variance;
    return by_allocs < ONE_SIZE * by_bytes;
}
