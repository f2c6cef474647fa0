/* Grace periods: what a section reached is there until it ends, and nobody has to announce himself. */
#include "rcu/grace.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define READERS 4
#define ROUNDS  2000
#define NAP_NS  20000000
#define PATIENCE_NS \
    UINT64_C(120000000000) /* until something that must happen is taken not to happen */

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

TEST(an_open_section_is_waited_for_and_a_nested_one_too)
{
    struct grace_section outer = grace_enter(), inner = grace_enter();
    pthread_t waiter;

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

/* In one section after another. */
static void *one_after_another(void *arg)
{
    (void)arg;
    while (!load_relaxed(&over))
        grace_leave(grace_enter());
    return NULL;
}

TEST(sections_that_begin_later_are_not_waited_for)
{
    pthread_t reader[READERS];

    store_relaxed(&over, false);
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, one_after_another, NULL), 0);
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
static _Atomic(unsigned) reading;
static bool
    yielding; /* readers give way in their sections: on one processor, too, somebody runs meanwhile */

static void *read_all(void *arg)
{
    size_t *torn = arg;

    add_relaxed(&reading, 1);
    while (!load_relaxed(&over)) {
        struct grace_section section = grace_enter();
        struct thing *thing = load_acquire(&published);

        for (unsigned i = 0; i < 500; i++) {
            if (i == 250 && yielding)
                sched_yield();
            *torn += load_relaxed(&thing->whole) != 1;
        }
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
    store_relaxed(&reading, 0);
    yielding = !waiting;
    for (unsigned i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&reader[i], NULL, read_all, &torn[i]), 0);
    while (!waiting && load_relaxed(&reading) < READERS)
        sched_yield();
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

TEST(what_is_taken_back_is_out_of_sight_after_the_wait)
{
    uint64_t until = clock_ns() + PATIENCE_NS;
    size_t seen = 0;

    assert_int_equal(seen_torn(true), 0);
    while (!seen && clock_ns() < until)
        seen = seen_torn(false);
    assert_int_not_equal(seen, 0);
}

static void *one_section(void *arg)
{
    (void)arg;
    grace_leave(grace_enter());
    return NULL;
}

TEST(threads_that_have_ended_leave_nothing_behind)
{
    for (unsigned i = 0; i < 1000; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, one_section, NULL), 0);
        pthread_join(thread, NULL);
    }
    grace_wait();
}

static pthread_key_t keys[1];

/* A section in destructors too, later than ours. */
static void section_at_the_end(void *value)
{
    grace_leave(grace_enter());
    if (*(unsigned *)value && --*(unsigned *)value)
        pthread_setspecific(keys[0], value);
}

static void *ends_in_sections(void *value)
{
    pthread_setspecific(keys[0], value);
    grace_leave(grace_enter());
    return NULL;
}

TEST(sections_of_ending_threads_are_waited_for_too)
{
    assert_int_equal(pthread_key_create(&keys[0], section_at_the_end), 0);
    for (unsigned i = 0; i < 200; i++) {
        unsigned rounds = i % 6;
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, ends_in_sections, &rounds), 0);
        pthread_join(thread, NULL);
        grace_wait(); /* walks the registered threads: none of those may be on it any more */
    }
    assert_int_equal(pthread_key_delete(keys[0]), 0);
}
