/*
 * event/profile.h - what sampling stacks gives and costs (--profile): counted by the sampler,
 * written by the writer.
 */
#ifndef SHADOWTRACE_EVENT_PROFILE_H
#define SHADOWTRACE_EVENT_PROFILE_H

#include "event/agreement.h"

#include <shadowtrace/log_counters.h>

enum profile_source { PROFILE_SHADOW, PROFILE_SNAPSHOT, PROFILE_SOURCES };

#define PROFILE_COUNTER(form, member, label) _Atomic(uint64_t) member;
struct profile_counts {
    uint32_t hz; /* 0: this source is not sampled */
    SST_COUNTERS_PROFILE(PROFILE_COUNTER)
    _Atomic(uint64_t) worst_ns;
    struct agreement_histogram cost; /* of a moment, ns */
};

struct profile {
    struct profile_counts source[PROFILE_SOURCES];
};

/* One moment, by the sampler. */
static inline void profile_took(struct profile_counts *counts, uint64_t ns)
{
    add_relaxed(&counts->ticks, 1);
    agreement_histogram_add(&counts->cost, ns);
    if (ns > load_relaxed(&counts->worst_ns))
        store_relaxed(&counts->worst_ns, ns);
}

/* Bits of an EVENT_SAMPLE's subject, above the OS thread. */
#define PROFILE_EVENT_SNAPSHOT    (UINT64_C(1) << 32)
#define PROFILE_EVENT_APPROXIMATE (UINT64_C(1) << 33)

#endif
