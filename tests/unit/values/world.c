/* The runtime of world.h: tables of types and fields, and the callbacks that read them. */
#include "world.h"

#include "base/atomics.h"

#include <shadowtrace/clr/info.h>

#include <stdlib.h>
#include <string.h>
#include <uchar.h>

struct world_type {
    const char16_t *name;
    uint32_t extends, size; /* row of the base type */
};

static const struct world_type world_types[WORLD_TYPES] = {
    [WORLD_OBJECT] = {u"System.Object", 0, 0},
    [WORLD_VALUE] = {u"System.ValueType", WORLD_OBJECT, 0},
    [WORLD_ENUM] = {u"System.Enum", WORLD_VALUE, 0},
    [WORLD_CANON] = {u"System.__Canon", WORLD_OBJECT, 0},
    [WORLD_STRING] = {u"System.String", WORLD_OBJECT, 0},
    [WORLD_INT] = {u"System.Int32", WORLD_VALUE, 4},
    [WORLD_LONG] = {u"System.Int64", WORLD_VALUE, 8},
    [WORLD_BOOL] = {u"System.Boolean", WORLD_VALUE, 1},
    [WORLD_DECIMAL] = {u"System.Decimal", WORLD_VALUE, 16},
    [WORLD_NULLABLE] = {u"System.Nullable`1", WORLD_VALUE, 16},
    [WORLD_SPAN] = {u"System.Span`1", WORLD_VALUE, 16},
    [WORLD_PAIR] = {u"Pair", WORLD_VALUE, 8},
    [WORLD_COLOR] = {u"Color", WORLD_ENUM, 4},
    [WORLD_BITS] = {u"Bits", WORLD_ENUM, 4},
    [WORLD_GEN] = {u"Gen`1", WORLD_VALUE, 16},
    [WORLD_NODE] = {u"Node", WORLD_VALUE, 24},
};

struct world_field {
    uint32_t owner, offset, attributes;
    const char16_t *name;
    uint8_t blob[8];
    int32_t constant;
};

#define LITERAL (fdStatic | fdLiteral)

static const struct world_field world_fields[] = {
    {WORLD_NULLABLE, 0, 0, u"hasValue", {6, ELEMENT_TYPE_BOOLEAN}, 0},
    {WORLD_NULLABLE, 8, 0, u"value", {6, ELEMENT_TYPE_VAR, 0}, 0},
    {WORLD_SPAN, 0, 0, u"_reference", {6, ELEMENT_TYPE_BYREF, ELEMENT_TYPE_VAR, 0}, 0},
    {WORLD_SPAN, 8, 0, u"_length", {6, ELEMENT_TYPE_I4}, 0},
    {WORLD_PAIR, 0, 0, u"X", {6, ELEMENT_TYPE_I4}, 0},
    {WORLD_PAIR, 4, 0, u"<Y>k__BackingField", {6, ELEMENT_TYPE_I4}, 0},
    {WORLD_COLOR, 0, 0, u"value__", {6, ELEMENT_TYPE_I4}, 0},
    {WORLD_COLOR, 0, LITERAL, u"Red", {6, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_COLOR)}, 0},
    {WORLD_COLOR, 0, LITERAL, u"Blue", {6, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_COLOR)}, -10},
    {WORLD_BITS, 0, 0, u"value__", {6, ELEMENT_TYPE_I4}, 0},
    {WORLD_BITS, 0, LITERAL, u"A", {6, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_BITS)}, 1},
    {WORLD_BITS, 0, LITERAL, u"B", {6, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_BITS)}, 2},
    {WORLD_BITS, 0, LITERAL, u"AB", {6, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_BITS)}, 3},
    {WORLD_GEN, 0, 0, u"Value", {6, ELEMENT_TYPE_VAR, 0}, 0},
    {WORLD_GEN, 8, 0, u"N", {6, ELEMENT_TYPE_I4}, 0},
    {WORLD_NODE,
     0,
     0,
     u"Next",
     {6, ELEMENT_TYPE_PTR, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_NODE)},
     0},
    {WORLD_NODE, 8, 0, u"Pair", {6, ELEMENT_TYPE_VALUETYPE, WORLD_TOKEN(WORLD_PAIR)}, 0},
    {WORLD_NODE, 16, 0, u"Text", {6, ELEMENT_TYPE_STRING}, 0},
};
#define WORLD_FIELDS (sizeof(world_fields) / sizeof(world_fields[0]))

struct world world;

static hresult world_name(const char16_t *name, clr_wchar *out, uint32_t max, uint32_t *length)
{
    uint32_t units = 0;

    while (name[units++])
        ;
    if (length)
        *length = units;
    for (uint32_t i = 0; i < units && i < max && out; i++)
        out[i] = i + 1 < max ? name[i] : 0;
    return S_OK;
}

static uint32_t world_add_ref(struct clr_metadata *self)
{
    (void)self;
    return 1;
}

