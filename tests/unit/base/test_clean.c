#include "base/clean.h"

#include "base/buffer.h"
#include "base/utf8.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t encode(uint32_t c, char to[5])
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    to[0] = (char)(n == 1 ? c : n == 2 ? 0xc0 | c >> 6 : n == 3 ? 0xe0 | c >> 12 : 0xf0 | c >> 18);
    for (size_t i = 1; i < n; i++)
        to[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
    to[n] = '\0';
    return n;
}

/* As the header lists them, written a second time. */
static bool is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
           (c >= 0xd800 && c < 0xe000);
}

TEST(every_letter_is_judged)
{
    char text[5];

    for (uint32_t c = 1; c < 0x110000; c++) {
        size_t length = encode(c, text);
        bool safe, surrogate = c >= 0xd800 && c < 0xe000;

        assert_int_equal(clean_letter(text, &safe), surrogate ? 1 : length);
        assert_int_equal(safe, !is_unsafe(c));
        if (!safe)
            assert_int_equal(clean_number(text), surrogate ? 0xfffd : c);
    }
}

TEST(what_is_no_utf8_goes_byte_by_byte)
{
    static const char *const bad[] = {
        "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
        "\xf8", "\xff",     "\xe2\x80", "\xc3",         "\xed\xa0\x80"};
    bool safe;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[8];

        assert_int_equal(clean_letter(bad[i], &safe), 1);
        assert_false(safe);
        assert_int_equal(utf8_length(bad[i]), 0);
        snprintf(text, sizeof(text), "a%sb", bad[i]);
        clean_in_place(text);
        assert_int_equal(strlen(text), 2 + strlen(bad[i]));
        assert_int_equal(strspn(text, "a?b"), strlen(text));
    }
}

TEST(texts_keep_the_rest)
{
    static const char text[] = "M\xc3\xa4in\x1b[31m\xc2\x9b\xe2\x80\xae\n\xf0\x9f\x98\x80",
                      expected[] = "M\xc3\xa4in?[31m???\xf0\x9f\x98\x80";
    struct buffer b = BUFFER_INIT;
    char copy[64];

    snprintf(copy, sizeof(copy), "%s", text);
    clean_in_place(copy);
    assert_string_equal(copy, expected);
    buffer_clean(&b, text);
    assert_string_equal(b.data, expected);
    buffer_clear(&b);
    buffer_json_string(&b, text);
    assert_string_equal(b.data, "\"M\xc3\xa4in\\u001b[31m\\u009b\\u202e\\u000a\xf0\x9f\x98\x80\"");
    buffer_clear(&b);
    buffer_json_string(&b, "\x7f\xff\"\\");
    assert_string_equal(b.data, "\"\\u007f\\ufffd\\\"\\\\\"");
    buffer_free(&b);
}
