#include "base/thread.h"

#include "base/atomics.h"
#include "base/process.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

#define STACK_BYTES \
    ((size_t)1536 << 10) /* at least: musl's default is 128 KiB. As .NET's on musl */

static struct {
    pthread_t thread;
    _Atomic(bool) started, joined;
} threads[THREADS_JOINED]; /* the first ones */
static _Atomic(unsigned) count;

/*
 * The tracer's threads run the program's code, too: its handlers, when a session begins. The
 * runtime makes exceptions of these faults, and stops a thread in managed code with SIGRTMIN
 * (INJECT_ACTIVATION_SIGNAL, pal/src/include/pal/process.h).
 */
static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};

static void block_others(sigset_t *before)
{
    sigset_t set;

    sigfillset(&set);
    for (size_t i = 0; i < COUNT_OF(own_signals); i++)
        sigdelset(&set, own_signals[i]);
    sigdelset(&set, SIGRTMIN);
    pthread_sigmask(SIG_SETMASK, &set, before);
}

int thread_start(pthread_t *thread, void *(*main)(void *), void *context)
{
    sigset_t before;
    pthread_attr_t attributes;
    size_t room = 0;
    unsigned at;
    int err = pthread_attr_init(&attributes);

    if (err)
        return -err;
    if (!pthread_attr_getstacksize(&attributes, &room) && room < STACK_BYTES)
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
    block_others(&before);
    err = pthread_create(thread, &attributes, main, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
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

bool thread_is_ready(pid_t thread)
{
    struct process_stat stat;
    char which[24];

    snprintf(which, sizeof(which), "self/task/%d", (int)thread);
    return process_stat_read(which, &stat) && stat.state == 'R';
}

void thread_await(_Atomic(bool) *ended, unsigned timeout_ms)
{
    const struct timespec step = {0, 1000000};

    for (unsigned i = 0; i < timeout_ms && !load_acquire(ended); i++)
        nanosleep(&step, NULL);
}
