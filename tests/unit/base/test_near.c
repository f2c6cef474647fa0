#include "base/near.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

TEST(the_word_that_was_meant_is_found)
{
    static const char *const names[] = {"hooks",  "capture",   "compress", "only",
                                        "output", "max-nodes", "max-log",  NULL};

    assert_string_equal(near_find("hook", names), "hooks");
    assert_string_equal(near_find("hoosk", names), "hooks");
    assert_string_equal(near_find("comp", names), "compress");
    assert_string_equal(near_find("compres", names), "compress");
    assert_string_equal(near_find("maxnodes", names), "max-nodes");
    assert_string_equal(near_find("max-logs", names), "max-log");
    assert_null(near_find("zebra", names));
    assert_null(near_find("", names));
    assert_null(near_find("x", names));
    assert_null(near_find("a-very-long-name-that-is-longer-than-any-option-has-ever-been", names));
}

TEST(a_word_that_lacks_a_letter_is_nearer_than_a_long_one_that_begins_so)
{
    static const char *const types[] = {
        "StringEqualityComparer", "StringBuilder", "string", "Strip", "Stringy", NULL};
    static const char *const begun[] = {"stop", "started", "start", NULL};

    assert_string_equal(near_find("Strin", types), "string");
    assert_string_equal(near_find("STRING", types), "string");
    assert_string_equal(near_find("stringbu", types), "StringBuilder");
    assert_string_equal(near_find("StringEq", types), "StringEqualityComparer");
    assert_string_equal(near_find("Stri", types), "Strip");
    assert_string_equal(near_find("star", begun), "start");
    assert_null(near_find("object", types));
}
