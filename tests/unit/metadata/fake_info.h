/*
 * An ICorProfilerInfo held in memory: the calls that src/tracer/metadata/ makes, answered from tables that a test lists and may
 * change between two questions. The rest is NULL.
 */
#ifndef SHADOWTRACE_TESTS_FAKE_INFO_H
#define SHADOWTRACE_TESTS_FAKE_INFO_H

#include "fake_metadata.h"

#include <shadowtrace/clr/info.h>

#include <sched.h>

struct fake_module {
    uintptr_t id;
    const char16_t *path, *assembly;
    uint32_t flags;
    struct fake_metadata *metadata;
};
struct fake_class {
    uintptr_t id, module;
    uint32_t token, args;
    uintptr_t arg[12];
    uint32_t rank, element_type; /* an array, if rank is not 0 */
    uintptr_t element;
    uintptr_t parent;
    bool incomplete; /* it has no metadata */
};
struct fake_function {
    uintptr_t id, class, module;
    uint32_t token, args;
    uintptr_t arg[12];
    bool dynamic;
    const char16_t *name; /* of a dynamic one */
    uintptr_t code[2];    /* starts of its native bodies */
    const uint8_t *il;
    uint32_t il_size;
};
struct fake_code {
    uintptr_t start, function;
    struct clr_code_info range[2];
    uint32_t ranges;
    const struct clr_debug_il_to_native_map *map;
    uint32_t entries;
};

struct fake_info {
    struct clr_info base;
    struct fake_module *modules; /* each list ends with id (or start) 0 */
    struct fake_class *classes;
    struct fake_function *functions;
    struct fake_code *codes;
    const uint8_t *image;        /* of each module; NULL: none */
    _Atomic(uint64_t) questions; /* about classes and functions */
    _Atomic(uint64_t) maps;      /* asked for */
};

static struct fake_info *info_of(struct clr_info *self)
{
    return container_of(self, struct fake_info, base);
}

