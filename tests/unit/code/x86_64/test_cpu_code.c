/* Machine code read as far as needed: lengths of instructions, places of equal calls. */
#include "code/calls.h"
#include "code/cpu_code.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

TEST(instructions_have_the_length_that_the_processor_reads)
{
    static const struct {
        uint8_t code[16];
        uint8_t length;
    } known[] = {
        {{0x55}, 1},                                /* push rbp */
        {{0x48, 0x8B, 0xEC}, 3},                    /* mov rbp, rsp */
        {{0x48, 0x83, 0xEC, 0x20}, 4},              /* sub rsp, 32 */
        {{0x48, 0x89, 0x44, 0x24, 0x08}, 5},        /* mov [rsp+8], rax */
        {{0xE8, 0, 0, 0, 0}, 5},                    /* call */
        {{0xFF, 0x15, 0, 0, 0, 0}, 6},              /* call [rip] */
        {{0x48, 0xBF, 1, 2, 3, 4, 5, 6, 7, 8}, 10}, /* mov rdi, constant */
        {{0x66, 0xB8, 1, 2}, 4},                    /* mov ax, constant */
        {{0x0F, 0x84, 0, 0, 0, 0}, 6},              /* je */
        {{0xC5, 0xFE, 0x6F, 0x07}, 4},              /* vmovdqu ymm0, [rdi] */
        {{0xC4, 0xE3, 0x7D, 0x39, 0xC1, 0x01}, 6},  /* vextracti128 */
        {{0x62, 0xF1, 0xFE, 0x48, 0x6F, 0x07}, 6},  /* vmovdqu64 zmm0, [rdi] */
        {{0xF7, 0xC7, 1, 0, 0, 0}, 6},              /* test edi, constant */
        {{0x66, 0x48, 0x81, 0xC1, 1, 0, 0, 0}, 8},  /* add rcx, constant: 66 has no effect */
        {{0x48, 0x40, 0x55}, 3},                    /* push rbp: nor has the first prefix */
        {{0xCA, 8, 0}, 3},                          /* ret far */
        {{0x0F, 0x20, 0x05}, 3},                    /* mov rbp, cr0 */
        {{0x62, 0xF5, 0x7C, 0x48, 0x58, 0xC1}, 6},  /* vaddph zmm0, zmm0, zmm1 */
        {{0xF7, 0xDF}, 2},                          /* neg edi */
        {{0x0F, 0x1F, 0x44, 0x00, 0x00}, 5},        /* nop */
        {{0x48, 0xC7, 0x84, 0x24, 0, 1, 0, 0, 1, 0, 0, 0}, 12}, /* mov qword [rsp+256], 1 */
    };

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        assert_int_equal(cpu_length(known[i].code, sizeof(known[i].code)), known[i].length);
        for (size_t size = 0; size < known[i].length; size++)
            assert_int_equal(cpu_length(known[i].code, size), 0);
    }
}

/* call +0; call other; call the first's target again. */
static const uint8_t calls[] = {0xE8, 0x10, 0, 0, 0, 0xE8, 0x40, 0, 0, 0, 0xE8, 0x06, 0, 0, 0};

TEST(equal_calls_are_counted_in_order)
{
    struct cpu_rank rank = calls_rank(NULL, calls, sizeof(calls), 5, false);

    assert_int_equal(rank.count, 2);
    assert_int_equal(rank.place, 0);
    assert_true(rank.ordered);
    rank = calls_rank(NULL, calls, sizeof(calls), 15, false);
    assert_int_equal(rank.count, 2);
    assert_int_equal(rank.place, 1);
    rank = calls_rank(NULL, calls, sizeof(calls), 10, false);
    assert_int_equal(rank.count, 1);
    assert_int_equal(calls_rank(NULL, calls, sizeof(calls), 7, false).count,
                     0); /* inside of a call */
    assert_int_equal(calls_rank(NULL, calls, 0, 0, false).count, 0);
}

