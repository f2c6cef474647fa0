/*
 * config/config.h - the few options that can change while the process runs: recording or not, the
 * sampling rate, whose allocations. One configuration is published at a time, swapped under RCU.
 *
 * Each configuration has a generation, rising from 1. config_start.announce hands it to every
 * thread, on its own stack. A thread whose copy is of another generation comes here for a new copy,
 * whole. So whatever a thread records belongs to one configuration.
 *
 *                             | config_read config_wants | config_change
 *   at the same time as
 *   config_read, config_wants | safe                     | safe
 *   config_change             |                          | safe: one after the other
 */
#ifndef SHADOWTRACE_CONFIG_CONFIG_H
#define SHADOWTRACE_CONFIG_CONFIG_H

#include "options/options.h"

/* A thread's own copy. */
struct config_settings {
    uint32_t generation; /* 1, 2, ...; 0: no copy yet */
    bool paused;
    bool filtered;   /* config_wants() decides */
    uint64_t sample; /* bytes; 0 off */
};

struct config_start {
    bool paused;
    uint64_t sample;
    void (*announce)(uint32_t generation); /* see above; after the configuration can be read */
    /* Called for each change, in order, before it is announced. May be NULL. */
    void (*changed)(void *context, const struct config_settings *now,
                    const struct options_patterns *only);
    void *context;
};

/* What is to change; the rest stays as it is. */
struct config_change {
    bool has_paused, has_sample, has_only;
    bool paused;
    uint64_t sample;
    struct options_patterns only; /* copied; empty: all methods */
};

int config_start(const struct config_start *config); /* once; 0 or -ENOMEM */

/*
 * config_change - publish, announce, wait until nobody reads the one before, free it.
 * Returns: 0 and *generation, or -ENOMEM (nothing has changed).
 * Threads: any that may wait for a grace period; not in a callback or hook.
 */
int config_change(const struct config_change *change, uint32_t *generation);

/* config_read - the present settings, whole. Threads: any; in a callback, not in a hook. */
void config_read(struct config_settings *out);

enum config_answer {
    CONFIG_NO,
    CONFIG_YES,
    CONFIG_CHANGED, /* `generation` is no longer the present one */
};

/* config_wants - record allocations of the method of that name? Threads: as config_read. */
enum config_answer config_wants(uint32_t generation, const char *name);

/* config_only - a copy of the patterns, which the caller frees. Returns: 0 or -ENOMEM. */
int config_only(struct options_patterns *out);
void config_only_free(struct options_patterns *only);

#endif
