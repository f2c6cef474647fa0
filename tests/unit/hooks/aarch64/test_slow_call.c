/*
 * The stubs of ELT3 alone, above slow halves that are as hostile as the ABI allows: they overwrite every register that
 * a callee may change. So what is kept here is kept whatever the compiler makes of the real ones. This program defines
 * stack_words and the slow halves itself; src/tracer/stack/ is not linked.
 */
#include "hooks/elt.h"

#include "event/event.h"

#include "stack/stack_hot.h"

#include "support/aarch64/canary.h"
#include "support/test.h"

static struct frame frames[4];
_Thread_local struct stack *stack_self;
_Thread_local struct stack_words stack_words;
#define fake stack_words

static uintptr_t machine[64];
#define SP ((uintptr_t)&machine[32])

/* The JIT's masks: x0 to x8, q0 to q7 and all that a callee keeps (of q8 to q15 the low half). */
#define MAY_CHANGE \
    (CANARY_X(9) | CANARY_X(10) | CANARY_X(11) | CANARY_X(12) | CANARY_X(13) | CANARY_X(14) | \
     CANARY_X(15) | UINT64_C(0xffffff00) << 32)

static unsigned entered, resumable, left, calls;
static bool fast; /* what the fast halves of traced calls answer */
static uintptr_t seen_method, seen_passed[4];
static struct frame_at seen;
static uint32_t seen_what;
static struct elt_caller caller; /* of the hook, as the slow path finds it */
static bool caller_found;

static void note(uintptr_t method, struct frame_at at)
{
    seen_method = method;
    seen = at;
}

void stack_enter_slow(uintptr_t method, struct frame_at at)
{
    entered++;
    caller_found = elt_caller(false, at, &caller);
    note(method, at);
    canary_trash();
}

void stack_enter_resumable(uintptr_t method, struct frame_at at, const uintptr_t *passed)
{
    resumable++;
    memcpy(seen_passed, passed, sizeof(seen_passed));
    note(method, at);
    canary_trash();
}

void stack_leave_slow(uintptr_t method, uintptr_t sp)
{
    left++;
    note(method, frame_at(sp));
    canary_trash();
}

/* The fast halves keep vector registers: they are compiled so, like hooks/calls_hot.c. */
#define KEEPS_VECTORS __attribute__((target("general-regs-only")))

KEEPS_VECTORS bool calls_enter(uintptr_t method, struct frame_at at)
{
    seen_method = method;
    seen.sp = at.sp;
    seen.fp = at.fp;
    calls++;
    return fast;
}

void calls_enter_slow(uintptr_t method, struct frame_at at)
{
    entered++;
    note(method, at);
    canary_trash();
}

KEEPS_VECTORS bool calls_leave(uintptr_t method, uintptr_t sp, uint32_t what)
{
    seen_method = method;
    seen.sp = sp;
    seen_what = what;
    calls++;
    return fast;
}

void calls_leave_slow(uintptr_t method, uintptr_t sp, uint32_t what, uint32_t values)
{
    (void)values;
    left++;
    seen_what = what;
    note(method, frame_at(sp));
    canary_trash();
}

static int setup(void **state)
{
    (void)state;
    store_relaxed(&frames[0].sp, UINTPTR_MAX);
    fake.top = frames + 1;
    fake.limit = frames + COUNT_OF(frames);
    store_relaxed(&fake.state, 0);
    entered = resumable = left = calls = 0;
    return 0;
}

static int prepare(void **state)
{
    (void)state;
    assert_true(hooks_safe());
    return hooks_elt3() ? 0 : 1;
}

TEST_EACH(setup, NULL);
TEST_GROUP(prepare, NULL);

/* Where the record of the frame that Enter has pushed returns to, read before anything runs on it. */
static uintptr_t returned_to;

static uint64_t changed_by(void (*hook)(void), struct canary *in, uintptr_t method, uintptr_t sp)
{
    struct canary out;

    memset(&out, 0, sizeof(out));
    in->general[10] = method;
    in->general[11] = sp;
    canary_call(hook, in, &out);
    if (fake.top == frames + 2)
        returned_to = ((const uintptr_t *)frame_record(&frames[1]))[1];
    return canary_changed(in, &out);
}

static uint64_t changed(void (*hook)(uintptr_t), uint64_t seed, uintptr_t method, uintptr_t sp)
{
    struct canary in;

    canary_fill(&in, seed);
    return changed_by((void (*)(void))hook, &in, method, sp);
}

