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
