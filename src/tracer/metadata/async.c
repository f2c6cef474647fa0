/* Runtime async: which code returns a continuation. */
#include "metadata/internal.h"

#include "clr/blob.h"
#include "clr/type.h"
#include "metadata/state_machine.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#define ARGS 8 /* type arguments of a method, at the most */

static const clr_wchar *const tasks[] = {
    u"System.Threading.Tasks.Task", u"System.Threading.Tasks.Task`1",
    u"System.Threading.Tasks.ValueTask", u"System.Threading.Tasks.ValueTask`1"};

uint32_t metadata_method_flags(const struct metadata_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    uint32_t owner, flags = 0;

    return import && import->vtbl->get_method_props(import, method->token, &owner, NULL, 0, NULL,
                                                    NULL, NULL, NULL, NULL, &flags) >= 0
               ? flags
               : 0;
}

bool metadata_method_async(const struct metadata_method *method)
{
    return metadata_method_flags(method) & miAsync;
}

/* The type that a signature says is returned, without arguments; 0: no class or structure. */
static uint32_t returned_type(const uint8_t *signature, uint32_t size)
{
    struct clr_blob blob = clr_blob_of(signature, size);
    uint32_t kind;

    if (clr_blob_byte(&blob) & IMAGE_CEE_CS_CALLCONV_GENERIC)
        clr_blob_number(&blob);
    clr_blob_number(&blob); /* of parameters */
    kind = clr_blob_byte(&blob);
    while (kind == ELEMENT_TYPE_CMOD_OPT || kind == ELEMENT_TYPE_CMOD_REQD) {
        clr_blob_token(&blob);
        kind = clr_blob_byte(&blob);
    }
    if (kind == ELEMENT_TYPE_GENERICINST)
        kind = clr_blob_byte(&blob);
    if (kind != ELEMENT_TYPE_CLASS && kind != ELEMENT_TYPE_VALUETYPE)
        return 0;
    kind = clr_blob_token(&blob);
    return blob.bad ? 0 : kind;
}

/* Is what a method's signature says it returns a Task or a ValueTask? */
static bool returns_task(const struct metadata_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    const uint8_t *signature = NULL;
    uint32_t owner, size = 0, type;

    if (!import || import->vtbl->get_method_props(import, method->token, &owner, NULL, 0, NULL,
                                                  NULL, &signature, &size, NULL, NULL) < 0)
        return false;
    type = returned_type(signature, size);
    return type && clr_type_is(import, type, tasks, COUNT_OF(tasks));
}

/* The function that the token names, of the same type arguments; 0: the runtime does not say. */
static uintptr_t declared(struct clr_info *info, const struct metadata_method *method)
{
    uintptr_t module = method->module->module_id, function, arg[ARGS];
    hresult hr;

    if (!method->owner || method->args > ARGS)
        return 0;
    for (uint32_t i = 0; i < method->args; i++) {
        if (!method->arg[i])
            return 0;
        arg[i] = method->arg[i]->class_id;
    }
    if (method->args || method->owner->args)
        hr = info->vtbl->get_function_from_token_and_type_args(
            info, module, method->token, method->owner->class_id, method->args, arg, &function);
    else
        hr = info->vtbl->get_function_from_token(info, module, method->token, &function);
    return hr == S_OK ? function : 0;
}

/* Does `this` tell shared code its types? Not that of a structure or an interface. */
static bool is_object(struct clr_metadata *import, uint32_t type)
{
    uint32_t flags = 0, base = 0;

    return import->vtbl->get_type_def_props(import, type, NULL, 0, NULL, &flags, &base) >= 0 &&
           !(flags & tdInterface) && !clr_type_is_value_base(import, base);
}

uint8_t metadata_method_continued(const struct metadata *metadata,
                                  const struct metadata_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    uintptr_t function = import ? declared(metadata->config.info, method) : 0;
    const uint8_t *signature;
    uint32_t type, size = 0;
    uint8_t how = METADATA_CONTINUED;

    if (!function || function == method->function_id ||
        import->vtbl->get_method_props(import, method->token, &type, NULL, 0, NULL, NULL,
                                       &signature, &size, NULL, NULL) < 0 ||
        !size)
        return 0;
    if (signature[0] & IMAGE_CEE_CS_CALLCONV_HASTHIS)
        how |= METADATA_CONTINUED_THIS;
    if (method->shared &&
        (method->args || !(how & METADATA_CONTINUED_THIS) || !is_object(import, type)))
        how |= METADATA_CONTINUED_CONTEXT;
    return how;
}

/*
 * On .NET 11 the form of a runtime-async method that returns a Task is compiled under the function
 * that its token names; the runtime's walk of a stack leaves it out.
 */
bool metadata_method_thunk(const struct metadata *metadata, const struct metadata_method *method)
{
    return metadata_method_async(method) && returns_task(method) &&
           declared(metadata->config.info, method) == method->function_id;
}

bool metadata_method_pinvoke(const struct metadata_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    uint32_t owner, flags = 0;

    return import &&
           import->vtbl->get_method_props(import, method->token, &owner, NULL, 0, NULL, &flags,
                                          NULL, NULL, NULL, NULL) >= 0 &&
           flags & mdPinvokeImpl;
}

bool metadata_method_awaited(const struct metadata *metadata, const struct metadata_method *method)
{
    /* The form that returns a Task is what the token names. */
    return returns_task(method) && declared(metadata->config.info, method) != method->function_id;
}
