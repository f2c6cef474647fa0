#include "command/reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define GB 1000000000u

static void the_bar_grows_with_what_was_read(void **state)
{
    char text[120];

    (void)state;
    reading_bar(text, sizeof(text), GB / 2, GB, 2 * (uint64_t)GB);
    assert_string_equal(text, "reading [###############...............]  50% of 1.0 GB, 2 s left");
    reading_bar(text, sizeof(text), GB, GB, 3 * (uint64_t)GB);
    assert_string_equal(text, "reading [##############################] 100% of 1.0 GB, 0 s left");
    reading_bar(text, sizeof(text), 0, GB, GB);
    assert_string_equal(text, "reading [..............................]   0% of 1.0 GB");
    reading_bar(text, sizeof(text), 2 * (uint64_t)GB, GB, GB); /* it grew meanwhile */
    assert_string_equal(text, "reading [##############################] 100% of 1.0 GB, 0 s left");
}

static void a_pipe_has_no_bar_but_an_amount(void **state)
{
    char text[120];

    (void)state;
    reading_bar(text, sizeof(text), GB, 0, GB);
    assert_string_equal(text, "reading: 1.0 GB");
}

static void jobs_are_a_small_number(void **state)
{
    struct reading_options options = {0, false};

    (void)state;
    assert_true(reading_threads(&options) >= 1 && reading_threads(&options) <= 8);
    options.jobs = 3;
    assert_int_equal(reading_threads(&options), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bar_grows_with_what_was_read),
        cmocka_unit_test(a_pipe_has_no_bar_but_an_amount),
        cmocka_unit_test(jobs_are_a_small_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
