#include "select/corelib.h"

#include "base/atomics.h"
#include "base/peek.h"
#include "clr/com.h"
#include "clr/scope.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>
#include <uchar.h>

/* Whose precompiled code may hold a copy of the fast path: the callers of .NET 10 and 11, and
 * theirs where they are small. A caller that is not here is found by its IL. */
static const struct {
    const char16_t *type, *names[4];
} callers[] = {
    {u"System.Runtime.CompilerServices.CastHelpers", {u"Box", u"Box_Nullable"}},
    {u"System.MulticastDelegate", {u"NewMulticastDelegate", u"CombineImpl", u"RemoveImpl"}},
    {u"System.Delegate",
     {u"InternalAlloc", u"NewMulticastDelegate", u"CombineImpl", u"RemoveImpl"}},
    {u"System.Runtime.CompilerServices.AsyncHelpers",
     {u"AllocContinuationResultBox", u"AllocContinuation", u"AllocContinuationMethod",
      u"AllocContinuationClass"}},
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

/* ---- who calls it: the five bytes of `call token` in CoreLib's IL ---- */

#define CALL       0x28
#define CALL_SIZE  5
#define IMAGE_PART 16384 /* bytes of the image that are looked at at once */
#define BATCH      64
#define MZ         0x5a4d
#define PE_AT      0x3c /* in an image: where its PE header is; and in that, the image's size */
#define SIZE_AT    0x50

static uint32_t calls_in(const uint8_t *il, size_t size, uint32_t token)
{
    uint32_t found = 0;

    for (size_t i = 0; i + CALL_SIZE <= size; i++)
        found += il[i] == CALL && memcmp(il + i + 1, &token, sizeof(token)) == 0;
    return found;
}

static uint32_t calls_of(struct clr_info *info, uintptr_t module_id, uint32_t method,
                         uint32_t token)
{
    const uint8_t *body = NULL;
    uint32_t size = 0;

    return info->vtbl->get_il_function_body(info, module_id, method, &body, &size) == S_OK
               ? calls_in(body, size, token)
               : 0;
}

/* In the whole image, of which parts may not be mapped; 0 also where it is not known. */
static uint32_t calls_in_image(struct clr_info *info, uintptr_t module_id, uint32_t token)
{
    const uint8_t *base = NULL;
    uintptr_t assembly, at;
    uint32_t length, flags, header = 0, size = 0, found = 0;
    uint8_t part[IMAGE_PART + CALL_SIZE - 1];
    uint16_t magic = 0;

    if (info->vtbl->get_module_info2(info, module_id, &base, 0, &length, NULL, &assembly, &flags) !=
            S_OK ||
        !base || !peek(&magic, (uintptr_t)base, sizeof(magic)) || magic != MZ ||
        !peek(&header, (uintptr_t)base + PE_AT, sizeof(header)) ||
        !peek(&size, (uintptr_t)base + header + SIZE_AT, sizeof(size)))
        return 0;
    at = (uintptr_t)base;
    for (uintptr_t end = at + size; at < end; at += IMAGE_PART)
        found += calls_in(part, peek_some(part, at, sizeof(part)), token);
    return found;
}

static bool is_listed(const struct corelib *c, uint32_t method)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->tokens[i] == method)
            return true;
    return false;
}

/* Adds those methods of a type that call `token`. Returns: how many calls they have. */
static uint32_t type_callers_add(struct corelib *c, struct clr_info *info,
                                 struct clr_metadata *import, uint32_t type, uint32_t token)
{
    uint32_t method[BATCH], count = 0, found = 0;
    void *enumerator = NULL;

    while (import->vtbl->enum_methods(import, &enumerator, type, method, BATCH, &count) >= 0 &&
           count) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t calls = is_listed(c, method[i]) || c->count == CORELIB_TOKENS
                                 ? 0
                                 : calls_of(info, c->module_id, method[i], token);

            if (calls)
                c->tokens[c->count++] = method[i];
            found += calls;
        }
    }
    import->vtbl->close_enum(import, enumerator);
    return found;
}

/*
 * Looks for callers that the list does not have. The image has a call in each; only if the list
 * leaves some out, every method is read, which takes 20 ms.
 */
static void callers_find(struct corelib *c, struct clr_info *info, struct clr_metadata *import,
                         uint32_t token)
{
    uint32_t calls = calls_in_image(info, c->module_id, token), known = 0, count = 0;
    uint32_t type[BATCH];
    void *enumerator = NULL;

    for (uint32_t i = 0; i < c->count; i++)
        known += calls_of(info, c->module_id, c->tokens[i], token);
    while (known < calls &&
           import->vtbl->enum_type_defs(import, &enumerator, type, BATCH, &count) >= 0 && count)
        for (uint32_t i = 0; i < count && known < calls; i++)
            known += type_callers_add(c, info, import, type[i], token);
    import->vtbl->close_enum(import, enumerator);
    store_relaxed(&c->missing, known < calls ? calls - known : 0);
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

void corelib_loaded(struct corelib *c, struct clr_info *info, uintptr_t module_id, bool precompiled)
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
            if (precompiled)
                callers_find(c, info, import, token);
            c->state = body_replace(info, module_id, token) ? CORELIB_PATCHED : CORELIB_UNKNOWN;
            if (c->state == CORELIB_UNKNOWN)
                add_relaxed(&c->missing, 1);
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
