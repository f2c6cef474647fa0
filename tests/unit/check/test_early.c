/* The proof that a walk ended early, on a made-up machine's stack: main called middle, that native code, that leaf. */
#include "check/internal.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <stddef.h>

enum { MAIN = 0x7f0010, MIDDLE = 0x7f0020, LEAF = 0x7f0030, OTHER = 0x7f0040 };

#define CODE(function) ((uintptr_t)(function) << 8 | 5) /* an address in its code */
#define NATIVE         0x1234u

static uintptr_t functions[] = {MAIN, MIDDLE, LEAF};
static uintptr_t stack[64];
static struct stack_copied shadow[3]; /* oldest first */
static struct clr_info_vtbl vtbl;
static struct clr_info info = {&vtbl};
static struct check *check;
static struct check_walk walk;

static hresult function_from_ip(struct clr_info *self, const uint8_t *ip, uintptr_t *function)
{
    (void)self;
    *function = (uintptr_t)ip >> 8;
    return (uintptr_t)ip == NATIVE ? E_FAIL : S_OK;
}

static uintptr_t at(unsigned word)
{
    return (uintptr_t)&stack[word];
}

/* A frame at `word`: the frame pointer of its caller, and where in that it returns to. */
static void frame(unsigned word, unsigned caller, uintptr_t ret)
{
    stack[word] = at(caller);
    stack[word + 1] = ret;
}

static int setup(void **state)
{
    static struct check_frame reported[1];
    static _Atomic(uint64_t) spared;
    const struct check_config config = {.info = &info, .ends_early = true, .spared = &spared};

    (void)state;
    vtbl.get_function_from_ip = function_from_ip;
    if (!check && check_new(&config, &check))
        return -1;
    frame(10, 20, NATIVE);       /* leaf: called by native code */
    frame(20, 30, CODE(MIDDLE)); /* that */
    frame(30, 40, CODE(MAIN));   /* middle */
    frame(40, 50, NATIVE);       /* main */
    for (unsigned i = 0; i < 3; i++)
        shadow[i].method = (uintptr_t)&functions[i];
    shadow[0].sp = at(42), shadow[0].ret = NATIVE;
    shadow[1].sp = at(32), shadow[1].ret = CODE(MAIN);
    shadow[2].sp = at(12), shadow[2].ret = NATIVE;
    reported[0] = (struct check_frame){LEAF, CODE(LEAF), at(8), at(10)};
    walk = (struct check_walk){
        .check = check, .frame = reported, .count = 1, .capacity = 1, .last = reported[0]};
    return 0;
}

TEST_EACH(setup, NULL);

static bool ended(void)
{
    return check_ended_early(&walk, S_OK, shadow, 3);
}

TEST(frames_that_the_chain_leads_to_are_live)
{
    assert_true(ended());
    assert_true(check_ended_early_there(&walk, shadow, 3));
}

TEST(a_frame_that_the_chain_passes_is_not)
{
    frame(20, 40, CODE(MAIN)); /* middle was left */
    assert_false(ended());
}

TEST(a_frame_that_was_left_and_another_took_its_place_is_not)
{
    stack[31] = CODE(OTHER);
    assert_false(ended());
}

TEST(a_method_that_the_shadow_stack_lacks_is_no_proof)
{
    frame(20, 26, CODE(OTHER));
    frame(26, 30, CODE(MIDDLE));
    assert_false(ended());
}

TEST(another_method_at_its_place_is_no_proof)
{
    stack[21] = CODE(OTHER);
    assert_false(ended());
}

TEST(a_chain_that_falls_or_breaks_is_no_proof)
{
    stack[20] = at(5);
    assert_false(ended());
    stack[20] = at(30) + 1;
    assert_false(ended());
}

TEST(a_walk_that_met_something_else_did_not_end_early)
{
    walk.frame[0].function = OTHER;
    assert_false(ended());
    walk.frame[0].function = LEAF;
    walk.frame[0].fp = at(8); /* the same method, but not that frame */
    assert_false(ended());
    walk.frame[0].fp = at(10);
    walk.last.function = 0;
    assert_false(ended());
}

TEST(a_walk_that_met_all_did_not_end_early)
{
    assert_false(check_ended_early(&walk, S_OK, shadow + 2, 1));
}

TEST(a_refusal_is_one_only_if_it_is_of_that_kind)
{
    walk.count = 0;
    walk.last.function = 0;
    assert_false(check_ended_early(&walk, (hresult)CORPROF_E_STACKSNAPSHOT_UNSAFE, shadow, 3));
    assert_false(
        check_ended_early(&walk, E_FAIL, shadow, 3)); /* our own stack leads nowhere there */
}