/* More than is kept: what was kept goes. */
TEST(a_piece_that_is_kept_answers_as_one_that_is_read)
{
    enum { PIECES = 12000 };
    struct calls_memo *memo = calls_memo_new();
    uint8_t *code = malloc(PIECES + sizeof(calls)); /* pieces overlap */

    memset(code, 0x90, PIECES);
    memcpy(code + PIECES, calls, sizeof(calls));
    for (size_t i = PIECES; i > 0; i -= 2) {
        size_t size = PIECES - i + sizeof(calls);
        struct cpu_rank rank = calls_rank(memo, code + i, size, size, false);

        assert_int_equal(rank.count, 2);
        assert_int_equal(rank.place, 1);
        assert_true(rank.ordered);
        rank = calls_rank(memo, code + i, size, size - 5, false);
        assert_int_equal(rank.count, 1);
        assert_int_equal(calls_rank(memo, code + i, size, size - 1, false).count, 0);
    }
    free(code);
    memory_free(memo);
}

TEST(a_jump_past_one_of_them_leaves_no_order)
{
    uint8_t code[2 + sizeof(calls)] = {0xEB, 5}; /* over the first call */

    memcpy(code + 2, calls, sizeof(calls));
    assert_false(calls_rank(NULL, code, sizeof(code), 7, false).ordered);
    code[1] = 0;
    assert_true(calls_rank(NULL, code, sizeof(code), 7, false).ordered);
}

static struct cpu_target call_of(const uint8_t *code, size_t size)
{
    return cpu_call_target(code, size, 0x10000);
}
#define CALL_OF(...) call_of((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))
#define CONSTANT     0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0

static void is_target(struct cpu_target target, enum cpu_way way, uintptr_t at)
{
    assert_int_equal(target.way, way);
    if (way == CPU_TO || way == CPU_THROUGH)
        assert_int_equal(target.at, at);
}

TEST(the_target_of_a_call_is_read_where_it_is_fixed)
{
    is_target(CALL_OF(0x90, 0xE8, 0x10, 0, 0, 0), CPU_TO, 0x10016);
    is_target(CALL_OF(0xFF, 0x15, 0x10, 0, 0, 0), CPU_THROUGH, 0x10016);
    is_target(CALL_OF(0x48, 0xB8, CONSTANT, 0xFF, 0xD0), CPU_TO, 0x12345678); /* rax */
    is_target(CALL_OF(0x48, 0xB8, CONSTANT, 0xFF, 0x10), CPU_THROUGH, 0x12345678);
    is_target(CALL_OF(0x49, 0xBB, CONSTANT, 0x48, 0x8B, 0xFB, 0x41, 0xFF, 0x13), CPU_THROUGH,
              0x12345678); /* r11; mov rdi, rbx */
    is_target(CALL_OF(0x48, 0x8B, 0x05, 1, 0, 0, 0, 0xFF, 0xD0), CPU_THROUGH, 0x10008);
    is_target(CALL_OF(0xFF, 0x50, 0x20), CPU_FOUND, 0); /* [rax+32] */
    is_target(CALL_OF(0x48, 0xB8, CONSTANT, 0xFF, 0x50, 0x20), CPU_FOUND, 0);
    is_target(CALL_OF(0x48, 0xB8, CONSTANT, 0xFF, 0xD1), CPU_FOUND, 0);       /* rcx */
    is_target(CALL_OF(0x48, 0xB8, CONSTANT, 0x41, 0xFF, 0xD0), CPU_FOUND, 0); /* r8 */
    is_target(CALL_OF(0x48, 0xB8, CONSTANT, 0x48, 0x8B, 0x00, 0xFF, 0xD0), CPU_FOUND, 0);
    is_target(CALL_OF(0x48, 0xB8, CONSTANT, 0x48, 0xFF, 0xC0, 0xFF, 0xD0), CPU_FOUND, 0);
    is_target(CALL_OF(0x90), CPU_UNREAD, 0);
    is_target(CALL_OF(0xE8, 0x10, 0, 0), CPU_UNREAD, 0);
}

static struct cpu_target jump_of(const uint8_t *code, size_t size)
{
    return cpu_jump_target(code, size, 0x10000);
}
#define JUMP_OF(...) jump_of((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

