/* Lists of patterns. */
#include "base/atomics.h"
#include "options/options_fields.h"
#include "support/test.h"

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
