#include "live/live.h"

#include "base/atomics.h"
#include "rcu/grace.h"
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>

struct live {
    struct live_settings settings;
    struct options_patterns only;
};

static struct live_config config;
static _Atomic(struct live *) present; /* read under RCU; written under changing */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;

void live_only_free(struct options_patterns *only)
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
            live_only_free(to);
            return -ENOMEM;
        }
    }
    return to->pattern ? 0 : -ENOMEM;
}

static void live_free(struct live *live)
{
    if (live)
        live_only_free(&live->only);
    memory_free(live);
}

int live_start(const struct live_config *c)
{
    struct live *first = memory_zalloc(1, sizeof(*first));

    if (!first)
        return -ENOMEM;
    config = *c;
    first->settings = (struct live_settings){.number = 1, .paused = c->paused, .sample = c->sample};
    live_free(exchange_acq_rel(&present, first));
    config.announce(1);
    return 0;
}

/* Caller holds changing. */
static int live_next(const struct live *before, const struct live_change *change, struct live **out)
{
    struct live *next = memory_zalloc(1, sizeof(*next));
    int err = next ? patterns_copy(change->has_only ? &change->only : &before->only, &next->only)
                   : -ENOMEM;

    if (err) {
        memory_free(next);
        return err;
    }
    next->settings = before->settings;
    if (++next->settings.number == 0)
        next->settings.number = 1;
    next->settings.filtered = next->only.count > 0;
    if (change->has_paused)
        next->settings.paused = change->paused;
    if (change->has_sample)
        next->settings.sample = change->sample;
    *out = next;
    return 0;
}

int live_change(const struct live_change *change, uint32_t *number)
{
    struct live *before, *next = NULL;
    int err;

    pthread_mutex_lock(&changing);
    before = load_relaxed(&present);
    err = live_next(before, change, &next);
    if (!err) {
        *number = next->settings.number;
        store_release(&present, next); /* all of it before the pointer; pairs with the readers */
        if (config.changed)
            config.changed(config.context, &next->settings, &next->only);
        config.announce(next->settings.number);
        grace_wait();
        live_free(before);
    }
    pthread_mutex_unlock(&changing);
    return err;
}

void live_read(struct live_settings *out)
{
    struct grace_section section = grace_enter(); /* keeps the configuration alive */

    *out = load_acquire(&present)->settings;
    grace_leave(section);
}

enum live_answer live_wants(uint32_t number, const char *name)
{
    struct grace_section section = grace_enter(); /* keeps the patterns alive */
    enum live_answer answer = LIVE_CHANGED;
    const struct live *live;

    live = load_acquire(&present);
    if (live->settings.number == number)
        answer = !live->only.count || options_match(&live->only, name) ? LIVE_YES : LIVE_NO;
    grace_leave(section);
    return answer;
}

int live_only(struct options_patterns *out)
{
    int err;

    pthread_mutex_lock(&changing);
    err = patterns_copy(&load_relaxed(&present)->only, out);
    pthread_mutex_unlock(&changing);
    return err;
}
