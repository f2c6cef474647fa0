/*
 * The stubs of ELT3 alone, above slow halves that are as hostile as the ABI allows: they overwrite every register that
 * a callee may change, and look at the alignment of the stack. So what is kept here is kept whatever the compiler makes
 * of the real ones. This program defines stack_words and the slow halves itself; src/tracer/stack/ is not linked.
 */
#include "hooks/elt.h"

#include "stack/stack_hot.h"

#include "support/x86_64/canary.h"
#include "support/x86_64/forms.h"
#include "support/test.h"

#include <stdio.h>

static struct frame frames[4];
_Thread_local struct stack *stack_self;
_Thread_local struct stack_words stack_words;
#define fake stack_words

static const struct elt3_hooks forms[] = {{hook_enter3_far, hook_leave3_far, elt3_pair_far},
                                          {hook_enter3_near, hook_leave3_near, elt3_pair_near},
                                          {hook_enter3_dtv, hook_leave3_dtv, elt3_pair_dtv}};
#define FORM(seed) (&forms[(seed) / 2 % COUNT_OF(forms)])

static uintptr_t machine[64];
#define SP ((uintptr_t)&machine[32])

static unsigned entered, resumable, left, misaligned;
static uintptr_t seen_method, seen_sp, seen_passed[4];

/* The frame address is where rbp was pushed: aligned if rsp was, at the call. */
static void note(uintptr_t method, uintptr_t sp, uintptr_t frame_address)
{
    seen_method = method;
    seen_sp = sp;
    if (frame_address % 16)
        misaligned++;
}

static struct elt_caller caller; /* of the hook, as the slow path finds it */

void stack_enter_slow(uintptr_t method, struct frame_at at)
{
    /* The method's frame pointer is whatever the stub met in rbp. */
    uintptr_t fp = *(const uintptr_t *)__builtin_frame_address(0);

    entered++;
    (void)elt_caller(false, frame_at(fp + 2 * sizeof(uintptr_t)), &caller);
    note(method, at.sp, (uintptr_t)__builtin_frame_address(0));
    canary_trash();
}

void stack_enter_resumable(uintptr_t method, struct frame_at at, const uintptr_t *passed)
{
    resumable++;
    memcpy(seen_passed, passed, sizeof(seen_passed));
    note(method, at.sp, (uintptr_t)__builtin_frame_address(0));
    canary_trash();
}

void stack_leave_slow(uintptr_t method, uintptr_t sp)
{
    left++;
    note(method, sp, (uintptr_t)__builtin_frame_address(0));
    canary_trash();
}

static void callee(void)
{
    note(0, 0, (uintptr_t)__builtin_frame_address(0));
}

#define ENTER_MAY_CHANGE \
    (CANARY_BIT(CANARY_RAX) | CANARY_BIT(CANARY_R10) | CANARY_BIT(CANARY_R11) | CANARY_XMM_FROM(8))
#define LEAVE_MAY_CHANGE \
    (CANARY_BIT(CANARY_RDI) | CANARY_BIT(CANARY_RSI) | CANARY_BIT(CANARY_R8) | \
     CANARY_BIT(CANARY_R9) | CANARY_BIT(CANARY_R10) | CANARY_BIT(CANARY_R11) | CANARY_XMM_FROM(2))

static int setup(void **state)
{
    (void)state;
    store_relaxed(&frames[0].sp, UINTPTR_MAX);
    fake.top = frames + 1;
    fake.limit = frames + COUNT_OF(frames);
    store_relaxed(&fake.state, 0);
    entered = resumable = left = misaligned = 0;
    seen_method = seen_sp = 0;
    return 0;
}

static int prepare(void **state)
{
    (void)state;
    forms_prepare();
    return 0;
}

TEST_EACH(setup, NULL);
TEST_GROUP(prepare, NULL);

static uint64_t changed_by(void (*hook)(void), const struct canary *in)
{
    struct canary out;
    uint64_t changed;

    memset(&out, 0, sizeof(out));
    canary_call(hook, in, &out);
    changed = canary_changed(in, &out);
    assert_false(out.flags & CANARY_DIRECTION_FLAG);
    return changed;
}

static uint64_t changed_by_enter(uint64_t seed, uintptr_t method, uintptr_t sp)
{
    struct canary in;

    canary_fill(&in, seed);
    in.general[CANARY_R14] = method;
    in.general[CANARY_R15] = sp;
    return changed_by((void (*)(void))FORM(seed)->enter, &in);
}

