/*
 * The rules of the shadow stack, on a simulated machine stack: an array of words, where level n lies below level
 * n - 1, a call's SP points into it, and the word under that SP is its return address. A method is a letter; "ABC" is
 * a stack with A at the root and C on top.
 */
#include "stack/stack_hot.h"

#include "base/clock.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEVELS       8000u
#define STRIDE       4u /* words between two levels */
#define FIRST_FRAMES 1000u
#define FROM_NATIVE  0x12345u /* return addresses */
#define FROM_JITTED  0x402000u

static uintptr_t machine[(LEVELS + 2) * STRIDE];
static uintptr_t functions[128]; /* a method record is its FunctionID, here */

static uintptr_t id(char method)
{
    return (uintptr_t)&functions[(unsigned)method];
}

static uintptr_t function(char method)
{
    return functions[(unsigned)method];
}

static uintptr_t sp_of(unsigned level)
{
    return (uintptr_t)&machine[(LEVELS + 1 - level) * STRIDE];
}

/* ---- what jitted code and the runtime do ---- */

static char at_level[LEVELS + 1]; /* which method runs there */

/* What the runtime answers: whose code an address lies in. */
static uintptr_t function_at(uintptr_t ip)
{
    return ip > FROM_JITTED && ip <= FROM_JITTED + LEVELS ? function(at_level[ip - FROM_JITTED - 1])
                                                          : 0;
}

static void enter(char method, unsigned level, uintptr_t from)
{
    at_level[level] = method;
    machine[(LEVELS + 1 - level) * STRIDE - 1] = from;
    stack_enter(id(method), sp_of(level));
}

static void call(char method, unsigned level)
{
    enter(method, level, FROM_JITTED + level);
}

static void native_call(char method, unsigned level)
{
    enter(method, level, FROM_NATIVE);
}

static void leave(char method, unsigned level)
{
    stack_leave(id(method), sp_of(level));
}

/* A on level 1, the next letter on level 2, and so on; a dot before a letter: called from native code. */
static void calls(const char *methods)
{
    unsigned level = 1;
    uintptr_t from = FROM_JITTED;

    for (; *methods; methods++) {
        if (*methods == '.') {
            from = FROM_NATIVE;
            continue;
        }
        enter(*methods, level, from + level);
        level++;
        from = FROM_JITTED;
    }
}

static void search(const char *methods)
{
    for (; *methods; methods++)
        stack_search_function_enter(function(*methods));
}

static void unwind(const char *methods)
{
    for (; *methods; methods++)
        stack_unwind_function_enter(function(*methods));
}

/* ---- what must hold ---- */

static void expect_invariants(void)
{
    const struct stack *s = stack_self;
    const struct stack_block *block = load_relaxed(&s->block);
    bool lowered = s->dispatch.searching || s->dispatch.pending != STACK_NONE ||
                   (s->save_count && !s->saves[s->save_count - 1].filter);
    uint32_t depth = stack_depth(s);

    assert_ptr_equal(s->top, block->frames + 1 + depth); /* I3 */
    assert_ptr_equal(s->end, block->frames + 1 + block->capacity);
    assert_true(s->top <= s->end);
    assert_true(load_relaxed(&block->frames[0].sp) == UINTPTR_MAX); /* I1 */
    for (uint32_t i = 0; i < depth && !lowered; i++)
        assert_true(load_relaxed(&block->frames[1 + i].sp) < load_relaxed(&block->frames[i].sp));
    assert_true(s->limit == s->end || s->limit == NULL); /* I2 */
    if (lowered)
        assert_null(s->limit); /* I5 */
}

static void expect_at(const char *methods, const char *file, int line)
{
    const struct stack *s = stack_self;
    char found[64];
    uint32_t depth = stack_depth(s), i;

    expect_invariants();
    for (i = 0; i < depth && i < sizeof(found) - 1; i++)
        found[i] = (char)((uintptr_t *)load_relaxed(&stack_frame(s, i)->method) - functions);
    found[i] = '\0';
    _assert_string_equal(found, methods, file, line);
}
#define expect(methods) expect_at(methods, __FILE__, __LINE__)

static size_t settle(void)
{
    struct frame *top;

    return stack_settle(stack_current(), &top);
}

static uint64_t repairs(enum stack_repair why)
{
    return load_relaxed(&stack_self->repairs[why]);
}