static hresult world_scope_props(struct clr_metadata *self, clr_wchar *name, uint32_t max,
                                 uint32_t *length, struct clr_guid *mvid)
{
    (void)self, (void)name, (void)max, (void)length, (void)mvid;
    return E_FAIL;
}

static hresult world_find(struct clr_metadata *self, const clr_wchar *name, uint32_t enclosing,
                          uint32_t *token)
{
    (void)self, (void)enclosing;
    for (uint32_t row = 1; row < WORLD_TYPES; row++) {
        size_t i = 0;

        while (world_types[row].name[i] && world_types[row].name[i] == name[i])
            i++;
        if (world_types[row].name[i] == name[i]) {
            *token = mdtTypeDef | row;
            return S_OK;
        }
    }
    return CLDB_E_RECORD_NOTFOUND;
}

static hresult world_type_props(struct clr_metadata *self, uint32_t token, clr_wchar *name,
                                uint32_t max, uint32_t *length, uint32_t *flags, uint32_t *extends)
{
    uint32_t row = clr_token_row(token);

    (void)self;
    if (clr_token_type(token) != mdtTypeDef || !row || row >= WORLD_TYPES)
        return CLDB_E_RECORD_NOTFOUND;
    if (flags)
        *flags = tdPublic;
    if (extends)
        *extends = mdtTypeDef | world_types[row].extends;
    return world_name(world_types[row].name, name, max, length);
}

static hresult world_no_reference(struct clr_metadata *self, uint32_t token, uint32_t *scope,
                                  clr_wchar *name, uint32_t max, uint32_t *length)
{
    (void)self, (void)token, (void)scope, (void)name, (void)max, (void)length;
    return CLDB_E_RECORD_NOTFOUND;
}

static hresult world_enum_fields(struct clr_metadata *self, void **enumerator, uint32_t type,
                                 uint32_t *fields, uint32_t max, uint32_t *count)
{
    uintptr_t next = (uintptr_t)*enumerator;

    (void)self;
    *count = 0;
    for (; next < WORLD_FIELDS && *count < max; next++)
        if (world_fields[next].owner == clr_token_row(type))
            fields[(*count)++] = mdtFieldDef | (uint32_t)(next + 1);
    *enumerator = (void *)next;
    return *count ? S_OK : S_FALSE;
}

static void world_close(struct clr_metadata *self, void *enumerator)
{
    (void)self, (void)enumerator;
}

static hresult world_field_props(struct clr_metadata *self, uint32_t field, uint32_t *owner,
                                 clr_wchar *name, uint32_t max, uint32_t *length,
                                 uint32_t *attributes, const uint8_t **blob, uint32_t *size,
                                 uint32_t *element, const void **value, uint32_t *value_length)
{
    const struct world_field *f = &world_fields[clr_token_row(field) - 1];

    (void)self, (void)value_length;
    if (owner)
        *owner = mdtTypeDef | f->owner;
    if (attributes)
        *attributes = f->attributes;
    *blob = f->blob;
    *size = sizeof(f->blob);
    if (element)
        *element = ELEMENT_TYPE_I4;
    if (value)
        *value = &f->constant;
    return world_name(f->name, name, max, length);
}

static hresult world_attribute(struct clr_metadata *self, uint32_t token, const clr_wchar *name,
                               const void **data, uint32_t *size)
{
    (void)self, (void)name, (void)data, (void)size;
    return clr_token_row(token) == WORLD_BITS ? S_OK : S_FALSE;
}

static hresult world_generic_params(struct clr_metadata *self, void **enumerator, uint32_t token,
                                    uint32_t *params, uint32_t max, uint32_t *count)
{
    (void)self, (void)enumerator, (void)params, (void)max;
    *count = clr_token_row(token) == WORLD_GEN;
    return S_OK;
}

static hresult world_method_props(struct clr_metadata *self, uint32_t method, uint32_t *owner,
                                  clr_wchar *name, uint32_t max, uint32_t *length, uint32_t *attr,
                                  const uint8_t **blob, uint32_t *size, uint32_t *rva,
                                  uint32_t *flags)
{
    (void)self, (void)method, (void)attr, (void)rva, (void)flags;
    if (owner)
        *owner = mdtTypeDef | WORLD_GEN;
    if (blob)
        *blob = world.signature;
    if (size)
        *size = world.signature_size;
    return world_name(u"Run", name, max, length);
}

static hresult world_param(struct clr_metadata *self, uint32_t method, uint32_t sequence,
                           uint32_t *param)
{
    (void)self, (void)method;
    *param = mdtParamDef | sequence;
    return sequence <= 2 ? S_OK : CLDB_E_RECORD_NOTFOUND;
}

static hresult world_param_props(struct clr_metadata *self, uint32_t token, uint32_t *method,
                                 uint32_t *sequence, clr_wchar *name, uint32_t max,
                                 uint32_t *length, uint32_t *attributes, uint32_t *element,
                                 const void **value, uint32_t *value_length)
{
    (void)self, (void)method, (void)sequence, (void)element, (void)value, (void)value_length;
    *attributes = clr_token_row(token) == 2 ? pdOut : 0;
    return world_name(clr_token_row(token) == 1 ? u"first" : u"second", name, max, length);
}

