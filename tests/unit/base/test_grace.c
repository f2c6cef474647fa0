/* Grace periods: what a section reached is there until it ends, and nobody has to announce himself. */
#include "base/grace.h"

#include "base/atomics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#define READERS 4
#define ROUNDS  2000
#define NAP_NS  20000000

static void nap(void)
{
    const struct timespec pause = {0, NAP_NS};

    nanosleep(&pause, NULL);
}

static _Atomic(bool) waited;

static void *wait_once(void *arg)
{
    (void)arg;
    grace_wait();
    store_release(&waited, true);
    return NULL;
}

static void an_open_section_is_waited_for_and_a_nested_one_too(void **state)
{
    struct grace_section outer = grace_enter(), inner = grace_enter();
    pthread_t waiter;

    (void)state;
    store_relaxed(&waited, false);
    assert_int_equal(pthread_create(&waiter, NULL, wait_once, NULL), 0);
    nap();
    assert_false(load_acquire(&waited));
    grace_leave(inner);
    nap();
    assert_false(load_acquire(&waited));
    grace_leave(outer);
    pthread_join(waiter, NULL);
    assert_true(load_acquire(&waited));
}

static _Atomic(bool) over;

/* Always in one section or another. */
static void *overlap(void *arg)
{
    struct grace_section one = grace_enter();

    (void)arg;
    while (!load_relaxed(&over)) {
        struct grace_section next = grace_enter();

        grace_leave(one);
        one = next;
    }
    grace_leave(one);
    return NULL;
}

static void sections_that_begin_later_are_not_waited_for(void **state)
{
    pthread_t reader[READERS];

    (void)state;
    store_relaxed(&over, false);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, overlap, NULL), 0);
    for (unsigned i = 0; i < 20; i++)
        grace_wait();
    store_relaxed(&over, true);
    for (unsigned i = 0; i < READERS; i++)
        pthread_join(reader[i], NULL);
}

struct thing {
    _Atomic(uint32_t) whole;
};

static _Atomic(struct thing *) published;

static void *read_all(void *arg)
{
    size_t *torn = arg;

    while (!load_relaxed(&over)) {
        struct grace_section section = grace_enter();
        struct thing *thing = load_acquire(&published);

        for (unsigned i = 0; i < 20; i++)
            *torn += load_relaxed(&thing->whole) != 1;
        grace_leave(section);
    }
    return NULL;
}

/* The negative control is the second half: without the wait, readers do see it. */
static size_t seen_torn(bool waiting)
{
    static struct thing things[2];
    size_t torn[READERS] = {0}, sum = 0;
    pthread_t reader[READERS];

    store_relaxed(&things[0].whole, 1);
    store_relaxed(&published, &things[0]);
    store_relaxed(&over, false);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, read_all, &torn[i]), 0);
    for (unsigned round = 1; round < (waiting ? ROUNDS : 50 * ROUNDS); round++) {
        store_relaxed(&things[round % 2].whole, 1);
        store_release(&published, &things[round % 2]);
        if (waiting)
            grace_wait();
        store_relaxed(&things[!(round % 2)].whole, 0);
    }
    store_relaxed(&over, true);
    for (unsigned i = 0; i < READERS; i++) {
        pthread_join(reader[i], NULL);
        sum += torn[i];
    }
    return sum;
}

static void what_is_taken_back_is_out_of_sight_after_the_wait(void **state)
{
    (void)state;
    assert_int_equal(seen_torn(true), 0);
    assert_int_not_equal(seen_torn(false), 0);
}

static void *one_section(void *arg)
{
    (void)arg;
    grace_leave(grace_enter());
    return NULL;
}

static void threads_that_have_ended_leave_nothing_behind(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, one_section, NULL), 0);
        pthread_join(thread, NULL);
    }
    grace_wait();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_section_is_waited_for_and_a_nested_one_too),
        cmocka_unit_test(sections_that_begin_later_are_not_waited_for),
        cmocka_unit_test(what_is_taken_back_is_out_of_sight_after_the_wait),
        cmocka_unit_test(threads_that_have_ended_leave_nothing_behind),
    };

    return cmocka_run_group_tests_name("grace", tests, NULL, NULL);
}
