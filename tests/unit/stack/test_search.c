/* Exceptions that cross native code, and code that runs inside of the search. */
#include "machine.h"

#include <string.h>

TEST_EACH(NULL, machine_over);
TEST_GROUP(machine_begin, NULL);

/* ---- the border to native code ---- */

/* .NET 8 runs both passes on through native frames of the runtime. */
TEST(both_passes_go_on_through_native_frames)
{
    calls("A.BC");
    stack_exception_thrown();
    search("CBA");
    assert_int_equal(stack_self->dispatch.reach, 0);
    stack_search_catcher_found();
    unwind("CB");
    assert_int_equal(settle(), 1);
    expect("A");
}

TEST(an_exception_that_left_into_native_code_took_its_frames_along)
{
    calls("A.BC");
    stack_exception_thrown();
    search("CB");
    stack_exception_thrown(); /* the same one, thrown again above the native frames */
    expect("A");
    expect_only(STACK_NATIVE_BOUNDARY, 1);
    assert_true(stack_self->dispatch.searching);
    assert_int_equal(stack_self->dispatch.reach, STACK_NONE);
}

TEST(the_cut_is_the_lower_of_reach_and_pending)
{
    calls("A.BC");
    stack_exception_thrown();
    search("CB");
    unwind("C"); /* the second pass left the last frame out */
    stack_exception_thrown();
    expect("A");
    leave('A', 1);
    calls("A.BC");
    stack_exception_thrown();
    search("C");
    unwind("CB");
    stack_exception_thrown();
    expect("A");
}

TEST(a_second_exception_in_a_handler_cuts_nothing_that_lives)
{
    calls("ABC");
    stack_exception_thrown();
    search("CB");
    stack_search_catcher_found();
    unwind("C");
    stack_catcher_enter(function('B'), handler_of(2));
    call('D', 4);
    stack_exception_thrown();
    expect("ABD");
    search("DB");
    stack_search_catcher_found();
    stack_catcher_enter(function('B'), handler_of(2));
    expect("AB");
}

TEST(what_left_direct_recursion_has_left_all_of_it)
{
    calls("A.RRRR");
    stack_exception_thrown();
    search("R"); /* some builds report recursion once */
    stack_exception_thrown();
    expect("A");
}

TEST(a_frame_called_through_other_code_is_no_direct_recursion)
{
    calls("A.RR");
    enter('R', 4, 0x900000); /* by a DynamicMethod that R called */
    stack_exception_thrown();
    search("R");
    stack_exception_thrown();
    expect("ARR");
}

TEST(a_run_that_does_not_lead_to_native_code_reaches_one_frame)
{
    calls("A.BRRR");
    stack_exception_thrown();
    search("R");
    assert_int_equal(stack_self->dispatch.reach, 4);
    search("RR");
    assert_int_equal(stack_self->dispatch.reach, 2);
}

TEST(what_the_search_passed_is_stale_once_it_was_left)
{
    calls("A.BC");
    stack_exception_thrown();
    search("CB");
    call('D', 2); /* native code swallowed it and returned; A goes on */
    settle();
    expect("AD");
    assert_false(stack_self->dispatch.searching);
    assert_int_equal(stack_self->save_count, 0);
    assert_ptr_equal(stack_words.limit, stack_self->end); /* and the fast path is open again */
    call('E', 3);
    stack_exception_thrown(); /* another exception: D and E are alive */
    expect("ADE");
    assert_int_equal(repairs(STACK_NATIVE_BOUNDARY), 0);
}

TEST(what_the_search_passed_is_stale_after_a_leave_too)
{
    calls("AX.BC");
    stack_exception_thrown();
    search("CB");
    leave('X', 2);
    leave('A', 1);
    calls("DEFGH");
    assert_ptr_equal(stack_words.limit, stack_self->end);
    stack_exception_thrown();
    expect("DEFGH");
}

/* ---- code that runs inside of the search ---- */

