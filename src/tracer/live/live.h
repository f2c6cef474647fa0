/*
 * live/live.h - the few options that can be changed while the process runs: recording or not, the sampling rate,
 * whose allocations. One published configuration at a time, swapped under RCU.
 *
 * A thread learns of a change by a number: each configuration has one, rising, and live_config.announce hands it to
 * every thread as a word of its own stack. Only when the word differs from the number of the copy that the thread
 * works with does it come here for a new copy, whole. So whatever a thread records belongs to one configuration.
 *
 *                         | live_read live_wants | live_change
 *   at the same time as
 *   live_read, live_wants | safe                 | safe
 *   live_change           |                      | safe: one after the other
 */
#ifndef SHADOWTRACE_LIVE_LIVE_H
#define SHADOWTRACE_LIVE_LIVE_H

#include "options/options.h"

/* A thread's own copy. */
struct live_settings {
    uint32_t number; /* 1, 2, ...; 0: no copy yet */
    bool paused;
    bool filtered;   /* live_wants() decides */
    uint64_t sample; /* bytes; 0 off */
};

struct live_config {
    bool paused;
    uint64_t sample;
    void (*announce)(uint32_t number); /* see above; after the configuration can be read */
    /* Told of each change, in their order, before it is announced. May be NULL. */
    void (*changed)(void *context, const struct live_settings *now,
                    const struct options_patterns *only);
    void *context;
};

/* What is to change; the rest stays as it is. */
struct live_change {
    bool has_paused, has_sample, has_only;
    bool paused;
    uint64_t sample;
    struct options_patterns only; /* copied; empty: all methods */
};

int live_start(const struct live_config *config); /* once; 0 or -ENOMEM */

/*
 * live_change - publish, announce, wait until nobody reads the one before, free it.
 * Returns: 0 and *number, or -ENOMEM (nothing has changed).
 * Threads: any that may wait for a grace period; not in a callback or hook.
 */
int live_change(const struct live_change *change, uint32_t *number);

/* live_read - the present settings, whole. Threads: any; in a callback, not in a hook. */
void live_read(struct live_settings *out);

enum live_answer { LIVE_NO, LIVE_YES, LIVE_CHANGED /* `number` is not the present one any more */ };

/* live_wants - are allocations of the method of that name to be recorded? Threads: as live_read. */
enum live_answer live_wants(uint32_t number, const char *name);

/* The patterns of now, to be freed with options_fini of a struct options that takes them; NULL-safe copy. */
int live_only(struct options_patterns *out);
void live_only_free(struct options_patterns *only);

#endif
