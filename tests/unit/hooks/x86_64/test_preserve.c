/*
 * The stubs of ELT3 with the real stack behind them, called as jitted code calls them: what they keep on every path
 * through them. The twin of this, test_slow_call.c, has hostile slow halves instead.
 */
#include "hooks/elt.h"

#include "stack/stack_hot.h"

#include "base/clock.h"
#include "base/memory.h"

#include "support/x86_64/canary.h"
#include "support/x86_64/forms.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#define LEVELS       3000u
#define STRIDE       2u
#define FIRST_FRAMES 1000u
#define ERRNO        12345

static uintptr_t machine[(LEVELS + 2) * STRIDE];
static const uintptr_t functions[4] = {0x7f0000, 0x7f0001, 0x7f0002, 0x7f0003};

#define METHOD(n) ((uintptr_t)&functions[n])

static uintptr_t sp_of(unsigned level)
{
    return (uintptr_t)&machine[(LEVELS + 1 - level) * STRIDE];
}

#define ENTER_MAY_CHANGE \
    (CANARY_BIT(CANARY_RAX) | CANARY_BIT(CANARY_R10) | CANARY_BIT(CANARY_R11) | CANARY_XMM_FROM(8))
#define LEAVE_MAY_CHANGE \
    (CANARY_BIT(CANARY_RDI) | CANARY_BIT(CANARY_RSI) | CANARY_BIT(CANARY_R8) | \
     CANARY_BIT(CANARY_R9) | CANARY_BIT(CANARY_R10) | CANARY_BIT(CANARY_R11) | CANARY_XMM_FROM(2))

static void call(void (*hook)(void), const struct canary *in, uint64_t may_change, const char *file,
                 int line)
{
    struct canary out;

    errno = ERRNO;
    canary_call(hook, in, &out);
    _assert_int_equal((LargestIntegralType)errno, ERRNO, file, line);
    _assert_int_equal(canary_changed(in, &out) & ~may_change, 0, file, line);
    _assert_int_equal(out.flags & CANARY_DIRECTION_FLAG, 0, file, line);
}

static uint64_t seed;

/* The forms of the hooks, chosen by the seed: what one pushes another pops. */
static const struct elt3_hooks forms[] = {{hook_enter3_far, hook_leave3_far, elt3_pair_far},
                                          {hook_enter3_near, hook_leave3_near, elt3_pair_near},
                                          {hook_enter3_dtv, hook_leave3_dtv, elt3_pair_dtv}};
#define FORM (&forms[(seed * UINT64_C(0x9E3779B97F4A7C15) >> 32) % COUNT_OF(forms)])

static void enter_at(unsigned method, unsigned level, const char *file, int line)
{
    struct canary in;

    canary_fill(&in, ++seed);
    in.general[CANARY_R14] = METHOD(method);
    in.general[CANARY_R15] = sp_of(level);
    machine[(LEVELS + 1 - level) * STRIDE - 1] = 0x402000 + level;
    call((void (*)(void))FORM->enter, &in, ENTER_MAY_CHANGE, file, line);
}

static void leave_at(void (*hook)(uintptr_t), unsigned method, unsigned level, const char *file,
                     int line)
{
    struct canary in;

    canary_fill(&in, ++seed);
    in.general[CANARY_RDI] = METHOD(method);
    in.general[CANARY_RSI] = sp_of(level);
    call((void (*)(void))hook, &in, LEAVE_MAY_CHANGE, file, line);
}

#define ENTER(method, level) enter_at(method, level, __FILE__, __LINE__)
#define LEAVE(method, level) leave_at(FORM->leave, method, level, __FILE__, __LINE__)

static void expect_depth(uint32_t depth)
{
    assert_int_equal(stack_depth(stack_self), depth);
    if (stack_peek())
        assert_ptr_equal(stack_words.top, stack_frame(stack_self, depth));
}

static uint64_t repairs(enum stack_repair why)
{
    return load_relaxed(&stack_self->repairs[why]);
}

TEST(everything_is_kept_on_the_fast_path)
{
    ENTER(0, 1);
    for (unsigned i = 0; i < 20; i++) {
        ENTER(1, 2);
        expect_depth(2);
        assert_true(load_relaxed(&stack_frame(stack_self, 1)->method) == METHOD(1));
        assert_true(load_relaxed(&stack_frame(stack_self, 1)->sp) == sp_of(2));
        assert_true(frame_ret(stack_frame(stack_self, 1)) == 0x402002);
        assert_int_equal(frame_node(stack_frame(stack_self, 1)), 0);
        LEAVE(1, 2);
        expect_depth(1);
    }
    assert_int_equal(stack_touched(stack_self), 0);
}

TEST(everything_is_kept_at_a_threads_first_frame)
{
    assert_null(stack_peek());
    ENTER(0, 1);
    assert_non_null(stack_peek());
    expect_depth(1);
}

