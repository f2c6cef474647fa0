/* Rules of managed code, from prologs alone. */
#include "code/cpu_code.h"
#include "walk/internal.h"

#include "support/test.h"

struct row {
    const char *what, *code;
    size_t size;
    bool exact;
    enum walk_why why;
    struct walk_rule rule;
};
#define ROW(what, code, ...) \
    { \
        what, code, sizeof(code) - 1, __VA_ARGS__ \
    }
#define FRAMED(d) \
    { \
        .by_fp = true, .cfa = 16, .fp = -16, .framed = true, .distance = (d) \
    }
#define FRAMELESS(c) \
    { \
        .cfa = (c), .keeps_fp = true, .fp = -8 \
    }

TEST(a_prolog_says_where_the_callers_frame_is)
{
    static const struct row rows[] = {
        ROW("mov rbp, rsp", "\x55\x48\x8B\xEC\x90", false, WALK_CERTAIN, FRAMED(0)),
        ROW("lea rbp, [rsp+16]", "\x55\x53\x50\x48\x8D\x6C\x24\x10\x90", false, WALK_CERTAIN,
            FRAMED(16)),
        ROW("sub rsp, 8", "\x48\x83\xEC\x08\x90", false, WALK_CERTAIN, FRAMELESS(16)),
        ROW("push rbp, rbx; sub rsp, 8: no frame, but rbp is saved", "\x55\x53\x48\x83\xEC\x08\x90",
            false, WALK_CERTAIN, {.cfa = 32, .fp = -16}),
        ROW("push r15, rbp, rbx", "\x41\x57\x55\x53\x90", false, WALK_CERTAIN,
            {.cfa = 32, .fp = -24}),
        ROW("probes a page, then lowers",
            "\x53\x85\x84\x24\x00\xF0\xFF\xFF\x48\x81\xEC\x00\x20\x00\x00\x90", false, WALK_CERTAIN,
            FRAMELESS(0x2010)),
        ROW("a helper probes",
            "\x53\x4C\x8D\x9C\x24\x00\x00\xFF\xFF\xE8\x01\x02\x03\x04\x49\x8B\xE3\x90", false,
            WALK_CERTAIN, FRAMELESS(0x10010)),
        ROW("a leaf that calls nothing", "\x53\x50\x90", false, WALK_PROLOG, {0}),
        ROW("a leaf that faults", "\x53\x50\x90", true, WALK_CERTAIN, FRAMELESS(24)),
        ROW("rbp to somewhere else", "\x55\x53\x50\x48\x8D\x6C\x24\x20\x90", false, WALK_PROLOG,
            {0}),
        ROW("rbp is pushed second and set up", "\x53\x55\x50\x48\x8D\x6C\x24\x08\x90", false,
            WALK_PROLOG, {0}),
        ROW("within the prolog", "\x55\x48\x8B\xEC", false, WALK_PROLOG, {0}),
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        const uint8_t *code = (const uint8_t *)row->code;
        const struct walk_rule *want = &row->rule;
        struct walk_rule got = {0};
        enum walk_why why =
            walk_prolog(code, row->size, (uintptr_t)code + row->size - 1, row->exact, &got);

        if (why != row->why ||
            (!why && (got.by_fp != want->by_fp || got.cfa != want->cfa || got.fp != want->fp ||
                      got.keeps_fp != want->keeps_fp || got.distance != want->distance)))
            fail_msg("%s: %s, cfa %d, rbp %d, distance %u", row->what, walk_why_name(why), got.cfa,
                     got.fp, got.distance);
    }
}

TEST(a_body_that_replaces_a_running_one_is_told_by_its_first_instructions)
{
    /* As of .NET 10, and of 11; both below a frame of 72 bytes: sub rsp, 32, r15 at rsp + 104. */
    static const char *const codes[] = {
        "\x48\x8B\x45\x00\x50\x48\x83\xEC\x20\x4C\x89\x7C\x24\x68\x48\x8D\x6C\x24\x20\x90",
        "\x50\x48\x8B\x45\x00\x50\x48\x83\xEC\x20\x4C\x89\x7C\x24\x68\x48\x8D\x6C\x24\x20\x90"};

    for (size_t i = 0; i < 2; i++) {
        const uint8_t *code = (const uint8_t *)codes[i];
        struct cpu_prolog prolog;

        assert_true(cpu_is_osr(code, 20));
        assert_true(cpu_prolog_osr(code, 20 + i, &prolog));
        assert_int_equal(prolog.bytes, 32);
        assert_int_equal(prolog.size, 19 + i);
        assert_int_equal(cpu_osr_distance(code, 20 + i), 32 + 8 + 8 + 72);
    }
    assert_false(cpu_is_osr((const uint8_t *)"\x50\x90\x48\x8B\x45\x00\x50\x90", 8));
}

TEST(each_reason_has_a_name)
{
    for (unsigned i = 0; i < WALK_WHYS; i++)
        assert_true(*walk_why_name((enum walk_why)i));
    assert_string_equal(walk_why_name(WALK_HIJACKED), "hijacked");
}
