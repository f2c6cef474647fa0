#include "base/clock.h"

#include "base/atomics.h"
#include "base/file.h"

#include <string.h>
#include <unistd.h>

/* The first rate is taken over half a millisecond at least; clock_calibrate() refines it. */
#define CALIBRATE_NS 500000ull
#define STEER_NS     1e9 /* in which what a line is off by is made up for */
#define STEER_MOST   0.1

int clock_uses_tsc;

/*
 * From a tick on, until the next line begins there: `ns` then, and nanoseconds per tick. Lines meet
 * where one ends, so that a later tick is never converted to an earlier time.
 */
struct line {
    uint64_t ticks, ns;
    double rate; /* 0: not yet known */
};

static uint64_t first_ticks, first_ns; /* where the run began */
static _Atomic(double) first_rate;     /* ns per tick as it was when first asked for */
static struct line now_line, last_line; /* the writer's */

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
        now_line = last_line = (struct line){first_ticks, first_ns, 0};
        clock_uses_tsc = 1;
        return;
    }
    first_ns = first_ticks = clock_ns();
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

static uint64_t line_at(const struct line *line, uint64_t ticks)
{
    /* on either side of where it begins */
    return line->ns + (uint64_t)(int64_t)((double)(int64_t)(ticks - line->ticks) * line->rate);
}

/* The next line leads from where this one is now to where the other clock will be in a second. */
void clock_calibrate(void)
{
    uint64_t ticks, ns, at;
    double rate, steer;

    if (!clock_uses_tsc)
        return;
    pair_read(&ticks, &ns);
    if (ns - first_ns < CALIBRATE_NS)
        return;
    rate = (double)(ns - first_ns) / (double)(ticks - first_ticks);
    if (now_line.rate <= 0) { /* nothing was converted yet */
        now_line.rate = last_line.rate = rate;
        return;
    }
    at = line_at(&now_line, ticks);
    steer = (double)(int64_t)(ns - at) / STEER_NS;
    if (steer > STEER_MOST || steer < -STEER_MOST)
        steer = steer > 0 ? STEER_MOST : -STEER_MOST;
    last_line = now_line;
    now_line = (struct line){ticks, at, rate * (1 + steer)};
}

uint64_t clock_ticks_to_ns(uint64_t ticks)
{
    if (!clock_uses_tsc)
        return ticks;
    if (UNLIKELY(now_line.rate <= 0))
        now_line.rate = last_line.rate = rate_settled();
    return line_at((int64_t)(ticks - now_line.ticks) >= 0 ? &now_line : &last_line, ticks);
}

uint64_t clock_duration_ns(uint64_t ticks)
{
    return clock_uses_tsc ? (uint64_t)((double)ticks * rate_settled()) : ticks;
}