TEST(a_stub_says_where_it_jumps)
{
    is_target(JUMP_OF(0xFF, 0x25, 0xFA, 0x0F, 0, 0, 0x4C, 0x8B), CPU_THROUGH, 0x11000);
    is_target(JUMP_OF(0x4C, 0x8B, 0x15, 1, 0, 0, 0, 0xFF, 0x25, 0xF3, 0x0F, 0, 0), CPU_THROUGH,
              0x11000);
    is_target(JUMP_OF(0xE9, 0xFB, 0x0F, 0, 0), CPU_TO, 0x11000);
    is_target(JUMP_OF(0x48, 0xB8, CONSTANT, 0xFF, 0xE0), CPU_TO, 0x12345678);
    /* It counts: mov rax, [counter]; dec word [rax]; je; jmp. */
    is_target(JUMP_OF(0x48, 0x8B, 0x05, 1, 0, 0, 0, 0x66, 0xFF, 0x08, 0x74, 6, 0xFF, 0x25, 0xEE,
                      0x0F, 0, 0),
              CPU_THROUGH, 0x11000);
    is_target(JUMP_OF(0x55, 0x48, 0x8B, 0xEC, 0xE8, 0, 0, 0, 0, 0xE9, 0, 0, 0, 0), CPU_UNREAD, 0);
    is_target(JUMP_OF(0xC3, 0xE9, 0, 0, 0, 0), CPU_UNREAD, 0);
    is_target(JUMP_OF(0xFF, 0x25), CPU_UNREAD, 0);
}

static uintptr_t owner_of(size_t size, uint8_t jump, uint8_t owner, uint8_t thunk)
{
    const uint8_t code[] = {0xFF, 0x25, jump, 0,    0,    0,     0x4C, 0x8B, 0x15, owner,
                            0,    0,    0,    0xFF, 0x25, thunk, 0,    0,    0};

    return cpu_stub_owner(code, size, 0x10000, 0);
}

/* Of the code behind the jump, by way of the word through which that would go. */
static uintptr_t owner_behind(size_t size, uintptr_t through)
{
    const uint8_t code[] = {0x4C, 0x8B, 0x15, 0x3B, 0, 0, 0, 0xFF, 0x25, 0x3D, 0, 0, 0};

    return cpu_stub_owner(code, size, 0x10006, through);
}

TEST(a_stub_says_whose_it_is)
{
    assert_int_equal(owner_of(19, 0x3A, 0x3B, 0x3D), 0x10048);
    assert_int_equal(owner_of(18, 0x3A, 0x3B, 0x3D), 0);
    assert_int_equal(owner_of(19, 0x3B, 0x3B, 0x3D), 0);
    assert_int_equal(owner_of(19, 0x3A, 0x3B, 0x3C), 0);
    assert_int_equal(owner_behind(13, 0x10040), 0x10048);
    assert_int_equal(owner_behind(12, 0x10040), 0);
    assert_int_equal(owner_behind(13, 0x10048), 0);
    assert_int_equal(owner_behind(13, 0), 0);
}

TEST(a_stub_that_makes_the_first_argument_is_a_helpers)
{
    static const uint8_t object[] = {0x48, 0xBF, CONSTANT, 0xE9, 0, 0, 0, 0},
                         array[] = {0x48, 0x8B, 0xF7, 0x48, 0xBF, CONSTANT, 0xE9, 0, 0, 0, 0},
                         second[] = {0x48, 0xBE, CONSTANT, 0xE9, 0, 0, 0, 0};

    assert_true(cpu_stub_helps(object, sizeof(object)));
    assert_true(cpu_stub_helps(array, sizeof(array)));
    assert_false(cpu_stub_helps(second, sizeof(second)));
    for (size_t size = 0; size < 10; size++)
        assert_false(cpu_stub_helps(object, size) || cpu_stub_helps(array, size));
}

/* call; [2 bytes]; call; [2 bytes]; call; nop; [2 bytes]. */
static bool line_of(uint8_t first, uint8_t second, uint8_t last, uint8_t to, struct cpu_line *out)
{
    const uint8_t code[] = {0xE8,
                            0,
                            0,
                            0,
                            0,
                            first ? 0x74 : 0x66,
                            first ? first : 0x90,
                            0xE8,
                            0,
                            0,
                            0,
                            0,
                            second ? 0x74 : 0x66,
                            second ? second : 0x90,
                            0xE8,
                            0,
                            0,
                            0,
                            0,
                            0x90,
                            last,
                            to};

    return cpu_line(code, sizeof(code), 12, out);
}

