/* base/thread.h - starting threads of ours in somebody else's process. */
#ifndef SHADOWTRACE_BASE_THREAD_H
#define SHADOWTRACE_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * thread_start - a thread that gets none of the program's signals: it inherits a mask of all of
 * them.
 * Returns: 0 or -errno. Owns: the caller joins it, or lets it end with the process.
 */
int thread_start(pthread_t *thread, void *(*main)(void *), void *context);

/* thread_await - wait until the thread sets `ended`, or for timeout_ms; looks each millisecond. */
void thread_await(_Atomic(bool) *ended, unsigned timeout_ms);

#endif
