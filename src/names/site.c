/*
 * From a return address to the IL offset of the call, through the code ranges and maps that the runtime gives.
 */
#include "names/internal.h"

#include "names/il.h"

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

/* What a site is asked for: who was called, or what was made; both NULL when that is not known. */
struct site_hint {
    struct names_method *callee;
    const struct names_class *made;
};

static bool is_real(const struct clr_debug_il_to_native_map *entry)
{
    return entry->il_offset < EPILOG; /* PROLOG, NO_MAPPING and EPILOG are the highest values */
}

/* Where the statement that begins at `from` ends: the next offset that this body maps. */
static uint32_t statement_end(const struct names_body *body, uint32_t from)
{
    uint32_t end = UINT32_MAX;

    for (uint32_t i = 0; i < body->entries; i++)
        if (is_real(&body->map[i]) && body->map[i].il_offset > from && body->map[i].il_offset < end)
            end = body->map[i].il_offset;
    return end;
}

/* Finds the instruction in or after the statement at `from`: il_narrow, or il_search if the statement is a guess. */
static int32_t instruction(struct names *names, struct names_method *method, uint32_t from,
                           uint32_t to, const struct site_hint *hint, bool guess)
{
    struct clr_info *info = names->config.info;
    const uint8_t *bytes = NULL;
    struct il_target target;
    struct il_code il;
    uint32_t size = 0;

    if (!method->module ||
        info->vtbl->get_il_function_body(info, method->module->module_id, method->token, &bytes,
                                         &size) < 0 ||
        !il_parse(bytes, size, &il))
        return IL_AMBIGUOUS; /* without IL of its own, or in a module that keeps none */
    target.callee = hint->callee ? names_method_resolve(names, hint->callee) : NULL;
    target.made = hint->made;
    return guess ? il_search(method, &il, from, to, &target)
                 : il_narrow(method, &il, from, to, &target);
}

/*
 * The runtime maps native code to statements, in native order and without gaps, apart from what it marks: prologs,
 * epilogs, and code without a mapping. The JIT marks as the latter what it made itself, but also what is left of a
 * statement after a run-time look-up in a shared generic, and blocks of code inlined there, which it may move to the
 * end. Such code belongs to the statement on both sides of it, if that is the same one. Else only an operand that
 * names what was called is believed: for the statement before, or when it is the only one in the method.
 */
static int32_t body_il(struct names *names, struct names_method *method,
                       const struct names_body *body, uint32_t offset, const struct site_hint *hint)
{
    const struct clr_debug_il_to_native_map *end = body->map + body->entries, *entry = NULL, *next,
                                            *e;
    uint32_t from = 0, to = 0;
    bool certain = true;
    int32_t il;

    for (e = body->map; e < end && e->native_start_offset <= offset; e++)
        if (offset < e->native_end_offset) /* an empty range holds no instruction */
            entry = e;
    if (!entry)
        return NAMES_SITE_UNMAPPED;
    if (entry->il_offset == NO_MAPPING) {
        for (next = entry; next < end && next->il_offset == NO_MAPPING; next++)
            ;
        while (entry > body->map && entry->il_offset == NO_MAPPING)
            entry--;
        certain = is_real(entry) && next < end && next->il_offset == entry->il_offset;
    } else if (!is_real(entry)) {
        return NAMES_SITE_UNMAPPED;
    }
    if (is_real(entry)) {
        from = entry->il_offset;
        to = statement_end(body, from);
    }
    il = instruction(names, method, from, to, hint, !certain);
    if (il >= 0)
        return il;
    return certain ? (int32_t)from : NAMES_SITE_UNMAPPED;
}

static int by_native_start(const void *a, const void *b)
{
    const struct clr_debug_il_to_native_map *x = a, *y = b;

    return (x->native_start_offset > y->native_start_offset) -
           (x->native_start_offset < y->native_start_offset);
}

static void body_free(struct names_body *body)
{
    if (body) {
        memory_free(body->range);
        memory_free(body->map);
    }
    memory_free(body);
}

void names_bodies_free(struct names_method *method)
{
    struct names_body *body = load_relaxed(&method->bodies), *next;

    for (; body; body = next) {
        next = body->next;
        body_free(body);
    }
}

/*
 * Whether a body still is what lies at its address. Code of a method that can be unloaded may have gone, and after it
 * other code of the same method come; a body is then asked for once more.
 */
static bool body_current(const struct names *names, const struct names_method *method,
                         const struct names_body *body)
{
    return !names_method_entry(method)->recheck || body->epoch == names_epoch(names);
}

/* The code ranges: hot, then cold. */
static hresult ask_ranges(struct names *names, struct names_body *body)
{
    struct clr_info *info = names->config.info;
    uint32_t count = 0, max;
    hresult hr = info->vtbl->get_code_info4(info, body->start, 0, &count, NULL);

    if (hr < 0 || !count)
        return hr < 0 ? hr : E_FAIL;
    body->range = memory_zalloc(count, sizeof(*body->range));
    if (!body->range)
        return E_OUTOFMEMORY;
    max = count;
    hr = info->vtbl->get_code_info4(info, body->start, max, &count, body->range);
    body->ranges = count < max ? count : max;
    return hr;
}

