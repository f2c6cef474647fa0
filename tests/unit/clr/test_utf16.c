#include "clr/utf16.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void check(const clr_wchar *in, size_t length, const char *expected)
{
    char out[64];

    memset(out, 'x', sizeof(out));
    assert_int_equal(clr_utf16_to_utf8(out, sizeof(out), in, length), strlen(expected));
    assert_string_equal(out, expected);
    assert_true(strlen(expected) < CLR_UTF8_SIZE(length));
}

TEST(every_length_of_character_converts)
{
    static const clr_wchar text[] = {'a',    0x7F,   0x80,   0x7FF,  0x800,  0xD7FF,
                                     0xE000, 0xFFFF, 0xD800, 0xDC00, 0xDBFF, 0xDFFF};

    check(text, sizeof(text) / sizeof(text[0]),
          "a\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"
          "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF");
    check(text, 0, "");
}

TEST(what_utf8_cannot_hold_becomes_the_replacement_character)
{
    static const clr_wchar zero[] = {'a', 0, 'b'};
    static const clr_wchar high_last[] = {'a', 0xD83D};
    static const clr_wchar high_alone[] = {0xD83D, 'b'};
    static const clr_wchar low_alone[] = {0xDE00, 'b'};
    static const clr_wchar high_before_pair[] = {0xD83D, 0xD83D, 0xDE00};
    static const clr_wchar swapped[] = {0xDE00, 0xD83D};

    check(zero, 3,
          "a\xEF\xBF\xBD"
          "b");
    check(high_last, 2, "a\xEF\xBF\xBD");
    check(high_alone, 2,
          "\xEF\xBF\xBD"
          "b");
    check(low_alone, 2,
          "\xEF\xBF\xBD"
          "b");
    check(high_before_pair, 3, "\xEF\xBF\xBD\xF0\x9F\x98\x80");
    check(swapped, 2, "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(a_cut_falls_between_characters)
{
    static const clr_wchar text[] = {'a', 0xE9, 0x20AC, 0xD83D, 0xDE00, 'z'}; /* 1, 2, 3, 4, 1 */
    static const size_t kept[] = {0, 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    char whole[12];

    assert_int_equal(clr_utf16_to_utf8(NULL, 0, text, 6), 11);
    assert_int_equal(clr_utf16_to_utf8(whole, sizeof(whole), text, 6), 11);
    for (size_t size = 1; size < sizeof(kept) / sizeof(kept[0]); size++) {
        char out[14];

        memset(out, 'x', sizeof(out));
        assert_int_equal(clr_utf16_to_utf8(out, size, text, 6), 11);
        assert_int_equal(strlen(out), kept[size]);
        assert_memory_equal(out, whole, kept[size]);
        for (size_t i = kept[size] + 1; i < sizeof(out); i++)
            assert_int_equal(out[i], 'x'); /* nothing past the NUL is touched */
    }
}

TEST(after_the_cut_no_shorter_character_slips_in)
{
    static const clr_wchar text[] = {'a', 0x20AC, 'b'};
    char out[4];

    assert_int_equal(clr_utf16_to_utf8(out, sizeof(out), text, 3), 5);
    assert_string_equal(out, "a");
}

TEST(length_stops_at_the_terminator_or_the_end)
{
    static const clr_wchar text[] = {'a', 'b', 0, 'c'};

    assert_int_equal(clr_utf16_length(text, 4), 2);
    assert_int_equal(clr_utf16_length(text, 1), 1);
    assert_int_equal(clr_utf16_length(NULL, 0), 0);
}
