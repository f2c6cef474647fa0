/*
 * profiler/profiler.h - starting and stopping: reads the options, creates all parts of the tracer,
 * sets the event mask and the hooks, starts the tracer's threads.
 */
#ifndef SHADOWTRACE_PROFILER_PROFILER_H
#define SHADOWTRACE_PROFILER_PROFILER_H

#include "profiler/internal.h"

/* S_OK: it records. Else the program runs on unprofiled, and the user hears why. Once. */
hresult profiler_initialize(struct profiler *p, struct clr_unknown *info);
void profiler_shutdown(struct profiler *p);

/* profiler_begin - its greater part: with these options, as JSON. */
hresult profiler_begin(struct profiler *p, struct clr_unknown *info, const char *options);

#endif
