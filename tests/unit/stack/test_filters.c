/* Exception filters, which run while the search is under way. */
#include "machine.h"

#include <string.h>

TEST_EACH(NULL, machine_over);
TEST_GROUP(machine_begin, NULL);

TEST(a_filter_shows_its_method_a_second_time)
{
    calls("ABC");
    stack_exception_thrown();
    search("CB");
    stack_search_filter_enter(function('B'));
    expect("ABCB");
    assert_true(frame_ret(stack_frame(stack_self, 3)) == FRAME_RET_FILTER);
    assert_true(load_relaxed(&stack_frame(stack_self, 3)->sp) == sp_of(3) - sizeof(uintptr_t));
    call('F', 5);
    expect("ABCBF");
    leave('F', 5);
    stack_search_filter_leave();
    expect("ABC");
    expect_no_repair();
}

TEST(a_filter_runs_at_full_speed)
{
    calls("ABC");
    stack_exception_thrown();
    assert_null(stack_words.limit); /* searching */
    search("CB");
    stack_search_filter_enter(function('B'));
    assert_ptr_equal(stack_words.limit, stack_self->end);
    stack_search_filter_leave();
    assert_null(stack_words.limit);
}

TEST(a_filter_has_a_dispatch_of_its_own)
{
    calls("ABC");
    stack_exception_thrown();
    search("CB");
    stack_search_filter_enter(function('B'));
    call('F', 5);
    call('G', 6);
    stack_exception_thrown(); /* not the outer one that goes on: nothing is cut */
    expect("ABCBFG");
    search("GF");
    stack_search_catcher_found();
    unwind("G");
    stack_catcher_enter(function('F'), handler_of(5));
    expect("ABCBF");
    leave('F', 5);
    stack_search_filter_leave();
    expect("ABC");
    assert_true(stack_self->dispatch.searching);
    assert_int_equal(stack_self->dispatch.reach, 1); /* B, as before the filter */
    search("A");
    assert_int_equal(stack_self->dispatch.reach, 0);
    expect_only(STACK_HANDLER_CUT, 1);
}

TEST(an_exception_that_a_filter_swallows_leaves_nothing_behind)
{
    calls("ABC");
    stack_exception_thrown();
    search("CB");
    stack_search_filter_enter(function('B'));
    call('F', 5);
    call('G', 6);
    stack_exception_thrown();
    search("GF");
    search("B"); /* the filter's own method, whose frame is alive */
    unwind("GFB");
    stack_search_filter_leave();
    expect("ABC");
    expect_only(STACK_FILTER, 1);
    assert_int_equal(settle(), 3); /* nothing is pending outside */
}

TEST(filters_nest)
{
    calls("AB");
    for (unsigned i = 0; i < 30; i++) { /* more than fit beside the stack */
        stack_exception_thrown();
        search("B");
        stack_search_filter_enter(function('B'));
        call('B', 10 + 10 * i);
    }
    assert_int_equal(stack_depth(stack_self), 2 + 60);
    expect_invariants();
    for (unsigned i = 30; i-- > 0;) {
        leave('B', 10 + 10 * i);
        stack_search_filter_leave();
        assert_int_equal(stack_depth(stack_self), 2 + 2 * i);
        assert_true(stack_self->dispatch.searching);
        expect_invariants();
    }
    expect_no_repair();
}

TEST(a_filter_of_an_unhooked_method_shows_nothing)
{
    calls("AB");
    stack_exception_thrown();
    search("B");
    stack_search_filter_enter(function('U'));
    expect("AB");
    call('F', 4);
    leave('F', 4);
    stack_search_filter_leave();
    expect("AB");
    expect_no_repair();
}

TEST(a_filter_leave_without_a_filter_changes_nothing)
{
    calls("AB");
    stack_search_filter_leave();
    expect("AB");
    expect_no_repair();
}

TEST(a_filter_is_not_counted_as_a_call)
{
    struct stack_totals before, after;

    calls("AB");
    stack_totals_read(&before);
    stack_exception_thrown();
    search("B");
    stack_search_filter_enter(function('B'));
    stack_search_filter_leave();
    stack_totals_read(&after);
    assert_int_equal(after.calls, before.calls);
}
