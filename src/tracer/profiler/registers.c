#include "profiler/registers.h"

#include "base/peek.h"
#include "hooks/elt.h"

#define ENOUGH 64 /* each costs up to five system calls */

static bool is_client_id(const struct profiler *p, uintptr_t method)
{
    uintptr_t function_id;

    return peek(&function_id, method, sizeof(function_id)) && function_id &&
           (uintptr_t)metadata_method_find(p->metadata, function_id) == method;
}

bool registers_expected(void *context, uintptr_t method, struct frame_at at)
{
    struct profiler *p = context;

    if (!load_relaxed(&p->guard.hooks)) {
        if (load_relaxed(&p->proven) >= ENOUGH)
            return true;
        if (is_client_id(p, method) && elt3_expected(at)) {
            add_relaxed(&p->proven, 1);
            return true;
        }
    }
    add_relaxed(&p->guard.hooks, 1);
    return false;
}

bool registers_left_as_expected(void *context, uintptr_t method, uintptr_t sp)
{
    struct profiler *p = context;

    if (!load_relaxed(&p->guard.hooks) && is_client_id(p, method) && elt3_expected(frame_at(sp)))
        return true;
    add_relaxed(&p->guard.hooks, 1);
    return false;
}
