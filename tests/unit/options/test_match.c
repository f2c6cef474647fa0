/* Glob patterns over the names of methods, types and assemblies. */
#include "base/atomics.h"
#include "base/clean.h"
#include "options/options_fields.h"
#include "support/test.h"

#include <stddef.h>
#include <string.h>

static bool match(const char *pattern, const char *name)
{
    char copy[200];
    char *list[] = {copy};
    struct options_patterns patterns = {list, 1, NULL};

    strcpy(copy, pattern);
    return options_match(&patterns, name);
}

TEST(a_pattern_covers_the_whole_name)
{
    assert_true(match("My.Type.Run()", "My.Type.Run()"));
    assert_false(match("My.Type", "My.Type.Run()"));
    assert_false(match("Type.Run()", "My.Type.Run()"));
    assert_false(match("my.type.run()", "My.Type.Run()"));
    assert_true(match("", ""));
    assert_false(match("", "a"));
}

TEST(a_star_takes_any_text)
{
    assert_true(match("*", ""));
    assert_true(match("*", "anything"));
    assert_true(match("My.*", "My.Type.Run(System.Int32, System.String[])"));
    assert_true(match("*.Run(*)", "My.Type.Run(System.Int32)"));
    assert_false(match("*.Run()", "My.Type.Run(System.Int32)"));
    assert_true(match("a*b*c", "a--b-b--b-c"));
    assert_false(match("a*b*c", "a--b-b--b-cd"));
    assert_true(match("**a**", "xxa"));
}

TEST(a_question_mark_takes_one_character)
{
    assert_true(match("a?c", "abc"));
    assert_true(match("a?c", "a\xc3\xa4"
                             "c"));
    assert_true(match("a?c", "a\xf0\x9f\x8c\xb5"
                             "c"));
    assert_true(match("*?c", "\xc3\xa4"
                             "c"));
    assert_false(match("a??c", "a\xc3\xa4"
                               "c"));
    assert_false(match("a?", "a"));
    assert_true(match("a?c", "a\xff"
                             "c")); /* not UTF-8: taken as a byte */
}

TEST(other_characters_stand_for_themselves)
{
    assert_true(match("List<System.String>", "List<System.String>"));
    assert_true(match("System.Byte[]", "System.Byte[]"));
    assert_false(match("System.Byte[B]", "System.ByteB"));
    assert_true(match("a\\b", "a\\b"));
}

TEST(a_list_matches_when_one_of_it_does)
{
    char one[] = "A.*", two[] = "B.*";
    char *list[] = {one, two};
    _Atomic(bool) met[] = {false, false};
    struct options_patterns patterns = {list, 2, met}, none = {NULL, 0, NULL};

    assert_true(options_match(&patterns, "A.x"));
    assert_true(met[0]);
    assert_false(met[1]);
    assert_true(options_match(&patterns, "A.x"));
    assert_true(options_match(&patterns, "B.x"));
    assert_false(options_match(&patterns, "C.x"));
    assert_false(options_match(&none, "A.x"));
}

/* Quadratic at worst: a test that never ends is the failure. */
TEST(many_stars_end_soon)
{
    char name[4096];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_false(match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

TEST(utf8_is_told_from_other_bytes)
{
    static const char *const bad[] = {
        "\x80", "\xc1\xbf", "\xe0\x9f\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xc3", "\xe2\x82", "\xf0\x9f\x8c", "\xff"};

    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(utf8_length(bad[i]), 0);
    assert_int_equal(utf8_length(""), 0);
    assert_int_equal(utf8_length("a"), 1);
    assert_int_equal(utf8_length("\xc2\x80"), 2);
    assert_int_equal(utf8_length("\xed\x9f\xbf"), 3);
    assert_int_equal(utf8_length("\xf4\x8f\xbf\xbf"), 4);
}
