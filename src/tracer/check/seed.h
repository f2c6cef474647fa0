/*
 * check/seed.h - a CONTEXT to begin a snapshot with. Inside of src/tracer/check/ only.
 */
#ifndef SHADOWTRACE_CHECK_SEED_H
#define SHADOWTRACE_CHECK_SEED_H

#include "check/native.h"

#define SEED_BYTES \
    8192 /* larger than any runtime's CONTEXT, which the walk writes to; its size is not checked */

struct seed {
    _Alignas(16) uint8_t context[SEED_BYTES];
};

void seed_set(struct seed *seed, const struct native_registers *registers);

#endif
