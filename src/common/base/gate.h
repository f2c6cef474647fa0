/*
 * base/gate.h - rundown protection. A tracer thread enters the gate for each piece of work.
 * Closing the gate waits for work in progress, never for a sleeping thread to wake up.
 */
#ifndef SHADOWTRACE_BASE_GATE_H
#define SHADOWTRACE_BASE_GATE_H

#include "base/parker.h"

#include <stdbool.h>

/* All zero: open, and nobody inside. */
struct gate {
    _Atomic(uint32_t) word; /* whether the worker is inside, whether it is closed */
    struct parker left;
};

/*
 * gate_enter - Returns: false once the gate is closed: for good. Threads: the worker; a second one,
 * while it is inside, would be told that the gate is closed.
 */
bool gate_enter(struct gate *g);
void gate_leave(struct gate *g);

/* gate_close - Returns: whether nobody is inside, after timeout_ns at the latest. Threads: one. */
bool gate_close(struct gate *g, uint64_t timeout_ns);

#endif