TEST(a_first_chance_handler_has_a_dispatch_of_its_own)
{
    calls("A.BC");
    stack_exception_thrown();
    search("C");
    native_call('H', 6); /* the FirstChanceException event */
    expect("ABCH");
    call('X', 7);
    stack_exception_thrown();
    expect("ABCHX");
    search("XH");
    stack_search_catcher_found();
    unwind("X");
    stack_catcher_enter(function('H'), handler_of(6));
    expect("ABCH");
    leave('H', 6);
    expect("ABC");
    search("B"); /* the outer search goes on where it was */
    assert_int_equal(stack_self->dispatch.reach, 1);
    assert_true(stack_self->dispatch.searching);
    stack_exception_thrown();
    expect("A");
    assert_int_equal(repairs(STACK_NATIVE_BOUNDARY), 1);
}

TEST(first_chance_handlers_nest)
{
    calls("A");
    for (unsigned i = 0; i < 20; i++) {
        stack_exception_thrown();
        search(i ? "H" : "A");
        native_call('H', 3 + 2 * i);
        expect_invariants();
    }
    assert_int_equal(stack_depth(stack_self), 21);
    for (unsigned i = 20; i-- > 0;) {
        leave('H', 3 + 2 * i);
        stack_search_catcher_found(); /* an event looks, so that what is over is put away */
        assert_false(stack_self->dispatch.searching);
        expect_invariants();
    }
    assert_int_equal(stack_self->save_count, 0);
    expect("A");
    expect_no_repair();
    assert_ptr_equal(stack_words.limit, stack_self->end);
}

TEST(a_first_chance_handler_left_dead_ends_too)
{
    calls("AB");
    stack_exception_thrown();
    search("B");
    native_call('H', 4);
    call('X', 5);
    stack_catcher_enter(function('A'), handler_of(1)); /* past the handler and all */
    expect("A");
    assert_int_equal(stack_self->save_count, 0);
    call('C', 2);
    call('D', 3);
    assert_int_equal(settle(), 3);
}

/* A finally in code without metadata between B and C, when the search found nobody it names: B is alive. */
TEST(an_allocation_in_the_second_pass_leaves_what_the_search_passed)
{
    calls("ABC");
    stack_exception_thrown();
    search("CB");
    unwind("C");
    settle(); /* compiling what the finally calls allocates */
    expect("AB");
    native_call('F', 5);
    settle();
    expect("ABF");
    leave('F', 5);
    unwind("B");
    settle();
    expect("A");
}

TEST(a_silent_second_pass_is_seen_at_the_next_allocation)
{
    calls("AB.C");
    stack_exception_thrown();
    search("C");
    settle(); /* made by the search itself */
    expect("ABC");
    thrower_is_gone = true;
    settle();
    thrower_is_gone = false;
    expect("AB");
    assert_false(stack_self->dispatch.searching);
    assert_ptr_equal(stack_words.limit, stack_self->end);
}

TEST(what_unhooked_code_throws_inside_of_a_search_leaves_that_as_it_was)
{
    calls("ABC");
    stack_exception_thrown();
    search("C");
    above = (struct stack_place){7, 8};
    stack_exception_thrown();
    stack_search_function_enter(0x12345);
    stack_search_catcher_found();
    stack_catcher_enter(0x12345, handler_of(4));
    settle();
    expect("ABC"); /* an allocation in its catch */
    stack_exception_thrown();
    call('D', 4); /* its own call of what is hooked */
    stack_exception_thrown();
    search("D");
    stack_search_catcher_found();
    stack_catcher_enter(function('D'), handler_of(4));
    leave('D', 4);
    settle();
    expect("ABC");
    assert_int_equal(stack_self->save_count, 1);
    above = (struct stack_place){0, 0};
    search("B");
    assert_int_equal(stack_self->save_count, 0);
    assert_true(stack_self->dispatch.searching);
    assert_int_equal(stack_self->dispatch.reach, 1); /* of C it knew already */
    stack_search_catcher_found();
    unwind("CB");
    stack_catcher_enter(function('A'), handler_of(1));
    expect("A");
    assert_ptr_equal(stack_words.limit, stack_self->end);
}

