#include "profiler/budget.h"

#include "base/clock.h"
#include "config/config.h"

#define LOOK_EACH_NS 500000000ull

/* What samples have cost since the last look. */
static uint64_t cost(struct budget *b, const struct budget_cost *now)
{
    double wall = (double)(now->wall_ns - b->last.wall_ns);
    double threads = (double)(now->threads_ns - b->last.threads_ns);

    if (wall > 0 && (!b->looked || threads / wall < b->idle))
        b->idle = threads / wall;
    b->looked = true;
    return now->samples_ns - b->last.samples_ns + (uint64_t)(threads - b->idle * wall + 0.5);
}

uint64_t budget_next(struct budget *b, const struct options *o, uint64_t mean,
                     const struct budget_cost *now)
{
    uint64_t all = now->all_ns - b->last.all_ns, may = all / 100 * o->budget, own;

    if (all < BUDGET_LOOK_NS)
        return mean; /* too little to judge by: it is part of the next look */
    own = cost(b, now);
    b->last = *now;
    if (own > may) {
        b->calm = 0;
        return mean < BUDGET_MOST ? 2 * mean : mean;
    }
    b->calm = own < may / 4 ? b->calm + 1 : 0;
    if (b->calm < BUDGET_CALM || mean <= o->sample)
        return mean;
    b->calm = 0;
    return mean / 2 > o->sample ? mean / 2 : o->sample;
}

/* Hooks are not in it: fewer samples would not make them cheaper. */
static struct budget_cost cost_now(const struct profiler *p, uint64_t wall_ns)
{
    struct budget_cost now = {.samples_ns = alloc_sampling_ns(p->alloc),
                              .threads_ns =
                                  clock_cpu_ns(CLOCK_THREAD_CPUTIME_ID), /* the resolver's */
                              .all_ns = clock_cpu_ns(CLOCK_PROCESS_CPUTIME_ID),
                              .wall_ns = wall_ns};
    clockid_t writer;

    if (log_cpu_clock(p->log, &writer))
        now.threads_ns += clock_cpu_ns(writer);
    return now;
}

void budget_poll(struct profiler *p, uint64_t now_ns)
{
    static struct budget budget;
    static uint64_t next_ns;
    struct config_settings now;
    struct config_change change = {.has_sample = true};
    struct budget_cost spent;
    uint32_t generation;

    if (!p->options.budget || now_ns < next_ns || !load_acquire(&p->started))
        return;
    next_ns = now_ns + LOOK_EACH_NS;
    config_read(&now);
    spent = cost_now(p, now_ns);
    change.sample = budget_next(&budget, &p->options, now.sample, &spent);
    if (now.sample && change.sample != now.sample)
        config_change(&change, &generation);
}
