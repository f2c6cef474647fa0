/*
 * support/x86_64/canary.h - a call with a known value in every register, and what is in them afterwards: what a hook
 * really keeps, beside what it promises.
 */
#ifndef SHADOWTRACE_TESTS_SUPPORT_CANARY_H
#define SHADOWTRACE_TESTS_SUPPORT_CANARY_H

#include <stdint.h>
#include <string.h>

/* In the order of their encoding. */
enum canary_general {
    CANARY_RAX,
    CANARY_RCX,
    CANARY_RDX,
    CANARY_RBX,
    CANARY_RSP,
    CANARY_RBP,
    CANARY_RSI,
    CANARY_RDI,
    CANARY_R8,
    CANARY_R9,
    CANARY_R10,
    CANARY_R11,
    CANARY_R12,
    CANARY_R13,
    CANARY_R14,
    CANARY_R15,
    CANARY_XMM0 /* 16 of them, in masks only */
};

struct canary {
    uint64_t general[16]; /* general[CANARY_RSP]: how far rsp has moved; ignored on the way in */
    uint64_t vector[16][2];
    uint64_t flags; /* after the call; ignored on the way in */
};

#define CANARY_DIRECTION_FLAG (1u << 10)

/* canary_call - load all registers from `in`, call `target` with rsp % 16 == 0, and note them all in `out`. One thread. */
void canary_call(void (*target)(void), const struct canary *in, struct canary *out);

/* canary_trash - overwrites every register that the System V ABI lets a callee change. For a hostile callee. */
void canary_trash(void);

/* Bad hooks, for the test of the test: each breaks one promise. */
void canary_changes_rdi(void);
void canary_changes_rbx(void);
void canary_changes_rdx(void);
void canary_changes_high_half_of_xmm1(void);
void canary_changes_rsp(void);
void canary_sets_direction_flag(void);
void canary_changes_scratch_only(void); /* rax r10 r11 xmm8-15 flags: allowed at Enter */
void canary_calls_misaligned(void);     /* calls what rbx points to, with rsp % 16 == 8 */

#define CANARY_BIT(r)      (UINT64_C(1) << (r))
#define CANARY_XMM(n)      (UINT64_C(1) << (CANARY_XMM0 + (n)))
#define CANARY_XMM_FROM(n) (UINT64_C(0xffffffff) & ~(CANARY_XMM(n) - 1))

/* Values that nothing holds by accident, each different. */
static inline void canary_fill(struct canary *c, uint64_t seed)
{
    uint64_t *words = c->general;

    for (unsigned i = 0; i < 16; i++)
        words[i] = seed * 0x0101010101010101u ^ 0xc0ffee0000000000u ^ i * 0x0011001100110011u;
    for (unsigned i = 0; i < 16; i++) {
        c->vector[i][0] = seed * 0x0203020302030203u ^ 0xfeed000000000000u ^ i;
        c->vector[i][1] = seed * 0x0503050305030503u ^ 0xdead000000000000u ^ (uint64_t)i << 32;
    }
    c->general[CANARY_RSP] = 0;
    c->flags = 0;
}

/* The registers that differ, as a mask of CANARY_BIT and CANARY_XMM. */
static inline uint64_t canary_changed(const struct canary *in, const struct canary *out)
{
    uint64_t changed = 0;

    for (unsigned i = 0; i < 16; i++)
        if (out->general[i] != (i == CANARY_RSP ? 0 : in->general[i]))
            changed |= CANARY_BIT(i);
    for (unsigned i = 0; i < 16; i++)
        if (memcmp(in->vector[i], out->vector[i], sizeof(in->vector[i])) != 0)
            changed |= CANARY_XMM(i);
    return changed;
}

#endif
