/*
 * The stubs of traced calls: what they keep of the registers on every path, and what they post: balanced whatever
 * happens to the stack and to the ring.
 */
#include "hooks/calls_inline.h"

#include "base/memory.h"
#include "support/x86_64/canary.h"
#include "support/test.h"
#include "thread/thread.h"

#include <errno.h>
#include <string.h>

#define LEVELS 64u
#define STRIDE 2u
#define ERRNO  4711

static uintptr_t machine[(LEVELS + 2) * STRIDE];
static struct metadata_method methods[4] = {
    {.function_id = 1, .traced = true},
    {.function_id = 2, .traced = true},
    {.function_id = 3, .traced = true},
    {.function_id = 4},
};
static struct event_hub hub;
static struct event_ring *ring;
static uint64_t seed;

#define ENTER_MAY_CHANGE \
    (CANARY_BIT(CANARY_RAX) | CANARY_BIT(CANARY_R10) | CANARY_BIT(CANARY_R11) | CANARY_XMM_FROM(8))
#define LEAVE_MAY_CHANGE \
    (CANARY_BIT(CANARY_RDI) | CANARY_BIT(CANARY_RSI) | CANARY_BIT(CANARY_R8) | \
     CANARY_BIT(CANARY_R9) | CANARY_BIT(CANARY_R10) | CANARY_BIT(CANARY_R11) | CANARY_XMM_FROM(2))

static uintptr_t sp_of(unsigned level)
{
    return (uintptr_t)&machine[(LEVELS + 1 - level) * STRIDE];
}

static void call(void (*hook)(uintptr_t), struct canary *in, uint64_t may_change)
{
    struct canary out;

    errno = ERRNO;
    canary_call((void (*)(void))hook, in, &out);
    assert_int_equal(errno, ERRNO);
    assert_int_equal(canary_changed(in, &out) & ~may_change, 0);
    assert_int_equal(out.flags & CANARY_DIRECTION_FLAG, 0);
}

static void enter(unsigned method, unsigned level)
{
    struct canary in;

    canary_fill(&in, ++seed);
    in.general[CANARY_R14] = (uintptr_t)&methods[method];
    in.general[CANARY_R15] = sp_of(level);
    call(hook_enter3_calls, &in, ENTER_MAY_CHANGE);
}

static void leave_by(void (*hook)(uintptr_t), unsigned method, unsigned level)
{
    struct canary in;

    canary_fill(&in, ++seed);
    in.general[CANARY_RDI] = (uintptr_t)&methods[method];
    in.general[CANARY_RSI] = sp_of(level);
    call(hook, &in, LEAVE_MAY_CHANGE);
}

static void leave(unsigned method, unsigned level)
{
    leave_by(hook_leave3_calls, method, level);
}

/* The next event of the ring, as the writer would take it. */
static struct event next(void)
{
    uint64_t tail = load_relaxed(&ring->tail);
    struct event event;

    assert_true(tail < load_relaxed(&ring->head));
    event = *event_at(ring, tail);
    store_relaxed(&ring->tail, tail + 1);
    assert_int_equal(event_kind(&event), EVENT_CALL);
    return event;
}

static void expect(enum event_call what, uint64_t subject, uint32_t open)
{
    struct event event = next();

    assert_int_equal(event_call_what(&event), what);
    assert_int_equal(event_call_method(&event),
                     what == EVENT_CALL_ENTER ? ((const struct metadata_method *)subject)->id : 0);
    assert_true(event.subject == subject);
    assert_int_equal(event.node, open);
}

static void expect_enter(unsigned method, uint32_t open)
{
    expect(EVENT_CALL_ENTER, (uintptr_t)&methods[method], open);
}

static void expect_none(void)
{
    assert_int_equal(load_relaxed(&ring->head), load_relaxed(&ring->tail));
}

static void begin(uint32_t slots, struct options *options)
{
    static bool started;
    struct stack_config config = {.cutting = calls_cutting};

    clock_start();
    if (!started)
        assert_int_equal(stack_start(&config), 0);
    started = true;
    memset(&hub, 0, sizeof(hub));
    hub.slots = slots;
    thread_init(&hub);
    ring = thread_ring();
    assert_non_null(ring);
    calls_start(options);
}

static void end(void)
{
    struct stack *s = stack_peek();

    stack_cut(s, 0, STACK_UNWOUND);
    calls_thread_ended(s);
    thread_ended(s);
    event_ring_free(ring);
}

