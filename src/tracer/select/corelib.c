#include "select/corelib.h"

#include "base/atomics.h"
#include "clr/com.h"
#include "clr/scope.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>
#include <uchar.h>

/* ldarg.0; call FastPath; dup; brtrue.s end; pop; ldarg.0; call Worker; end: ret; no tokens. */
#define TINY_HEADER(size) ((uint8_t)((size) << 2 | 2)) /* ECMA-335 II.25.4.2 */
enum { BODY_SIZE = 17, FAST_CALL = 6 };

#define HAS_FAST_PATH 10 /* .NET */

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

/* The first method of that name; 0: none. */
static uint32_t method_find(struct clr_metadata *import, uint32_t owner, const char16_t *name)
{
    uint32_t found = 0, count = 0;
    void *enumerator = NULL;

    import->vtbl->enum_methods_with_name(import, &enumerator, owner, name, &found, 1, &count);
    import->vtbl->close_enum(import, enumerator);
    return count ? found : 0;
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

/*
 * The methods of CoreLib whose precompiled code holds a copy of `token`, however deep it was
 * inlined: CoreLib's image has a table of them. Returns: whether that is all; false also where the
 * runtime uses no precompiled code of it.
 */
static bool inliners_add(struct corelib *c, struct clr_info *info, uint32_t token)
{
    struct clr_method_enum *inliners = NULL;
    struct clr_method method;
    int32_t incomplete = true;
    uint32_t count = 0;

    if (info->vtbl->enum_ngen_module_methods_inlining_this_method(
            info, c->module_id, c->module_id, token, &incomplete, &inliners) < 0)
        return false;
    while (inliners->vtbl->next(inliners, 1, &method, &count) == S_OK && count) {
        if (c->count == COUNT_OF(c->tokens))
            incomplete = true;
        else
            c->tokens[c->count++] = method.method_id;
    }
    clr_release(inliners);
    return !incomplete;
}

void corelib_loaded(struct corelib *c, const struct clr_runtime *runtime, uintptr_t module_id)
{
    struct clr_info *info = runtime->info;
    struct clr_metadata *import = NULL;
    uint32_t owner, token;

    if (c->module_id || clr_scope_open(info, module_id, NULL, &import) != S_OK)
        return;
    owner = type_find(import, u"System.RuntimeTypeHandle");
    if (owner) {
        c->module_id = module_id;
        token = method_find(import, owner, u"InternalAllocNoChecks");
        if (token) {
            c->tokens[c->count++] = token;
            if (!body_replace(info, module_id, token))
                add_relaxed(&c->unpatched, 1);
            c->partial = !inliners_add(c, info, token);
        } else if (runtime->major >= HAS_FAST_PATH) {
            add_relaxed(&c->unpatched, 1);
        }
    }
    clr_release(import);
}

bool corelib_refuses(struct corelib *c, uintptr_t module_id, uint32_t token)
{
    if (module_id != c->module_id)
        return false;
    if (UNLIKELY(c->partial) && !atomic_exchange(&c->copies, true))
        add_relaxed(&c->unpatched, 1);
    for (uint32_t i = 0; i < c->count; i++)
        if (c->tokens[i] == token)
            return true;
    return false;
}