TEST(calls_in_a_line_run_one_after_the_other)
{
    struct cpu_line line;

    assert_true(line_of(0, 0, 0x66, 0x90, &line));
    assert_int_equal(line.before, 1);
    assert_int_equal(line.before_at[0], 5);
    assert_int_equal(line.after, 1);
    assert_int_equal(line.after_at[0], 19);
    /* Jumps away, to the end. */
    assert_true(line_of(12, 5, 0x66, 0x90, &line));
    assert_int_equal(line.before + line.after, 2);
    /* Over the call: the next may run without it; that before it always did. */
    assert_true(line_of(7, 0, 0x66, 0x90, &line));
    assert_int_equal(line.before, 1);
    assert_int_equal(line.after, 0);
    /* From the end, to right before the call; and to right after it. */
    assert_true(line_of(0, 0, 0xEB, (uint8_t)(7 - 22), &line));
    assert_int_equal(line.before, 0);
    assert_int_equal(line.after, 1);
    assert_true(line_of(0, 0, 0xEB, (uint8_t)(12 - 22), &line));
    assert_int_equal(line.before, 1);
    assert_int_equal(line.after, 0);
    /* By a table: anywhere. */
    assert_false(line_of(0, 0, 0xFF, 0xE0, &line));
}

/* With more jumps than are remembered: to the next instruction, but for the last one. */
TEST(many_jumps_do_not_hide_one)
{
    enum { JUMPS = 300, FIRST = 5 + 2 * JUMPS, SECOND = FIRST + 5, END = SECOND + 2 };
    uint8_t code[END];
    struct cpu_line line;

    memset(code, 0, sizeof(code));
    code[0] = code[FIRST] = 0xE8;
    for (size_t i = 0; i < JUMPS; i++)
        code[5 + 2 * i] = 0x74;
    code[SECOND] = 0x74;
    assert_true(cpu_line(code, sizeof(code), SECOND, &line));
    assert_int_equal(line.before, 1);
    assert_int_equal(line.before_at[0], 5);
    code[SECOND + 1] = (uint8_t)(FIRST - END); /* to right before the call */
    assert_false(cpu_line(code, sizeof(code), SECOND, &line));
    assert_int_equal(line.before + line.after, 0);
}

/* The helper gets the class in rdi. */
TEST(calls_of_a_helper_are_equal_if_their_first_argument_is)
{
    static const uint8_t code[] = {0xBF, 1, 0, 0, 0, 0xE8, 0x20, 0, 0, 0,  /* of class 1 */
                                   0xBF, 2, 0, 0, 0, 0xE8, 0x16, 0, 0, 0,  /* of class 2 */
                                   0xBF, 1, 0, 0, 0, 0xE8, 0x0C, 0, 0, 0}; /* of class 1 */

    assert_int_equal(calls_rank(NULL, code, sizeof(code), 10, true).count, 2);
    assert_int_equal(calls_rank(NULL, code, sizeof(code), 30, true).place, 1);
    assert_int_equal(calls_rank(NULL, code, sizeof(code), 20, true).count, 1);
    assert_int_equal(calls_rank(NULL, code, sizeof(code), 20, false).count, 3);
}

/* Beyond what is kept nothing is said of places; up to there all are. */
TEST(very_many_calls_are_not_told_apart)
{
    enum { CALLS = 257, SIZE = 5 };
    uint8_t code[CALLS * SIZE] = {0};

    for (uint32_t i = 0; i < CALLS; i++) {
        int32_t to = (int32_t)((CALLS - i) * SIZE);

        code[i * SIZE] = 0xE8;
        memcpy(code + i * SIZE + 1, &to, sizeof(to));
    }
    assert_int_equal(calls_rank(NULL, code, sizeof(code) - SIZE, 2 * SIZE, false).count, CALLS - 1);
    assert_int_equal(calls_rank(NULL, code, sizeof(code) - SIZE, 2 * SIZE, false).place, 1);
    assert_int_equal(calls_rank(NULL, code, sizeof(code), SIZE, false).count, UINT32_MAX);
    assert_false(calls_rank(NULL, code, sizeof(code), SIZE, false).ordered);
}

struct prolog {
    const char *what, *code;
    size_t size;
    bool known, framed;
    uint32_t bytes;
};
#define PROLOG(what, code, ...) \
    { \
        what, code, sizeof(code) - 1, __VA_ARGS__ \
    }

