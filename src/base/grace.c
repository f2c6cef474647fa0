#include "base/grace.h"

#include "base/atomics.h"

#include <pthread.h>
#include <stdalign.h>
#include <time.h>

#define STRIPE_BITS 4
#define STRIPES     (1u << STRIPE_BITS)
#define SPINS       200 /* looks before the waiter sleeps: a section takes less than a microsecond */
#define SLEEP_NS    200000 /* the thread that is in one has been stopped */

/*
 * Two sides, so that sections that begin meanwhile cannot keep the waiter waiting: it sends them to one and waits for the
 * other. Which side a section is counted on does not matter to what it sees, for the waiter looks at both.
 */
static struct {
    alignas(CACHE_LINE) _Atomic(uint32_t) sections;
} stripes[2][STRIPES];
static _Atomic(unsigned) side;
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER;

static unsigned stripe_of_thread(void)
{
    return (unsigned)((uint64_t)pthread_self() * UINT64_C(0x9e3779b97f4a7c15) >>
                      (64 - STRIPE_BITS));
}

static _Atomic(uint32_t) *count_at(unsigned at)
{
    return &stripes[at >> STRIPE_BITS][at & (STRIPES - 1)].sections;
}

/*
 * Against is_empty(), one of the two changes comes first. If it is this one, the waiter sees the section; if it is the
 * waiter's, this one reads what it wrote, and with that that the pointer was taken back. So it needs no fence.
 */
struct grace_section grace_enter(void)
{
    struct grace_section section = {load_relaxed(&side) << STRIPE_BITS | stripe_of_thread()};

    atomic_fetch_add_explicit(count_at(section.at), 1, memory_order_acq_rel);
    return section;
}

void grace_leave(struct grace_section section)
{
    /* All that the section read before what the waiter does next. */
    atomic_fetch_sub_explicit(count_at(section.at), 1, memory_order_acq_rel);
}

/* A change, not a load: see grace_enter(). */
static int is_empty(unsigned at)
{
    return atomic_fetch_add_explicit(count_at(at), 0, memory_order_acq_rel) == 0;
}

static void side_wait(unsigned which)
{
    const struct timespec pause = {0, SLEEP_NS};

    for (unsigned stripe = 0; stripe < STRIPES; stripe++)
        for (unsigned looks = 0; !is_empty(which << STRIPE_BITS | stripe); looks++)
            if (looks >= SPINS)
                nanosleep(&pause, NULL);
}

void grace_wait(void)
{
    unsigned now;

    pthread_mutex_lock(&waiting);
    now = load_relaxed(&side);
    side_wait(!now); /* who read `side` long ago and came late */
    store_relaxed(&side, !now);
    side_wait(now);
    pthread_mutex_unlock(&waiting);
}
