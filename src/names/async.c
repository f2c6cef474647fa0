/* Runtime async: which code returns a continuation. */
#include "names/internal.h"

#include "clr/blob.h"
#include "clr/type.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

static const clr_wchar *const tasks[] = {
    u"System.Threading.Tasks.Task", u"System.Threading.Tasks.Task`1",
    u"System.Threading.Tasks.ValueTask", u"System.Threading.Tasks.ValueTask`1"};

bool names_method_async(const struct names_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    uint32_t owner, flags = 0;

    return import &&
           import->vtbl->get_method_props(import, method->token, &owner, NULL, 0, NULL, NULL, NULL,
                                          NULL, NULL, &flags) >= 0 &&
           flags & miAsync;
}

/* The type that the signature of a method says it returns, without its arguments; 0: neither class nor structure. */
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

bool names_method_awaited(const struct names *names, const struct names_method *method)
{
    struct clr_metadata *import = method->module ? method->module->import : NULL;
    struct clr_info *info = names->config.info;
    const uint8_t *signature = NULL;
    uint32_t owner, size = 0, type;
    uintptr_t declared;

    if (!import || import->vtbl->get_method_props(import, method->token, &owner, NULL, 0, NULL,
                                                  NULL, &signature, &size, NULL, NULL) < 0)
        return false;
    type = returned_type(signature, size);
    if (!type || !clr_type_is(import, type, tasks, COUNT_OF(tasks)))
        return false;
    /* The form that returns a Task is what the token names; generic methods have no one answer. */
    return info->vtbl->get_function_from_token(info, method->module->module_id, method->token,
                                               &declared) != S_OK ||
           declared != method->function_id;
}