/* `count` repairs of one kind, and none of any other. */
static void expect_only(enum stack_repair why, uint64_t count)
{
    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        assert_int_equal(repairs((enum stack_repair)i), i == (unsigned)why ? count : 0);
    assert_int_equal(stack_touched(stack_self), count ? 1u << why : 0);
}

static void expect_no_repair(void)
{
    expect_only(STACK_DEAD_ON_ENTER, 0);
}

/* ---- calls ---- */

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
    assert_true(load_relaxed(&frame->ret) == FROM_JITTED + 1);
    machine[(LEVELS + 1 - 1) * STRIDE - 1] = 0x666; /* hijacked for a suspension */
    call('B', 2);
    leave('B', 2);
    assert_true(load_relaxed(&frame->ret) == FROM_JITTED + 1);
    assert_true(load_relaxed(&frame->sp) == sp_of(1));
}

TEST(a_new_frame_has_no_node)
{
    calls("AB");
    stack_frame(stack_self, 1)->node = 77;
    leave('B', 2);
    call('C', 2); /* in the same slot */
    assert_int_equal(stack_frame(stack_self, 1)->node, 0);
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
    assert_true(load_relaxed(&stack_none.state) == 0); /* never written */
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

/* ---- filters ---- */

TEST(a_filter_shows_its_method_a_second_time)
{
    calls("ABC");
    stack_exception_thrown();
    search("CB");
    stack_search_filter_enter(function('B'));
    expect("ABCB");
    assert_true(load_relaxed(&stack_frame(stack_self, 3)->ret) == FRAME_RET_FILTER);
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
    assert_null(stack_self->limit); /* searching */
    search("CB");
    stack_search_filter_enter(function('B'));
    assert_ptr_equal(stack_self->limit, stack_self->end);
    stack_search_filter_leave();
    assert_null(stack_self->limit);
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
    stack_catcher_enter(function('F'), sp_of(6));
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

/* ---- handlers ---- */

TEST(a_handler_cuts_by_its_stack_pointer)
{
    calls("AAAA"); /* the name alone would not tell which */
    stack_exception_thrown();
    search("AAA");
    stack_search_catcher_found();
    unwind("AA");
    stack_catcher_enter(function('A'),
                        sp_of(3)); /* the second A: its own SP is what the third was called with */
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
    stack_catcher_enter(function('B'), sp_of(3));
    expect("AB");
    expect_no_repair();
    assert_ptr_equal(stack_self->limit, stack_self->end); /* and the fast path is open again */
}

TEST(a_finally_cuts_as_a_catch_does)
{
    calls("ABCD");
    stack_exception_thrown();
    search("DCBA");
    stack_search_catcher_found();
    unwind("DC");
    stack_unwind_finally_enter(function('B'), sp_of(3));
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
    stack_catcher_enter(function('B'), sp_of(3));
    assert_false(stack_self->dispatch.searching);
    stack_exception_thrown();
    stack_unwind_finally_enter(function('B'), sp_of(3));
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
    stack_catcher_enter(function('B'), sp_of(3)); /* reported, but it is the one that catches */
    expect("AB");
    assert_int_equal(settle(), 2);
    assert_ptr_equal(stack_self->limit, stack_self->end);
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
    assert_ptr_equal(stack_self->limit, stack_self->end);
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
    stack_unwind_finally_enter(function('B'), sp_of(3));
    expect("AB");
    call('D', 4);
    leave('D', 4);
    assert_int_equal(settle(), 2); /* the finally still runs */
    stack_unwind_finally_leave();
    expect("AB");
    assert_int_equal(settle(), 1);
    expect("A");
}

TEST(two_finally_blocks_of_one_method_keep_its_frame)
{
    calls("AB");
    stack_unwind_finally_enter(function('B'), sp_of(3));
    stack_unwind_finally_leave();
    stack_unwind_finally_enter(function('B'), sp_of(3));
    expect("AB");
    assert_int_equal(settle(), 2);
    stack_unwind_finally_leave();
    stack_catcher_enter(function('A'), sp_of(2));
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
    stack_frame(stack_self, 5)->node = 77;
    assert_int_equal(settle(), 4); /* an allocation in F */
    expect("ABEF");
    expect_only(STACK_UNWOUND, 1);
    assert_int_equal(stack_frame(stack_self, 3)->node, 0); /* its context is another now */
    assert_true(load_relaxed(&stack_frame(stack_self, 2)->ret) == FROM_JITTED + 6);
    assert_true(load_relaxed(&stack_frame(stack_self, 3)->sp) == sp_of(7));
    assert_ptr_equal(stack_self->limit, stack_self->end); /* the dispatch is over */
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
    stack_catcher_enter(function('B'), sp_of(3));
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
    stack_unwind_finally_enter(function('B'), sp_of(3));
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
    stack_catcher_enter(function('F'), sp_of(6));
    leave('F', 5);
    expect("ABC");
    search("A");
    assert_true(stack_self->dispatch.searching);
    assert_int_equal(stack_self->dispatch.reach, 0);
}

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
    stack_catcher_enter(function('B'), sp_of(3));
    call('D', 4);
    stack_exception_thrown();
    expect("ABD");
    search("DB");
    stack_search_catcher_found();
    stack_catcher_enter(function('B'), sp_of(3));
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
    assert_ptr_equal(stack_self->limit, stack_self->end); /* and the fast path is open again */
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
    assert_ptr_equal(stack_self->limit, stack_self->end);
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
    stack_catcher_enter(function('H'), sp_of(7));
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
    assert_ptr_equal(stack_self->limit, stack_self->end);
}

TEST(a_first_chance_handler_left_dead_ends_too)
{
    calls("AB");
    stack_exception_thrown();
    search("B");
    native_call('H', 4);
    call('X', 5);
    stack_catcher_enter(function('A'), sp_of(2)); /* past the handler and all */
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

/* What the profiler finds on the machine's stack: whether the thrower is off it. */
static bool thrower_is_gone;

static bool left(uintptr_t sp)
{
    return thrower_is_gone && sp == sp_of(3);
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
    assert_ptr_equal(stack_self->limit, stack_self->end);
}

/* The same: code without hooks above the youngest frame, which may throw; and whether it is there still. */
static struct stack_place above;
static bool filter_throws;

static bool unhooked(uintptr_t since, const struct frame *frame, struct stack_place *out)
{
    assert_ptr_equal(frame, stack_self->top - 1);
    assert_true(since);
    *out = above;
    return above.fp || filter_throws;
}

static bool runs(const struct stack_place *place)
{
    return place->fp == above.fp && place->ret == above.ret;
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
    stack_catcher_enter(0x12345, sp_of(5));
    settle();
    expect("ABC"); /* an allocation in its catch */
    stack_exception_thrown();
    call('D', 4); /* its own call of what is hooked */
    stack_exception_thrown();
    search("D");
    stack_search_catcher_found();
    stack_catcher_enter(function('D'), sp_of(5));
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
    stack_catcher_enter(function('A'), sp_of(2));
    expect("A");
    assert_ptr_equal(stack_self->limit, stack_self->end);
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
    stack_inside(stack_self, id('B'), sp_of(2) - 16,
                 true); /* a body entered by on-stack replacement: a little low */
    expect("AB");
    assert_true(stack_top_sp(stack_self) == sp_of(2));
    assert_true(load_relaxed(&stack_self->top[-1].ret) == FROM_JITTED + 2);
    expect_only(STACK_IN_WRAPPER, 1);
    stack_inside(stack_self, id('B'), sp_of(2), true); /* it is there */
    expect("AB");
    expect_only(STACK_IN_WRAPPER, 1);
}

TEST(a_frame_that_no_hook_told_of_yet_is_pushed)
{
    calls("A");
    machine[(LEVELS + 1 - 2) * STRIDE - 1] = FROM_JITTED + 2;
    stack_inside(stack_self, id('B'), sp_of(2), false);
    expect("AB");
    assert_true(load_relaxed(&stack_self->top[-1].ret) == FROM_JITTED + 2);
    expect_only(STACK_IN_WRAPPER, 1);
}

/* B was last called from the body of A that on-stack replacement has taken out of use, a little higher. */
TEST(a_frame_that_is_entered_is_not_the_one_last_left)
{
    calls("AB");
    leave('B', 2);
    ((uintptr_t *)sp_of(2))[-3] = FROM_JITTED + 7;
    stack_inside(stack_self, id('B'), sp_of(2) - 16, false);
    expect_only(STACK_IN_WRAPPER, 1);
    assert_true(stack_top_sp(stack_self) == sp_of(2) - 16);
    assert_true(load_relaxed(&stack_self->top[-1].ret) == FROM_JITTED + 7);
}

TEST(a_frame_whose_leave_is_yet_to_come_is_there)
{
    calls("AB");
    stack_inside(stack_self, id('B'), sp_of(2) - 16, true); /* replaced on the stack */
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
    stack_unwind_finally_enter(function('B'), sp_of(3));
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

/* ---- threads that have no stack ---- */

TEST(events_on_a_thread_without_a_stack_make_none)
{
    stack_exception_thrown();
    search("A");
    stack_search_filter_enter(function('A'));
    stack_search_filter_leave();
    stack_search_catcher_found();
    unwind("A");
    stack_unwind_finally_enter(function('A'), sp_of(1));
    stack_unwind_finally_leave();
    stack_catcher_enter(function('A'), 0);
    assert_null(stack_peek());
    assert_true(load_relaxed(&stack_none.state) == 0);
}

TEST(an_empty_stack_takes_every_event)
{
    call('A', 1);
    leave('A', 1);
    stack_unwind_finally_leave();
    stack_exception_thrown();
    search("A");
    unwind("A");
    stack_search_filter_enter(function('A'));
    expect("");
    stack_search_filter_leave();
    stack_catcher_enter(function('A'), sp_of(1));
    stack_catcher_enter(function('A'), 0);
    expect("");
    assert_int_equal(settle(), 0);
    expect_no_repair();
}

/* ---- growth and memory ---- */

TEST(growth_keeps_every_frame_and_node)
{
    struct frame *top;
    size_t depth;

    for (unsigned i = 1; i <= 6000; i++) {
        enter((char)('A' + i % 26), i, i % 100 ? FROM_JITTED + i : FROM_NATIVE);
        stack_frame(stack_self, i - 1)->node = i;
    }
    expect_invariants();
    depth = stack_settle(stack_self, &top);
    assert_int_equal(depth, 6000);
    for (unsigned i = 6000; i > 0; i--) {
        const struct frame *frame = top - 1 - (6000 - i);

        assert_true(load_relaxed(&frame->method) == id((char)('A' + i % 26)));
        assert_true(load_relaxed(&frame->sp) == sp_of(i));
        assert_true(load_relaxed(&frame->ret) == (i % 100 ? FROM_JITTED + i : FROM_NATIVE));
        assert_int_equal(frame->node, i);
    }
    for (unsigned i = 6000; i > 0; i--)
        leave((char)('A' + i % 26), i);
    expect("");
    expect_no_repair();
    while (stack_reclaim())
        ;
}

TEST(growth_keeps_the_slow_path_forced)
{
    for (unsigned i = 1; i <= FIRST_FRAMES; i++)
        call('A', i);
    stack_exception_thrown();
    search("A");
    for (unsigned i = 1; i <= FIRST_FRAMES; i++)
        call('B', FIRST_FRAMES + i);
    assert_int_equal(stack_depth(stack_self), 2 * FIRST_FRAMES);
    assert_null(stack_self->limit);
    expect_invariants();
}

TEST(a_stack_without_memory_to_grow_counts_the_frames_it_loses)
{
    for (unsigned i = 1; i <= FIRST_FRAMES; i++)
        call('A', i);
    memory_fail_after(0);
    for (unsigned i = 1; i <= 3; i++)
        call('L', FIRST_FRAMES + i);
    assert_int_equal(repairs(STACK_LOST_FRAME), 3);
    assert_int_equal(stack_depth(stack_self), FIRST_FRAMES);
    for (unsigned i = 3; i >= 1; i--)
        leave('L', FIRST_FRAMES + i);
    assert_int_equal(repairs(STACK_ORPHAN_LEAVE), 3); /* theirs; nothing else is popped for them */
    assert_int_equal(stack_depth(stack_self), FIRST_FRAMES);
    expect_invariants();
    memory_fail_after(-1);
    call('B', FIRST_FRAMES + 1);
    assert_int_equal(stack_depth(stack_self), FIRST_FRAMES + 1);
    for (unsigned i = FIRST_FRAMES + 1; i >= 1; i--)
        leave('A', i);
    expect("");
}

TEST(a_thread_without_memory_for_a_stack_runs_on_without)
{
    struct stack_totals before, after;

    stack_totals_read(&before);
    for (long fail = 0; fail <= 1; fail++) { /* the stack itself, its first block */
        memory_fail_after(fail);
        call('A', 1);
        assert_null(stack_peek());
        assert_null(stack_current());
        leave('A', 1);
    }
    memory_fail_after(-1);
    stack_totals_read(&after);
    assert_true(after.refused >= before.refused + 2);
    assert_int_equal(after.threads, before.threads);
    call('A', 1);
    expect("A");
}

TEST(a_stack_never_begins_in_the_middle)
{
    memory_fail_after(0);
    call('A', 1);
    memory_fail_after(-1);
    call('B', 2);
    assert_null(stack_peek()); /* it would say that nobody called B */
    assert_null(stack_current());
    leave('B', 2);
    call('C', 1); /* where A was */
    expect("C");
}

TEST(above_a_frame_that_is_missing_there_is_none)
{
    for (unsigned i = 1; i <= FIRST_FRAMES; i++)
        call('A', i);
    assert_false(stack_misses_frames_hot(stack_self));
    memory_fail_after(0);
    call('L', FIRST_FRAMES + 1);
    memory_fail_after(-1);
    call('B', FIRST_FRAMES + 2); /* there would be room for it now */
    assert_int_equal(stack_depth(stack_self), FIRST_FRAMES);
    assert_true(stack_misses_frames_hot(stack_self));
    leave('B', FIRST_FRAMES + 2);
    assert_true(stack_misses_frames_hot(stack_self));
    leave('L', FIRST_FRAMES + 1);
    assert_false(stack_misses_frames_hot(stack_self));
    expect_invariants();
    call('B', FIRST_FRAMES + 1);
    assert_int_equal(stack_depth(stack_self), FIRST_FRAMES + 1);
}

TEST(a_missing_frame_is_gone_with_the_one_below_it)
{
    for (unsigned i = 1; i <= FIRST_FRAMES; i++)
        call('A', i);
    memory_fail_after(0);
    call('L', FIRST_FRAMES + 1);
    memory_fail_after(-1);
    assert_true(stack_misses_frames_hot(stack_self));
    leave('A', FIRST_FRAMES); /* an exception has left L */
    assert_false(stack_misses_frames_hot(stack_self));
    call('B', FIRST_FRAMES);
    call('B', FIRST_FRAMES + 1);
    assert_int_equal(stack_depth(stack_self), FIRST_FRAMES + 1);
}

TEST(every_event_lives_without_memory)
{
    calls("AB");
    memory_fail_after(0);
    for (unsigned i = 0; i < 30; i++) {
        stack_exception_thrown();
        search("B");
        stack_search_filter_enter(function('B'));
        native_call('B', 10 + 10 * i);
        expect_invariants();
    }
    for (unsigned i = 30; i-- > 0;) {
        leave('B', 10 + 10 * i);
        stack_search_filter_leave();
        expect_invariants();
    }
    stack_catcher_enter(function('B'), sp_of(3));
    expect("AB");
}

TEST(a_filter_that_could_not_be_remembered_does_not_end_another)
{
    calls("AB");
    memory_fail_after(0); /* room for eight without asking */
    for (unsigned i = 0; i < 8; i++) {
        stack_search_filter_enter(function('B'));
        call('B', 10 + 10 * i);
    }
    assert_int_equal(stack_depth(stack_self), 18);
    stack_search_filter_enter(function('B'));
    call('F', 200);
    leave('F', 200);
    stack_search_filter_leave();
    assert_int_equal(stack_depth(stack_self), 18); /* the eighth still runs */
    memory_fail_after(-1);
}

TEST(the_slow_path_keeps_errno)
{
    errno = 12345;
    call('A', 1); /* maps pages */
    memory_fail_after(0);
    for (unsigned i = 2; i <= FIRST_FRAMES + 2; i++)
        call('A', i);
    leave('X', FIRST_FRAMES + 5);
    memory_fail_after(-1);
    call('B', FIRST_FRAMES + 3);
    leave('A', 2);
    assert_int_equal(errno, 12345);
}

/* ---- what others see ---- */

TEST(settling_gives_the_frames_youngest_first)
{
    struct frame *top;

    calls("ABC");
    assert_int_equal(stack_settle(stack_self, &top), 3);
    assert_true(load_relaxed(&top[-1].method) == id('C'));
    assert_true(load_relaxed(&top[-2].method) == id('B'));
    assert_true(load_relaxed(&top[-3].method) == id('A'));
    assert_true(load_relaxed(&top[-4].sp) == UINTPTR_MAX);
}

TEST(repairs_touch_a_stack_until_they_are_forgotten)
{
    calls("ABC");
    assert_int_equal(stack_touched(stack_self), 0);
    leave('A', 1);
    leave('A', 1);
    assert_int_equal(stack_touched(stack_self),
                     1u << STACK_DEAD_ON_LEAVE | 1u << STACK_ORPHAN_LEAVE);
    stack_forget_repairs(stack_self);
    assert_int_equal(stack_touched(stack_self), 0);
    assert_int_equal(repairs(STACK_ORPHAN_LEAVE), 1);
}

TEST(totals_count_calls_and_repairs)
{
    struct stack_totals before, after;

    call('A', 1);
    stack_totals_read(&before);
    call('B', 2);
    call('C', 3);
    leave('C', 3);
    call('D', 3);
    leave('B', 2); /* D is dead */
    stack_totals_read(&after);
    assert_int_equal(after.calls, before.calls + 5);
    assert_int_equal(after.repairs[STACK_DEAD_ON_LEAVE], before.repairs[STACK_DEAD_ON_LEAVE] + 1);
}

TEST(every_repair_has_a_name)
{
    for (unsigned i = 0; i < STACK_REPAIRS; i++) {
        assert_string_not_equal(stack_repair_name((enum stack_repair)i), "?");
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(stack_repair_name((enum stack_repair)i),
                                    stack_repair_name((enum stack_repair)j));
    }
    assert_string_equal(stack_repair_name(STACK_REPAIRS), "?");
}

static unsigned pairs;
static void pair(uintptr_t method, uintptr_t sp)
{
    pairs++;
    stack_enter(method, sp);
    stack_leave(method, sp);
}

TEST(measuring_leaves_no_trace)
{
    struct stack_totals before, after;

    calls("AB");
    stack_totals_read(&before);
    pairs = 0;
    assert_true(stack_measure(pair, 1000) > 0);
    assert_int_equal(pairs, 1000);
    stack_totals_read(&after);
    assert_int_equal(after.calls, before.calls);
    assert_int_equal(after.threads, before.threads);
    expect("AB");
    for (long fail = 0; fail <= 1; fail++) {
        memory_fail_after(fail);
        assert_true(stack_measure(pair, 1000) == 0);
    }
    memory_fail_after(-1);
    assert_int_equal(pairs, 1000);
    expect("AB");
}

static size_t pages_in_use(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    size_t pages = 0;

    if (!file || fscanf(file, "%zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages;
}

TEST(measuring_nothing_keeps_no_memory)
{
    size_t before;

    before = pages_in_use();
    for (unsigned i = 0; i < 300; i++)
        assert_true(stack_measure(pair, 0) == 0);
    assert_in_range(pages_in_use(), 1, before + 600); /* each has nine pages */
}

/* In a child: there is no way back. */
TEST(after_stop_no_stack_is_made_and_nothing_grows)
{
    int status = 0;
    pid_t child;

    call('A', 1);
    child = fork();
    if (child == 0) {
        int bad = 0;

        stack_stop();
        bad |= stack_current() != NULL;
        for (unsigned i = 2; i < 3 * FIRST_FRAMES; i++)
            call('B', i);
        bad |= stack_depth(stack_self) > FIRST_FRAMES;
        leave('C', 0); /* an orphan */
        for (unsigned i = 3 * FIRST_FRAMES; i > 0; i--)
            leave('B', i);
        bad |= stack_depth(stack_self) != 0;
        stack_self = &stack_none; /* as another thread's */
        call('A', 1);
        leave('A', 1);
        bad |= stack_peek() != NULL;
        _exit(bad);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ---- */

static int start(void **state)
{
    const struct stack_config config = {
        .function_at = function_at, .left = left, .unhooked = unhooked, .runs = runs};

    (void)state;
    clock_start();
    for (unsigned i = 0; i < COUNT_OF(functions); i++)
        functions[i] = 0x7f0000u + i;
    return stack_start(&config);
}

/* This thread gives its stack up, as its key's destructor would make it. */
static int over(void **state)
{
    (void)state;
    memory_fail_after(-1);
    if (stack_peek()) {
        struct stack *s = stack_self;

        stack_self = &stack_none;
        store_release(&s->gone, true);
    }
    while (stack_reclaim())
        ;
    return 0;
}

TEST_EACH(NULL, over);
TEST_GROUP(start, NULL);
