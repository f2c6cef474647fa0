/*
 * profiler/reclaim.h - frees what unloaded code leaves behind: its records and metadata, its call
 * paths and sites. Otherwise a server that loads and unloads code would grow without limit.
 *
 * The metadata is freed as a module is unloaded (metadata_module_unloaded). These may still refer
 * to the rest, and are waited for in this order:
 *   tables of records                          metadata_retire() removes the records
 *   tracer threads that copy stacks            metadata_held(), before and after the paths are
 *                                              removed
 *   callbacks that look for a path             those of allocations hold up a collection: one
 *                                              begins after that; others are in a read section:
 *                                              grace_wait()
 *   events in rings and in the writer, counts  log_grace_over()
 *   frames that an exception left behind       stack_any()
 * A thread forgets a cached class or site when it sees the epoch of the unload (alloc.c).
 */
#ifndef SHADOWTRACE_PROFILER_RECLAIM_H
#define SHADOWTRACE_PROFILER_RECLAIM_H

#include "profiler/internal.h"

/* reclaim_poll - the next step, if it can be done. Threads: the resolver. */
void reclaim_poll(struct profiler *p);

#endif
