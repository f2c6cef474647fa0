/* check/internal.h - what the files of src/tracer/check/ share: a walker, and what it found. */
#ifndef SHADOWTRACE_CHECK_INTERNAL_H
#define SHADOWTRACE_CHECK_INTERNAL_H

#include "check/check.h"
#include "check/native.h"

#include <pthread.h>

struct check {
    struct check_config config;
    pthread_mutex_t flag_lock; /* guards `walks` and the runtime's flag; never held while walking */
    unsigned walks;            /* under way that need the flag */
};

/* walk.c: one DoStackSnapshot, frames as the runtime reports them */

struct check_code;
struct check_runs;

/* One walker's memory. Threads: one at a time. */
struct check_walk {
    struct check *check;
    struct check_frame *frame; /* leaf first; those that check_counts */
    size_t count, capacity;
    /* The youngest and the oldest reported, whether they count or not; function 0: none. */
    struct check_frame first, last;
    bool failed;             /* memory ran out: the walk was cut short */
    bool whole;              /* all managed frames are kept, whether they count or not */
    struct stack_copied *shadow; /* oldest first: check_walk_copy's */
    size_t shadow_capacity;
    struct check_runs *runs; /* --native; else NULL */
    struct check_code *code; /* registers.c: what lies at return addresses; NULL until asked */
};

int check_walk_init(struct check_walk *walk, struct check *check); /* 0 or -ENOMEM */
void check_walk_fini(struct check_walk *walk);

/*
 * check_walk_run - the snapshot of a thread, 0: the calling one. seed: where it begins, or NULL.
 * Returns: what the runtime says of it.
 */
struct check_seed;
hresult check_walk_run(struct check_walk *walk, uintptr_t thread_id, uint32_t flags,
                       struct check_seed *seed);

/*
 * walk->shadow = the `depth` frames below `top` (stack_settle's) of the calling thread. Returns
 * whether there was memory.
 */
bool check_walk_copy(struct check_walk *walk, const struct frame *top, size_t depth);

/* Are the oldest `count` frames of the walk and of `shadow` (oldest first) of the same methods? */
bool check_walk_agrees(const struct check_walk *walk, const struct stack_copied *shadow,
                       size_t count);

/*
 * Does a comparison look at this snapshot frame? Not at FunctionID 0; with `reduce`, at hooked
 * methods only; never at spared ones.
 */
bool check_counts(const struct check *check, uintptr_t function);

uintptr_t check_function_at(const struct check *check, uintptr_t ip); /* its FunctionID, or 0 */

/* A CONTEXT for a snapshot to begin with. */
#define SEED_BYTES 8192 /* above any runtime's CONTEXT: the walk writes to it without a check */
struct check_seed {
    _Alignas(16) uint8_t context[SEED_BYTES];
};
void check_seed_set(struct check_seed *seed, const struct native_registers *registers);

/*
 * Of the CONTEXT that a StackSnapshotCallback is handed: it is larger in newer runtimes, but what
 * is read here lies where it always did. check_place_of: zeros for NULL.
 */
struct check_place {
    uintptr_t ip, sp, fp;
};
struct check_place check_place_of(const void *context);
void check_registers_of(const void *context, struct native_registers *out);

/*
 * runs.c: --native: what a snapshot shows as FunctionID 0, a run of unmanaged frames, as native
 * frames. A walk notes where each run begins; its frames are looked for only when the snapshot is
 * to be logged.
 */
struct check_runs *check_runs_new(void); /* NULL without libunwind, or without memory */
void check_runs_free(struct check_runs *runs);
void check_runs_begin(struct check_runs *runs); /* a walk begins */

/*
 * check_runs_frame - a frame of a StackSnapshotCallback: function 0 begins a run, any other ends
 * the run before it. `at`: the number of frames of the snapshot so far. `context`: the registers of
 * the frame (NULL: none).
 */
void check_runs_frame(struct check_runs *runs, uintptr_t function, size_t at, const void *context);

/*
 * check_runs_walk - native frames of the runs noted, of the calling thread, whose snapshot has just
 * been taken.
 * Returns: how many; *out is valid until the next walk.
 * May run: in callbacks; asks libunwind and the dynamic loader.
 */
size_t check_runs_walk(struct check_runs *runs, const struct event_native **out);

/*
 * registers.c: check_registers - of equal stacks: the snapshot's registers of each frame beside the
 * frames `shadow` (oldest first, as many as the walk's). Counted in the agreement.
 * Threads: the walker. May run: where the runtime may be asked what code lies at an address.
 */
void check_registers(struct check_walk *walk, const struct stack_copied *shadow);

/*
 * early.c: proof that a walk of the runtime ended before the thread's oldest frame. .NET 8 (and 9
 * with its older exception handling) goes no further than a method in whose finally, run without an
 * exception, a catch has thrown, while another catch of it runs; in that catch itself it does not
 * even begin (E_FAIL).
 *
 * check_ended_early - has the walk of the calling thread met the youngest of its shadow frames
 * (oldest first) and none of the others, or none at all, though all of those are on the machine's
 * stack? The chain of frame pointers, from the last frame of the walk on, or from here, has to lead
 * to each of them, with the return address that its Enter found, and to no other method that a
 * comparison looks at.
 * Threads: the walk's. May run: where the runtime may be asked what code lies at an address.
 * check_ended_early_there - the same of another thread, which is stopped: only of a walk that has
 * met frames.
 */
bool check_ended_early(const struct check_walk *walk, hresult result,
                       const struct stack_copied *shadow, size_t depth);
bool check_ended_early_there(const struct check_walk *walk, const struct stack_copied *shadow,
                             size_t depth);

/*
 * post.c: what a comparison found, as events.
 *
 * check_mismatch_new - both stacks of a difference; native: with native frames of the walk. NULL:
 * no memory.
 * check_mismatch_post - posts it. Returns: the cause.
 * check_snapshot_post - posts the snapshot just taken, after its event. Does nothing if out of
 * memory.
 */
struct event_mismatch *check_mismatch_new(const struct check_walk *walk,
                                          const struct stack_copied *shadow, size_t depth,
                                          hresult result, bool native);
enum agreement_cause check_mismatch_post(struct check *check, struct event_ring *ring,
                                         uint64_t ticks, struct event_mismatch *m);
void check_snapshot_post(const struct check_walk *walk, struct event_ring *ring, uint64_t ticks,
                         hresult result);

/* check.c: what a thread that compares itself keeps */
struct check_thread {
    struct check_walk walk;
    struct check_seed *seed; /* NULL until a walk needs one */
};

/* The record of this stack's thread, created if needed; NULL: out of memory. */
struct check_thread *check_thread_of(struct check *check, struct stack *stack);
struct check_seed *check_thread_seed(struct check_thread *thread); /* NULL: memory ran out */

/* The runtime's snapshot flag, up around walks where it is not up all the time. Threads: any. */
void check_flag(struct check *check, bool up);

#endif
