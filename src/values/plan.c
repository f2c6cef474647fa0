#include "values/plan.h"

#include "base/memory.h"
#include "clr/text.h"

#include <shadowtrace/clr/constants.h>

#include <stdio.h>
#include <string.h>

#define ARGS_MAX       32
#define PARAMETERS_MAX 255
#define NAME_UNITS     256

/* What the variables of a method stand for. Returns false when there are too many, or memory ran out. */
static bool scope_args(struct values_types *types, struct names_class *const *from, uint32_t count,
                       const struct values_type **to)
{
    if (count > ARGS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!(to[i] = values_type_of(types, from[i])))
            return false;
    return true;
}

/* How many variables the type of a method has, when the runtime does not say for which types its code is shared. */
static uint32_t variables(struct clr_metadata *import, uint32_t owner)
{
    uint32_t tokens[ARGS_MAX], got = 0;
    void *enumerator = NULL;

    if (import->vtbl->enum_generic_params(import, &enumerator, owner, tokens, ARGS_MAX, &got) < 0)
        got = 0;
    if (enumerator)
        import->vtbl->close_enum(import, enumerator);
    return got;
}

static char *default_name(uint32_t index)
{
    char text[24];

    snprintf(text, sizeof(text), "arg%u", index);
    return memory_strdup(text);
}

/* Its name, and whether it is for output only; number counts from 1. */
static bool parameter_name(struct clr_metadata *import, uint32_t method, uint32_t number,
                           struct values_parameter *p)
{
    clr_wchar name[NAME_UNITS];
    uint32_t token = 0, length = 0, attributes = 0;
    size_t units;

    if (import->vtbl->get_param_for_method_index(import, method, number, &token) < 0 || !token ||
        import->vtbl->get_param_props(import, token, NULL, NULL, name, NAME_UNITS, &length,
                                      &attributes, NULL, NULL, NULL) < 0 ||
        length < 2) {
        p->name = default_name(number);
        return p->name;
    }
    units = clr_text_length(name, length < NAME_UNITS ? length : NAME_UNITS);
    p->name = memory_alloc(CLR_TEXT_UTF8_SIZE(units));
    if (p->name)
        clr_text_utf8(p->name, CLR_TEXT_UTF8_SIZE(units), name, units);
    p->out = (attributes & (pdOut | pdIn)) == pdOut;
    return p->name;
}

/* `this`: an object, or where a value type's value lies. */
static bool add_this(struct values_types *types, const struct values_type *type,
                     struct values_plan *plan)
{
    struct values_parameter *p = &plan->parameter[plan->count++];
    struct values_type *where;

    p->name = memory_strdup("this");
    p->type = type;
    if (!p->name || !type || type->kind == VALUES_REFERENCE)
        return p->name && type;
    where = memory_zalloc(1, sizeof(*where));
    if (!where)
        return false;
    where->kind = VALUES_BYREF;
    where->size = sizeof(uintptr_t);
    where->target = type;
    where->next = load_relaxed(&types->made);
    while (!cas_acq_rel(&types->made, &where->next, where))
        ;
    p->type = where;
    return true;
}

static bool read_parameters(struct values_types *types, const struct values_scope *scope,
                            const struct names_method *method, uint32_t owner, const uint8_t *blob, uint32_t size,
                            struct values_plan *plan)
{
    const uint8_t *end = blob + size;
    uint32_t count;

    if (size < 3)
        return false;
    if (*blob & IMAGE_CEE_CS_CALLCONV_GENERIC)
        blob++; /* how many is below 128 in all that runs; ARGS_MAX was tested */
    count = blob[1];
    if (count >= 0x80) /* more than 127 parameters */
        return false;
    plan->parameter = memory_zalloc(count + 1, sizeof(*plan->parameter));
    if (!plan->parameter)
        return false;
    if (*(end - size) & IMAGE_CEE_CS_CALLCONV_HASTHIS &&
        !add_this(types, method->owner ? values_type_of(types, method->owner)
                                       : values_type_defined(types, scope->module, owner,
                                                             scope->type_arg, scope->type_args),
                  plan))
        return false;
    blob += 2;
    plan->result = values_type_read(types, scope, &blob, end);
    for (uint32_t i = 0; i < count && plan->result; i++) {
        struct values_parameter *p = &plan->parameter[plan->count++];

        p->type = values_type_read(types, scope, &blob, end);
        if (!p->type || !parameter_name(scope->module->import, method->token, i + 1, p))
            return false;
    }
    return plan->result;
}

struct values_plan *values_plan_new(struct values_types *types, const struct names_method *method,
                                    bool args, bool returns)
{
    const struct values_type *type_arg[ARGS_MAX], *method_arg[ARGS_MAX];
    struct values_scope scope = {method->module, type_arg, method_arg, 0, method->args};
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    struct values_plan *plan;
    const uint8_t *blob = NULL;
    uint32_t size = 0, owner = 0;

    if (!import ||
        import->vtbl->get_method_props(import, method->token, &owner, NULL, 0, NULL, NULL, &blob,
                                       &size, NULL, NULL) < 0 ||
        !blob || !scope_args(types, method->arg, method->args, method_arg))
        return NULL;
    if (method->owner) {
        scope.type_args = method->owner->args;
        if (!scope_args(types, method->owner->arg, scope.type_args, type_arg))
            return NULL;
    } else { /* code shared by instantiations: all of them are references */
        scope.type_args = variables(import, owner);
        for (uint32_t i = 0; i < scope.type_args; i++)
            if (!(type_arg[i] = values_type_of(types, NULL)))
                return NULL;
    }
    plan = memory_zalloc(1, sizeof(*plan));
    if (!plan)
        return NULL;
    plan->args = args;
    plan->returns = returns;
    if (!read_parameters(types, &scope, method, owner, blob, size, plan)) {
        values_plan_free(plan);
        return NULL;
    }
    return plan;
}

void values_plan_free(struct values_plan *plan)
{
    if (!plan)
        return;
    for (uint32_t i = 0; plan->parameter && i < plan->count; i++)
        memory_free(plan->parameter[i].name);
    memory_free(plan->parameter);
    memory_free(plan);
}
