/* profiler/wire.h - makes the rooms, in the order in which they need each other. */
#ifndef SHADOWTRACE_PROFILER_WIRE_H
#define SHADOWTRACE_PROFILER_WIRE_H

#include "profiler/internal.h"

/* All but the runtime's side. Returns: 0, or -1 with why. */
int wire(struct profiler *p, char *why, size_t size);

/* Is the snapshot flag always up? It slows ELT2's hooks: there only if every allocation walks. */
bool wire_snapshot_flag(const struct profiler *p);

#endif
