/*
 * samples/alive.h - which samples are alive, by weak handles: an estimate of what is, with
 * concurrent collection on. A handle that reads 0 after a collection is of a dead object.
 *
 * At most ALIVE_MOST samples are followed. Where more than half of that are alive after a
 * collection, they are thinned to twice the mean, as samples are: what is kept stands for more, and
 * large objects stay certain.
 */
#ifndef SHADOWTRACE_SAMPLES_ALIVE_H
#define SHADOWTRACE_SAMPLES_ALIVE_H

#include "clr/runtime.h"
#include "live/live.h"

#define ALIVE_MOST 10000 /* this many handles make a pause 10 us longer in gen0, 0.5 ms in gen2 */

struct alive;

struct alive_config {
    const struct clr_runtime *runtime; /* borrowed, as is the next */
    struct live *live;                 /* its sums are these estimates */
    uint64_t mean;                     /* bytes a sample */
};

struct alive_state {
    uint32_t followed; /* now */
    uint64_t missed;   /* samples that there was no room or no handle for */
    uint64_t mean;     /* of those that are followed */
};

/* alive_new - Returns: 0; -ENOMEM; -ENOTSUP: this runtime has no weak handles for profilers. */
int alive_new(const struct alive_config *config, struct alive **out);

/* alive_class - as live_class_set: what the log id of a class stands for. */
void alive_class(struct alive *alive, uint32_t id, uintptr_t class);

/*
 * alive_follow - a sample that stands for `weight` bytes. chance: from 0 to below 1, at random.
 * Threads: the allocating one, in cooperative mode. May run: in the sampler's event; never waits.
 */
void alive_follow(struct alive *alive, uintptr_t object, const struct live_entry *what,
                  double weight, double chance);

/* GarbageCollectionStarted, GarbageCollectionFinished; of a background one the program runs. */
void alive_collection_started(struct alive *alive, uint32_t deepest);
void alive_collection_finished(struct alive *alive);

/* alive_poll - gives handles of the dead back. Returns: whether there were any. Threads: the
 * resolver. */
bool alive_poll(struct alive *alive);

/*
 * alive_stop - all handles are given back, and no sample is followed any more. Threads: one that
 * may call the runtime, not the resolver's while it runs. Waits for who looks at the samples.
 */
void alive_stop(struct alive *alive);

/* Threads: any. */
void alive_read(const struct alive *alive, struct alive_state *out);

#endif
