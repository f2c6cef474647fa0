/*
 * clr/context.h - instruction, stack and frame pointer of the runtime's CONTEXT. It is larger in
 * newer runtimes; what is read here lies where it always did.
 */
#ifndef SHADOWTRACE_CLR_CONTEXT_H
#define SHADOWTRACE_CLR_CONTEXT_H

#include <shadowtrace/clr/structs.h>

struct clr_registers {
    uintptr_t ip, sp, fp;
};

/* Of what a StackSnapshotCallback is handed, or zeros: `context` may be NULL. */
static inline struct clr_registers clr_context_registers(const void *context)
{
    struct clr_registers r = {0, 0, 0};

    if (context) {
#if defined(__x86_64__)
        const struct clr_context_amd64 *c = context;

        r = (struct clr_registers){c->rip, c->rsp, c->rbp};
#elif defined(__aarch64__)
        const struct clr_context_arm64 *c = context;

        r = (struct clr_registers){c->pc, c->sp, c->fp};
#endif
    }
    return r;
}

#endif
