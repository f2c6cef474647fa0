/*
 * Nothing here asserts that something is quick: an unpark that was lost shows as a sleep that lasts
 * its whole, very long timeout.
 */
#include "base/clock.h"
#include "base/parker.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#define LONG_NS UINT64_C(120000000000) /* a wait takes that long only if an unpark is lost */
#define ROUNDS  20000u

/* Returns whether the sleep was ended by somebody. */
static bool woken(struct parker *w)
{
    uint64_t from = clock_ns();

    parker_park(w, LONG_NS);
    return clock_ns() - from < LONG_NS;
}

TEST(an_unpark_before_the_park_ends_it_at_once)
{
    struct parker w = {0};

    parker_unpark(&w);
    assert_true(woken(&w));
}

TEST(many_unparks_before_the_park_end_one)
{
    struct parker w = {0};
    uint64_t from;

    for (int i = 0; i < 3; i++)
        parker_unpark(&w);
    assert_true(woken(&w));
    from = clock_ns();
    parker_park(&w, 20000000);
    assert_true(clock_ns() - from >= 20000000);
}

TEST(a_park_that_nobody_ends_lasts_its_timeout)
{
    struct parker w = {0};
    uint64_t from = clock_ns();

    parker_park(&w, 20000000);
    assert_true(clock_ns() - from >= 20000000);
    parker_park(&w, 0); /* no time at all is fine */
    parker_unpark(&w);  /* and a sleep that timed out leaves nothing behind */
    assert_true(woken(&w));
}

TEST(unparking_keeps_errno)
{
    struct parker w = {0};

    store_relaxed(&w.word, 1); /* as if somebody slept: the system call is made */
    errno = 12345;
    parker_unpark(&w);
    assert_int_equal(errno, 12345);
}

/* Two threads hand a number back and forth; each sleeps until it is its turn. */
struct table {
    struct parker side[2];
    _Atomic(unsigned) turn;
    _Atomic(unsigned) lost;
};
struct player {
    struct table *table;
    unsigned side;
};

static void *play(void *context)
{
    struct player *player = context;
    struct table *t = player->table;

    for (unsigned round = player->side; round < ROUNDS; round += 2) {
        while (load_acquire(&t->turn) != round)
            if (!woken(&t->side[player->side])) {
                add_relaxed(&t->lost, 1);
                return NULL;
            }
        store_release(&t->turn, round + 1);
        parker_unpark(&t->side[!player->side]);
    }
    return NULL;
}

TEST(no_unpark_is_lost_between_two_threads)
{
    struct table table = {0};
    struct player players[2] = {{&table, 0}, {&table, 1}};
    pthread_t other;

    assert_int_equal(pthread_create(&other, NULL, play, &players[1]), 0);
    play(&players[0]);
    pthread_join(other, NULL);
    assert_int_equal(load_relaxed(&table.lost), 0);
    assert_int_equal(load_relaxed(&table.turn), ROUNDS);
}
