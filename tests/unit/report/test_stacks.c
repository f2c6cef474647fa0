/* Tables of stacks: what stacks have in common is there once, callers before what they call. */
#include "report/stacks.h"

#include "base/memory.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

enum { MAIN = 1, LEFT, RIGHT };
#define DEEP 100000

static struct log_problems problems;
static struct log_defs defs;
static struct report_stacks stacks;

static int setup(void **state)
{
    (void)state;
    log_problems_init(&problems);
    assert_int_equal(log_defs_init(&defs, &problems), 0);
    report_stacks_init(&stacks);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    memory_fail_after(-1);
    report_stacks_fini(&stacks);
    log_defs_fini(&defs);
    log_problems_fini(&problems);
    return 0;
}

TEST_EACH(setup, teardown);

static uint32_t path_of(uint32_t parent, uint32_t method, int32_t il)
{
    const struct log_call_path path = {.parent = parent, .method = method & INT32_MAX, .il = il};
    uint32_t out;

    assert_int_equal(log_defs_path_add(&defs, &path, &out), 0);
    return out;
}

static uint32_t add(uint32_t path, int32_t il)
{
    uint32_t out;

    assert_int_equal(report_stacks_add(&stacks, &defs, path, il, 0, &out), 0);
    return out;
}

static struct report_frame frame_at(uint32_t number)
{
    const struct log_defs *of;
    struct report_frame f = report_stacks_frame_at(&stacks, number, &of);

    assert_ptr_equal(of, &defs);
    return f;
}

static void expect_frame(uint32_t stack, uint32_t method, int32_t il, uint32_t parent)
{
    const struct report_stack *s = report_stacks_at(&stacks, stack);
    struct report_frame f = frame_at(s->frame);

    assert_int_equal(f.method, method);
    assert_int_equal(f.il, il);
    assert_int_equal(s->parent, parent);
}

TEST(callers_are_shared)
{
    uint32_t root = path_of(LOG_PATH_EMPTY, MAIN, LOG_NO_IL);
    uint32_t left = path_of(root, LEFT, 5), right = path_of(root, RIGHT, 5),
             other = path_of(root, RIGHT, 9), a, b, c;

    a = add(left, 1);
    b = add(right, 2);
    assert_int_equal(report_stacks_count(&stacks), 3);
    expect_frame(a, LEFT, 1, 0);
    expect_frame(b, RIGHT, 2, 0);
    expect_frame(0, MAIN, 5, REPORT_STACK_NONE);
    c = add(other, 2); /* called from another place: Main's frame is another, Right's the same */
    assert_int_equal(report_stacks_count(&stacks), 5);
    assert_int_equal(report_stacks_frame_count(&stacks), 4);
    assert_int_equal(report_stacks_at(&stacks, c)->frame, report_stacks_at(&stacks, b)->frame);
    assert_int_equal(add(left, 1), a);
    assert_int_equal(add(right, 2), b);
    assert_int_equal(report_stacks_count(&stacks), 5);
    assert_int_equal(add(root, 5), 0); /* as the callers of others have it */
    assert_int_not_equal(add(root, LOG_NO_IL), 0);
}

TEST(a_stack_may_have_no_frame_or_lost_callers)
{
    uint32_t lost = path_of(LOG_PATH_LOST, MAIN, 3), a;

    assert_int_equal(add(LOG_PATH_EMPTY, LOG_NO_IL), REPORT_STACK_NONE);
    assert_int_equal(report_stacks_count(&stacks), 0);
    a = add(lost, 7);
    assert_int_equal(report_stacks_count(&stacks), 2);
    expect_frame(a, MAIN, 7, 0);
    assert_int_equal(report_stacks_at(&stacks, 0)->parent, REPORT_STACK_NONE);
    assert_int_equal(frame_at(0).path, LOG_PATH_LOST);
    assert_int_equal(frame_at(1).path, LOG_PATH_EMPTY);
}

/* Numbers of paths and methods are each log's own. */
TEST(logs_are_kept_apart)
{
    const struct log_call_path path = {.parent = LOG_PATH_EMPTY, .method = MAIN, .il = 5};
    uint32_t mine = path_of(LOG_PATH_EMPTY, MAIN, 5), out, a = add(mine, 1), b;
    const struct log_defs *of;
    struct log_defs other;

    assert_int_equal(log_defs_init(&other, &problems), 0);
    assert_int_equal(log_defs_path_add(&other, &path, &out), 0);
    assert_int_equal(out, mine);
    assert_int_equal(report_stacks_add(&stacks, &other, out, 1, 0, &b), 0);
    assert_int_not_equal(a, b);
    assert_int_equal(report_stacks_at(&stacks, b)->parent, REPORT_STACK_NONE);
    report_stacks_frame_at(&stacks, report_stacks_at(&stacks, b)->frame, &of);
    assert_ptr_equal(of, &other);
    assert_int_equal(report_stacks_frame_count(&stacks), 2);
    log_defs_fini(&other);
}

TEST(frames_differ_by_what_they_say)
{
    uint32_t a, b, c;

    assert_int_equal(report_stacks_frame(&stacks, &defs, MAIN, 3, &a), 0);
    assert_int_equal(report_stacks_frame(&stacks, &defs, MAIN, LOG_NO_IL - SST_CALL_NATIVE, &b), 0);
    assert_int_equal(report_stacks_frame(&stacks, &defs, MAIN, LOG_NO_IL, &c), 0);
    assert_int_equal(report_stacks_frame_count(&stacks), 3);
    assert_int_equal(report_stacks_frame(&stacks, &defs, MAIN, 3, &b), 0);
    assert_int_equal(a, b);
    assert_int_equal(report_stacks_count(&stacks), 0);
}

/* Each path of a deep recursion costs what is new in it: a stack for each, and not all of its callers again. */
TEST(recursion_is_no_more_than_its_nodes)
{
    uint32_t path = LOG_PATH_EMPTY;

    for (uint32_t i = 0; i < DEEP; i++) {
        path = path_of(path, MAIN, 4);
        add(path, 4);
    }
    assert_int_equal(report_stacks_count(&stacks), DEEP);
    assert_int_equal(report_stacks_frame_count(&stacks), 1);
}

TEST(memory_that_runs_out_is_said_and_leaves_the_tables_whole)
{
    uint32_t path = LOG_PATH_EMPTY, out = 0;
    long n = 0;
    int err;

    for (uint32_t i = 0; i < 200; i++)
        path = path_of(path, MAIN, (int32_t)i);
    do {
        memory_fail_after(n++);
        err = report_stacks_add(&stacks, &defs, path, 1, 0, &out);
        memory_fail_after(-1);
        assert_true(err == 0 || err == -ENOMEM);
    } while (err);
    assert_true(n > 3); /* what was added before stays */
    assert_int_equal(report_stacks_count(&stacks), 200);
    for (uint32_t i = 0; i < 200; i++)
        expect_frame(i, MAIN, i < 199 ? (int32_t)i + 1 : 1, i ? i - 1 : REPORT_STACK_NONE);
}