static hresult world_class(struct clr_info *self, uintptr_t module, uint32_t type, uintptr_t *id)
{
    (void)self, (void)module;
    *id = 0x1000 + clr_token_row(type);
    return clr_token_row(type) < WORLD_TYPES ? S_OK : E_FAIL;
}

/* Layouts do not depend on the arguments here, identities do. */
static hresult world_instance(struct clr_info *self, uintptr_t module, uint32_t type,
                              uint32_t count, const uintptr_t *args, uintptr_t *id)
{
    hresult hr = world_class(self, module, type, id);

    for (uint32_t i = 0; i < count; i++)
        *id = (*id & 0xffff) | (*id >> 16) * 31 << 16 | (args[i] & 0xfff) << 16;
    return hr;
}

static hresult world_layout(struct clr_info *self, uintptr_t id, struct clr_field_offset *offsets,
                            uint32_t max, uint32_t *count, uint32_t *size)
{
    uint32_t row = id & 0xfff;

    (void)self;
    if (row >= WORLD_TYPES)
        return E_FAIL;
    *count = 0;
    *size = world_types[row].size;
    for (uint32_t i = 0; i < WORLD_FIELDS && *count < max; i++)
        if (world_fields[i].owner == row && !(world_fields[i].attributes & fdStatic))
            offsets[(*count)++] =
                (struct clr_field_offset){mdtFieldDef | (i + 1), world_fields[i].offset};
    return S_OK;
}

static hresult world_module(struct clr_info *self, uintptr_t id, const uint8_t **base, uint32_t max,
                            uint32_t *length, clr_wchar *name, uintptr_t *assembly, uint32_t *flags)
{
    (void)self, (void)id, (void)base;
    *assembly = 1;
    *flags = 0;
    return world_name(u"/core.dll", name, max, length);
}

static hresult world_assembly(struct clr_info *self, uintptr_t id, uint32_t max, uint32_t *length,
                              clr_wchar *name, uintptr_t *domain, uintptr_t *module)
{
    (void)self, (void)id;
    *domain = *module = 1;
    return world_name(u"System.Private.CoreLib", name, max, length);
}

static hresult world_import(struct clr_info *self, uintptr_t id, uint32_t flags,
                            const struct clr_guid *iid, struct clr_unknown **out)
{
    (void)self, (void)id, (void)flags, (void)iid;
    *out = (struct clr_unknown *)(void *)&world.import;
    return S_OK;
}

static const struct clr_metadata_vtbl world_metadata_vtbl = {
    .add_ref = world_add_ref,
    .release = world_add_ref,
    .close_enum = world_close,
    .get_scope_props = world_scope_props,
    .find_type_def_by_name = world_find,
    .get_type_def_props = world_type_props,
    .get_type_ref_props = world_no_reference,
    .enum_fields = world_enum_fields,
    .get_field_props = world_field_props,
    .get_custom_attribute_by_name = world_attribute,
    .enum_generic_params = world_generic_params,
    .get_method_props = world_method_props,
    .get_param_for_method_index = world_param,
    .get_param_props = world_param_props,
};
static const struct clr_info_vtbl world_info_vtbl = {
    .get_class_from_token = world_class,
    .get_class_from_token_and_type_args = world_instance,
    .get_class_layout = world_layout,
    .get_module_info2 = world_module,
    .get_assembly_info = world_assembly,
    .get_module_metadata = world_import,
};

static struct metadata_class *world_no_class(void *context, uintptr_t class_id)
{
    (void)context, (void)class_id;
    return NULL;
}

const struct capture_rules world_rules = {.string_length = 8,
                                          .string_text = 12,
                                          .max_text = 5,
                                          .max_items = 3,
                                          .class_find = world_no_class};

void world_begin(void)
{
    struct metadata_config config = {.info = &world.info};

    world.import.vtbl = &world_metadata_vtbl;
    world.info.vtbl = &world_info_vtbl;
    if (!world.metadata) { /* once: its tables are large */
        if (metadata_new(&config, &world.metadata))
            abort();
        metadata_module_met(world.metadata, 1);
    }
    world.types = calloc(1, sizeof(*world.types));
    world.types->info = &world.info;
    world.types->metadata = world.metadata;
}

void world_forget(void)
{
    values_types_free(world.types);
    free(world.types);
}

struct values_scope world_scope(void)
{
    bool listed;

    /* The records are the library's own and not const there. */
    return (struct values_scope){.module = (struct metadata_module *)(uintptr_t)metadata_module_at(
                                     world.metadata, 1, &listed)};
}

char *world_text(const struct capture *c, size_t cut)
{
    size_t size = cut < c->size ? cut : c->size;
    struct values_record *record = malloc(sizeof(*record) + size);
    struct buffer out = BUFFER_INIT;

    *record = (struct values_record){.result = true, .size = size};
    memcpy(record->data, c->data, size);
    if (values_append(&out, record))
        abort();
    free(record);
    return buffer_take(&out);
}
