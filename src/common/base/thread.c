#include "base/thread.h"

#include "base/atomics.h"

#include <signal.h>
#include <time.h>

int thread_start(pthread_t *thread, void *(*main)(void *), void *context)
{
    sigset_t all, before;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(thread, NULL, main, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

void thread_await(_Atomic(bool) *ended, unsigned timeout_ms)
{
    const struct timespec step = {0, 1000000};

    for (unsigned i = 0; i < timeout_ms && !load_acquire(ended); i++)
        nanosleep(&step, NULL);
}
