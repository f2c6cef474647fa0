/*
 * profiler/budget.h - --budget: what sampling costs, held against the program's processor time; the
 * mean rises when that is too much, and falls again when it has been little for a while.
 */
#ifndef SHADOWTRACE_PROFILER_BUDGET_H
#define SHADOWTRACE_PROFILER_BUDGET_H

#include "profiler/internal.h"

#define BUDGET_LOOK_NS 200000000ull /* of the program's processor time, at the least */
#define BUDGET_CALM    10           /* looks that find little, until the mean falls */
#define BUDGET_MOST    (UINT64_C(1) << 30)

/* Processor time until now, and the time of the clock. */
struct budget_cost {
    uint64_t samples_ns; /* the time of samples on the program's threads */
    uint64_t threads_ns; /* of the tracer's threads */
    uint64_t all_ns;     /* of the process */
    uint64_t wall_ns;
};

struct budget {
    struct budget_cost last; /* as of the last look */
    double idle;             /* what our threads take in any case: the least so far, ns a ns */
    bool looked;
    unsigned calm; /* looks in a row that found less than a quarter of what may be */
};

/*
 * budget_next - the mean from here on: twice as much, half as much, at the least that of the
 * options, or the same. Held against what may be is what fewer samples would save: our threads look
 * around as often in a program that hardly does anything.
 */
uint64_t budget_next(struct budget *b, const struct options *o, uint64_t mean,
                     const struct budget_cost *now);

/* budget_poll - each round of the resolver. */
void budget_poll(struct profiler *p, uint64_t now_ns);

#endif
