/* Storage: threads without a stack, growth, memory that runs out, and what others see. */
#include "machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_EACH(NULL, machine_over);
TEST_GROUP(machine_begin, NULL);

/* ---- threads that have no stack ---- */

TEST(events_on_a_thread_without_a_stack_make_none)
{
    stack_exception_thrown();
    search("A");
    stack_search_filter_enter(function('A'));
    stack_search_filter_leave();
    stack_search_catcher_found();
    unwind("A");
    stack_unwind_finally_enter(function('A'), handler_of(0));
    stack_unwind_finally_leave();
    stack_catcher_enter(function('A'), 0);
    assert_null(stack_peek());
    assert_true(load_relaxed(&stack_none.own.state) == 0);
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
    stack_catcher_enter(function('A'), handler_of(0));
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
        frame_node_set(stack_frame(stack_self, i - 1), i);
    }
    expect_invariants();
    depth = stack_settle(stack_self, &top);
    assert_int_equal(depth, 6000);
    for (unsigned i = 6000; i > 0; i--) {
        const struct frame *frame = top - 1 - (6000 - i);

        assert_true(load_relaxed(&frame->method) == id((char)('A' + i % 26)));
        assert_true(load_relaxed(&frame->sp) == sp_of(i));
        assert_true(frame_ret(frame) == (i % 100 ? FROM_JITTED + i : FROM_NATIVE));
        assert_int_equal(frame_node(frame), i);
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
    assert_null(stack_words.limit);
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
    stack_catcher_enter(function('B'), handler_of(2));
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
        stack_words_give(stack_self); /* as another thread's */
        stack_self = &stack_none;
        call('A', 1);
        leave('A', 1);
        bad |= stack_peek() != NULL;
        _exit(bad);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
