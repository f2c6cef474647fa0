/*
 * sampler/sampler.h - --profile HZ: the stacks of all threads, so often, by a thread of ours: a profile of the wall
 * clock. The shadow stacks are copied beside their threads; with --profile-snapshot the runtime is suspended and walked
 * at the same moments, so that the two can be laid side by side.
 */
#ifndef SHADOWTRACE_SAMPLER_SAMPLER_H
#define SHADOWTRACE_SAMPLER_SAMPLER_H

#include "event/event.h"
#include "event/profile.h"
#include "names/names.h"
#include "tree/tree.h"

struct sampler;

/* A stack by snapshot, leaf first. result < 0: refused. */
struct sampler_walk {
    uint32_t os_thread;
    int32_t result;
    size_t count;
    const uintptr_t *function, *ip;
};

struct sampler_config {
    struct profile *profile; /* borrowed, as is all below; hz says what is sampled */
    struct names *names;
    struct tree *tree;
    struct event_hub *hub;
    void *context;
    /* Suspend, walk every managed thread, resume: 0 or -EAGAIN. Called on the sampler only. */
    int (*walk_all)(void *context, void (*each)(void *sampler, const struct sampler_walk *walk),
                    void *sampler);
    void (*begin)(void *context), (*end)(void *context); /* around all walks */
};

int sampler_start(const struct sampler_config *config, struct sampler **out); /* 0 or -errno */
void sampler_stop(struct sampler *sampler, unsigned timeout_ms);

#endif
