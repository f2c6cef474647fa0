#include "base/utf8.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

TEST(utf8_is_told_from_other_bytes)
{
    static const char *const bad[] = {
        "\x80", "\xc1\xbf", "\xe0\x9f\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xc3", "\xe2\x82", "\xf0\x9f\x8c", "\xff"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(utf8_length(bad[i]), 0);
    assert_int_equal(utf8_length(""), 0);
    assert_int_equal(utf8_length("a"), 1);
    assert_int_equal(utf8_length("\xc2\x80"), 2);
    assert_int_equal(utf8_length("\xed\x9f\xbf"), 3);
    assert_int_equal(utf8_length("\xf4\x8f\xbf\xbf"), 4);
}

TEST(a_step_tells_how_much_is_damaged)
{
    assert_int_equal(utf8_step("a", 1), 1);
    assert_int_equal(utf8_step("\0", 1), 1);
    assert_int_equal(utf8_step("\xf0\x9f\x8c\xb5", 4), 4);
    assert_int_equal(utf8_step("\xf0\x9f\x8c\xb5", 3), -3); /* cut */
    assert_int_equal(utf8_step("\xf0\x9f\x8c", 4), -3);
    assert_int_equal(utf8_step("\xf0\x8f\xbf\xbf", 4), -1); /* overlong */
    assert_int_equal(utf8_step("\xe2\x82x", 3), -2);
    assert_int_equal(utf8_step("\x80", 1), -1);
}

TEST(damaged_text_goes_byte_by_byte)
{
    const char *text = "\xe2\x82\xac\xff";

    assert_true(utf8_valid(""));
    assert_true(utf8_valid("gr\xc3\xbc\xc3\x9f"));
    assert_false(utf8_valid(text));
    assert_ptr_equal(utf8_next(text), text + 3);
    assert_ptr_equal(utf8_next(text + 3), text + 4);
}
