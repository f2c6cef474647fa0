#include "select/mapper.h"

#include "metadata/state_machine.h"
#include "stack/stack_hot.h"
#include "values/values.h"

/* Are calls of this method events? */
static bool traces(struct selection *s, struct metadata_method *method)
{
    const struct options_patterns *calls = &s->options->calls;
    const char *name;

    if (!options_records(s->options, OPTIONS_CALLS))
        return false;
    /* Its event may come before the resolver does. */
    name = metadata_method_resolve(s->metadata, method);
    return !calls->count || options_match(calls, name);
}

/* Of an Enter3 hook. What the runtime resumes gets its continuation and nothing else: no `this`. */
static uintptr_t tags(const struct metadata_method *method)
{
    if (method->continued & METADATA_CONTINUED_THIS)
        return STACK_RESUMABLE | STACK_CALL_IF_SOME;
    if (method->continued & METADATA_CONTINUED_CONTEXT)
        return STACK_RESUMABLE;
    if (method->continued)
        return STACK_RESUMABLE | STACK_CALL_IF_NONE;
    return method->machine ? STACK_RESUMABLE : 0;
}

static void prepare(struct selection *s, struct metadata_method *method)
{
    if (options_values(s->options))
        values_method(method);
    method->hooked = true;
    method->continues = selection_continues(s, method);
    method->traced = traces(s, method);
    if (!s->begins)
        return;
    metadata_machine_find(method);
    if (method->continues)
        method->continued = metadata_method_continued(s->metadata, method);
}

uintptr_t mapper_map(struct selection *s, uintptr_t function_id, int32_t *hook)
{
    struct selection_definition definition;
    struct metadata_method *method;

    *hook = 0;
    if (s->keeps_precompiled && selection_define(s, function_id, &definition) &&
        !selection_may_want(s, &definition)) {
        selection_mapped(s);
        return function_id;
    }
    if (metadata_method_map(s->metadata, function_id, &method))
        return function_id;
    selection_mapped(s);
    if (selection_wants(s, method) || (method->hidden && !RULE(RULE_HIDDEN))) {
        prepare(s, method);
        *hook = 1;
    }
    return (uintptr_t)method | tags(method);
}

bool mapper_accepts_precompiled(struct selection *s, struct corelib *corelib, uintptr_t function_id)
{
    struct selection_definition function;
    struct metadata_method *method;

    if (!selection_define(s, function_id, &function))
        return true;
    if (corelib_refuses(corelib, function.module_id, function.token))
        return false;
    return !s->keeps_precompiled || !selection_may_want(s, &function) ||
           metadata_method_map(s->metadata, function_id, &method) || !selection_wants(s, method);
}
