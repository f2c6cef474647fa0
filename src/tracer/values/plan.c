#include "values/plan.h"

#include "base/memory.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>

#include <stdio.h>
#include <string.h>

#define ARGS_MAX       32
#define PARAMETERS_MAX 127
#define NAME_UNITS     256

/* What the variables of a method stand for. Returns: false if too many, or without memory. */
static bool scope_args(struct values_types *types, struct metadata_class *const *from,
                       uint32_t count, const struct values_type **to, enum values_mode mode)
{
    if (count > ARGS_MAX)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!(to[i] = values_type_of(types, from[i], mode)))
            return false;
    return true;
}

/* How many variables a type has. In shared code the runtime does not say what they stand for. */
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

/* Its name, and whether it is for output or for input only; number counts from 1. */
static bool parameter_name(struct clr_metadata *import, uint32_t method, uint32_t number,
                           struct values_parameter *p)
{
    clr_wchar name[NAME_UNITS];
    uint32_t token = 0, length = 0, attributes = 0;

    p->back = p->type->kind == VALUES_BYREF;
    if (import->vtbl->get_param_for_method_index(import, method, number, &token) < 0 || !token ||
        import->vtbl->get_param_props(import, token, NULL, NULL, name, NAME_UNITS, &length,
                                      &attributes, NULL, NULL, NULL) < 0 ||
        length < 2) {
        p->name = default_name(number);
        return p->name;
    }
    p->name = clr_utf16_copy(name, length < NAME_UNITS ? length : NAME_UNITS);
    p->out = (attributes & (pdOut | pdIn)) == pdOut;
    p->back &= (attributes & (pdOut | pdIn)) != pdIn;
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
    list_push(&types->made, where, next);
    p->type = where;
    return true;
}

/* What `this` is, or where it lies, if the type of the method is of values. */
static const struct values_type *type_of_this(struct values_types *types,
                                              const struct metadata_method *method, uint32_t owner,
                                              enum values_mode mode)
{
    if (method->owner)
        return values_type_of(types, method->owner, mode);
    return values_type_is_value(method->module, owner) ? &values_unknown : &values_reference;
}

/* How many parameters the blob tells of; *blob moves to the return type. -1: damaged. */
static int parameter_count(const uint8_t **blob, uint32_t size)
{
    const uint8_t *at = *blob;

    if (size < 3)
        return -1;
    if (*at & IMAGE_CEE_CS_CALLCONV_GENERIC && (*++at >= 0x80 || size < 4))
        return -1;
    *blob = at + 2;
    return at[1] < 0x80 ? at[1] : -1; /* more take two bytes, which no code has */
}

static bool read_parameters(struct values_types *types, const struct values_scope *scope,
                            const struct metadata_method *method, const uint8_t *blob,
                            uint32_t size, struct values_plan *plan, enum values_mode mode)
{
    const uint8_t *end = blob + size;
    int count = parameter_count(&blob, size);

    if (count < 0)
        return false;
    plan->result = values_type_read(types, scope, &blob, end, mode);
    for (int i = 0; i < count && plan->result; i++) {
        struct values_parameter *p = &plan->parameter[plan->count];

        p->type = values_type_read(types, scope, &blob, end, mode);
        if (!p->type || !parameter_name(scope->module->import, method->token, (uint32_t)i + 1, p))
            return false;
        plan->count++;
        plan->back += p->back;
    }
    return plan->result;
}

static bool read_method(struct values_types *types, const struct metadata_method *method,
                        struct values_plan *plan, enum values_mode mode)
{
    const struct values_type *type_arg[ARGS_MAX], *method_arg[ARGS_MAX], *own;
    struct values_scope scope = {method->module, type_arg, method_arg, 0, method->args};
    struct clr_metadata *import = method->module->import;
    const uint8_t *blob = NULL;
    uint32_t size = 0, owner = 0;

    if (import->vtbl->get_method_props(import, method->token, &owner, NULL, 0, NULL, NULL, &blob,
                                       &size, NULL, NULL) < 0 ||
        !blob || !size || !scope_args(types, method->arg, method->args, method_arg, mode))
        return false;
    if (method->owner) {
        scope.type_args = method->owner->args;
        if (!scope_args(types, method->owner->arg, scope.type_args, type_arg, mode))
            return false;
    } else {
        scope.type_args = variables(import, owner);
        plan->open = scope.type_args;
        for (uint32_t i = 0; i < scope.type_args; i++)
            type_arg[i] = &values_unknown;
    }
    plan->parameter = memory_zalloc(PARAMETERS_MAX + 1, sizeof(*plan->parameter));
    if (!plan->parameter)
        return false;
    own = *blob & IMAGE_CEE_CS_CALLCONV_HASTHIS ? type_of_this(types, method, owner, mode) : NULL;
    if (*blob & IMAGE_CEE_CS_CALLCONV_HASTHIS && !add_this(types, own, plan))
        return false;
    return read_parameters(types, &scope, method, blob, size, plan, mode);
}

/* Most methods have few parameters. */
static void shrink(struct values_plan *plan)
{
    struct values_parameter *less =
        memory_realloc(plan->parameter, (plan->count + 1) * sizeof(*less));

    if (less)
        plan->parameter = less;
}

struct values_plan *values_plan_new(struct values_types *types,
                                    const struct metadata_method *method, bool args, bool returns,
                                    enum values_mode mode)
{
    struct values_plan *plan = memory_zalloc(1, sizeof(*plan));

    if (!plan)
        return NULL;
    plan->args = args;
    plan->returns = returns;
    if (!method->module || !method->module->import || !read_method(types, method, plan, mode)) {
        values_plan_free(plan);
        return NULL;
    }
    shrink(plan);
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
