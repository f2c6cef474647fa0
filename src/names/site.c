/*
 * From a return address to the IL offset of the call, through the code ranges and maps that the runtime gives.
 */
#include "names/internal.h"

#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define NAME_UNITS 32

static bool body_offset(const struct names_body *body, uintptr_t ip, uint32_t *offset)
{
    uintptr_t before = 0; /* bytes of the ranges before: the map counts through all of them */

    for (uint32_t i = 0; i < body->ranges; i++) {
        const struct clr_code_info *range = &body->range[i];

        if (ip - range->start_address < range->size) {
            *offset = (uint32_t)(before + (ip - range->start_address));
            return true;
        }
        before += range->size;
    }
    return false;
}

static int32_t body_il(const struct names_body *body, uint32_t offset)
{
    int32_t il = NAMES_SITE_UNMAPPED;

    for (uint32_t i = 0; i < body->entries && body->map[i].native_start_offset <= offset; i++)
        if (offset < body->map[i].native_end_offset)
            il = (int32_t)body->map[i].il_offset < 0 ? NAMES_SITE_UNMAPPED : (int32_t)body->map[i].il_offset;
    return il;
}

static int by_native_start(const void *a, const void *b)
{
    const struct clr_debug_il_to_native_map *x = a, *y = b;

    return (x->native_start_offset > y->native_start_offset) - (x->native_start_offset < y->native_start_offset);
}

static void body_free(struct names_body *body)
{
    if (body) {
        memory_free(body->range);
        memory_free(body->map);
    }
    memory_free(body);
}

static struct names_body *body_ask(struct names *names, uintptr_t start)
{
    struct clr_info *info = names->config.info;
    struct names_body *body = memory_zalloc(1, sizeof(*body));
    hresult hr;

    if (!body)
        return NULL;
    body->start = start;
    hr = info->vtbl->get_code_info4(info, start, 0, &body->ranges, NULL);
    if (hr < 0 || !body->ranges)
        goto fail;
    body->range = memory_zalloc(body->ranges, sizeof(*body->range));
    if (!body->range)
        goto fail;
    hr = info->vtbl->get_code_info4(info, start, body->ranges, &body->ranges, body->range);
    if (hr < 0)
        goto fail;
    hr = info->vtbl->get_il_to_native_mapping3(info, start, 0, &body->entries, NULL);
    if (hr < 0) {
        names_failed(names, hr);
        body->entries = 0;
    }
    if (body->entries) {
        body->map = memory_zalloc(body->entries, sizeof(*body->map));
        if (!body->map)
            goto fail;
        hr = info->vtbl->get_il_to_native_mapping3(info, start, body->entries, &body->entries, body->map);
        if (hr < 0)
            body->entries = 0;
        else
            qsort(body->map, body->entries, sizeof(*body->map), by_native_start);
    }
    return body;
fail:
    if (hr < 0)
        names_failed(names, hr);
    body_free(body);
    return NULL;
}

static const struct names_body *body_find(struct names_method *method, uintptr_t ip, uint32_t *offset)
{
    const struct names_body *body = load_acquire(&method->bodies);

    while (body && !body_offset(body, ip, offset))
        body = body->next;
    return body;
}

static void bodies_add(struct names *names, struct names_method *method, uintptr_t rejit)
{
    struct clr_info *info = names->config.info;
    uintptr_t small[8], *start = small;
    uint32_t count = 0, max = COUNT_OF(small);
    hresult hr = info->vtbl->get_native_code_start_addresses(info, method->function_id, rejit, max, &count, start);

    if (hr >= 0 && count > max) {
        start = memory_alloc(count * sizeof(*start));
        if (!start)
            return;
        max = count;
        hr = info->vtbl->get_native_code_start_addresses(info, method->function_id, rejit, max, &count, start);
    }
    if (hr < 0)
        names_failed(names, hr);
    for (uint32_t i = 0; hr >= 0 && i < count && i < max; i++) {
        const struct names_body *known = load_acquire(&method->bodies);
        struct names_body *body;

        while (known && known->start != start[i])
            known = known->next;
        body = known ? NULL : body_ask(names, start[i]);
        if (body) {
            body->next = load_relaxed(&method->bodies);
            while (!cas_acq_rel(&method->bodies, &body->next, body))
                ;
        }
    }
    if (start != small)
        memory_free(start);
}

static enum names_site_kind kind_of_dynamic(struct names *names, uintptr_t function)
{
    static const char stub[] = "IL_STUB";
    struct clr_info *info = names->config.info;
    clr_wchar name[NAME_UNITS];
    const uint8_t *signature;
    uint32_t size, length = 0;
    uintptr_t module;

    if (info->vtbl->get_dynamic_function_info(info, function, &module, &signature, &size, NAME_UNITS, &length, name) < 0)
        return NAMES_SITE_STUB;
    for (size_t i = 0; i < sizeof(stub) - 1; i++)
        if (i >= length || name[i] != (clr_wchar)stub[i])
            return NAMES_SITE_DYNAMIC;
    return NAMES_SITE_STUB;
}

int32_t names_site(struct names *names, struct names_method *method, uintptr_t ip)
{
    struct clr_info *info = names->config.info;
    const struct names_body *body;
    uintptr_t function = 0, rejit = 0;
    uint32_t offset;
    int32_t dynamic = 0;
    Dl_info image;

    if (!ip)
        return NAMES_SITE_NONE;
    ip--; /* a return address: the call lies before it */
    body = method ? body_find(method, ip, &offset) : NULL;
    if (body)
        return body_il(body, offset);
    if (names->config.info_version < 9)
        return NAMES_SITE_UNMAPPED;
    if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)ip, &function, &rejit) < 0)
        return dladdr((const void *)ip, &image) ? NAMES_SITE_NATIVE : NAMES_SITE_STUB;
    if (method && function == method->function_id) {
        bodies_add(names, method, rejit);
        body = body_find(method, ip, &offset);
        return body ? body_il(body, offset) : NAMES_SITE_UNMAPPED;
    }
    if (info->vtbl->is_function_dynamic(info, function, &dynamic) >= 0 && dynamic)
        return kind_of_dynamic(names, function);
    return NAMES_SITE_OTHER;
}