TEST(enter_keeps_its_promise_on_the_fast_path)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        setup(NULL);
        assert_int_equal(changed(hooks_elt3()->enter, seed, 0x1230, SP) & ~MAY_CHANGE, 0);
        assert_int_equal(entered, 0);
        assert_ptr_equal(fake.top, frames + 2);
        assert_true(load_relaxed(&frames[1].method) == 0x1230);
        assert_true(load_relaxed(&frames[1].sp) == SP);
        assert_true(returned_to == frame_ret(&frames[1]));
        assert_in_range(frame_ret(&frames[1]), (uintptr_t)changed_by, (uintptr_t)changed_by + 512);
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
        assert_int_equal(changed(hooks_elt3()->enter, seed, 0x1230, SP) & ~MAY_CHANGE, 0);
        assert_int_equal(entered, 1);
        assert_true(seen_method == 0x1230);
        assert_true(seen.sp == SP);
        assert_ptr_equal(fake.top, frames + 1);
        assert_true(caller_found);
        assert_in_range(caller.ip, (uintptr_t)canary_call, (uintptr_t)canary_call + 512);
        assert_true(caller.fp == seen.fp);
        assert_true(caller.sp == caller.fp); /* canary_call has pushed nothing below its record */
    }
}

TEST(enter_of_what_may_go_on_keeps_its_promise_above_a_hostile_callee)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        struct canary in;

        setup(NULL);
        canary_fill(&in, seed);
        assert_int_equal(
            changed_by((void (*)(void))hooks_elt3()->enter, &in, 0x1230 | STACK_RESUMABLE, SP) &
                ~MAY_CHANGE,
            0);
        assert_int_equal(resumable, 1);
        assert_true(seen_method == (0x1230 | STACK_RESUMABLE));
        assert_true(seen.sp == SP);
        assert_memory_equal(seen_passed, in.general, sizeof(seen_passed));
        assert_ptr_equal(fake.top, frames + 1); /* all else is the callee's */
        /* its Leave gets the same word */
        assert_int_equal(
            changed(hooks_elt3()->leave, seed, 0x1230 | STACK_RESUMABLE, SP) & ~MAY_CHANGE, 0);
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

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct canary in;

        setup(NULL);
        canary_fill(&in, i + 1);
        in.general[0] = cases[i].first;
        assert_int_equal(
            changed_by((void (*)(void))hooks_elt3()->enter, &in, 0x1230 | cases[i].tags, SP) &
                ~MAY_CHANGE,
            0);
        assert_int_equal(resumable, !cases[i].called);
        assert_ptr_equal(fake.top, frames + 1 + cases[i].called);
        if (cases[i].called)
            assert_true(load_relaxed(&frames[1].method) == 0x1230);
    }
}

TEST(leave_keeps_its_promise)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        const bool slow = seed % 2; /* an orphan */

        setup(NULL);
        store_relaxed(&frames[1].sp, SP);
        fake.top = frames + 2 - slow;
        store_relaxed(&fake.state, STATE_ENTER);
        assert_int_equal(changed(hooks_elt3()->leave, seed, 0x1230, SP) & ~MAY_CHANGE, 0);
        assert_int_equal(left, slow);
        assert_ptr_equal(fake.top, frames + 1);
        assert_int_equal(STATE_DEPTH(load_relaxed(&fake.state)), slow);
    }
}

TEST(hooks_of_traced_calls_keep_their_promise)
{
    static const struct {
        void (*hook)(uintptr_t);
        uint32_t what;
    } hooks[] = {{hook_enter3_calls, 0},
                 {hook_leave3_calls, EVENT_CALL_LEAVE},
                 {hook_tailcall3_calls, EVENT_CALL_TAIL}};

    for (uint64_t seed = 1; seed < 60; seed++) {
        const size_t which = seed % COUNT_OF(hooks);

        setup(NULL);
        seen_what = 0;
        fast = seed % 2;
        assert_int_equal(changed(hooks[which].hook, seed, 0x1230, SP) & ~MAY_CHANGE, 0);
        assert_int_equal(calls, 1);
        assert_int_equal(entered + left, !fast);
        assert_int_equal(left, which && !fast);
        assert_true(seen_method == 0x1230);
        assert_true(seen.sp == SP);
        assert_int_equal(seen_what, hooks[which].what);
    }
}

TEST(the_empty_hook_changes_nothing)
{
    assert_int_equal(changed(hook_empty3, 7, 1, 2), 0);
}

/* The test of the test: hooks that break a promise are found out. */
TEST(a_bad_hook_is_caught)
{
    static const struct {
        void (*hook)(void);
        uint64_t changes;
    } bad[] = {
        {canary_changes_x0, CANARY_X(0)},
        {canary_changes_x8, CANARY_X(8)},
        {canary_changes_x19, CANARY_X(19)},
        {canary_changes_high_half_of_q1, CANARY_Q(1)},
    };
    struct canary in;

    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        canary_fill(&in, i + 1);
        assert_true(changed_by(bad[i].hook, &in, 1, 2) == bad[i].changes);
    }
}
