#include "check/internal.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/structs.h>

#include <string.h>

#define LR 30

void check_seed_set(struct check_seed *seed, const struct native_registers *registers)
{
    struct clr_context_arm64 *c = (void *)seed->context;
    const uint64_t *r = registers->value;

    memset(seed, 0, sizeof(*seed));
    c->context_flags = CONTEXT_CONTROL | CONTEXT_INTEGER;
    memcpy(c->x, r, sizeof(c->x));
    c->fp = r[CPU_FP];
    c->lr = r[LR];
    c->sp = r[CPU_SP];
    c->pc = r[CPU_IP];
}

struct check_place check_place_of(const void *context)
{
    const struct clr_context_arm64 *c = context;

    return c ? (struct check_place){c->pc, c->sp, c->fp} : (struct check_place){0, 0, 0};
}

void check_registers_of(const void *context, struct native_registers *out)
{
    const struct clr_context_arm64 *c = context;

    memcpy(out->value, c->x, sizeof(c->x));
    out->value[CPU_FP] = c->fp;
    out->value[LR] = c->lr;
    out->value[CPU_SP] = c->sp;
    out->value[CPU_IP] = c->pc;
    out->known = (UINT64_C(1) << CPU_REGISTERS) - 1;
}