static uint64_t changed_by_leave(uint64_t seed, void (*hook)(uintptr_t), uintptr_t method,
                                 uintptr_t sp)
{
    struct canary in;

    canary_fill(&in, seed);
    in.general[CANARY_RDI] = method;
    in.general[CANARY_RSI] = sp;
    return changed_by((void (*)(void))hook, &in);
}

TEST(enter_keeps_its_promise_on_the_fast_path)
{
    machine[31] = 0x4711;
    for (uint64_t seed = 1; seed < 50; seed++) {
        setup(NULL);
        assert_int_equal(changed_by_enter(seed, 0x1230, SP) & ~ENTER_MAY_CHANGE, 0);
        assert_int_equal(entered, 0);
        assert_ptr_equal(fake.top, frames + 2);
        assert_true(load_relaxed(&frames[1].method) == 0x1230);
        assert_true(load_relaxed(&frames[1].sp) == SP);
        assert_true(frame_ret(&frames[1]) == 0x4711);
        assert_int_equal(STATE_DEPTH(load_relaxed(&fake.state)), 1);
    }
}

TEST(enter_keeps_its_promise_above_a_hostile_callee)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        setup(NULL);
        if (seed % 2)
            fake.limit = NULL; /* forced */
        else
            store_relaxed(&frames[0].sp, SP); /* a dead frame on top */
        assert_int_equal(changed_by_enter(seed, 0x1230, SP) & ~ENTER_MAY_CHANGE, 0);
        assert_int_equal(entered, 1);
        assert_true(seen_method == 0x1230);
        assert_true(seen_sp == SP);
        assert_int_equal(misaligned, 0);
        assert_ptr_equal(fake.top, frames + 1);
        assert_in_range(caller.ip, (uintptr_t)canary_call,
                        (uintptr_t)canary_call + 512); /* who called the stub */
    }
}

TEST(enter_of_what_may_go_on_keeps_its_promise_above_a_hostile_callee)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct canary in;

        setup(NULL);
        canary_fill(&in, seed);
        in.general[CANARY_R14] = 0x1230 | STACK_RESUMABLE;
        in.general[CANARY_R15] = SP;
        assert_int_equal(changed_by((void (*)(void))FORM(seed)->enter, &in) & ~ENTER_MAY_CHANGE, 0);
        assert_int_equal(resumable, 1);
        assert_int_equal(entered + left, 0);
        assert_true(seen_method == (0x1230 | STACK_RESUMABLE));
        assert_true(seen_sp == SP);
        assert_true(seen_passed[0] == in.general[CANARY_RDI]);
        assert_true(seen_passed[1] == in.general[CANARY_RSI]);
        assert_true(seen_passed[2] == in.general[CANARY_RDX]);
        assert_true(seen_passed[3] == in.general[CANARY_RCX]);
        assert_int_equal(misaligned, 0);
        assert_ptr_equal(fake.top, frames + 1); /* all else is the callee's */
        /* its Leave gets the same word */
        assert_int_equal(changed_by_leave(seed, FORM(seed)->leave, 0x1230 | STACK_RESUMABLE, SP) &
                             ~LEAVE_MAY_CHANGE,
                         0);
        assert_true(seen_method == 0x1230);
    }
}

TEST(enter_of_what_may_go_on_tells_calls_by_their_first_argument)
{
    static const struct {
        uintptr_t tags, first;
        bool called;
    } cases[] = {
        {STACK_RESUMABLE, 0, false},
        {STACK_RESUMABLE, 0x7f0000000008, false},
        {STACK_RESUMABLE | STACK_CALL_IF_SOME, 0, false},
        {STACK_RESUMABLE | STACK_CALL_IF_SOME, 0x100000000, true},
        {STACK_RESUMABLE | STACK_CALL_IF_NONE, 0, true},
        {STACK_RESUMABLE | STACK_CALL_IF_NONE, 0x100000000, false},
    };

    for (size_t i = 0; i < 10 * COUNT_OF(cases); i++) {
        bool called = cases[i % COUNT_OF(cases)].called;
        struct canary in;

        setup(NULL);
        canary_fill(&in, i + 1);
        in.general[CANARY_RDI] = cases[i % COUNT_OF(cases)].first;
        in.general[CANARY_R14] = 0x1230 | cases[i % COUNT_OF(cases)].tags;
        in.general[CANARY_R15] = SP;
        assert_int_equal(changed_by((void (*)(void))FORM(i)->enter, &in) & ~ENTER_MAY_CHANGE, 0);
        assert_int_equal(resumable, !called);
        assert_int_equal(entered, 0);
        assert_ptr_equal(fake.top, frames + 1 + called);
        if (called)
            assert_true(load_relaxed(&frames[1].method) == 0x1230);
    }
}

