#include "base/atomics.h"
#include "base/clock.h"
#include "base/thread.h"
#include "support/test.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static sigset_t seen;
static _Atomic(bool) ended;

static void *note_mask(void *context)
{
    (void)context;
    pthread_sigmask(SIG_SETMASK, NULL, &seen);
    store_release(&ended, true);
    return NULL;
}

static bool is_own(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGTRAP || signal == SIGRTMIN;
}

TEST(a_thread_of_ours_blocks_every_signal_but_its_own)
{
    sigset_t before, after;
    pthread_t thread;

    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(thread_start(&thread, note_mask, NULL), 0);
    thread_await(&ended, 120000);
    assert_true(load_acquire(&ended));
    thread_join_all();
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int i = 1; i < SIGRTMAX; i++) {
        if (i != SIGKILL && i != SIGSTOP && (i < 32 || i >= SIGRTMIN))
            assert_int_equal(sigismember(&seen, i), !is_own(i));
        assert_int_equal(sigismember(&before, i), sigismember(&after, i));
    }
}

TEST(waiting_for_a_thread_has_an_end)
{
    _Atomic(bool) never = false;
    uint64_t from = clock_ns();

    thread_await(&never, 20);
    assert_true(clock_ns() - from >= 20000000);
}

static int os;

static void *note_os(void *context)
{
    (void)context;
    os = gettid();
    store_release(&ended, true);
    pause();
    return NULL;
}

TEST(whether_a_thread_could_run_is_known)
{
    pthread_t thread;

    assert_true(thread_is_ready(gettid()));
    assert_false(thread_is_ready(0));
    store_relaxed(&ended, false);
    assert_int_equal(pthread_create(&thread, NULL, note_os, NULL), 0);
    thread_await(&ended, 120000);
    for (int i = 0; i < 120000 && thread_is_ready(os); i++) /* until it pauses */
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_false(thread_is_ready(os));
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    assert_false(thread_is_ready(os));
}
