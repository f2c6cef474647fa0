#include "base/clock.h"

#include "base/atomics.h"
#include "base/file.h"

#include <string.h>
#include <unistd.h>

/* The first rate is taken over half a millisecond at least; clock_calibrate() refines it. */
#define CALIBRATE_NS 500000ull

int clock_uses_tsc;

static uint64_t first_ticks, first_ns; /* where the run began */
static double rate; /* nanoseconds per tick, refined; the writer's. 0: not yet known */
static _Atomic(double) first_rate;   /* the same as it was when first asked for */
static uint64_t base_ticks, base_ns; /* the latest pair read; conversions start here */

uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

uint64_t clock_cpu_ns(clockid_t clock)
{
    struct timespec ts;

    return clock_gettime(clock, &ts) ? 0 : (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The kernel takes the counter as its clock only if it is constant and the same on all cores. */
static int kernel_uses_tsc(void)
{
    char name[24];

    file_read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
                   sizeof(name));
    return strncmp(name, CPU_CLOCK_SOURCE, strlen(CPU_CLOCK_SOURCE)) == 0;
}

/* Both clocks at one moment: the closest of a few tries, for one may be interrupted in between. */
static void pair_read(uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;

    for (int i = 0; i < 8; i++) {
        uint64_t before = cpu_counter(), now = clock_ns(), after = cpu_counter();

        if (after - before < best) {
            best = after - before;
            *ticks = before + best / 2;
            *ns = now;
        }
    }
}

void clock_start(void)
{
    if (kernel_uses_tsc()) {
        pair_read(&first_ticks, &first_ns);
        base_ticks = first_ticks;
        base_ns = first_ns;
        clock_uses_tsc = 1;
        return;
    }
    first_ns = base_ns = first_ticks = base_ticks = clock_ns();
}

/* The first caller determines the rate. */
static double rate_settled(void)
{
    double known = load_relaxed(&first_rate), none = 0;
    uint64_t ticks, ns;

    if (LIKELY(known > 0))
        return known;
    while (clock_ns() < first_ns + CALIBRATE_NS)
        cpu_relax();
    pair_read(&ticks, &ns);
    known = (double)(ns - first_ns) / (double)(ticks - first_ticks);
    return cas_acq_rel(&first_rate, &none, known) ? known : none;
}

void clock_calibrate(void)
{
    uint64_t ticks, ns;

    if (!clock_uses_tsc)
        return;
    pair_read(&ticks, &ns);
    if (ns - first_ns < CALIBRATE_NS)
        return;
    rate = (double)(ns - first_ns) / (double)(ticks - first_ticks);
    base_ticks = ticks;
    base_ns = ns;
}

uint64_t clock_ticks_to_ns(uint64_t ticks)
{
    double ns;

    if (!clock_uses_tsc)
        return ticks;
    if (UNLIKELY(rate <= 0))
        rate = rate_settled();
    ns = (double)(int64_t)(ticks - base_ticks) * rate; /* either side of the pair last read */
    return base_ns + (uint64_t)(int64_t)ns;
}

uint64_t clock_duration_ns(uint64_t ticks)
{
    return clock_uses_tsc ? (uint64_t)((double)ticks * rate_settled()) : ticks;
}
