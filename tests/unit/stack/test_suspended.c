/*
 * Frames that a suspending method leaves behind, on a simulated machine stack with its chain of frame pointers. Frames are
 * entered at levels, level n below level n - 1; small letters are methods that may suspend, "AbC" is C on top.
 */
#include "stack/stack_hot.h"

#include "base/clock.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LEVELS 32u
#define STRIDE 8u
#define RECORD \
    (CPU_RECORD_APART ? 4u : 2u) /* words that a frame's record lies below its caller's SP */
#define CODE   0x1000u           /* of each method */
#define HIJACK 0x77u             /* in no method */

static uintptr_t machine[(LEVELS + 2) * STRIDE];
static uintptr_t functions[128];

static uintptr_t id(char method)
{
    return (uintptr_t)&functions[(unsigned)method];
}

static uintptr_t code_of(char method, unsigned at)
{
    return (uintptr_t)(unsigned)method * CODE + at;
}

static uintptr_t function_at(uintptr_t ip)
{
    return ip / CODE < 128 ? functions[ip / CODE] : 0;
}

/* Code without a frame: it has saved its caller's frame pointer next to where it returns to. */
static uintptr_t stub_returns_to(const uintptr_t *frame)
{
    return frame[3] == frame[0] ? frame[4] : 0;
}

static bool suspends(uintptr_t method)
{
    return method >= id('a') && method <= id('z');
}

static uintptr_t *sp_of(unsigned level)
{
    return &machine[(LEVELS + 1 - level) * STRIDE];
}

static uintptr_t *frame_pointer(unsigned level)
{
    return sp_of(level) - RECORD;
}

/* What a frame at this level leaves on the machine's stack: where it returns to, and its caller's frame pointer. */
static uintptr_t *lay(unsigned level, uintptr_t ret, const uintptr_t *caller)
{
    uintptr_t *record = frame_pointer(level);

    record[0] = (uintptr_t)caller;
    record[1] = ret;
    return record;
}

static void enter(char method, unsigned level)
{
    struct frame_at at = frame_at((uintptr_t)sp_of(level));

#if CPU_RECORD_APART
    at.fp = (uintptr_t)frame_pointer(level);
#endif
    stack_enter_at(id(method), at);
}

/* Called by `caller` one level above, from the instruction `at` of its code. */
static void call(char method, unsigned level, char caller, unsigned at)
{
    lay(level, code_of(caller, at), frame_pointer(level - 1));
    enter(method, level);
}

/* A callback, in a native function on this level. */
static void look(unsigned level, uintptr_t ret, const uintptr_t *caller)
{
    stack_drop_suspended(stack_self, lay(level, ret, caller));
}

static void expect(const char *methods)
{
    assert_int_equal(stack_depth(stack_self), strlen(methods));
    for (uint32_t i = 0; methods[i]; i++)
        assert_int_equal(load_relaxed(&stack_frame(stack_self, i)->method), id(methods[i]));
    assert_ptr_equal(stack_words.top, stack_frame(stack_self, stack_depth(stack_self)));
}

static uint64_t repairs(void)
{
    return load_relaxed(&stack_self->repairs[STACK_SUSPENDED]);
}

/* A calls b, which calls c. */
static void three(void)
{
    call('A', 2, 'R', 1);
    call('b', 3, 'A', 1);
    call('c', 4, 'b', 1);
}

TEST(what_is_on_the_chain_stays)
{
    three();
    look(5, code_of('c', 1), frame_pointer(4));
    expect("Abc");
    assert_int_equal(repairs(), 0);
}

TEST(what_its_caller_has_called_over_is_gone)
{
    three();
    look(4, code_of('b', 2), frame_pointer(3)); /* c suspended; b allocates its continuation */
    expect("Ab");
    look(3, code_of('A', 2), frame_pointer(2));
    expect("A");
    assert_int_equal(repairs(), 2);
}

TEST(all_of_a_chain_goes_at_once)
{
    three();
    look(3, code_of('A', 2), frame_pointer(2));
    expect("A");
    assert_int_equal(repairs(), 1);
}

TEST(what_the_chain_passes_is_gone)
{
    three();
    /* Deeper than b and c were, called by A from a lower SP: it has touched neither of their words. */
    look(6, code_of('A', 2), frame_pointer(2));
    expect("A");
}

TEST(frames_entered_over_it_stay)
{
    three();
    lay(6, code_of('A', 3),
        frame_pointer(2)); /* D's caller's SP lies below c's: nothing of them is popped */
    enter('D', 6);
    call('E', 7, 'D', 1);
    expect("AbcDE");
    look(8, code_of('E', 1), frame_pointer(7));
    expect("ADE");
    assert_int_equal(repairs(), 1);
    look(8, code_of('E', 1), frame_pointer(7));
    expect("ADE");
}

TEST(methods_that_do_not_suspend_are_not_asked_about)
{
    call('A', 2, 'R', 1);
    call('B', 3, 'A', 1);
    look(3, code_of('A', 2), frame_pointer(2));
    expect("AB"); /* its Leave is what takes it out */
}

TEST(a_body_replaced_on_the_stack_stays)
{
    three();
    /* c's other body has its frame pointer lower: 3 words below the first one's. */
    *(frame_pointer(4) - 3) = (uintptr_t)frame_pointer(3);
    look(6, code_of('c', 7), frame_pointer(4) - 3);
    expect("Abc");
}

TEST(a_replaced_return_address_changes_nothing)
{
    three();
    frame_pointer(4)[1] = HIJACK;
    look(5, code_of('c', 1), frame_pointer(4));
    expect("Abc");
    frame_pointer(3)[1] = HIJACK;
    look(5, code_of('c', 1), frame_pointer(4));
    expect("Abc");
}

