#include "base/gate.h"

#include "base/clock.h"
#include "support/test.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

#define NS_PER_MS UINT64_C(1000000)

static struct gate gate;
static _Atomic(bool) at_work, done;

static int setup(void **state)
{
    (void)state;
    gate = (struct gate){0};
    store_relaxed(&at_work, false);
    store_relaxed(&done, false);
    return 0;
}

TEST_EACH(setup, NULL);

TEST(it_is_entered_again_and_again)
{
    for (int i = 0; i < 3; i++) {
        assert_true(gate_enter(&gate));
        gate_leave(&gate);
    }
}

TEST(nobody_enters_once_it_is_closed)
{
    assert_true(gate_close(&gate, 0));
    assert_false(gate_enter(&gate));
    assert_true(gate_close(&gate, 0)); /* once more is harmless */
}

static void *work(void *arg)
{
    (void)arg;
    assert_true(gate_enter(&gate));
    store_release(&at_work, true);
    usleep(20000);
    store_release(&done, true);
    gate_leave(&gate);
    return NULL;
}

TEST(closing_waits_for_whoever_is_inside)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    while (!load_acquire(&at_work))
        usleep(100);
    assert_true(gate_close(&gate, UINT64_C(120000) * NS_PER_MS));
    assert_true(load_acquire(&done));
    assert_false(gate_enter(&gate));
    pthread_join(thread, NULL);
}

TEST(closing_gives_up_on_one_who_stays)
{
    uint64_t before = clock_ns();

    assert_true(gate_enter(&gate));
    assert_false(gate_close(&gate, 20 * NS_PER_MS));
    assert_true(clock_ns() - before >= 20 * NS_PER_MS);
    gate_leave(&gate);
    assert_true(gate_close(&gate, 0));
}
