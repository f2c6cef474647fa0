/* Which places grow, by looks that are made up. */
#include "log/grows.h"

#include "support/test.h"

static struct grows *grows;

static int begin(void **state)
{
    (void)state;
    return grows_new(5, &grows);
}

static int end(void **state)
{
    (void)state;
    grows_free(grows);
    grows = NULL;
    return 0;
}

TEST_EACH(begin, end);

static void note(uint32_t key, uint32_t method)
{
    assert_int_equal(grows_note(grows, key, &(struct grows_place){method, 7, 1}), 0);
}

/* Keys 1 to count, each a different site, that do not change. */
static void note_steady(uint32_t count)
{
    for (uint32_t key = 1; key <= count; key++)
        note(key, key);
}

/* A look: the steady ones have 100 each; behind them keys as they are given. */
static void look(uint32_t steady, const uint32_t *alive, const uint32_t *went, uint32_t count)
{
    grows_begin(grows);
    for (uint32_t key = 1; key <= steady; key++)
        grows_add(grows, key, 100, 0);
    for (uint32_t i = 0; i < count; i++)
        grows_add(grows, steady + 1 + i, alive[i], went ? went[i] : 0);
    grows_end(grows);
}

static void look_one(uint32_t alive, uint32_t went)
{
    look(99, &alive, &went, 1);
}

TEST(a_place_that_rises_at_each_of_five_looks_grows)
{
    note_steady(100);
    for (uint32_t i = 0; i < 5; i++) { /* the first look has none before it */
        look_one(100 + 10 * i, 0);
        assert_null(grows_at(grows, 0));
    }
    look_one(150, 0);
    assert_int_equal(grows_at(grows, 0)->key, 100);
    assert_int_equal(grows_at(grows, 0)->looks, 5);
    assert_int_equal(grows_at(grows, 0)->objects, 50);
    assert_null(grows_at(grows, 1));
    look_one(160, 0);
    assert_int_equal(grows_at(grows, 0)->looks, 6);
    assert_int_equal(grows_at(grows, 0)->objects, 60);
}

TEST(one_look_without_more_begins_anew)
{
    note_steady(100);
    for (uint32_t i = 0; i < 7; i++)
        look_one(100 + 10 * i, 0);
    assert_non_null(grows_at(grows, 0));
    look_one(160, 0);
    assert_null(grows_at(grows, 0));
    for (uint32_t i = 1; i < 5; i++)
        look_one(160 + i, 0);
    assert_null(grows_at(grows, 0));
    look_one(165, 0);
    assert_int_equal(grows_at(grows, 0)->objects, 5);
}

TEST(a_cache_that_fills_more_and_more_slowly_does_not_grow)
{
    note_steady(100);
    for (uint32_t i = 0, alive = 0, more = 4096; i < 10; i++, more /= 2) {
        look_one(alive += more, 0);
        assert_null(grows_at(grows, 0));
    }
}

TEST(objects_that_are_replaced_do_not_grow)
{
    note_steady(100);
    for (uint32_t i = 0; i < 10; i++) { /* each of those that a look found is dead at the next */
        look_one(100 + i, 100 * i);
        assert_null(grows_at(grows, 0));
    }
}

TEST(what_died_before_it_rose_does_not_count)
{
    note_steady(100);
    look_one(100, 0);
    look_one(90, 5000);
    for (uint32_t i = 1; i < 5; i++)
        look_one(90 + 10 * i, 5000);
    look_one(140, 5049);
    assert_non_null(grows_at(grows, 0));
    look_one(150, 5060);
    assert_null(grows_at(grows, 0));
}

TEST(call_paths_and_code_that_is_compiled_again_are_one_place)
{
    uint32_t alive[2] = {0, 0};

    note_steady(100);
    note(101, 100);
    for (uint32_t i = 0; i < 6; i++) { /* none of both rises each time */
        alive[i & 1] += 10;
        look(99, alive, NULL, 2);
    }
    assert_int_equal(grows_at(grows, 0)->objects, 50);
    assert_null(grows_at(grows, 1));
}

TEST(a_program_that_comes_to_new_places_builds_something_up)
{
    uint32_t alive[41] = {0};

    note_steady(100);
    for (uint32_t i = 0; i < 20; i++) {
        note(101 + 2 * i, 101 + 2 * i);
        note(102 + 2 * i, 102 + 2 * i);
        alive[0] += 10;
        look(99, alive, NULL, 41);
        assert_null(grows_at(grows, 0));
    }
    for (uint32_t i = 0; i < 5; i++) {
        alive[0] += 10;
        look(99, alive, NULL, 41);
    }
    assert_int_equal(grows_at(grows, 0)->looks, 24);
}

/* `risers` of all sites rise at each of six looks. */
static void rise(uint32_t all, uint32_t risers)
{
    uint32_t alive[200] = {0};

    note_steady(all);
    for (uint32_t i = 0; i < 6; i++) {
        for (uint32_t k = 0; k < risers; k++)
            alive[k] += 10 + k;
        look(all - risers, alive, NULL, risers);
    }
}

TEST(many_places_that_grow_at_once_are_a_program_that_fills)
{
    rise(2000, 11);
    assert_null(grows_at(grows, 0));
}

TEST(ten_places_are_told_of_the_one_that_has_grown_most_first)
{
    rise(2000, 10);
    assert_int_equal(grows_at(grows, 0)->key, 2000);
    assert_int_equal(grows_at(grows, 9)->key, 1991);
    assert_null(grows_at(grows, 10));
}

TEST(no_more_are_told_of_than_there_is_room_for)
{
    rise(20000, 100);
    for (uint32_t i = 0; i < GROWS_MOST; i++)
        assert_int_equal(grows_at(grows, i)->key, 20000 - i);
    assert_null(grows_at(grows, GROWS_MOST));
}

TEST(nothing_grows_if_nobody_asks)
{
    grows_free(grows);
    assert_int_equal(grows_new(0, &grows), 0);
    rise(2000, 10);
    assert_null(grows_at(grows, 0));
}
