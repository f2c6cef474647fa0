#include "select/corelib.h"

#include "clr/com.h"
#include "clr/scope.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>
#include <uchar.h>

/* Whose precompiled code may hold a copy of the fast path: the callers, and theirs where they are
 * small. */
static const struct {
    const char16_t *type, *names[3];
} callers[] = {
    {u"System.Runtime.CompilerServices.CastHelpers", {u"Box", u"Box_Nullable"}},
    {u"System.MulticastDelegate", {u"NewMulticastDelegate", u"CombineImpl", u"RemoveImpl"}},
    {u"System.Runtime.CompilerServices.AsyncHelpers", {u"AllocContinuationResultBox"}},
};

/* ldarg.0; call FastPath; dup; brtrue.s end; pop; ldarg.0; call Worker; end: ret; no tokens. */
#define TINY_HEADER(size) ((uint8_t)((size) << 2 | 2)) /* ECMA-335 II.25.4.2 */
enum { BODY_SIZE = 17, FAST_CALL = 6 };

static bool known_shape(const uint8_t *body, uint32_t size)
{
    const uint8_t *il = body + 1;

    return size >= BODY_SIZE + 1 && body[0] == TINY_HEADER(BODY_SIZE) && il[0] == 0x02 &&
           il[1] == 0x28 && il[6] == 0x25 && il[7] == 0x2d && il[8] == 0x07 && il[9] == 0x26 &&
           il[10] == 0x02 && il[11] == 0x28 && il[16] == 0x2a;
}

static uint32_t type_find(struct clr_metadata *import, const char16_t *name)
{
    uint32_t token = 0;

    return import->vtbl->find_type_def_by_name(import, name, 0, &token) == S_OK ? token : 0;
}

/* Adds the methods of that name. Returns the first, 0 when there is none. */
static uint32_t methods_add(struct corelib *c, struct clr_metadata *import, uint32_t owner,
                            const char16_t *name)
{
    uint32_t found[4], count = 0;
    void *enumerator = NULL;

    import->vtbl->enum_methods_with_name(import, &enumerator, owner, name, found, 4, &count);
    import->vtbl->close_enum(import, enumerator);
    for (uint32_t i = 0; i < count && c->count < sizeof(c->tokens) / sizeof(c->tokens[0]); i++)
        c->tokens[c->count++] = found[i];
    return count ? found[0] : 0;
}

/* The same body without its fast path: ldnull in its place. */
static bool body_replace(struct clr_info *info, uintptr_t module_id, uint32_t token)
{
    struct clr_method_malloc *allocator = NULL;
    const uint8_t *body = NULL;
    uint32_t size = 0;
    uint8_t *fresh;
    bool done = false;

    if (info->vtbl->get_il_function_body(info, module_id, token, &body, &size) != S_OK ||
        !known_shape(body, size) ||
        info->vtbl->get_il_function_body_allocator(info, module_id, &allocator) != S_OK)
        return false;
    fresh = allocator->vtbl->alloc(allocator, BODY_SIZE + 1);
    if (fresh) {
        memcpy(fresh, body, BODY_SIZE + 1);
        fresh[1] = 0x14;                     /* ldnull */
        memset(fresh + 2, 0, FAST_CALL - 1); /* nop */
        done = info->vtbl->set_il_function_body(info, module_id, token, fresh) == S_OK;
    }
    clr_release(allocator);
    return done;
}

static void callers_add(struct corelib *c, struct clr_metadata *import)
{
    for (size_t i = 0; i < COUNT_OF(callers); i++) {
        uint32_t owner = type_find(import, callers[i].type);

        for (size_t n = 0; owner && n < COUNT_OF(callers[i].names) && callers[i].names[n]; n++)
            methods_add(c, import, owner, callers[i].names[n]);
    }
}

void corelib_loaded(struct corelib *c, struct clr_info *info, uintptr_t module_id)
{
    struct clr_metadata *import = NULL;
    uint32_t owner, token;

    if (c->module_id || clr_scope_open(info, module_id, NULL, &import) != S_OK)
        return;
    owner = type_find(import, u"System.RuntimeTypeHandle");
    if (owner) {
        c->module_id = module_id;
        token = methods_add(c, import, owner, u"InternalAllocNoChecks");
        if (token) {
            callers_add(c, import);
            c->state = body_replace(info, module_id, token) ? CORELIB_PATCHED : CORELIB_UNKNOWN;
        }
    }
    clr_release(import);
}

bool corelib_refuses(const struct corelib *c, uintptr_t module_id, uint32_t token)
{
    if (module_id != c->module_id)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->tokens[i] == token)
            return true;
    return false;
}
