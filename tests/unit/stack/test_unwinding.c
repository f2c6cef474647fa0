/* Handlers, and frames that an exception takes away. */
#include "machine.h"

#include <string.h>

TEST_EACH(NULL, machine_over);
TEST_GROUP(machine_begin, NULL);

/* ---- handlers ---- */

TEST(a_handler_cuts_by_its_stack_pointer)
{
    calls("AAAA"); /* the name alone would not tell which */
    stack_exception_thrown();
    search("AAA");
    stack_search_catcher_found();
    unwind("AA");
    stack_catcher_enter(function('A'), handler_of(2)); /* the second A */
    expect("AA");
    expect_only(STACK_HANDLER_CUT, 1);
    assert_int_equal(settle(), 2);
}

TEST(a_handler_in_the_top_frame_cuts_nothing)
{
    calls("AB");
    stack_exception_thrown();
    search("B");
    stack_search_catcher_found();
    stack_catcher_enter(function('B'), handler_of(2));
    expect("AB");
    expect_no_repair();
    assert_ptr_equal(stack_words.limit, stack_self->end); /* and the fast path is open again */
}

TEST(a_finally_cuts_as_a_catch_does)
{
    calls("ABCD");
    stack_exception_thrown();
    search("DCBA");
    stack_search_catcher_found();
    unwind("DC");
    stack_unwind_finally_enter(function('B'), handler_of(2));
    expect("AB");
    expect_only(STACK_HANDLER_CUT, 1);
}

TEST(a_handler_without_stack_pointer_cuts_to_its_nearest_frame)
{
    calls("ABAC");
    stack_catcher_enter(function('A'), 0);
    expect("ABA");
    stack_unwind_finally_enter(function('B'), 0);
    expect("AB");
    stack_catcher_enter(function('U'), 0); /* not hooked: nothing is known */
    expect("AB");
}

TEST(every_handler_ends_the_search)
{
    calls("AB");
    stack_exception_thrown();
    assert_true(stack_self->dispatch.searching);
    stack_search_catcher_found();
    assert_false(stack_self->dispatch.searching);
    stack_exception_thrown();
    stack_catcher_enter(function('B'), handler_of(2));
    assert_false(stack_self->dispatch.searching);
    stack_exception_thrown();
    stack_unwind_finally_enter(function('B'), handler_of(2));
    assert_false(stack_self->dispatch.searching);
    expect("AB");
}

/* ---- unwinding ---- */

TEST(unwound_frames_stay_until_something_has_to_see_the_stack)
{
    calls("ABCD");
    stack_exception_thrown();
    search("DCBA");
    stack_search_catcher_found();
    unwind("DC");
    expect("ABCD");
    call('H', 6); /* a helper of the exception machinery, called from jitted code */
    leave('H', 6);
    expect("ABCD");
    assert_int_equal(settle(), 2); /* an allocation */
    expect("AB");
    expect_only(STACK_UNWOUND, 1);
    unwind("B"); /* and the pass goes on from there */
    assert_int_equal(settle(), 1);
    expect("A");
}

TEST(unwinding_counts_each_report_as_one_frame)
{
    calls("ABAB");
    unwind("BA");
    assert_int_equal(settle(), 2);
}

TEST(a_method_reported_twice_is_unwound_once)
{
    calls("ABAC");
    unwind("CAA"); /* some builds report a funclet, then its method */
    assert_int_equal(settle(), 2);
    expect("AB");
}

TEST(a_method_searched_twice_is_passed_once)
{
    calls("ABAC");
    stack_exception_thrown();
    search("CAA");
    assert_int_equal(stack_self->dispatch.reach, 2);
}

TEST(unwinding_skips_frames_that_were_not_reported)
{
    calls("ABCD");
    unwind("B");
    assert_int_equal(settle(), 1);
    expect("A");
}

TEST(unwinding_an_unhooked_method_changes_nothing)
{
    calls("ABC");
    unwind("U");
    assert_int_equal(settle(), 3);
    unwind("C");
    unwind("U");
    assert_int_equal(settle(), 2);
}

TEST(a_handler_clears_what_is_pending)
{
    calls("ABC");
    unwind("CB");
    stack_catcher_enter(function('B'),
                        handler_of(2)); /* reported, but it is the one that catches */
    expect("AB");
    assert_int_equal(settle(), 2);
    assert_ptr_equal(stack_words.limit, stack_self->end);
}

TEST(a_leave_below_the_pending_frame_ends_it)
{
    calls("ABC");
    unwind("C");
    leave('B', 2);
    expect("A");
    call('D', 2);
    call('E', 3);
    assert_int_equal(settle(), 3); /* E has the index that was pending */
    expect("ADE");
}

TEST(a_throw_settles_what_is_pending)
{
    calls("ABCD");
    unwind("DC");
    stack_exception_thrown();
    search("B"); /* sees the stack without them */
    expect("AB");
    expect_only(STACK_NATIVE_BOUNDARY, 1);
    assert_int_equal(stack_self->dispatch.reach, 1);
}

TEST(a_call_over_what_is_pending_is_live)
{
    calls("ABCD");
    unwind("DC");
    native_call('E', 6); /* the exception was swallowed in native code, below the dead frames */
    expect("ABCDE");
    settle();
    expect("ABE");
    expect_only(STACK_UNWOUND, 1);
    assert_ptr_equal(stack_words.limit, stack_self->end);
}

TEST(a_call_above_what_is_pending_is_live)
{
    calls("ABCD");
    unwind("DC");
    native_call('E', 3); /* SPs do not fall here: C and D are still to be cut */
    settle();
    expect("ABE");
    expect_only(STACK_UNWOUND, 1);
}

