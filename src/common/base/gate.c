#include "base/gate.h"

#include "base/clock.h"

enum { GATE_ENTERED = 1, GATE_CLOSED = 2 }; /* bits of word */

bool gate_enter(struct gate *g)
{
    uint32_t open = 0;

    return cas_acq_rel(&g->word, &open, GATE_ENTERED);
}

void gate_leave(struct gate *g)
{
    if (and_acq_rel(&g->word, ~(uint32_t)GATE_ENTERED) & GATE_CLOSED)
        parker_unpark(&g->left);
}

bool gate_close(struct gate *g, uint64_t timeout_ns)
{
    uint64_t now = clock_ns(), until = now + timeout_ns;

    (void)or_acq_rel(&g->word, GATE_CLOSED);
    for (; load_acquire(&g->word) & GATE_ENTERED && now < until; now = clock_ns())
        parker_park(&g->left, until - now);
    return !(load_acquire(&g->word) & GATE_ENTERED);
}
