#include "config/config.h"

#include "base/atomics.h"
#include "rcu/grace.h"
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>

struct configuration {
    struct config_settings settings;
    struct options_patterns only;
};

static struct config_start config;
static _Atomic(struct configuration *) present; /* read under RCU; written under changing */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

void config_only_free(struct options_patterns *only)
{
    for (size_t i = 0; i < only->count; i++)
        memory_free(only->pattern[i]);
    memory_free(only->pattern);
    *only = (struct options_patterns){NULL, 0, NULL};
}

static int patterns_copy(const struct options_patterns *from, struct options_patterns *to)
{
    *to = (struct options_patterns){NULL, 0, NULL};
    if (!from->count)
        return 0;
    to->pattern = memory_zalloc(from->count, sizeof(*to->pattern));
    for (; to->pattern && to->count < from->count; to->count++) {
        to->pattern[to->count] = memory_strdup(from->pattern[to->count]);
        if (!to->pattern[to->count]) {
            config_only_free(to);
            return -ENOMEM;
        }
    }
    return to->pattern ? 0 : -ENOMEM;
}

static void configuration_free(struct configuration *configuration)
{
    if (configuration)
        config_only_free(&configuration->only);
    memory_free(configuration);
}

int config_start(const struct config_start *c)
{
    struct configuration *first = memory_zalloc(1, sizeof(*first));

    if (!first)
        return -ENOMEM;
    config = *c;
    first->settings =
        (struct config_settings){.generation = 1, .paused = c->paused, .sample = c->sample};
    configuration_free(exchange_acq_rel(&present, first));
    config.announce(1);
    return 0;
}

/* Caller holds changing. */
static int config_next(const struct configuration *before, const struct config_change *change,
                       struct configuration **out)
{
    struct configuration *next = memory_zalloc(1, sizeof(*next));
    int err = next ? patterns_copy(change->has_only ? &change->only : &before->only, &next->only)
                   : -ENOMEM;

    if (err) {
        memory_free(next);
        return err;
    }
    next->settings = before->settings;
    if (++next->settings.generation == 0)
        next->settings.generation = 1;
    next->settings.filtered = next->only.count > 0;
    if (change->has_paused)
        next->settings.paused = change->paused;
    if (change->has_sample)
        next->settings.sample = change->sample;
    *out = next;
    return 0;
}

int config_change(const struct config_change *change, uint32_t *generation)
{
    struct configuration *before, *next = NULL;
    int err;

    pthread_mutex_lock(&changing);
    before = load_relaxed(&present);
    err = config_next(before, change, &next);
    if (!err) {
        *generation = next->settings.generation;
        store_release(&present, next); /* all of it before the pointer; pairs with the readers */
        if (config.changed)
            config.changed(config.context, &next->settings, &next->only);
        config.announce(next->settings.generation);
        grace_wait();
        configuration_free(before);
    }
    pthread_mutex_unlock(&changing);
    return err;
}

void config_read(struct config_settings *out)
{
    struct grace_section section = grace_enter(); /* keeps the configuration alive */

    *out = load_acquire(&present)->settings;
    grace_leave(section);
}

enum config_answer config_wants(uint32_t generation, const char *name)
{
    struct grace_section section = grace_enter(); /* keeps the patterns alive */
    enum config_answer answer = CONFIG_CHANGED;
    const struct configuration *configuration;

    configuration = load_acquire(&present);
    if (configuration->settings.generation == generation)
        answer = !configuration->only.count || options_match(&configuration->only, name)
                     ? CONFIG_YES
                     : CONFIG_NO;
    grace_leave(section);
    return answer;
}

int config_only(struct options_patterns *out)
{
    int err;

    pthread_mutex_lock(&changing);
    err = patterns_copy(&load_relaxed(&present)->only, out);
    pthread_mutex_unlock(&changing);
    return err;
}
