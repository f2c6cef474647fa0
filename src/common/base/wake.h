/*
 * base/wake.h - one thread sleeps, any other may wake it: a futex word. A wake-up is never lost: one that comes
 * before the sleep makes the sleep return at once.
 */
#ifndef SHADOWTRACE_BASE_WAKE_H
#define SHADOWTRACE_BASE_WAKE_H

#include "base/atomics.h"

struct wake {
    _Atomic(uint32_t) word; /* WAKE_IDLE: nobody sleeps, nothing said; WAKE_SLEEPS; WAKE_SAID */
};

/* wake_wait - sleep until wake_up() or for timeout_ns. Threads: one sleeper. */
void wake_wait(struct wake *w, uint64_t timeout_ns);

/* wake_up - end the sleep, or the next one. A system call only if the other really sleeps. Threads: any; keeps errno. */
void wake_up(struct wake *w);

#endif
