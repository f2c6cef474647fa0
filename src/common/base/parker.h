/*
 * base/parker.h - one thread parks, any other unparks it: a futex word. No unpark is lost: one that
 * comes first makes the next park return at once.
 */
#ifndef SHADOWTRACE_BASE_PARKER_H
#define SHADOWTRACE_BASE_PARKER_H

#include "base/atomics.h"

struct parker {
    _Atomic(uint32_t) word; /* PARKER_IDLE, PARKER_PARKED, PARKER_NOTIFIED: unparked in advance */
};

/* parker_park - sleep until parker_unpark() or for timeout_ns. Threads: one sleeper. */
void parker_park(struct parker *p, uint64_t timeout_ns);

/* End the sleep, or the next one; a system call only if one parks. Threads: any. Keeps errno. */
void parker_unpark(struct parker *p);

#endif
