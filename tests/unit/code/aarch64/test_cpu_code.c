/* Machine code read as far as needed: where calls go, which calls are equal, prologs. Encodings are of GNU as. */
#include "code/calls.h"
#include "code/cpu_code.h"

#include "base/atomics.h"
#include "support/test.h"

#define CODE(...) \
    (const uint8_t *)(const uint32_t[]) \
    { \
        __VA_ARGS__ \
    }

enum {
    NOP = 0xD503201F,
    BL_8 = 0x94000002,        /* bl .+8 */
    BL_4 = 0x94000001,        /* bl .+4 */
    BLR_X1 = 0xD63F0020,      /* blr x1 */
    BR_X1 = 0xD61F0020,       /* br x1 */
    B_8 = 0x14000002,         /* b .+8 */
    CBZ_8 = 0xB4000040,       /* cbz x0, .+8 */
    MOVZ_X1 = 0xD2868021,     /* movz x1, #0x3401 */
    MOVK_X1_16 = 0xF2A24681,  /* movk x1, #0x1234, lsl 16 */
    LDR_X1_X1 = 0xF9400021,   /* ldr x1, [x1] */
    LDR_X1_X0 = 0xF9400001,   /* ldr x1, [x0] */
    ADRP_X1 = 0xB0000001,     /* adrp x1, the next page */
    ADD_X1_X1_16 = 0x91004021 /* add x1, x1, #16 */
};

TEST(a_call_ends_before_a_return_address)
{
    assert_true(cpu_returns(CODE(BL_8) + 4));
    assert_true(cpu_returns(CODE(BLR_X1) + 4));
    assert_false(cpu_returns(CODE(B_8) + 4));
    assert_false(cpu_returns(CODE(NOP) + 4));
    assert_int_equal(cpu_length(CODE(NOP), 4), 4);
    assert_int_equal(cpu_length(CODE(NOP), 3), 0);
}

static void expect_call(const uint8_t *code, size_t size, enum cpu_way way, uintptr_t at)
{
    struct cpu_target target = cpu_call_target(code, size, 0x10000);

    assert_int_equal(target.way, way);
    if (way == CPU_TO || way == CPU_THROUGH)
        assert_true(target.at == at);
}

TEST(where_a_call_goes_is_read)
{
    expect_call(CODE(NOP, BL_8), 8, CPU_TO, 0x1000C);
    expect_call(CODE(MOVZ_X1, MOVK_X1_16, BLR_X1), 12, CPU_TO, 0x12343401);
    expect_call(CODE(MOVZ_X1, MOVK_X1_16, LDR_X1_X1, BLR_X1), 16, CPU_THROUGH, 0x12343401);
    expect_call(CODE(ADRP_X1, ADD_X1_X1_16, LDR_X1_X1, BLR_X1), 16, CPU_THROUGH, 0x11010);
    expect_call(CODE(LDR_X1_X0, BLR_X1), 8, CPU_FOUND, 0);
    expect_call(CODE(MOVZ_X1, BL_4, BLR_X1), 12, CPU_FOUND, 0); /* the call before changed x1 */
    expect_call(CODE(NOP), 4, CPU_UNREAD, 0);
    assert_int_equal(cpu_jump_target(CODE(NOP, B_8), 8, 0x10000).at, 0x1000C);
    assert_int_equal(cpu_jump_target(CODE(LDR_X1_X0, BR_X1), 8, 0).way, CPU_FOUND);
    assert_int_equal(cpu_jump_target(CODE(BL_8, B_8), 8, 0).way, CPU_UNREAD);
}

TEST(equal_calls_are_counted_in_order)
{
    /* bl +12, bl +12, bl +4: the first and the last go to the same place. */
    const uint8_t *code = CODE(0x94000003, 0x94000003, BL_4);
    struct cpu_rank rank = calls_rank(NULL, code, 12, 4, false);

    assert_int_equal(rank.count, 2);
    assert_int_equal(rank.place, 0);
    assert_true(rank.ordered);
    assert_int_equal(calls_rank(NULL, code, 12, 12, false).place, 1);
    assert_int_equal(calls_rank(NULL, code, 12, 8, false).count, 1);
    assert_int_equal(calls_rank(NULL, code, 12, 6, false).count, 0);
    /* A jump that passes one of them. */
    assert_false(calls_rank(NULL, CODE(CBZ_8, 0x94000003, BL_8), 12, 8, false).ordered);
}

TEST(calls_of_a_line_are_those_that_no_jump_separates)
{
    struct cpu_line line;

    assert_true(cpu_line(CODE(BL_8, BL_8, BL_8), 12, 8, &line));
    assert_int_equal(line.before, 1);
    assert_int_equal(line.before_at[0], 4);
    assert_int_equal(line.after, 1);
    assert_int_equal(line.after_at[0], 12);
    /* cbz over the first call leads between it and the second */
    assert_true(cpu_line(CODE(CBZ_8, BL_8, BL_8, BL_8), 16, 12, &line));
    assert_int_equal(line.before, 0);
    assert_int_equal(line.after, 1);
    assert_false(cpu_line(CODE(BL_8, BR_X1), 8, 4, &line));
}

TEST(a_stub_says_whose_it_is)
{
    /* ldr x11, target; br x11; ldr x12, owner; ldr x11, thunk; br x11, with the words 0x4000 further on. */
    const uint32_t stub[] = {0x5802000B, 0xD61F0160, 0x5802000C, 0x5802002B, 0xD61F0160};

    assert_true(cpu_stub_owner((const uint8_t *)stub, sizeof(stub), 0x10000, 0) ==
                0x10000 + 0x4008);
    assert_int_equal(cpu_stub_owner((const uint8_t *)stub, 16, 0x10000, 0), 0);
    assert_int_equal(cpu_stub_owner(CODE(NOP, NOP, NOP, NOP, NOP), 20, 0x10000, 0), 0);
    /* The code behind the jump, by way of the word through which that would go. */
    assert_true(cpu_stub_owner((const uint8_t *)(stub + 2), 12, 0x10008, 0x14000) == 0x14008);
    assert_int_equal(cpu_stub_owner((const uint8_t *)(stub + 2), 8, 0x10008, 0x14000), 0);
    assert_int_equal(cpu_stub_owner((const uint8_t *)(stub + 2), 12, 0x10008, 0x14008), 0);
    assert_int_equal(cpu_stub_owner((const uint8_t *)(stub + 2), 12, 0x10008, 0), 0);
}

TEST(prologs_set_up_a_frame_pointer)
{
    struct cpu_prolog prolog;

    /* stp x29, x30, [sp, #-32]!; mov x29, sp */
    assert_true(cpu_prolog(CODE(0xA9BE7BFD, 0x910003FD), 8, &prolog));
    assert_true(prolog.framed);
    /* sub sp, sp, #64; stp x29, x30, [sp, #16]; add x29, sp, #16 */
    assert_true(cpu_prolog_simple(CODE(0xD10103FF, 0xA9017BFD, 0x910043FD), 12, &prolog));
    assert_false(cpu_prolog(CODE(NOP, NOP), 8, &prolog));
}
