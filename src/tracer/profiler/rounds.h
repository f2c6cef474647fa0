/*
 * profiler/rounds.h - the resolver's rounds: what has to ask the runtime, or to wait for a grace
 * period.
 */
#ifndef SHADOWTRACE_PROFILER_ROUNDS_H
#define SHADOWTRACE_PROFILER_ROUNDS_H

#include "profiler/internal.h"

/* metadata_config.poll; context: the profiler. Threads: the resolver. */
bool rounds_poll(void *context);

#endif
