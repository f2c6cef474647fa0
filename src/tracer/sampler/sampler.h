/*
 * sampler/sampler.h - --profile HZ: a tracer thread copies the shadow stacks of all threads HZ
 * times a second while they run: a profile of wall clock time. With --profile-snapshot the runtime
 * is also suspended and walked at the same moments, to compare the two.
 */
#ifndef SHADOWTRACE_SAMPLER_SAMPLER_H
#define SHADOWTRACE_SAMPLER_SAMPLER_H

#include "event/event.h"
#include "event/profile.h"
#include "metadata/metadata.h"
#include "tree/tree.h"

struct check_threads;
struct sampler;

struct sampler_config {
    struct profile *profile; /* borrowed, as is all below; hz says what is sampled */
    struct metadata *metadata;
    struct tree *tree;
    struct event_hub *hub;
    struct check_threads *walker; /* for snapshots; never started */
};

int sampler_start(const struct sampler_config *config, struct sampler **out); /* 0 or -errno */
void sampler_stop(struct sampler *sampler, unsigned timeout_ms);

#endif
