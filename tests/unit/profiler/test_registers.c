/*
 * A runtime newer than any that was tested may hand its hooks something else in their registers. Methods here call the
 * real hooks as jitted code does, with right and with wrong ones.
 */
#include "profiler/registers.h"

#include "base/clock.h"
#include "hooks/elt.h"
#include "unit/metadata/fake_info.h"
#include "stack/stack_hot.h"
#include "support/test.h"

#define MODULE   0x1000
#define CLASS    0x2000
#define FUNCTION 0x3000

static struct fake_metadata import = {
    .base = {&fake_metadata_vtbl},
    .types = (const struct fake_type[]){{0x02000002, u"App.Program", 0}, {0, NULL, 0}},
    .blobs = (const struct fake_blob[]){{0x06000001, 0x02000002, u"Main", NULL, 0},
                                        {0, 0, NULL, NULL, 0}}};
static struct fake_module modules[] = {{MODULE, u"/a.dll", u"a", 0, &import}, {.id = 0}};
static struct fake_class classes[] = {{.id = CLASS, .module = MODULE, .token = 0x02000002},
                                      {.id = 0}};
static struct fake_function functions[] = {
    {.id = FUNCTION, .class = CLASS, .module = MODULE, .token = 0x06000001}, {.id = 0}};

static struct fake_info info;
static struct profiler p;
static struct metadata_method *method;

/* As the runtime calls FunctionEnter3 in a method's prolog: client id in r14, caller's SP in r15. */
static __attribute__((noinline)) void enter(uintptr_t client_id, uintptr_t too_far)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t) + too_far;

    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "subq $256, %%rsp\n\t" /* what a leaf may have below its stack pointer */
                     "andq $-16, %%rsp\n\t"
                     "movq %0, %%r14\n\t"
                     "movq %1, %%r15\n\t"
                     "call *%2\n\t"
                     "movq %%rbx, %%rsp"
                     :
                     : "c"(client_id), "d"(sp), "a"(hooks_elt3()->enter)
                     : "rbx", "r10", "r11", "r14", "r15", "memory", "cc");
}

/* As it calls FunctionLeave3: client id in rdi, caller's SP in rsi. */
static __attribute__((noinline)) void leave(uintptr_t client_id, uintptr_t too_far)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t) + too_far;

    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "subq $256, %%rsp\n\t"
                     "andq $-16, %%rsp\n\t"
                     "call *%2\n\t"
                     "movq %%rbx, %%rsp"
                     : "+D"(client_id), "+S"(sp)
                     : "c"(hooks_elt3()->leave)
                     : "rbx", "r8", "r9", "r10", "r11", "memory", "cc");
}

static int setup(void **state)
{
    const struct metadata_config config = {.info = &info.base, .info_version = 10};
    const struct stack_config stacks = {.expected = registers_expected,
                                        .left_as_expected = registers_left_as_expected,
                                        .context = &p};

    (void)state;
    clock_start();
    info = (struct fake_info){
        .base = {&fake_info_vtbl}, .modules = modules, .classes = classes, .functions = functions};
    assert_int_equal(metadata_new(&config, &p.metadata), 0);
    assert_int_equal(metadata_method_map(p.metadata, FUNCTION, &method), 0);
    (void)hooks_elt3();
    return stack_start(&stacks);
}

static int teardown(void **state)
{
    (void)state;
    metadata_free(p.metadata);
    return 0;
}

TEST_GROUP(setup, teardown);

static int anew(void **state)
{
    struct stack *s = stack_peek();

    (void)state;
    store_relaxed(&p.guard.hooks, 0);
    store_relaxed(&p.proven, 0);
    if (s) {
        stack_cut(s, 0, STACK_DEAD_ON_ENTER);
        s->off = false;
        stack_limit_set(s);
        store_relaxed(&s->repair_changes, load_relaxed(&s->words->state) >> STATE_DEPTH_BITS);
    }
    return 0;
}

TEST_EACH(anew, NULL);

static uint32_t depth(void)
{
    return stack_peek() ? stack_depth(stack_peek()) : 0;
}

TEST(a_client_id_that_nobody_gave_out_enters_nothing_and_is_counted)
{
    static const uintptr_t stranger[2] = {FUNCTION, 0};

    enter((uintptr_t)stranger & ~(uintptr_t)7, 0);
    enter(UINT64_C(0x123456789a8), 0); /* no memory at all */
    assert_int_equal(depth(), 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 2);
}

TEST(a_stack_pointer_that_is_not_the_callers_enters_nothing_and_is_counted)
{
    enter((uintptr_t)method, 8);
    enter((uintptr_t)method, UINT64_C(0x7000000000000000)); /* no memory at all */
    assert_int_equal(depth(), 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 2);
    enter((uintptr_t)method, 0); /* nothing is believed any more */
    assert_int_equal(depth(), 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 3);
}

TEST(what_is_expected_enters)
{
    enter((uintptr_t)method, 0);
    assert_int_equal(depth(), 1);
    assert_int_equal(load_relaxed(&p.guard.hooks), 0);
    assert_int_equal(load_relaxed(&p.proven), 1);
}

TEST(what_is_expected_leaves)
{
    enter((uintptr_t)method, 0);
    leave((uintptr_t)method, 0);
    assert_int_equal(depth(), 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 0);
}

TEST(a_leave_of_a_stranger_ends_the_frames_of_its_thread)
{
    static const uintptr_t stranger[2] = {FUNCTION, 0};

    enter((uintptr_t)method, 0);
    leave((uintptr_t)stranger & ~(uintptr_t)7, 8);
    assert_int_equal(depth(), 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 1);
    enter((uintptr_t)method, 0);
    assert_int_equal(depth(), 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 2);
    leave((uintptr_t)method, 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 2);
}

TEST(a_leave_with_another_stack_pointer_ends_the_frames_of_its_thread)
{
    enter((uintptr_t)method, 0);
    leave((uintptr_t)method, 8);
    assert_int_equal(depth(), 0);
    assert_int_equal(load_relaxed(&p.guard.hooks), 1);
}

static __attribute__((noinline)) void leave_deeper(void)
{
    leave((uintptr_t)method, 0);
    __asm__ volatile("" ::: "memory"); /* no tail call: this has a frame */
}

TEST(a_leave_that_nobody_entered_is_believed_by_its_registers)
{
    enter((uintptr_t)method, 0);
    leave_deeper();
    assert_int_equal(depth(), 1);
    assert_int_equal(load_relaxed(&p.guard.hooks), 0);
}

TEST(a_leave_that_nobody_entered_is_believed_after_one_that_fitted)
{
    enter((uintptr_t)method, 0);
    leave((uintptr_t)method, 0);
    enter((uintptr_t)method, 0);
    leave((uintptr_t)method, 8);
    assert_int_equal(depth(), 1);
    assert_int_equal(load_relaxed(&p.guard.hooks), 0);
}

TEST(without_the_wrapper_of_elt2_where_it_should_be_its_hooks_are_counted)
{
    _Atomic(uint64_t) ignored = 0;

    elt2_expect(1, 2, &ignored); /* nothing is there */
    hook_enter2(FUNCTION, (uintptr_t)method, 0, NULL);
    hook_enter2(FUNCTION, (uintptr_t)method, 0, NULL);
    hook_leave2(FUNCTION, (uintptr_t)method, 0, NULL);
    assert_int_equal(load_relaxed(&ignored), 2);
    assert_int_equal(elt2_chain_state(), ELT2_CHAIN_BROKEN);
    assert_int_equal(depth(), 0);
}
