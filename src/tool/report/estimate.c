#include "report/estimate.h"

#include <math.h>

void report_estimate_of(const struct report_alloc *a, struct report_estimate *out)
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
 * 95 % of a sum of weights: as a Poisson count of n = value^2 / variance equal parts has it (Wilson
 * and Hilferty's form of the exact limits), which holds for few events too, where a normal interval
 * would not. What was seen is there.
 */
struct report_amount report_estimate_interval(double value, double variance, double seen)
{
    const double z = 1.959964;
    struct report_amount out = {value, value, value};
    double n, low, high;

    if (!(variance > 0))
        return out;
    n = value * value / variance;
    low = 1 - 1 / (9 * n) - z / (3 * sqrt(n));
    high = 1 - 1 / (9 * (n + 1)) + z / (3 * sqrt(n + 1));
    out.low = low > 0 ? value * low * low * low : 0;
    out.low = out.low > seen ? out.low : seen;
    out.high = value * (n + 1) / n * high * high * high;
    return out;
}
