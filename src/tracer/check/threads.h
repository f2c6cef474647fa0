/*
 * check/threads.h - --check-threads: at a fixed interval, a tracer thread suspends the runtime,
 * walks every managed thread with DoStackSnapshot, copies its shadow stack, and compares the two.
 *
 * Two differences are not mismatches, and are counted separately: a thread stopped between its
 * Leave or Tailcall hook and the return (proof: the frame just above its shadow stack has the same
 * method and the same SP), and a thread inside an exception dispatch or a filter, between two of
 * its reports. A thread that the runtime does not walk is not compared, and is counted with the
 * reason: it is about to stop (E_NOTIMPL), an exception unwinds it, or it is in a region of the
 * runtime that forbids it to be suspended (CORPROF_E_STACKSNAPSHOT_UNSAFE: it aborts another
 * thread).
 */
#ifndef SHADOWTRACE_CHECK_THREADS_H
#define SHADOWTRACE_CHECK_THREADS_H

#include "check/check.h"

struct check_threads;

struct check_threads_config {
    struct clr_info *info; /* borrowed, ICorProfilerInfo10 or later, as are all below */
    struct check *check;
    struct agreement_threads *agreement;
    struct agreement_seeds *seeds;
    struct event_hub *hub;
    uint32_t interval_ms;
};

/* check_threads_new: 0 or -ENOMEM. check_threads_start - the thread: 0 or -errno. */
int check_threads_new(const struct check_threads_config *config, struct check_threads **out);
int check_threads_start(struct check_threads *t);

/* One thread's stack, walked. */
struct check_sample {
    uint32_t os_thread;
    hresult result; /* of the walk */
    size_t count;
    const struct check_frame *frame; /* leaf first; valid until `each` returns */
};

/*
 * check_threads_sample - suspend once, and give `each` the stack of every managed thread, while the
 * runtime is suspended: for a struct that was never started. check_threads_begin, check_threads_end
 * - before the first, behind the last. Returns: 0, or -EAGAIN when the runtime would not stop.
 * Threads: one for all three.
 */
void check_threads_begin(struct check_threads *t);
void check_threads_end(struct check_threads *t);
int check_threads_sample(struct check_threads *t,
                         void (*each)(void *context, const struct check_sample *sample),
                         void *context);

/* check_threads_stop - no walk begins any more; waits for one under way at most timeout_ms. */
void check_threads_stop(struct check_threads *t, unsigned timeout_ms);

/*
 * From ThreadCreated and ThreadDestroyed. The latter waits until a walk of that very thread is
 * over, at most 200 ms: a walk is announced only once the runtime is suspended, for the caller may
 * hold the lock that suspending takes.
 */
void check_threads_created(struct check_threads *t, uintptr_t thread_id);
void check_threads_destroyed(struct check_threads *t, uintptr_t thread_id);

#endif
