/*
 * check/runs.h - --native: what a snapshot shows as FunctionID 0, a run of unmanaged frames, as native frames.
 * A walk notes where each run begins; the frames are looked for only when the snapshot is to be logged. Inside of
 * src/tracer/check/ only.
 */
#ifndef SHADOWTRACE_CHECK_RUNS_H
#define SHADOWTRACE_CHECK_RUNS_H

#include "event/event.h"

struct check_runs;

struct check_runs *check_runs_new(void); /* NULL without libunwind, or without memory */
void check_runs_free(struct check_runs *runs);
void check_runs_begin(struct check_runs *runs); /* a walk begins */

/*
 * check_runs_frame - what a StackSnapshotCallback is told: function 0 begins a run, any other ends the one before.
 * `at` is how many frames of the snapshot there are so far, `context` the registers of the frame (NULL: none).
 */
void check_runs_frame(struct check_runs *runs, uintptr_t function, size_t at, const void *context);

/*
 * check_runs_walk - native frames of the runs noted, of the calling thread, whose snapshot has just been taken.
 * Returns: how many; *out is valid until the next walk.
 * May run: in callbacks; asks libunwind and the dynamic loader.
 */
size_t check_runs_walk(struct check_runs *runs, const struct event_native **out);

#endif
