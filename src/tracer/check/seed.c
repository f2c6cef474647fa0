#include "check/seed.h"

#include <shadowtrace/clr/structs.h>

#include <string.h>

#define CONTROL_AND_INTEGER 0x100003 /* CONTEXT_AMD64 | CONTEXT_CONTROL | CONTEXT_INTEGER */

void seed_set(struct seed *seed, const struct native_registers *registers)
{
    memset(seed, 0, sizeof(*seed));
#if defined(__x86_64__)
    {
        struct clr_context_amd64 *c = (void *)seed->context;
        const uint64_t *r = registers->value;

        c->context_flags = CONTROL_AND_INTEGER;
        c->rip = r[NATIVE_IP];
        c->rsp = r[NATIVE_SP];
        c->rbp = r[NATIVE_BP];
        c->rbx = r[NATIVE_BX];
        c->r12 = r[12];
        c->r13 = r[13];
        c->r14 = r[14];
        c->r15 = r[15];
    }
#else
    (void)registers;
#endif
}
