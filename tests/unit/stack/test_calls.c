/* Calls that begin and end: what Enter, Leave and Tailcall make of the stack. */
#include "machine.h"

#include <string.h>

TEST_EACH(NULL, machine_over);
TEST_GROUP(machine_begin, NULL);

TEST(frames_are_kept_in_the_order_of_calls)
{
    calls("ABC");
    expect("ABC");
    leave('C', 3);
    expect("AB");
    call('D', 3);
    expect("ABD");
    leave('D', 3);
    leave('B', 2);
    leave('A', 1);
    expect("");
    expect_no_repair();
}

TEST(the_return_address_is_the_word_read_at_enter)
{
    const struct frame *frame;

    call('A', 1);
    frame = stack_frame(stack_self, 0);
    assert_true(frame_ret(frame) == FROM_JITTED + 1);
    record_of(1)[1] = 0x666; /* hijacked for a suspension */
    call('B', 2);
    leave('B', 2);
    assert_true(frame_ret(frame) == FROM_JITTED + 1);
    assert_true(load_relaxed(&frame->sp) == sp_of(1));
}

TEST(a_new_frame_has_no_node)
{
    calls("AB");
    frame_node_set(stack_frame(stack_self, 1), 77);
    leave('B', 2);
    call('C', 2); /* in the same slot */
    assert_int_equal(frame_node(stack_frame(stack_self, 1)), 0);
}

TEST(an_enter_drops_frames_at_or_below_its_own_sp)
{
    calls("ABCD");
    call('E', 3); /* C and D are gone: E lies where C was */
    expect("ABE");
    expect_only(STACK_DEAD_ON_ENTER, 1); /* one repair, however many frames */
    call('F', 2);
    expect("AF");
    assert_int_equal(repairs(STACK_DEAD_ON_ENTER), 2);
}

TEST(an_enter_above_all_frames_drops_them_all)
{
    calls("ABC");
    call('D', 0);
    expect("D");
    expect_only(STACK_DEAD_ON_ENTER, 1);
}

TEST(a_leave_drops_the_dead_frames_above_its_own)
{
    calls("ABCD");
    leave('B', 2);
    expect("A");
    expect_only(STACK_DEAD_ON_LEAVE, 1);
}

TEST(a_leave_without_a_frame_pops_nothing)
{
    call('A', 1);
    call('C', 3);
    leave('B', 2); /* between the two */
    expect("AC");
    leave('D', 4); /* below both */
    expect("AC");
    leave('E', 0); /* above both */
    expect("AC");
    expect_only(STACK_ORPHAN_LEAVE, 3);
}

TEST(a_leave_on_an_empty_stack_keeps_the_sentinel)
{
    call('A', 1);
    leave('A', 1);
    leave('A', 1);
    leave('B', 0);
    expect("");
    expect_only(STACK_ORPHAN_LEAVE, 2);
    call('A', 1);
    expect("A");
}

TEST(a_leave_on_a_thread_without_a_stack_is_counted)
{
    struct stack_totals before, after;

    stack_totals_read(&before);
    leave('A', 1);
    assert_null(stack_peek());
    stack_totals_read(&after);
    assert_int_equal(after.repairs[STACK_ORPHAN_LEAVE], before.repairs[STACK_ORPHAN_LEAVE] + 1);
    assert_true(load_relaxed(&stack_none.own.state) == 0); /* never written */
}

TEST(a_tail_call_gives_its_place_to_the_next)
{
    calls("AB");
    for (unsigned i = 0; i < 100; i++) {
        leave(i % 2 ? 'C' : 'B', 2); /* the hook of a tail call ends its frame */
        expect("A");
        call(i % 2 ? 'B' : 'C', 2);
    }
    expect("AB");
    expect_no_repair();
}

TEST(a_low_leave_finds_the_frame_of_its_method)
{
    calls("ABC");
    stack_leave_low(id('C'),
                    sp_of(3) - 2 * sizeof(uintptr_t)); /* entered by on-stack replacement */
    expect("AB");
    call('C', 3);
    call('D', 4); /* dead by now */
    stack_leave_low(id('B'), sp_of(2) - sizeof(uintptr_t));
    expect("A");
    assert_int_equal(repairs(STACK_DEAD_ON_LEAVE), 1);
    stack_leave_low(id('A'), sp_of(1)); /* exact is fine, too */
    expect("");
}

TEST(a_low_leave_of_another_method_is_an_orphan)
{
    calls("AB");
    stack_leave_low(id('C'), sp_of(2) - sizeof(uintptr_t));
    expect("AB");
    stack_leave_low(id('A'), sp_of(0));
    expect("AB");
    expect_only(STACK_ORPHAN_LEAVE, 2);
}