TEST(what_unhooked_code_lets_out_takes_the_place_of_the_search)
{
    calls("ABC");
    stack_exception_thrown(); /* caught without a word */
    above = (struct stack_place){7, 8};
    stack_exception_thrown();
    search("CB");
    unwind("CB");
    above = (struct stack_place){0, 0};
    stack_exception_thrown(); /* native code that A had called throws it on */
    expect("A");
    assert_int_equal(stack_self->save_count, 0);
}

TEST(what_a_filter_throws_and_nobody_reports_leaves_the_search_as_it_was)
{
    calls("AB");
    stack_exception_thrown();
    search("B");
    filter_throws = true;
    stack_exception_thrown();
    filter_throws = false;
    expect("AB");
    assert_int_equal(stack_self->save_count, 0);
    assert_int_equal(stack_self->dispatch.reach, 1);
    assert_true(stack_self->dispatch.searching);
}

TEST(a_frame_left_too_early_comes_back_as_it_was)
{
    calls("AB");
    leave('B', 2);
    stack_inside(stack_self, id('B'), frame_at(sp_of(2) - 16),
                 true); /* a body entered by on-stack replacement: a little low */
    expect("AB");
    assert_true(stack_top_sp(stack_self) == sp_of(2));
    assert_true(frame_ret(&stack_words.top[-1]) == FROM_JITTED + 2);
    expect_only(STACK_IN_WRAPPER, 1);
    stack_inside(stack_self, id('B'), place_of(2), true); /* it is there */
    expect("AB");
    expect_only(STACK_IN_WRAPPER, 1);
}

TEST(a_frame_that_no_hook_told_of_yet_is_pushed)
{
    calls("A");
    record_of(2)[1] = FROM_JITTED + 2;
    stack_inside(stack_self, id('B'), place_of(2), false);
    expect("AB");
    assert_true(frame_ret(&stack_words.top[-1]) == FROM_JITTED + 2);
    expect_only(STACK_IN_WRAPPER, 1);
}

/* B was last called from the body of A that on-stack replacement has taken out of use, a little higher. */
TEST(a_frame_that_is_entered_is_not_the_one_last_left)
{
    calls("AB");
    leave('B', 2);
    ((uintptr_t *)sp_of(2))[-3] = FROM_JITTED + 7;
    stack_inside(stack_self, id('B'), frame_at(sp_of(2) - 16), false);
    expect_only(STACK_IN_WRAPPER, 1);
    assert_true(stack_top_sp(stack_self) == sp_of(2) - 16);
    assert_true(frame_ret(&stack_words.top[-1]) == FROM_JITTED + 7);
}

TEST(a_frame_whose_leave_is_yet_to_come_is_there)
{
    calls("AB");
    stack_inside(stack_self, id('B'), frame_at(sp_of(2) - 16), true); /* replaced on the stack */
    expect("AB");
    expect_no_repair();
}

TEST(an_exception_that_goes_past_another_ends_it)
{
    calls("ABCD");
    stack_exception_thrown();
    search("DCB");
    unwind("D");
    settle();
    native_call('F', 6); /* the finally between C and D, and it throws */
    stack_exception_thrown();
    search("FCB");
    unwind("FC");
    stack_unwind_finally_enter(function('B'), handler_of(2));
    expect("AB");
    assert_int_equal(stack_self->save_count, 0);
    settle();
    expect("AB");
}

TEST(what_is_left_open_inside_a_filter_ends_with_it)
{
    calls("AB");
    stack_exception_thrown();
    search("B");
    stack_search_filter_enter(function('B'));
    call('F', 4);
    stack_exception_thrown();
    native_call('H', 6);
    stack_exception_thrown(); /* goes past H and out of the filter */
    stack_search_filter_leave();
    expect("AB");
    assert_int_equal(stack_self->save_count, 0);
    assert_true(stack_self->dispatch.searching);
    assert_int_equal(stack_self->dispatch.reach, 1);
}
