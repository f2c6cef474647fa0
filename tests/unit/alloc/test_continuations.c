#include "alloc/continuations.h"

#include "support/test.h"

#include <string.h>

#define LAYOUTS 400u /* types of continuations in a large program */

static struct continuations set;

static int empty(void **state)
{
    (void)state;
    memset(&set, 0, sizeof(set));
    return 0;
}

static uintptr_t type(unsigned i)
{
    return 0x7f0000001000 + (uintptr_t)i * 0x98;
}

TEST(nothing_is_a_continuation_before_the_first_one)
{
    assert_false(continuations_any(&set));
    assert_false(continuations_has(&set, 0));
    assert_false(continuations_has(&set, type(1)));
    continuations_add(&set, type(1));
    assert_true(continuations_any(&set));
    assert_false(continuations_has(&set, 0));
}

TEST(continuations_of_every_layout_are_known)
{
    for (unsigned i = 0; i < LAYOUTS; i++)
        continuations_add(&set, type(i));
    for (unsigned i = 0; i < LAYOUTS; i++)
        assert_true(continuations_has(&set, type(i)));
    assert_false(continuations_has(&set, type(LAYOUTS)));
}

TEST(more_types_than_there_are_places_take_those_of_others)
{
    for (unsigned i = 0; i < 4 * CONTINUATIONS; i++) {
        continuations_add(&set, type(i));
        assert_true(continuations_has(&set, type(i)));
    }
}

TEST_EACH(empty, NULL);
