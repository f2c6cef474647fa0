/*
 * report/estimate.h - what sampled logs say about the whole (Horvitz-Thompson): an event of weight
 * w and b bytes was taken with probability b / w; it stands for w bytes and w / b objects, and adds
 * w * (w - b) and (1 - b / w) * (w / b)^2 to the variances of the two sums.
 */
#ifndef SHADOWTRACE_REPORT_ESTIMATE_H
#define SHADOWTRACE_REPORT_ESTIMATE_H

#include "readers/record.h"

#include <shadowtrace/log_reader.h>
#include <stdbool.h>

struct report_estimate {
    double bytes, allocs, bytes_variance, allocs_variance;
};

/* An estimate with its interval; exact figures have low = value = high. */
struct report_amount {
    double value, low, high;
};

/* What says how good sums of estimates are; adds up as they do. All 0: they are exact. */
struct report_spread {
    double bytes_variance, allocs_variance, seen_bytes; /* seen: in the log */
};
void report_spread_add(struct report_spread *to, const struct report_spread *more);

/* report_estimate_of - of one record; one without a weight stands for itself. */
void report_estimate_of(const struct log_alloc *a, struct report_estimate *out);

/* report_estimate_interval - covers the exact figure in about 95 of 100 cases. seen: of it in the
 * log. */
struct report_amount report_estimate_interval(double value, double variance, double seen);

/*
 * report_estimate_none - the upper end if nothing was sampled: the bytes are below it in 975 of
 * 1,000 cases. mean: bytes per sample.
 */
double report_estimate_none(double mean);

/*
 * report_estimate_alive_variance - of the bytes of a site that are estimated to be alive: the log
 * has sums of weights, not their samples. Of objects of one size the variance follows from that
 * size. Arrays and strings may be of several: small ones make a mean size that says enough, and
 * where that is large, small ones may hide behind larger ones, so it is the most that any would
 * give. mean: bytes a sample.
 */
double report_estimate_alive_variance(double bytes, double allocs, double mean);

/*
 * report_estimate_difference - of bytes, less others: the error of either end is that of both,
 * each from its own interval (MOVER, Zou and Donner 2008). value may be below 0.
 */
struct report_amount report_estimate_difference(const struct report_estimate *of,
                                                const struct report_estimate *less);

/*
 * report_estimate_mixes - does the sum rest on objects of more than one size class? Then no
 * interval holds for their number: a small object stands for thousands, is seldom sampled, and says
 * nearly all of it. Of one size, bytes and objects are known equally well: value^2 / variance.
 */
bool report_estimate_mixes(double bytes, double bytes_variance, double allocs,
                           double allocs_variance);

/* report_whole - a sum as it is shown, at most SST_INTEGER_MAX. Below 0 are only differences of
 * estimates, of what there is nothing of. */
static inline uint64_t report_whole(double value)
{
    return value < 0 ? 0 : value < SST_INTEGER_MAX ? (uint64_t)(value + 0.5) : SST_INTEGER_MAX;
}

#endif
