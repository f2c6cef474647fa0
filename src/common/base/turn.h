/*
 * base/turn.h - a thread of ours that works now and then, and another that ends it: that one waits only if the thread
 * is at work, not for one that sleeps to wake up first.
 */
#ifndef SHADOWTRACE_BASE_TURN_H
#define SHADOWTRACE_BASE_TURN_H

#include "base/wake.h"

#include <stdbool.h>

/* All zero: nobody is at work. */
struct turn {
    _Atomic(uint32_t) word; /* a turn is under way; none begins any more */
    struct wake over;
};

/* turn_begin - Returns: whether there is a turn; false: it has been ended, for good. Threads: the one that works. */
bool turn_begin(struct turn *t);
void turn_end(struct turn *t);

/*
 * turn_stop - no turn begins from here on.
 * Returns: whether none is under way, after timeout_ns at the latest. Threads: one.
 */
bool turn_stop(struct turn *t, uint64_t timeout_ns);

#endif