static hresult ask_map(struct names *names, struct names_body *body)
{
    struct clr_info *info = names->config.info;
    uint32_t count = 0, max;
    hresult hr = info->vtbl->get_il_to_native_mapping3(info, body->start, 0, &count, NULL);

    if (hr < 0 || !count)
        return hr;
    body->map = memory_zalloc(count, sizeof(*body->map));
    if (!body->map)
        return E_OUTOFMEMORY;
    max = count;
    hr = info->vtbl->get_il_to_native_mapping3(info, body->start, max, &count, body->map);
    if (hr < 0)
        return hr;
    body->entries = count < max ? count : max;
    qsort(body->map, body->entries, sizeof(*body->map), by_native_start);
    return hr;
}

/* One body; without a map if there is none to be had, so that it is not asked for again and again. */
static struct names_body *body_ask(struct names *names, uintptr_t start, uint32_t epoch)
{
    struct names_body *body = memory_zalloc(1, sizeof(*body));
    hresult hr;

    if (!body)
        return NULL;
    body->start = start;
    body->epoch = epoch;
    hr = ask_ranges(names, body);
    if (hr >= 0) {
        hr = ask_map(names, body);
        if (hr >= 0)
            return body;
        names_failed(names, hr);
        if (hr != E_OUTOFMEMORY)
            return body;
    } else {
        names_failed(names, hr);
    }
    body_free(body);
    return NULL;
}

static const struct names_body *body_find(const struct names *names, struct names_method *method,
                                          uintptr_t ip, uint32_t *offset)
{
    const struct names_body *body = load_acquire(&method->bodies);

    while (body && !(body_offset(body, ip, offset) && body_current(names, method, body)))
        body = body->next;
    return body;
}

static bool body_known(const struct names *names, struct names_method *method, uintptr_t start)
{
    const struct names_body *body = load_acquire(&method->bodies);

    while (body && !(body->start == start && body_current(names, method, body)))
        body = body->next;
    return body;
}

/* Lists what native code the method has now. Two threads may list the same: no harm but the memory. */
static void bodies_add(struct names *names, struct names_method *method, uintptr_t rejit)
{
    struct clr_info *info = names->config.info;
    uint32_t epoch = names_epoch(names); /* before the runtime is asked */
    uintptr_t small[8], *start = small;
    uint32_t count = 0, max = COUNT_OF(small);
    hresult hr = info->vtbl->get_native_code_start_addresses(info, method->function_id, rejit, max,
                                                             &count, start);

    if (hr >= 0 && count > max) {
        max = count;
        start = memory_alloc(max * sizeof(*start));
        if (!start)
            return;
        hr = info->vtbl->get_native_code_start_addresses(info, method->function_id, rejit, max,
                                                         &count, start);
    }
    if (hr < 0)
        names_failed(names, hr);
    for (uint32_t i = 0; hr >= 0 && i < count && i < max; i++) {
        struct names_body *body;

        if (body_known(names, method, start[i]))
            continue;
        body = body_ask(names, start[i], epoch);
        if (!body)
            continue;
        body->next = load_relaxed(&method->bodies);
        while (!cas_acq_rel(&method->bodies, &body->next, body))
            ;
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

    if (info->vtbl->get_dynamic_function_info(info, function, &module, &signature, &size,
                                              NAME_UNITS, &length, name) < 0)
        return NAMES_SITE_STUB;
    for (size_t i = 0; i < sizeof(stub) - 1; i++)
        if (i >= length || name[i] != (clr_wchar)stub[i])
            return NAMES_SITE_DYNAMIC;
    return NAMES_SITE_STUB;
}

static int32_t site(struct names *names, struct names_method *method, uintptr_t ip,
                    const struct site_hint *hint)
{
    struct clr_info *info = names->config.info;
    uintptr_t function = 0, rejit = 0;
    const struct names_body *body;
    uint32_t offset;
    int32_t dynamic = 0;
    Dl_info image;

    if (!ip)
        return NAMES_SITE_NONE;
    ip--; /* a return address: the call lies before it */
    body = method ? body_find(names, method, ip, &offset) : NULL;
    if (body)
        return body_il(names, method, body, offset, hint);
    if (names->config.info_version < 9)
        return NAMES_SITE_UNMAPPED;
    if (info->vtbl->get_function_from_ip3(info, (const uint8_t *)ip, &function, &rejit) < 0)
        return dladdr((const void *)ip, &image) ? NAMES_SITE_NATIVE : NAMES_SITE_STUB;
    if (method && function == method->function_id) {
        bodies_add(names, method, rejit);
        body = body_find(names, method, ip, &offset);
        return body ? body_il(names, method, body, offset, hint) : NAMES_SITE_UNMAPPED;
    }
    if (info->vtbl->is_function_dynamic(info, function, &dynamic) >= 0 && dynamic)
        return kind_of_dynamic(names, function);
    return NAMES_SITE_OTHER;
}

int32_t names_site(struct names *names, struct names_method *method, uintptr_t ip)
{
    return site(names, method, ip, &(struct site_hint){NULL, NULL});
}

int32_t names_site_call(struct names *names, struct names_method *method, uintptr_t ip,
                        struct names_method *callee)
{
    return site(names, method, ip, &(struct site_hint){callee, NULL});
}

int32_t names_site_alloc(struct names *names, struct names_method *method, uintptr_t ip,
                         struct names_class *made)
{
    if (made)
        names_class_resolve(names, made);
    return site(names, method, ip, &(struct site_hint){NULL, made});
}
