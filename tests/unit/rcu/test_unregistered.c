/* No thread registers: sections are waited for anyway. */
#include "rcu/grace.h"

#include "base/atomics.h"
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <time.h>

#define NAP_NS 20000000

static _Atomic(bool) waited;

static void *wait_once(void *context)
{
    (void)context;
    grace_wait();
    store_release(&waited, true);
    return NULL;
}

TEST(sections_of_threads_that_do_not_register_are_waited_for)
{
    const struct timespec pause = {0, NAP_NS};
    struct grace_section outer, inner;
    pthread_t waiter;

    grace_register_none();
    outer = grace_enter();
    inner = grace_enter();
    assert_true(outer.counted != GRACE_REGISTERED && inner.counted != GRACE_REGISTERED);
    assert_int_equal(pthread_create(&waiter, NULL, wait_once, NULL), 0);
    grace_leave(inner);
    nanosleep(&pause, NULL);
    assert_false(load_acquire(&waited));
    grace_leave(outer);
    pthread_join(waiter, NULL);
    assert_true(load_acquire(&waited));
}
