/*
 * The resolver: a tracer thread that never runs managed code. The runtime therefore lets it make
 * calls that callbacks may not make, and it may wait for the runtime's locks: nothing waits for it.
 */
#include "metadata/internal.h"

#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_MS   UINT64_C(1000000)
#define BUSY_MS     50   /* between rounds while there is work */
#define IDLE_MS     50   /* at most, after rounds without */
#define ROUND_LIMIT 4096 /* classes in one round: others have work too */

/* Text for classes made since the last round. Those that can be unloaded have theirs already. */
static bool resolve_classes(struct metadata *metadata)
{
    const struct metadata_records *records = &metadata->classes.records;
    uint32_t newest = load_acquire(&records->count), before = metadata->resolved;

    while (metadata->resolved < newest && metadata->resolved - before < ROUND_LIMIT &&
           !load_relaxed(&metadata->stopping)) {
        struct metadata_class_entry *class =
            container_of(metadata_record_at(records, metadata->resolved + 1),
                         struct metadata_class_entry, entry);

        if (load_acquire(&class->entry.listed) && !class->record.collectible)
            metadata_class_resolve(metadata, &class->record);
        metadata->resolved++;
    }
    return metadata->resolved != before;
}

static void *resolver_run(void *arg)
{
    struct metadata *metadata = arg;
    const struct metadata_config *config = &metadata->config;
    uint64_t busy = (config->pause_ms ? config->pause_ms : BUSY_MS) * NS_PER_MS;
    uint64_t idle = (config->idle_ms ? config->idle_ms : IDLE_MS) * NS_PER_MS, pause = busy;

    pthread_setname_np(pthread_self(), "shadowtrace-res"); /* 15 characters are the limit */
    store_relaxed(&metadata->resolver, (uintptr_t)pthread_self());
    store_relaxed(&metadata->resolver_os, (int)gettid());
    while (gate_enter(&metadata->gate)) {
        bool worked = resolve_classes(metadata);

        worked |= metadata_reclaim(metadata);
        if (metadata->config.poll && !load_relaxed(&metadata->stopping))
            worked |= metadata->config.poll(metadata->config.context);
        gate_leave(&metadata->gate);
        if (worked)
            pause = busy;
        else if (pause < idle)
            pause = pause * 2 < idle ? pause * 2 : idle;
        parker_park(&metadata->parker, pause);
    }
    return NULL;
}

int metadata_start(struct metadata *metadata)
{
    int err = thread_start(&metadata->thread, resolver_run, metadata);

    metadata->started = err == 0;
    return err;
}

void metadata_hurry(struct metadata *metadata)
{
    parker_unpark(&metadata->parker);
}

int metadata_thread(const struct metadata *metadata)
{
    return load_relaxed(&metadata->resolver_os);
}

bool metadata_stop(struct metadata *metadata, unsigned timeout_ms)
{
    bool idle;

    store_relaxed(&metadata->stopping, true);
    idle = gate_close(&metadata->gate, timeout_ms * NS_PER_MS);
    parker_unpark(&metadata->parker); /* to end */
    return idle;
}
