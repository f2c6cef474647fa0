/* What says of a runtime that nobody has tried whether there is room before an object. */
#include "clr/guard.h"

#include "support/test.h"

#include <string.h>

static bool spare(const char *descriptor)
{
    return clr_spare_word_in(descriptor, strlen(descriptor));
}

/* As libcoreclr 11.0.0 has it. */
TEST(the_word_before_the_lock_is_spare_where_the_header_holds_nothing_else)
{
    assert_true(spare("{\"version\":0,\"types\":{\"Object\":{\"!\":8,\"m_pMethTab\":0},"
                      "\"ObjectHeader\":{\"!\":8,\"SyncBlockValue\":4},\"String\":{}}}"));
}

TEST(it_is_not_where_the_header_has_another_size_or_more_in_it)
{
    assert_false(spare("{\"ObjectHeader\":{\"!\":4,\"SyncBlockValue\":0}}"));
    assert_false(spare("{\"ObjectHeader\":{\"!\":8,\"SyncBlockValue\":0}}"));
    assert_false(spare("{\"ObjectHeader\":{\"!\":8,\"SyncBlockValue\":4,\"Age\":0}}"));
    assert_false(spare("{\"ObjectHeader\":{\"!\":16,\"SyncBlockValue\":12}}"));
    assert_false(spare("{\"Object\":{\"!\":8,\"m_pMethTab\":0}}"));
    assert_false(spare("{\"ObjectHeader\":{\"!\":8,\"SyncBlockV"));
    assert_false(spare(""));
}

TEST(a_runtime_that_describes_nothing_has_none_for_us)
{
    static const struct clr_info_vtbl vtbl; /* in this program, which is no runtime */
    struct clr_info info = {&vtbl};
    const struct clr_runtime ten = {.info = &info, .major = 10},
                             eleven = {.info = &info, .major = 11},
                             later = {.info = &info, .major = CLR_MAJOR_NEWEST + 1};

    assert_true(clr_spare_word(&ten)); /* tried */
    assert_false(clr_spare_word(&eleven));
    assert_false(clr_spare_word(&later));
}
