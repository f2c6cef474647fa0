/*
 * support/aarch64/canary.h - a call with a known value in every register, and what is in them afterwards: what a hook
 * really keeps, beside what it promises.
 */
#ifndef SHADOWTRACE_TESTS_SUPPORT_CANARY_H
#define SHADOWTRACE_TESTS_SUPPORT_CANARY_H

#include <stdint.h>
#include <string.h>

/* general[31]: how far sp has moved; x16 to x18, x29 and x30 are neither set nor noted. */
struct canary {
    uint64_t general[32];
    uint64_t vector[32][2];
};

/* canary_call - load all registers from `in`, call `target`, and note them all in `out`. One thread. */
void canary_call(void (*target)(void), const struct canary *in, struct canary *out);

/* canary_trash - overwrites every register that the procedure call standard lets a callee change. For a hostile callee. */
void canary_trash(void);

/* Bad hooks, for the test of the test: each breaks one promise. */
void canary_changes_x0(void);
void canary_changes_x8(void);
void canary_changes_x19(void);
void canary_changes_high_half_of_q1(void);

#define CANARY_X(n) (UINT64_C(1) << (n))
#define CANARY_Q(n) (UINT64_C(1) << (32 + (n)))

/* Values that nothing holds by accident, each different. */
static inline void canary_fill(struct canary *c, uint64_t seed)
{
    for (unsigned i = 0; i < 32; i++) {
        c->general[i] = seed * 0x0101010101010101u ^ 0xc0ffee0000000000u ^ i * 0x0011001100110011u;
        c->vector[i][0] = seed * 0x0203020302030203u ^ 0xfeed000000000000u ^ i;
        c->vector[i][1] = seed * 0x0503050305030503u ^ 0xdead000000000000u ^ (uint64_t)i << 32;
    }
    c->general[31] = 0;
}

/* The registers that differ, as a mask of CANARY_X and CANARY_Q. */
static inline uint64_t canary_changed(const struct canary *in, const struct canary *out)
{
    uint64_t changed = 0;

    for (unsigned i = 0; i < 32; i++)
        if (out->general[i] != in->general[i] && (i < 16 || (i > 18 && i < 29) || i == 31))
            changed |= CANARY_X(i);
    for (unsigned i = 0; i < 32; i++)
        if (memcmp(in->vector[i], out->vector[i], sizeof(in->vector[i])) != 0)
            changed |= CANARY_Q(i);
    return changed;
}

#endif
