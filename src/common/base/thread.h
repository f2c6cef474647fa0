/* base/thread.h - starting the tracer's threads in the traced process. */
#ifndef SHADOWTRACE_BASE_THREAD_H
#define SHADOWTRACE_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * thread_start - a thread that gets none of the program's signals: it inherits a mask of all but
 * those that its own faults raise, and the runtime's for a thread in managed code.
 * Returns: 0 or -errno. Owns: the caller joins it, or lets it end with the process.
 */
int thread_start(pthread_t *thread, void *(*main)(void *), void *context);

/* thread_join - until one of these has ended, unless thread_join_all has waited for it. */
void thread_join(pthread_t thread);

/*
 * thread_join_all - waits until all threads that thread_start has started have ended, to their last
 * instruction: before their code is unloaded. None of them is detached, or joined other than by
 * thread_join. There are at most THREADS_JOINED. Threads: any other.
 */
#define THREADS_JOINED 16
void thread_join_all(void);

/*
 * thread_is_ready - whether the thread of this process with that gettid() runs, or waits for a
 * processor: state R in proc_pid_stat(5). Returns: false, too: nobody knows. Threads: any.
 */
bool thread_is_ready(pid_t thread);

/* thread_await - wait until the thread sets `ended`, or for timeout_ms; looks each millisecond. */
void thread_await(_Atomic(bool) *ended, unsigned timeout_ms);

#endif
