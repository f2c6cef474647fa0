/*
 * The resolver: one thread of ours that never ran managed code, so the runtime lets it ask what callbacks may not, and
 * it may wait for the runtime's locks: nobody waits for it.
 */
#include "names/internal.h"

#include "names/il.h"

#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <string.h>

#define NS_PER_MS   UINT64_C(1000000)
#define BUSY_MS     2                /* between rounds while there is work */
#define IDLE_NS     (50 * NS_PER_MS) /* at most, after rounds without */
#define ROUND_LIMIT 4096             /* classes in one round: others have work too */

/* Text for classes made since the last round. Those that can be unloaded have theirs already. */
static bool resolve_classes(struct names *names)
{
    uint32_t newest = load_acquire(&names->classes.count), before = names->resolved;

    while (names->resolved < newest && names->resolved - before < ROUND_LIMIT &&
           !load_relaxed(&names->stopping)) {
        struct names_class *class = names_record_at(&names->classes, names->resolved + 1);

        if (load_acquire(&names_class_entry(class)->life.listed) && !class->collectible)
            names_class_resolve(names, class);
        names->resolved++;
    }
    return names->resolved != before;
}

static void *resolver_run(void *arg)
{
    struct names *names = arg;
    uint64_t busy = (names->config.pause_ms ? names->config.pause_ms : BUSY_MS) * NS_PER_MS;
    uint64_t pause = busy;

    pthread_setname_np(pthread_self(), "shadowtrace-res"); /* 15 characters are the limit */
    names->memo = il_memo_new();
    store_relaxed(&names->resolver, (uintptr_t)pthread_self());
    while (gate_enter(&names->gate)) {
        bool worked = resolve_classes(names);

        worked |= names_reclaim(names);
        if (names->config.poll && !load_relaxed(&names->stopping))
            worked |= names->config.poll(names->config.context);
        gate_leave(&names->gate);
        if (worked)
            pause = busy;
        else if (pause < IDLE_NS)
            pause = pause * 2 < IDLE_NS ? pause * 2 : IDLE_NS;
        parker_park(&names->parker, pause);
    }
    return NULL;
}

int names_start(struct names *names)
{
    int err = thread_start(&names->thread, resolver_run, names);

    names->started = err == 0;
    return err;
}

void names_hurry(struct names *names)
{
    parker_unpark(&names->parker);
}

bool names_stop(struct names *names, unsigned timeout_ms)
{
    bool idle;

    store_relaxed(&names->stopping, true);
    idle = gate_close(&names->gate, timeout_ms * NS_PER_MS);
    parker_unpark(&names->parker); /* to end */
    return idle;
}