TEST(every_call_is_entered_and_left)
{
    struct options options = {0};

    begin(64, &options);
    enter(0, 1); /* the first: the slow path */
    for (unsigned i = 0; i < 5; i++) {
        enter(1, 2);
        enter(3, 3); /* not traced */
        leave(3, 3);
        leave_by(i % 2 ? hook_leave3_calls : hook_tailcall3_calls, 1, 2);
    }
    leave(0, 1);
    expect_enter(0, 0);
    for (unsigned i = 0; i < 5; i++) {
        expect_enter(1, 1);
        expect(i % 2 ? EVENT_CALL_LEAVE : EVENT_CALL_TAIL, 0, 2);
    }
    expect(EVENT_CALL_LEAVE, 0, 1);
    expect_none();
    end();
}

TEST(what_is_left_without_notice_is_unwound)
{
    struct options options = {0};

    begin(64, &options);
    enter(0, 1);
    enter(1, 2);
    enter(2, 3);
    leave(0, 1); /* finds two dead frames: the slow path */
    enter(0, 1);
    enter(1, 2);
    enter(2, 2); /* finds one */
    expect_enter(0, 0);
    expect_enter(1, 1);
    expect_enter(2, 2);
    expect(EVENT_CALL_UNWOUND, 0, 3);
    expect(EVENT_CALL_UNWOUND, 0, 2);
    expect(EVENT_CALL_LEAVE, 0, 1);
    expect_enter(0, 0);
    expect_enter(1, 1);
    expect(EVENT_CALL_UNWOUND, 0, 2);
    expect_enter(2, 1);
    expect_none();
    leave(2, 2);
    leave(0, 1);
    end();
}

TEST(a_full_ring_drops_whole_calls)
{
    struct options options = {0};

    begin(8, &options);
    for (unsigned level = 1; level <= 20; level++)
        enter(level % 3, level);
    for (unsigned level = 20; level >= 1; level--)
        leave(level % 3, level);
    expect_enter(1, 0);
    expect_enter(2, 1);
    expect_enter(0, 2);
    for (uint32_t open = 3; open >= 1; open--)
        expect(EVENT_CALL_LEAVE, 0, open);
    expect_none();
    enter(1, 1);
    expect(EVENT_CALL_MISSING, 17, 0);
    expect_enter(1, 0);
    leave(1, 1);
    expect(EVENT_CALL_LEAVE, 0, 1);
    assert_int_equal(load_relaxed(&ring->calls_seen), 21);
    assert_int_equal(load_relaxed(&ring->calls_lost), 17);
    end();
}

TEST(an_end_without_room_shows_in_the_next_event)
{
    struct options options = {0};

    begin(8, &options);
    enter(0, 1);
    enter(1, 2);
    store_relaxed(&ring->head, load_relaxed(&ring->head) + 6); /* others have taken the rest */
    leave(1, 2);
    store_relaxed(&ring->tail, load_relaxed(&ring->head));
    leave(0, 1);
    expect(EVENT_CALL_LEAVE, 0, 1); /* two were open */
    end();
}

TEST(deep_calls_are_left_out)
{
    struct options options = {.max_depth = 2};

    begin(64, &options);
    for (unsigned level = 1; level <= 4; level++)
        enter(0, level);
    for (unsigned level = 4; level >= 1; level--)
        leave(0, level);
    expect_enter(0, 0);
    expect_enter(0, 1);
    expect(EVENT_CALL_LEAVE, 0, 2);
    expect(EVENT_CALL_LEAVE, 0, 1);
    expect_none();
    end();
}

TEST(short_calls_are_held_back)
{
    struct options options = {.min_duration = 4000000000u};

    begin(64, &options);
    enter(0, 1);
    enter(1, 2);
    leave(1, 2); /* short */
    enter(2, 2);
    for (unsigned depth = 0; depth < 2; depth++) /* long ago */
        ((struct calls_thread *)stack_peek()->calls)->entered[depth] -= 2 * calls_config.min_ticks;
    enter(1, 3);
    leave(1, 3); /* short */
    leave(2, 2);
    leave(0, 1);
    expect_enter(0, 0);
    expect_enter(2, 1);
    expect(EVENT_CALL_LEAVE, 0, 2);
    expect(EVENT_CALL_LEAVE, 0, 1);
    expect_none();
    end();
}

TEST(the_middle_of_a_stack_can_go)
{
    struct options options = {0};

    begin(64, &options);
    for (unsigned level = 1; level <= 4; level++)
        enter(level % 3, level);
    calls_cutting(stack_peek(), 1, 3); /* as stack_splice says it */
    for (unsigned level = 1; level <= 4; level++)
        expect_enter(level % 3, level - 1);
    expect(EVENT_CALL_UNWOUND, 1, 4);
    expect(EVENT_CALL_UNWOUND, 1, 3);
    expect_none();
    frame_flags_set(stack_frame(stack_peek(), 1), 0);
    frame_flags_set(stack_frame(stack_peek(), 2), 0);
    end();
}