#define FAKE_FIND(type, list, key, value) \
    static struct fake_##type *fake_##type##_of(struct clr_info *self, uintptr_t value) \
    { \
        for (struct fake_##type *e = info_of(self)->list; e && e->key; e++) \
            if (e->key == value) \
                return e; \
        return NULL; \
    }
FAKE_FIND(module, modules, id, module_id)
FAKE_FIND(class, classes, id, class_id)
FAKE_FIND(function, functions, id, function_id)
FAKE_FIND(code, codes, start, code_start)

static hresult info_module(struct clr_info *self, uintptr_t id, const uint8_t **base, uint32_t max,
                           uint32_t *length, clr_wchar *name, uintptr_t *assembly, uint32_t *flags)
{
    const struct fake_module *m = fake_module_of(self, id);

    if (!m)
        return E_INVALIDARG;
    if (base)
        *base = info_of(self)->image;
    *assembly = id;
    *flags = m->flags;
    return fake_name(m->path, name, max, length) < 0 ? E_FAIL : S_OK;
}

static hresult info_assembly(struct clr_info *self, uintptr_t id, uint32_t max, uint32_t *length,
                             clr_wchar *name, uintptr_t *domain, uintptr_t *module)
{
    const struct fake_module *m = fake_module_of(self, id);

    if (!m || !m->assembly)
        return E_INVALIDARG;
    *domain = 1;
    *module = id;
    return fake_name(m->assembly, name, max, length) < 0 ? E_FAIL : S_OK;
}

static hresult info_metadata(struct clr_info *self, uintptr_t id, uint32_t flags,
                             const struct clr_guid *iid, struct clr_unknown **out)
{
    const struct fake_module *m = fake_module_of(self, id);

    (void)flags, (void)iid;
    if (!m || !m->metadata)
        return E_FAIL;
    fake_add_ref(&m->metadata->base);
    *out = (struct clr_unknown *)(void *)&m->metadata->base;
    return S_OK;
}

static hresult info_array(struct clr_info *self, uintptr_t id, uint32_t *element_type,
                          uintptr_t *element, uint32_t *rank)
{
    const struct fake_class *c = fake_class_of(self, id);

    add_relaxed(&info_of(self)->questions, 1);
    sched_yield(); /* so that threads meet between the question and the record */
    if (!c || !c->rank)
        return S_FALSE;
    *element_type = c->element_type;
    *element = c->element;
    *rank = c->rank;
    return S_OK;
}

static hresult info_args(uint32_t args, const uintptr_t *arg, uint32_t max, uint32_t *count,
                         uintptr_t *out)
{
    *count = args;
    for (uint32_t i = 0; i < args && i < max; i++)
        out[i] = arg[i];
    return S_OK;
}

static hresult info_class(struct clr_info *self, uintptr_t id, uintptr_t *module, uint32_t *token,
                          uintptr_t *parent, uint32_t max, uint32_t *count, uintptr_t *args)
{
    const struct fake_class *c = fake_class_of(self, id);

    if (!c)
        return E_INVALIDARG;
    if (c->rank)
        return CORPROF_E_CLASSID_IS_ARRAY;
    if (c->incomplete)
        return CORPROF_E_DATAINCOMPLETE;
    if (!c->token)
        return CORPROF_E_CLASSID_IS_COMPOSITE;
    *module = c->module;
    *token = c->token;
    *parent = c->parent;
    return info_args(c->args, c->arg, max, count, args);
}

static hresult info_function(struct clr_info *self, uintptr_t id, uintptr_t frame, uintptr_t *class,
                             uintptr_t *module, uint32_t *token, uint32_t max, uint32_t *count,
                             uintptr_t *args)
{
    const struct fake_function *f = fake_function_of(self, id);

    (void)frame;
    add_relaxed(&info_of(self)->questions, 1);
    sched_yield();
    if (!f || f->dynamic)
        return E_INVALIDARG;
    *class = f->class;
    *module = f->module;
    *token = f->token;
    return info_args(f->args, f->arg, max, count, args);
}

static hresult info_from_ip(struct clr_info *self, const uint8_t *ip, uintptr_t *function,
                            uintptr_t *rejit)
{
    for (struct fake_code *c = info_of(self)->codes; c && c->start; c++) {
        for (uint32_t i = 0; i < c->ranges; i++) {
            if ((uintptr_t)ip - c->range[i].start_address < c->range[i].size) {
                *function = c->function;
                *rejit = 0;
                return S_OK;
            }
        }
    }
    return E_FAIL;
}

static hresult info_is_dynamic(struct clr_info *self, uintptr_t id, int32_t *dynamic)
{
    const struct fake_function *f = fake_function_of(self, id);

    *dynamic = f && f->dynamic;
    return f ? S_OK : E_INVALIDARG;
}

static hresult info_dynamic(struct clr_info *self, uintptr_t id, uintptr_t *module,
                            const uint8_t **signature, uint32_t *size, uint32_t max,
                            uint32_t *length, clr_wchar *name)
{
    const struct fake_function *f = fake_function_of(self, id);

    *module = 0;
    *signature = NULL;
    *size = 0;
    return f ? fake_name(f->name, name, max, length) : E_INVALIDARG;
}

static hresult info_starts(struct clr_info *self, uintptr_t id, uintptr_t rejit, uint32_t max,
                           uint32_t *count, uintptr_t *starts)
{
    const struct fake_function *f = fake_function_of(self, id);

    (void)rejit;
    if (!f)
        return E_INVALIDARG;
    return info_args(f->code[1] ? 2 : f->code[0] != 0, f->code, max, count, starts);
}

static hresult info_code(struct clr_info *self, uintptr_t start, uint32_t max, uint32_t *count,
                         struct clr_code_info *out)
{
    const struct fake_code *c = fake_code_of(self, start);

    if (!c)
        return E_INVALIDARG;
    *count = c->ranges;
    for (uint32_t i = 0; i < c->ranges && i < max; i++)
        out[i] = c->range[i];
    return S_OK;
}

static hresult info_map(struct clr_info *self, uintptr_t start, uint32_t max, uint32_t *count,
                        struct clr_debug_il_to_native_map *out)
{
    const struct fake_code *c = fake_code_of(self, start);

    add_relaxed(&info_of(self)->maps, 1);
    if (!c || !c->map)
        return E_FAIL;
    *count = c->entries;
    for (uint32_t i = 0; i < c->entries && i < max; i++)
        out[i] = c->map[i];
    return S_OK;
}

static hresult info_il(struct clr_info *self, uintptr_t module, uint32_t token, const uint8_t **il,
                       uint32_t *size)
{
    for (const struct fake_function *f = info_of(self)->functions; f && f->id; f++) {
        if (f->module == module && f->token == token && f->il) {
            *il = f->il;
            *size = f->il_size;
            return S_OK;
        }
    }
    return CORPROF_E_FUNCTION_NOT_IL;
}

static const struct clr_info_vtbl fake_info_vtbl = {
    .is_array_class = info_array,
    .get_assembly_info = info_assembly,
    .get_module_metadata = info_metadata,
    .get_il_function_body = info_il,
    .get_function_info2 = info_function,
    .get_class_id_info2 = info_class,
    .get_module_info2 = info_module,
    .is_function_dynamic = info_is_dynamic,
    .get_function_from_ip3 = info_from_ip,
    .get_dynamic_function_info = info_dynamic,
    .get_native_code_start_addresses = info_starts,
    .get_il_to_native_mapping3 = info_map,
    .get_code_info4 = info_code,
};

#endif
