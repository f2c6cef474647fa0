/*
 * profiler/reclaim.h - what code that was unloaded has left is given back: its records and
 * metadata, its call paths and sites. A server that loads and unloads all day would grow for ever.
 *
 * The metadata goes as a module is unloaded (metadata_module_unloaded). What may still name the
 * rest, and how that is waited for, in this order:
 *   tables of records                          metadata_retire() takes it off them
 *   threads of ours that copy stacks           metadata_held(), before and after the paths are
 *   taken off callbacks that look for a path             those of allocations hold up a
 *   collection: one begins after that;
 *                                              others are in a read section: grace_wait()
 *   events in rings and in the writer, counts  log_grace_over()
 *   frames that an exception left behind       stack_any()
 * A class or a site that a thread remembers is forgotten by it when it sees the epoch of the
 * unload (alloc.c).
 */
#ifndef SHADOWTRACE_PROFILER_RECLAIM_H
#define SHADOWTRACE_PROFILER_RECLAIM_H

#include "profiler/internal.h"

/* reclaim_poll - the next step, if it can be done. Threads: the resolver. */
void reclaim_poll(struct profiler *p);

#endif
