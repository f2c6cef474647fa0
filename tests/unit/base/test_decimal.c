/* Numbers as digits, beside what the C library prints. */
#include "base/decimal.h"
#include "support/test.h"

#include <inttypes.h>
#include <stdio.h>

static void same_as_printf(uint64_t value)
{
    char text[DECIMAL_ROOM + 2], expected[32];
    char *end;

    memset(text, '#', sizeof(text));
    end = decimal_put(text, value);
    assert_true(end <= text + DECIMAL_ROOM);
    assert_int_equal(text[DECIMAL_ROOM], '#'); /* nothing behind the room is touched */
    *end = '\0';
    snprintf(expected, sizeof(expected), "%" PRIu64, value);
    assert_string_equal(text, expected);
}

/* The two halves of eight digits do not meet, so all values of each are all there is. */
TEST(all_fours_of_digits_are_right)
{
    for (uint32_t four = 0; four < 10000; four++) {
        same_as_printf(four);
        same_as_printf(four * UINT64_C(10000));
        same_as_printf(four * UINT64_C(10000) + 9999 - four);
    }
}

TEST(numbers_of_every_length_are_right)
{
    uint64_t power = 1;

    for (unsigned digits = 1; digits <= 20; digits++, power *= 10) {
        same_as_printf(power - 1);
        same_as_printf(power);
        same_as_printf(power + 1);
        same_as_printf(power / 7 * 5 + 3);
    }
    same_as_printf(UINT64_MAX);
    same_as_printf(UINT64_MAX - 1);
    same_as_printf(UINT64_C(1) << 53);
}
