#include "base/turn.h"

#include "base/clock.h"

enum { TURN_TAKEN = 1, TURN_STOPPED = 2 }; /* bits of word */

bool turn_begin(struct turn *t)
{
    uint32_t none = 0;

    return cas_acq_rel(&t->word, &none, TURN_TAKEN);
}

void turn_end(struct turn *t)
{
    if (and_acq_rel(&t->word, ~(uint32_t)TURN_TAKEN) & TURN_STOPPED)
        wake_up(&t->over);
}

bool turn_stop(struct turn *t, uint64_t timeout_ns)
{
    uint64_t now = clock_ns(), until = now + timeout_ns;

    (void)or_acq_rel(&t->word, TURN_STOPPED);
    for (; load_acquire(&t->word) & TURN_TAKEN && now < until; now = clock_ns())
        wake_wait(&t->over, until - now);
    return !(load_acquire(&t->word) & TURN_TAKEN);
}
