#include "event/agreement.h"

static const uint32_t depth_from[AGREEMENT_DEPTHS + 1] = {
    0, 1, 11, 21, 51, 101, 201, 501, 1001, 2001, 5001, 10001, 20001, 50001, UINT32_MAX,
};

const char *agreement_cause_name(enum agreement_cause cause)
{
#define CAUSE_TEXT(name, text) text,
    static const char *const names[AGREEMENT_CAUSES] = {SST_CAUSES(CAUSE_TEXT)};

    return (unsigned)cause < AGREEMENT_CAUSES ? names[cause] : "?";
}

uint32_t agreement_depth_from(unsigned row)
{
    return depth_from[row <= AGREEMENT_DEPTHS ? row : AGREEMENT_DEPTHS];
}

/* Buckets 0-7 are single nanoseconds; then eight for each power of two. */
static unsigned bucket_of(uint64_t ns)
{
    unsigned power, bucket;

    if (ns < 8)
        return (unsigned)ns;
    power = 63 - (unsigned)__builtin_clzll(ns);
    bucket = (power - 2) * 8 + (unsigned)(ns >> (power - 3) & 7);
    return bucket < AGREEMENT_BUCKETS ? bucket : AGREEMENT_BUCKETS - 1;
}

uint64_t agreement_bucket_ns(unsigned bucket)
{
    unsigned power = bucket / 8 + 2;
    uint64_t width;

    if (bucket < 8)
        return bucket;
    width = UINT64_C(1) << (power - 3);
    return (8 + bucket % 8) * width + width / 2;
}

void agreement_histogram_add(struct agreement_histogram *h, uint64_t ns)
{
    add_relaxed(&h->sum, ns);
    add_relaxed(&h->bucket[bucket_of(ns)], 1);
}

void agreement_refused(struct agreement_refusals *a, int32_t result)
{
    unsigned i;

    for (i = 0; i < AGREEMENT_REFUSALS - 1; i++) {
        uint32_t found = load_relaxed(&a->of[i].result);

        if (found == (uint32_t)result ||
            (found == 0 && (cas_acq_rel(&a->of[i].result, &found, (uint32_t)result) ||
                            found == (uint32_t)result)))
            break;
    }
    add_relaxed(&a->of[i].count, 1);
}

void agreement_cost(struct agreement *a, uint32_t depth, uint64_t shadow_ns, uint64_t snapshot_ns)
{
    unsigned row = 0;

    while (depth >= depth_from[row + 1])
        row++;
    agreement_histogram_add(&a->shadow, shadow_ns);
    agreement_histogram_add(&a->snapshot, snapshot_ns);
    add_relaxed(&a->depth[row].count, 1);
    add_relaxed(&a->depth[row].shadow_ns, shadow_ns);
    add_relaxed(&a->depth[row].snapshot_ns, snapshot_ns);
}