TEST(prologs_tell_how_far_the_return_address_is)
{
    static const struct prolog prologs[] = {
        PROLOG("push rax", "\x50\x48\xBF", true, false, 8),
        PROLOG("push rbx", "\x53\x48\x8B\xDF", true, false, 8),
        PROLOG("push r15; push rbx; sub rsp, 24", "\x41\x57\x53\x48\x83\xEC\x18\x90", true, false,
               40),
        PROLOG("sub rsp, 0x108; vzeroupper", "\x48\x81\xEC\x08\x01\x00\x00\xC5\xF8\x77", true,
               false, 0x108),
        PROLOG("push rbp; mov rbp, rsp", "\x55\x48\x8B\xEC", true, true, 0),
        PROLOG("push rbp; push rbx; push rax; lea rbp, [rsp+16]",
               "\x55\x53\x50\x48\x8D\x6C\x24\x10", true, true, 16),
        PROLOG("push rbp; sub rsp, 0x90; lea rbp, [rsp+0x90]",
               "\x55\x48\x81\xEC\x90\x00\x00\x00\x48\x8D\xAC\x24\x90\x00\x00\x00", true, true,
               0x90),
        PROLOG("push rbp, and no frame", "\x55\x53\x48\x83\xEC\x08\x90", false, true, 0),
        PROLOG("rbp to somewhere else", "\x55\x53\x50\x48\x8D\x6C\x24\x20", false, true, 0),
        PROLOG("no call can be made: push rbx; push r14", "\x53\x41\x56\x90", false, false, 0),
        PROLOG("nothing", "\x90\x90", false, false, 0),
        PROLOG("cut off", "\x48\x81\xEC\x08", false, false, 0),
        PROLOG("looks at the stack first", "\x53\x85\x84\x24\x00\xF0\xFF\xFF", false, false, 0),
    };
    struct cpu_prolog found;

    for (size_t i = 0; i < sizeof(prologs) / sizeof(prologs[0]); i++) {
        const struct prolog *p = &prologs[i];
        bool known = cpu_prolog_simple((const uint8_t *)p->code, p->size, &found);

        if (known != p->known || (known && (found.framed != p->framed || found.bytes != p->bytes)))
            fail_msg("%s: %s, %s, %u bytes", p->what, known ? "known" : "not known",
                     found.framed ? "framed" : "not framed", found.bytes);
    }
}

TEST(what_ends_in_a_call_is_told)
{
    static const struct {
        const char bytes[CPU_CALL_BYTES + 1];
        bool call;
    } ends[] = {
        {"\x90\x90\x90\xE8\x01\x02\x03\x04", true},  /* call rel32 */
        {"\x90\x90\x90\x90\x90\x90\xFF\xD0", true},  /* call rax */
        {"\x90\x90\x90\x90\x90\xFF\x57\x18", true},  /* call [rdi+24] */
        {"\x90\x90\xFF\x15\x01\x02\x03\x04", true},  /* call [rip+x] */
        {"\x90\x90\x90\x90\x90\x41\xFF\xD3", true},  /* call r11 */
        {"\x90\x90\x90\x90\x90\x90\xFF\xE0", false}, /* jmp rax */
        {"\x90\x90\x90\x90\x90\x48\x8B\xC3", false}, /* mov rax, rbx */
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (cpu_returns((const uint8_t *)ends[i].bytes + CPU_CALL_BYTES) != ends[i].call)
            fail_msg("row %zu", i);
}

TEST(any_bytes_are_read_to_an_end)
{
    uint32_t seed = 1;

    for (unsigned round = 0; round < 20000; round++) {
        size_t size = round % 61;
        uint8_t *code = malloc(size ? size : 1); /* exactly its size: no read past the end */

        for (size_t i = 0; i < size; i++)
            code[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
        for (size_t ret = 0; ret <= size; ret += 7) {
            struct cpu_rank rank = calls_rank(NULL, code, size, ret, round & 1);

            assert_true(!rank.count || rank.place < rank.count);
        }
        struct cpu_prolog prolog;

        (void)cpu_prolog_simple(code, size, &prolog);
        (void)cpu_prolog_osr(code, size, &prolog);
        (void)cpu_osr_distance(code, size);
        if (size >= CPU_CALL_BYTES)
            (void)cpu_returns(code + size);
        free(code);
    }
}