/* Enter read the address that was put for a suspension; the method's own is back when it allocates, in code without a frame. */
static void allocate_without_frame(char method, unsigned at)
{
    uintptr_t *frame = lay(5, HIJACK, frame_pointer(4));

    frame[3] = (uintptr_t)frame_pointer(4);
    frame[4] = code_of(method, at);
    stack_drop_suspended(stack_self, frame);
}

TEST(a_return_address_replaced_at_the_enter_changes_nothing)
{
    call('A', 2, 'R', 1);
    call('b', 3, 'A', 1);
    lay(4, HIJACK, frame_pointer(3));
    enter('c', 4);
    frame_pointer(4)[1] = code_of('b', 1);
    allocate_without_frame('c', 1);
    expect("Abc");
}

TEST(what_allocates_in_the_place_of_a_suspended_method_is_another)
{
    call('A', 2, 'R', 1);
    call('b', 3, 'A', 1);
    lay(4, HIJACK, frame_pointer(3));
    enter('c', 4);
    frame_pointer(4)[1] = code_of('b', 2); /* c suspended, b called D, which has no hooks */
    allocate_without_frame('D', 1);
    expect("Ab");
}

TEST(nothing_is_taken_while_an_exception_is_on_its_way)
{
    three();
    stack_exception_thrown();
    look(3, code_of('A', 2), frame_pointer(2));
    expect("Abc");
}

/* ---- looked at by another thread ---- */

static struct stack_copied copied[LEVELS];

/* A copy of this thread's stack, without what is gone where the youngest method is on that level. */
static const char *copy_without(unsigned level, uint32_t gone)
{
    static char methods[LEVELS + 1];
    struct stack_copy copy = {.frames = copied, .capacity = LEVELS};
    uint32_t i, depth = stack_depth(stack_self);

    assert_int_equal(stack_copy_thread(stack_os_thread(stack_self), &copy), 0);
    assert_int_equal(stack_copy_drop_suspended(&copy, (uintptr_t)sp_of(level + 1),
                                               (uintptr_t)frame_pointer(level)),
                     gone);
    assert_int_equal(copy.depth, depth - gone);
    for (i = 0; i < copy.depth; i++)
        methods[i] = (char)((uintptr_t *)copied[i].method - functions);
    methods[i] = '\0';
    return methods;
}

TEST(a_stopped_method_and_its_callers_stay)
{
    three();
    assert_string_equal(copy_without(4, 0), "Abc");
    expect("Abc");
}

TEST(what_returned_to_a_stopped_method_is_gone)
{
    three();
    assert_string_equal(copy_without(3, 1), "Ab"); /* c has suspended */
    assert_string_equal(copy_without(2, 2), "A");  /* b, too */
    expect("Abc");                                 /* what the thread itself sees to */
}

TEST(a_copy_keeps_what_was_entered_over_a_suspended_method)
{
    uintptr_t *record;

    three();
    record = frame_pointer(4) - (CPU_RECORD_APART ? 2 : 0); /* of U, called where c was */
    record[0] = (uintptr_t)frame_pointer(3);
    record[1] = code_of('b', 9);
    lay(6, code_of('U', 1), record);
    enter('D', 6);
    assert_string_equal(copy_without(6, 1), "AbD");
}

TEST(a_return_address_put_for_a_suspension_is_no_other_call)
{
    three();
    frame_pointer(4)[1] = HIJACK;
    lay(5, code_of('c', 1), frame_pointer(4));
    assert_string_equal(copy_without(5, 0), "Abc");
}

TEST(a_copy_keeps_methods_that_do_not_suspend)
{
    call('A', 2, 'R', 1);
    call('B', 3, 'A', 1);
    assert_string_equal(copy_without(2, 0), "AB"); /* a difference: its Leave lacks */
}

TEST(a_copy_loses_nothing_while_an_exception_is_on_its_way)
{
    three();
    stack_exception_thrown();
    assert_string_equal(copy_without(2, 0), "Abc");
}

/* ---- where each call is looked at ---- */

static void looked_at(void *context, struct stack *stack)
{
    (void)context;
    (void)stack;
}

static int start_looking(void **state)
{
    static const struct stack_config config = {
        .function_at = function_at, .suspends = suspends, .call_interval = 1, .called = looked_at};

    (void)state;
    return stack_start(&config);
}

static int start(void **state)
{
    static const struct stack_config config = {
        .function_at = function_at, .stub_returns_to = stub_returns_to, .suspends = suspends};

    (void)state;
    for (unsigned i = 1; i < 128; i++) /* 0: no code */
        functions[i] = 0x500000 + i;
    clock_start();
    return stack_start(&config);
}

static int over(void **state)
{
    (void)state;
    if (stack_peek()) {
        struct stack *s = stack_self;

        stack_self = &stack_none;
        stack_words_give(s);
        store_relaxed(&stack_words.state, 0); /* the next is another thread's */
        store_release(&s->gone, true);        /* as its key's destructor does */
    }
    while (stack_reclaim())
        ;
    memset(machine, 0, sizeof(machine));
    return 0;
}

static int over_looking(void **state)
{
    over(state);
    return start(state);
}

TEST(what_its_caller_has_called_over_is_gone_where_each_call_is_looked_at, start_looking,
     over_looking)
{
    three();
    lay(3, code_of('A', 9), frame_pointer(2));
    look(3, code_of('A', 9), frame_pointer(2));
    expect("A");
}

TEST_EACH(NULL, over);
TEST_GROUP(start, NULL);
