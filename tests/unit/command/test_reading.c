#include "command/reading.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

#define GB 1000000000u

TEST(the_bar_grows_with_what_was_read)
{
    char text[120];

    reading_bar(text, sizeof(text), GB / 2, GB, 2 * (uint64_t)GB);
    assert_string_equal(text, "reading [###############...............]  50% of 1.0 GB, 2 s left");
    reading_bar(text, sizeof(text), GB, GB, 3 * (uint64_t)GB);
    assert_string_equal(text, "reading [##############################] 100% of 1.0 GB, 0 s left");
    reading_bar(text, sizeof(text), 0, GB, GB);
    assert_string_equal(text, "reading [..............................]   0% of 1.0 GB");
    reading_bar(text, sizeof(text), 2 * (uint64_t)GB, GB, GB); /* it grew meanwhile */
    assert_string_equal(text, "reading [##############################] 100% of 1.0 GB, 0 s left");
}

TEST(a_pipe_has_no_bar_but_an_amount)
{
    char text[120];

    reading_bar(text, sizeof(text), GB, 0, GB);
    assert_string_equal(text, "reading: 1.0 GB");
}

TEST(jobs_are_a_small_number)
{
    struct reading_options options = {.jobs = 0};

    assert_true(reading_threads(&options) >= 1 && reading_threads(&options) <= 8);
    options.jobs = 3;
    assert_int_equal(reading_threads(&options), 3);
}