TEST(leave_keeps_its_promise_on_the_fast_path)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        setup(NULL);
        store_relaxed(&frames[1].sp, SP);
        fake.top = frames + 2;
        store_relaxed(&fake.state, STATE_ENTER);
        assert_int_equal(changed_by_leave(seed, FORM(seed)->leave, 0x1230, SP) & ~LEAVE_MAY_CHANGE,
                         0);
        assert_int_equal(left, 0);
        assert_ptr_equal(fake.top, frames + 1);
        assert_int_equal(STATE_DEPTH(load_relaxed(&fake.state)), 0);
    }
}

TEST(leave_keeps_its_promise_above_a_hostile_callee)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        setup(NULL);
        assert_int_equal(changed_by_leave(seed, FORM(seed)->leave, 0x1230, SP) & ~LEAVE_MAY_CHANGE,
                         0);
        assert_int_equal(left, 1);
        assert_true(seen_method == 0x1230);
        assert_true(seen_sp == SP);
        assert_int_equal(misaligned, 0);
    }
}

TEST(the_empty_hook_changes_nothing)
{
    struct canary in;

    canary_fill(&in, 7);
    assert_int_equal(changed_by((void (*)(void))hook_empty3, &in), 0);
}

TEST(a_measured_pair_keeps_what_any_function_keeps)
{
    const uint64_t kept = CANARY_BIT(CANARY_RBX) | CANARY_BIT(CANARY_RBP) | CANARY_BIT(CANARY_RSP) |
                          CANARY_BIT(CANARY_R12) | CANARY_BIT(CANARY_R13) | CANARY_BIT(CANARY_R14) |
                          CANARY_BIT(CANARY_R15);
    struct canary in;

    for (unsigned i = 0; i < 4; i++) {
        const unsigned slow = i % 2;

        setup(NULL);
        if (slow)
            fake.limit = NULL;
        canary_fill(&in, 9);
        in.general[CANARY_RDI] = 0x1230;
        in.general[CANARY_RSI] = SP;
        assert_int_equal(changed_by((void (*)(void))FORM(i)->pair, &in) & kept, 0);
        assert_int_equal(misaligned, 0);
        assert_int_equal(entered, slow);
        assert_int_equal(left, slow); /* its frame was never pushed */
        assert_ptr_equal(fake.top, frames + 1);
    }
}

/* The test of the test: hooks that break a promise are found out. */
TEST(a_bad_hook_is_caught)
{
    static const struct {
        void (*hook)(void);
        uint64_t changes;
    } bad[] = {
        {canary_changes_rdi, CANARY_BIT(CANARY_RDI)},
        {canary_changes_rbx, CANARY_BIT(CANARY_RBX)},
        {canary_changes_rdx, CANARY_BIT(CANARY_RDX)},
        {canary_changes_high_half_of_xmm1, CANARY_XMM(1)},
        {canary_changes_rsp, CANARY_BIT(CANARY_RSP)},
    };
    struct canary in, out;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        canary_fill(&in, i + 1);
        assert_true(changed_by(bad[i].hook, &in) == bad[i].changes);
    }
    canary_fill(&in, 3);
    assert_true(changed_by(canary_changes_scratch_only, &in) ==
                (CANARY_BIT(CANARY_RAX) | CANARY_BIT(CANARY_R10) | CANARY_BIT(CANARY_R11) |
                 CANARY_XMM(8) | CANARY_XMM(15)));
    canary_call(canary_sets_direction_flag, &in, &out);
    assert_true(out.flags & CANARY_DIRECTION_FLAG);
    in.general[CANARY_RBX] = (uintptr_t)callee;
    canary_call(canary_calls_misaligned, &in, &out);
    assert_int_equal(misaligned, 1);
    misaligned = 0;
    canary_call(callee, &in, &out);
    assert_int_equal(misaligned, 0);
}