TEST(a_finally_that_ends_leaves_its_frame_pending)
{
    calls("ABC");
    stack_exception_thrown();
    search("CBA");
    stack_search_catcher_found();
    unwind("C");
    stack_unwind_finally_enter(function('B'), handler_of(2));
    expect("AB");
    call('D', 4);
    leave('D', 4);
    assert_int_equal(settle(), 2); /* the finally still runs */
    stack_unwind_finally_leave();
    expect("AB");
    assert_int_equal(settle(), 1);
    expect("A");
}

TEST(a_finally_of_a_method_without_hooks_leaves_its_caller_alive)
{
    calls("AB"); /* B calls X, which has no hooks, a finally, and C */
    call('C', 4);
    stack_exception_thrown();
    search("CX");
    stack_search_catcher_found(); /* by what called X, which is not reported either */
    unwind("CX");
    stack_unwind_finally_enter(function('X'), handler_of(3));
    stack_unwind_finally_leave();
    expect("AB");
    assert_int_equal(settle(), 2);
}

TEST(two_finally_blocks_of_one_method_keep_its_frame)
{
    calls("AB");
    stack_unwind_finally_enter(function('B'), handler_of(2));
    stack_unwind_finally_leave();
    stack_unwind_finally_enter(function('B'), handler_of(2));
    expect("AB");
    assert_int_equal(settle(), 2);
    stack_unwind_finally_leave();
    stack_catcher_enter(function('A'), handler_of(1));
    expect("A");
}

/* ---- handlers in code without metadata (DynamicMethod): they have no frame, and nobody reports them ---- */

TEST(what_an_unreported_handler_calls_is_kept)
{
    calls("ABCD");
    stack_exception_thrown();
    search("DC");
    stack_search_catcher_found();
    unwind("DC");
    call('E', 6); /* B's dynamic callee has caught it */
    call('F', 7);
    frame_node_set(stack_frame(stack_self, 5), 77);
    assert_int_equal(settle(), 4); /* an allocation in F */
    expect("ABEF");
    expect_only(STACK_UNWOUND, 1);
    assert_int_equal(frame_node(stack_frame(stack_self, 3)), 0); /* its context is another now */
    assert_true(frame_ret(stack_frame(stack_self, 2)) == FROM_JITTED + 6);
    assert_true(load_relaxed(&stack_frame(stack_self, 3)->sp) == sp_of(7));
    assert_true(frame_record(stack_frame(stack_self, 2)) == (uintptr_t)record_of(6));
    assert_true(frame_record(stack_frame(stack_self, 3)) == (uintptr_t)record_of(7));
    assert_ptr_equal(stack_words.limit, stack_self->end); /* the dispatch is over */
    leave('F', 7);
    leave('E', 6);
    call('G', 3);
    expect("ABG");
    assert_int_equal(settle(), 3);
}

TEST(an_exception_below_an_unreported_handler_keeps_what_it_called)
{
    calls("ABCD");
    stack_exception_thrown();
    search("DC");
    stack_search_catcher_found();
    unwind("DC");
    call('E', 6);
    stack_exception_thrown();
    expect("ABE");
    search("EB");
    assert_int_equal(stack_self->dispatch.reach, 1);
    stack_search_catcher_found();
    unwind("E");
    stack_catcher_enter(function('B'), handler_of(2));
    expect("AB");
}

TEST(totals_do_not_count_frames_that_were_moved)
{
    struct stack_totals before, after;

    calls("ABC");
    unwind("C");
    call('D', 5);
    stack_totals_read(&before);
    settle();
    expect("ABD");
    stack_totals_read(&after);
    assert_int_equal(after.calls, before.calls);
}

TEST(a_finally_that_was_never_entered_is_not_left)
{
    calls("AB");
    stack_unwind_finally_leave(); /* one of a dynamic method: only its end is reported */
    assert_int_equal(settle(), 2);
    stack_unwind_finally_enter(function('B'), handler_of(2));
    stack_unwind_finally_leave();
    assert_int_equal(settle(), 1);
    stack_unwind_finally_leave();
    assert_int_equal(settle(), 1);
}

TEST(an_exception_that_somebody_caught_unreported_is_over_once_its_thrower_left)
{
    calls("ABC");
    stack_exception_thrown();
    search("C");
    leave('C', 3);
    call('D', 3);
    assert_false(stack_self->dispatch.searching);
    call('E', 4);
    stack_exception_thrown();
    expect("ABDE");
}

TEST(what_a_search_had_passed_is_gone_once_its_thrower_left)
{
    calls("ABCD");
    stack_exception_thrown();
    search("DCB");
    leave('D', 4); /* nobody said that A's callee has caught it */
    call('H', 6);
    assert_false(stack_self->dispatch.searching);
    expect("ABCH");
    assert_int_equal(settle(), 2);
    expect("AH"); /* entered since: it lives */
    expect_only(STACK_UNWOUND, 1);
}

TEST(code_that_runs_inside_of_the_search_is_kept)
{
    calls("ABC");
    stack_exception_thrown();
    search("CB");
    call('F', 5); /* called by the filter of a dynamic method */
    call('G', 6);
    stack_exception_thrown(); /* inside of it: the outer one has not left into native code */
    expect("ABCFG");
    search("GF");
    stack_search_catcher_found();
    unwind("G");
    stack_catcher_enter(function('F'), handler_of(5));
    leave('F', 5);
    expect("ABC");
    search("A");
    assert_true(stack_self->dispatch.searching);
    assert_int_equal(stack_self->dispatch.reach, 0);
}
