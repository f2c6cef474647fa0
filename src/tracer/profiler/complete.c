#include "profiler/complete.h"

#include "hooks/elt.h"
#include "stack/stack_hot.h"
#include "thread/machine.h"

void complete_stack_slow(struct profiler *p)
{
    struct stack *s = stack_peek();
    struct metadata_method *method;
    struct elt2_wrapped wrapped;

    if (load_relaxed(&p->selection.async) && s)
        stack_drop_suspended(s, __builtin_frame_address(0));
    if (!s || p->runtime.major >= 10 || !options_elt2(&p->options) ||
        LIKELY(!elt2_wrapped(stack_top_sp(s), &wrapped)))
        return;
    method = metadata_method_find(p->metadata, machine_function_at(wrapped.ip));
    if (method && method->hooked)
        stack_inside(s, (uintptr_t)method, wrapped.at, wrapped.leaving);
}
