#include "base/thread.h"

#include "base/atomics.h"

#include <signal.h>
#include <time.h>

static struct {
    pthread_t thread;
    _Atomic(bool) started, joined;
} threads[THREADS_JOINED]; /* the first ones */
static _Atomic(unsigned) count;

int thread_start(pthread_t *thread, void *(*main)(void *), void *context)
{
    sigset_t all, before;
    unsigned at;
    int err;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(thread, NULL, main, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!err && (at = add_relaxed(&count, 1)) < THREADS_JOINED) {
        threads[at].thread = *thread;
        store_release(&threads[at].started, true);
    }
    return -err;
}

static void join(unsigned at)
{
    if (load_acquire(&threads[at].started) && !atomic_exchange(&threads[at].joined, true))
        pthread_join(threads[at].thread, NULL);
}

void thread_join(pthread_t thread)
{
    for (unsigned at = THREADS_JOINED; at-- > 0;) /* a number may come again, once it was joined */
        if (load_acquire(&threads[at].started) && pthread_equal(threads[at].thread, thread)) {
            join(at);
            return;
        }
    pthread_join(thread, NULL);
}

void thread_join_all(void)
{
    for (unsigned at = 0; at < THREADS_JOINED; at++)
        join(at);
}

void thread_await(_Atomic(bool) *ended, unsigned timeout_ms)
{
    const struct timespec step = {0, 1000000};

    for (unsigned i = 0; i < timeout_ms && !load_acquire(ended); i++)
        nanosleep(&step, NULL);
}
