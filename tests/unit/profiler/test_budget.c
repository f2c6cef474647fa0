#include "profiler/budget.h"

#include "support/test.h"

#define SECOND UINT64_C(1000000000)

static const struct options options = {.budget = 1, .sample = 102400};

static struct budget b;
static struct budget_cost now;

static int setup(void **state)
{
    (void)state;
    b = (struct budget){.calm = 0};
    now = (struct budget_cost){.samples_ns = 0};
    return 0;
}

TEST_EACH(setup, NULL);

/* After this much CPU time of the program, in one second. */
static uint64_t look(uint64_t mean, uint64_t samples, uint64_t threads, uint64_t all)
{
    now.samples_ns += samples;
    now.threads_ns += threads;
    now.all_ns += all;
    now.wall_ns += SECOND;
    return budget_next(&b, &options, mean, &now);
}

TEST(the_mean_rises_where_samples_take_more_than_they_may)
{
    assert_int_equal(look(102400, SECOND / 90, 0, SECOND), 204800);
    assert_int_equal(look(204800, SECOND / 110, 0, SECOND), 204800);
    assert_int_equal(look(204800, SECOND, 0, SECOND), 409600);
}

TEST(what_our_threads_take_in_any_case_is_no_cost_of_samples)
{
    assert_int_equal(look(102400, 0, SECOND / 50, SECOND), 102400);
    assert_int_equal(look(102400, 0, SECOND / 50, SECOND), 102400);
    assert_int_equal(look(102400, 0, SECOND / 20, SECOND), 204800); /* 3 % more than that */
}

TEST(too_little_time_is_judged_with_what_comes_next)
{
    assert_int_equal(look(102400, SECOND / 10, 0, SECOND / 10), 102400);
    assert_int_equal(look(102400, 0, 0, SECOND), 204800);
}

TEST(it_falls_again_after_a_while_but_not_below_what_was_asked_for)
{
    for (unsigned i = 1; i < BUDGET_CALM; i++)
        assert_int_equal(look(409600, 0, 0, SECOND), 409600);
    assert_int_equal(look(409600, 0, 0, SECOND), 204800);
    for (unsigned i = 0; i < 3 * BUDGET_CALM; i++)
        assert_int_equal(look(102400, 0, 0, SECOND), 102400);
}

TEST(a_look_that_finds_more_begins_the_wait_anew)
{
    for (unsigned i = 1; i < BUDGET_CALM; i++)
        look(204800, 0, 0, SECOND);
    assert_int_equal(look(204800, SECOND / 200, 0, SECOND), 204800);
    assert_int_equal(look(204800, 0, 0, SECOND), 204800);
}

TEST(there_is_a_highest_mean)
{
    assert_int_equal(look(BUDGET_MOST, SECOND, 0, SECOND), BUDGET_MOST);
}
