/* base/clock.h - time for events: ticks are cheap to read, nanoseconds are for off the hot path. */
#ifndef SHADOWTRACE_BASE_CLOCK_H
#define SHADOWTRACE_BASE_CLOCK_H

#include "base/cpu.h"

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, nanoseconds. Threads: any. */
uint64_t clock_ns(void);

/*
 * clock_cpu_ns - processor time, nanoseconds: of CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID
 * or another thread's clock. It stops while the thread waits for a processor, as clock_ns() does
 * not. A system call. Returns: 0 if the thread has ended. Threads: any.
 */
uint64_t clock_cpu_ns(clockid_t clock);

/*
 * clock_start - decide what a tick is: the processor's counter if that is the kernel's clock
 * source, else the nanosecond of CLOCK_MONOTONIC. Call once, before all else of this clock. How
 * long a tick is follows from the time since: the first conversion waits until that is half a
 * millisecond.
 */
void clock_start(void);

/* Now, in ticks. Threads: any. May run: anywhere; no system call where the vDSO works. */
static inline uint64_t clock_ticks(void);

/*
 * clock_ticks_to_ns - CLOCK_MONOTONIC nanoseconds of a tick, at the rate of clock_calibrate().
 * Threads: those of clock_calibrate's caller only (the writer).
 */
uint64_t clock_ticks_to_ns(uint64_t ticks);

/*
 * clock_calibrate - read both clocks and refine the rate; call each second. A tick of now converts
 * to what it did, so that later ticks stay later. Threads: one.
 */
void clock_calibrate(void);

/* Length of `ticks` in nanoseconds at the rate that was found first. Threads: any. */
uint64_t clock_duration_ns(uint64_t ticks);

extern int clock_uses_tsc; /* written by clock_start only */

static inline uint64_t clock_ticks(void)
{
    if (__builtin_expect(clock_uses_tsc, 1))
        return cpu_counter();
    return clock_ns();
}

#endif
