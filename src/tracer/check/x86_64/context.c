#include "check/internal.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/structs.h>

#include <string.h>

#define RBX 3

void check_seed_set(struct check_seed *seed, const struct native_registers *registers)
{
    struct clr_context_amd64 *c = (void *)seed->context;
    const uint64_t *r = registers->value;

    memset(seed, 0, sizeof(*seed));
    c->context_flags = CONTEXT_CONTROL | CONTEXT_INTEGER;
    c->rip = r[CPU_IP];
    c->rsp = r[CPU_SP];
    c->rbp = r[CPU_FP];
    c->rbx = r[RBX];
    c->r12 = r[12];
    c->r13 = r[13];
    c->r14 = r[14];
    c->r15 = r[15];
}

struct check_place check_place_of(const void *context)
{
    const struct clr_context_amd64 *c = context;

    return c ? (struct check_place){c->rip, c->rsp, c->rbp} : (struct check_place){0, 0, 0};
}

void check_registers_of(const void *context, struct native_registers *out)
{
    const struct clr_context_amd64 *c = context;
    const uint64_t value[CPU_REGISTERS] = {c->rax, c->rdx, c->rcx, c->rbx, c->rsi, c->rdi,
                                           c->rbp, c->rsp, c->r8,  c->r9,  c->r10, c->r11,
                                           c->r12, c->r13, c->r14, c->r15, c->rip};

    memcpy(out->value, value, sizeof(value));
    out->known = (UINT64_C(1) << CPU_REGISTERS) - 1;
}
