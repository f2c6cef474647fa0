#include "base/turn.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#define NS_PER_MS UINT64_C(1000000)

static struct turn turn;
static _Atomic(bool) at_work, done;

static int setup(void **state)
{
    (void)state;
    turn = (struct turn){0};
    store_relaxed(&at_work, false);
    store_relaxed(&done, false);
    return 0;
}

static void after_a_turn_comes_another(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(turn_begin(&turn));
        turn_end(&turn);
    }
}

static void none_begins_once_it_is_stopped(void **state)
{
    (void)state;
    assert_true(turn_stop(&turn, 0));
    assert_false(turn_begin(&turn));
    assert_true(turn_stop(&turn, 0)); /* once more is harmless */
}

static void *work(void *arg)
{
    (void)arg;
    assert_true(turn_begin(&turn));
    store_release(&at_work, true);
    usleep(20000);
    store_release(&done, true);
    turn_end(&turn);
    return NULL;
}

static void one_under_way_is_waited_for(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
    while (!load_acquire(&at_work))
        usleep(100);
    assert_true(turn_stop(&turn, UINT64_C(120000) * NS_PER_MS));
    assert_true(load_acquire(&done));
    assert_false(turn_begin(&turn));
    pthread_join(thread, NULL);
}

static void one_that_does_not_end_is_given_up(void **state)
{
    uint64_t before = clock_ns();

    (void)state;
    assert_true(turn_begin(&turn));
    assert_false(turn_stop(&turn, 20 * NS_PER_MS));
    assert_true(clock_ns() - before >= 20 * NS_PER_MS);
    turn_end(&turn);
    assert_true(turn_stop(&turn, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(after_a_turn_comes_another, setup),
        cmocka_unit_test_setup(none_begins_once_it_is_stopped, setup),
        cmocka_unit_test_setup(one_under_way_is_waited_for, setup),
        cmocka_unit_test_setup(one_that_does_not_end_is_given_up, setup),
    };

    return cmocka_run_group_tests_name("base/turn", tests, NULL, NULL);
}
