/* samples/internal.h - what samples.c and parse.c share. */
#ifndef SHADOWTRACE_SAMPLES_INTERNAL_H
#define SHADOWTRACE_SAMPLES_INTERNAL_H

#include "samples/samples.h"

/* Events of the runtime's provider. */
enum { SAMPLES_TICK = 10, SAMPLES_SAMPLED = 303 };

#endif
