/* Glob patterns over the names of methods, types and assemblies. */
#include "base/glob.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

TEST(a_pattern_covers_the_whole_name)
{
    assert_true(glob_match("My.Type.Run()", "My.Type.Run()"));
    assert_false(glob_match("My.Type", "My.Type.Run()"));
    assert_false(glob_match("Type.Run()", "My.Type.Run()"));
    assert_false(glob_match("my.type.run()", "My.Type.Run()"));
    assert_true(glob_match("", ""));
    assert_false(glob_match("", "a"));
}

TEST(a_star_takes_any_text)
{
    assert_true(glob_match("*", ""));
    assert_true(glob_match("*", "anything"));
    assert_true(glob_match("My.*", "My.Type.Run(System.Int32, System.String[])"));
    assert_true(glob_match("*.Run(*)", "My.Type.Run(System.Int32)"));
    assert_false(glob_match("*.Run()", "My.Type.Run(System.Int32)"));
    assert_true(glob_match("a*b*c", "a--b-b--b-c"));
    assert_true(glob_match("a*b*c", "aXbXbXc"));
    assert_false(glob_match("a*b", "abc"));
    assert_true(glob_match("*a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert_false(glob_match("a*b*c", "a--b-b--b-cd"));
    assert_true(glob_match("**a**", "xxa"));
}

TEST(a_question_mark_takes_one_character)
{
    assert_true(glob_match("a?c", "abc"));
    assert_true(glob_match("a?c", "a\xc3\xa4"
                                  "c"));
    assert_true(glob_match("a?c", "a\xf0\x9f\x8c\xb5"
                                  "c"));
    assert_true(glob_match("*?c", "\xc3\xa4"
                                  "c"));
    assert_false(glob_match("a??c", "a\xc3\xa4"
                                    "c"));
    assert_false(glob_match("a?", "a"));
    assert_false(glob_match("?", ""));
    assert_true(glob_match("?bc", "\xc3\x84"
                                  "bc"));
    assert_true(glob_match("a?c", "a\xff"
                                  "c")); /* not UTF-8: taken as a byte */
}

TEST(other_characters_stand_for_themselves)
{
    assert_true(glob_match("List<System.String>", "List<System.String>"));
    assert_true(glob_match("System.Byte[]", "System.Byte[]"));
    assert_false(glob_match("System.Byte[B]", "System.ByteB"));
    assert_true(glob_match("a\\b", "a\\b"));
}

/* Quadratic at worst: a test that never ends is the failure. */
TEST(many_stars_end_soon)
{
    char name[4096];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_false(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}