TEST(everything_is_kept_when_there_is_no_memory_for_a_stack)
{
    memory_fail_after(0);
    ENTER(0, 1);
    LEAVE(0, 1);
    LEAVE(0, 1);
    memory_fail_after(-1);
    assert_null(stack_peek());
}

TEST(everything_is_kept_when_the_stack_grows)
{
    for (unsigned i = 1; i <= 2 * FIRST_FRAMES + 1; i++)
        ENTER(i % 4, i);
    expect_depth(2 * FIRST_FRAMES + 1);
    for (unsigned i = 2 * FIRST_FRAMES + 1; i >= 1; i--) {
        assert_true(load_relaxed(&stack_frame(stack_self, i - 1)->method) == METHOD(i % 4));
        LEAVE(i % 4, i);
    }
    expect_depth(0);
}

TEST(everything_is_kept_when_the_stack_cannot_grow)
{
    for (unsigned i = 1; i <= FIRST_FRAMES; i++)
        ENTER(0, i);
    memory_fail_after(0);
    ENTER(0, FIRST_FRAMES + 1);
    LEAVE(0, FIRST_FRAMES + 1);
    memory_fail_after(-1);
    expect_depth(FIRST_FRAMES);
    assert_int_equal(repairs(STACK_LOST_FRAME), 1);
}

TEST(everything_is_kept_above_dead_frames)
{
    for (unsigned i = 1; i <= 5; i++)
        ENTER(0, i);
    ENTER(1, 3);
    expect_depth(3);
    assert_int_equal(repairs(STACK_DEAD_ON_ENTER), 1);
    ENTER(0, 4);
    LEAVE(0, 2);
    expect_depth(1);
    assert_int_equal(repairs(STACK_DEAD_ON_LEAVE), 1);
    ENTER(0, 2);
    ENTER(0, 3);
    LEAVE(0, 2);
    expect_depth(1);
    assert_int_equal(repairs(STACK_DEAD_ON_LEAVE), 2);
}

static uint32_t asked;

static uint32_t begun(void *context, const struct stack *s, uintptr_t method, uintptr_t sp,
                      const uintptr_t *passed)
{
    (void)context;
    asked++;
    assert_true(method == METHOD(2));
    assert_true(load_relaxed(&s->words->top[-1].sp) == sp);
    return (uint32_t)(*passed & 0xff);
}

TEST(everything_is_kept_where_a_method_goes_on)
{
    struct canary in;

    ENTER(0, 1);
    for (unsigned level = 2; level <= 3; level++) {
        canary_fill(&in, ++seed);
        in.general[CANARY_RDI] = 0x7f00abcd0042;
        in.general[CANARY_R14] = METHOD(2) | STACK_RESUMABLE;
        in.general[CANARY_R15] = sp_of(level);
        if (level == 3)
            stack_words.limit = stack_words.top; /* the slow path */
        call((void (*)(void))FORM->enter, &in, ENTER_MAY_CHANGE, __FILE__, __LINE__);
        expect_depth(level);
        assert_int_equal(asked, level - 1);
        assert_true(load_relaxed(&stack_words.top[-1].method) == METHOD(2));
        assert_int_equal(frame_flags(&stack_words.top[-1]) >> FRAME_BEGUN_SHIFT, 0x42);
    }
    LEAVE(2, 3);
    LEAVE(2, 2);
    ENTER(1, 2); /* the next one there is not told so */
    assert_int_equal(frame_flags(&stack_words.top[-1]), 0);
    LEAVE(1, 2);
    LEAVE(0, 1);
}

TEST(everything_is_kept_when_there_is_no_frame_to_leave)
{
    ENTER(0, 1);
    LEAVE(1, 5);
    LEAVE(1, 5);
    LEAVE(1, 0);
    expect_depth(1);
    assert_int_equal(repairs(STACK_ORPHAN_LEAVE), 3);
}

TEST(everything_is_kept_while_an_exception_is_under_way)
{
    ENTER(0, 1);
    ENTER(1, 2);
    stack_exception_thrown();
    ENTER(2, 4);
    LEAVE(2, 4);
    stack_unwind_function_enter(functions[1]);
    ENTER(2, 4);
    LEAVE(2, 4);
    expect_depth(2);
}

static int start(void **state)
{
    const struct stack_config config = {.begun = begun};

    (void)state;
    clock_start();
    forms_prepare();
    return stack_start(&config);
}

static int over(void **state)
{
    (void)state;
    memory_fail_after(-1);
    if (stack_peek()) {
        struct stack *s = stack_self;

        stack_self = &stack_none;
        stack_words_give(s);
        store_relaxed(&stack_words.state, 0); /* the next is another thread's */
        store_release(&s->gone, true);        /* as its key's destructor does */
    }
    while (stack_reclaim())
        ;
    return 0;
}

TEST_EACH(NULL, over);
TEST_GROUP(start, NULL);
