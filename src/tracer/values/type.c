/* Signature blobs, metadata and class layouts to types. */
#include "values/plan.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "clr/blob.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>
#include <uchar.h>

#define DEPTH_MAX  8   /* of types in types: fields, targets, arguments */
#define STEPS_MAX  400 /* types looked at for one that was asked for */
#define ARGS_MAX   32
#define FIELDS_MAX 256
#define NAMES_MAX  4096 /* of one enum */
#define NAME_UNITS 512

struct reading {
    struct values_types *types;
    unsigned depth, steps;
    unsigned
        passing; /* parts of a type that is a reference in any case: only their end is looked for */
    enum values_mode mode;
    bool cut;    /* a limit was met: what was made is not for others */
    bool failed; /* memory ran out */
};

static const struct values_type nothing = {.kind = VALUES_VOID};
const struct values_type values_unknown = {.kind = VALUES_UNKNOWN};
const struct values_type values_reference = {.kind = VALUES_REFERENCE, .size = sizeof(uintptr_t)};

static const struct values_type *read_type(struct reading *r, const struct values_scope *scope,
                                           const uint8_t **at, const uint8_t *end);

/* ---- memory ---- */

static struct values_type *type_new(struct reading *r, enum values_kind kind, uint32_t size)
{
    struct values_type *type = memory_zalloc(1, sizeof(*type));

    if (!type) {
        r->failed = true;
        return NULL;
    }
    type->kind = kind;
    type->size = size;
    list_push(&r->types->made, type, next);
    return type;
}

/* A generic type that was loaded, by what it is made of: the runtime finds it by loading only. */
struct values_instance {
    struct values_instance *next;
    const struct metadata_module *module;
    uint32_t token, args;
    uintptr_t class_id, arg[];
};

static void instances_free(struct values_types *types)
{
    for (size_t i = 0; i < COUNT_OF(types->instances); i++) {
        struct values_instance *instance = exchange_acq_rel(&types->instances[i], NULL);

        while (instance) {
            struct values_instance *next = instance->next;

            memory_free(instance);
            instance = next;
        }
    }
}

void values_types_free(struct values_types *types)
{
    struct values_type *type = exchange_acq_rel(&types->made, NULL);

    instances_free(types);
    while (type) {
        struct values_type *next = type->next;

        for (uint32_t i = 0; i < type->fields; i++)
            memory_free(type->field[i].name);
        for (uint32_t i = 0; i < type->names; i++)
            memory_free(type->name[i].name);
        memory_free(type->field);
        memory_free(type->name);
        memory_free(type);
        type = next;
    }
}

static _Atomic(struct values_type *) *bucket(struct values_types *types, uintptr_t class_id)
{
    return &types->kept[(class_id >> 3 ^ class_id >> 13) & (VALUES_BUCKETS - 1)];
}

static const struct values_type *kept_type(struct values_types *types, uintptr_t class_id)
{
    struct values_type *type = load_acquire(bucket(types, class_id));

    while (type && type->class_id != class_id)
        type = type->next_kept;
    return type;
}

/* A finished type, for others too if nothing of it can be unloaded. */
static const struct values_type *keep(struct values_types *types, struct values_type *type,
                                      bool kept)
{
    type->kept = kept;
    if (kept)
        list_push(bucket(types, type->class_id), type, next_kept);
    return type;
}

/* ---- names of CoreLib ---- */

struct corelib_name {
    const char16_t *name;
    enum values_kind kind;
    uint8_t element, size;
};

static const struct corelib_name corelib_names[] = {
    {u"System.Boolean", VALUES_PRIMITIVE, ELEMENT_TYPE_BOOLEAN, 1},
    {u"System.Char", VALUES_PRIMITIVE, ELEMENT_TYPE_CHAR, 2},
    {u"System.SByte", VALUES_PRIMITIVE, ELEMENT_TYPE_I1, 1},
    {u"System.Byte", VALUES_PRIMITIVE, ELEMENT_TYPE_U1, 1},
    {u"System.Int16", VALUES_PRIMITIVE, ELEMENT_TYPE_I2, 2},
    {u"System.UInt16", VALUES_PRIMITIVE, ELEMENT_TYPE_U2, 2},
    {u"System.Int32", VALUES_PRIMITIVE, ELEMENT_TYPE_I4, 4},
    {u"System.UInt32", VALUES_PRIMITIVE, ELEMENT_TYPE_U4, 4},
    {u"System.Int64", VALUES_PRIMITIVE, ELEMENT_TYPE_I8, 8},
    {u"System.UInt64", VALUES_PRIMITIVE, ELEMENT_TYPE_U8, 8},
    {u"System.Single", VALUES_PRIMITIVE, ELEMENT_TYPE_R4, 4},
    {u"System.Double", VALUES_PRIMITIVE, ELEMENT_TYPE_R8, 8},
    {u"System.IntPtr", VALUES_PRIMITIVE, ELEMENT_TYPE_I, 8},
    {u"System.UIntPtr", VALUES_PRIMITIVE, ELEMENT_TYPE_U, 8},
    {u"System.Decimal", VALUES_DECIMAL, ELEMENT_TYPE_VALUETYPE, 16},
};

static struct metadata_module *corelib(struct values_types *types)
{
    struct metadata_module *module;
    bool listed;

    for (uint32_t number = 1; !types->corelib; number++) {
        /* Records are the library's own and not const there. */
        module = (struct metadata_module *)(uintptr_t)metadata_module_at(types->metadata, number,
                                                                         &listed);
        if (!module)
            break;
        if (listed && module->corelib && module->import)
            types->corelib = module;
    }
    return types->corelib;
}

/* ClassID of a type of CoreLib; 0: not known. */
static uintptr_t corelib_class(struct values_types *types, const char16_t *name)
{
    struct metadata_module *module = corelib(types);
    uintptr_t class_id = 0;
    uint32_t token;

    if (!module ||
        module->import->vtbl->find_type_def_by_name(module->import, name, mdTokenNil, &token) < 0)
        return 0;
    return types->info->vtbl->get_class_from_token(types->info, module->module_id, token,
                                                   &class_id) >= 0
               ? class_id
               : 0;
}

/* One that has no parts, and is for all. */
static const struct values_type *simple(struct reading *r, const struct corelib_name *row)
{
    _Atomic(struct values_type *) *at = &r->types->simple[row->element];
    struct values_type *type = load_acquire(at);

    if (type)
        return type;
    type = type_new(r, row->kind, row->size);
    if (!type)
        return NULL;
    type->element = row->element;
    type->class_id = r->mode == VALUES_LOAD ? corelib_class(r->types, row->name) : 0;
    type->kept = type->class_id;
    if (type->kept)
        store_release(at, type); /* two threads may have made it: both are good */
    return type;
}

static const struct values_type *primitive(struct reading *r, uint8_t element)
{
    for (size_t i = 0; i < COUNT_OF(corelib_names); i++)
        if (corelib_names[i].element == element)
            return simple(r, &corelib_names[i]);
    return &values_unknown;
}

/* Any object. As a type argument all are the same. */
static const struct values_type *reference(struct reading *r)
{
    static const struct corelib_name canon = {u"System.__Canon", VALUES_REFERENCE,
                                              ELEMENT_TYPE_CLASS, sizeof(uintptr_t)};

    return simple(r, &canon);
}

/* ---- enums ---- */

uint64_t values_bits(const void *at, uint8_t element)
{
    uint64_t bits = 0;

    switch (element) {
    case ELEMENT_TYPE_I1:
        return (uint64_t)(int64_t)(*(const int8_t *)at);
    case ELEMENT_TYPE_BOOLEAN:
    case ELEMENT_TYPE_U1:
        return *(const uint8_t *)at;
    case ELEMENT_TYPE_I2:
        memcpy(&bits, at, 2);
        return (uint64_t)(int64_t)(int16_t)bits;
    case ELEMENT_TYPE_CHAR:
    case ELEMENT_TYPE_U2:
        memcpy(&bits, at, 2);
        return bits;
    case ELEMENT_TYPE_I4:
        memcpy(&bits, at, 4);
        return (uint64_t)(int64_t)(int32_t)bits;
    case ELEMENT_TYPE_U4:
    case ELEMENT_TYPE_R4:
        memcpy(&bits, at, 4);
        return bits;
    default:
        memcpy(&bits, at, 8);
        return bits;
    }
}

static int by_falling_value(const void *a, const void *b)
{
    const struct values_name *x = a, *y = b;

    return ORDER(y->value, x->value);
}

/* One member of an enum: a name, or what it is made of. */
static void enum_member(struct reading *r, struct values_type *type, struct clr_metadata *import,
                        uint32_t field, uint32_t room)
{
    clr_wchar name[NAME_UNITS];
    uint32_t length = 0, attributes = 0, size = 0, element = 0, value_length = 0;
    const uint8_t *blob = NULL;
    const void *value = NULL;
    const struct values_type *under;

    if (import->vtbl->get_field_props(import, field, NULL, name, NAME_UNITS, &length, &attributes,
                                      &blob, &size, &element, &value, &value_length) < 0)
        return;
    if (!(attributes & fdStatic) && size >= 2) {
        under = primitive(r, blob[1]);
        if (under && under->kind == VALUES_PRIMITIVE) {
            type->element = under->element;
            type->size = under->size;
        }
    } else if (attributes & fdLiteral && value && type->names < room) {
        struct values_name *row = &type->name[type->names];

        row->value = values_bits(value, (uint8_t)element);
        row->name = clr_utf16_copy(name, length < NAME_UNITS ? length : NAME_UNITS);
        if (row->name)
            type->names++;
        else
            r->failed = true;
    }
}

static void enum_members(struct reading *r, struct values_type *type, struct clr_metadata *import,
                         uint32_t token)
{
    uint32_t fields[64], got = 0, room = 0;
    void *enumerator = NULL;

    while (import->vtbl->enum_fields(import, &enumerator, token, fields, COUNT_OF(fields), &got) >=
               0 &&
           got && got <= COUNT_OF(fields) && room < NAMES_MAX) {
        struct values_name *larger = memory_realloc(type->name, (room + got) * sizeof(*larger));

        if (!larger) {
            r->failed = true;
            break;
        }
        type->name = larger;
        room += got;
        for (uint32_t i = 0; i < got; i++)
            enum_member(r, type, import, fields[i], room);
        got = 0;
    }
    if (enumerator)
        import->vtbl->close_enum(import, enumerator);
    SORT(type->name, type->names, by_falling_value);
}

static const struct values_type *read_enum(struct reading *r, struct metadata_module *module,
                                           uint32_t token, uintptr_t class_id)
{
    struct clr_metadata *import = module->import;
    struct values_type *type = type_new(r, VALUES_ENUM, 0);
    const void *value;
    uint32_t size;

    if (!type)
        return NULL;
    enum_members(r, type, import, token);
    type->flags = import->vtbl->get_custom_attribute_by_name(
                      import, token, u"System.FlagsAttribute", &value, &size) == S_OK;
    type->class_id = class_id;
    if (!type->size)
        type->kind = VALUES_UNKNOWN;
    return keep(r->types, type, class_id && !module->collectible && !r->failed);
}

/* ---- structs ---- */

enum shape { SHAPE_PLAIN, SHAPE_NULLABLE, SHAPE_SPAN };

static void read_field(struct reading *r, const struct values_scope *scope,
                       const struct clr_field_offset *at, struct values_type *type)
{
    struct clr_metadata *import = scope->module->import;
    struct values_field *field = &type->field[type->fields];
    clr_wchar name[NAME_UNITS];
    uint32_t length = 0, size = 0;
    const uint8_t *blob = NULL, *end;

    if (import->vtbl->get_field_props(import, at->field, NULL, name, NAME_UNITS, &length, NULL,
                                      &blob, &size, NULL, NULL, NULL) < 0 ||
        !blob || size < 2)
        return;
    end = blob + size;
    blob++; /* that it is a field's */
    field->offset = at->offset;
    field->type = read_type(r, scope, &blob, end);
    field->name = clr_utf16_copy(name, length < NAME_UNITS ? length : NAME_UNITS);
    if (field->name && field->type)
        type->fields++;
    else
        memory_free(field->name);
}

/* The fields of these two are known by kind; with other fields it is a plain struct. */
static bool shape_fits(struct values_type *type, enum values_kind kind)
{
    const struct values_type *first = type->fields == 2 ? type->field[0].type : NULL,
                             *second = first ? type->field[1].type : NULL;

    if (!first)
        return false;
    if (kind == VALUES_NULLABLE)
        return first->element == ELEMENT_TYPE_BOOLEAN && second->size;
    return first->kind == VALUES_BYREF && second->element == ELEMENT_TYPE_I4;
}

static enum values_kind shape_of(const struct metadata_module *module, const clr_wchar *name)
{
    if (!module->corelib)
        return VALUES_STRUCT;
    if (clr_utf16_same(name, u"System.Nullable`1"))
        return VALUES_NULLABLE;
    if (clr_utf16_same(name, u"System.Span`1") || clr_utf16_same(name, u"System.ReadOnlySpan`1"))
        return VALUES_SPAN;
    return VALUES_STRUCT;
}

/* Returns NULL when memory ran out, or the runtime does not tell (*told). */
static struct values_type *read_fields(struct reading *r, const struct values_scope *scope,
                                       uintptr_t class_id, bool *told)
{
    struct clr_info *info = r->types->info;
    struct clr_field_offset offsets[FIELDS_MAX];
    uint32_t count = 0, size = 0;
    struct values_type *type;

    *told = class_id &&
            info->vtbl->get_class_layout(info, class_id, offsets, FIELDS_MAX, &count, &size) >= 0 &&
            count <= FIELDS_MAX;
    type = *told ? type_new(r, VALUES_STRUCT, size) : NULL;
    if (!type)
        return NULL;
    type->class_id = class_id;
    type->field = count ? memory_zalloc(count, sizeof(*type->field)) : NULL;
    r->failed |= count && !type->field;
    for (uint32_t i = 0; i < count && type->field; i++)
        read_field(r, scope, &offsets[i], type);
    return type;
}

static const struct values_type *read_struct(struct reading *r, const struct values_scope *scope,
                                             uintptr_t class_id, const clr_wchar *name)
{
    enum values_kind kind = shape_of(scope->module, name);
    bool cut = r->cut, kept, told;
    struct values_type *type;

    r->cut = false;
    type = read_fields(r, scope, class_id, &told);
    if (!type) {
        r->cut |= cut;
        return told ? NULL : &values_unknown;
    }
    kept = !r->cut && !r->failed && !scope->module->collectible;
    for (uint32_t i = 0; i < scope->type_args; i++)
        kept &= scope->type_arg[i]->kept;
    r->cut |= cut;
    if (kind != VALUES_STRUCT && shape_fits(type, kind))
        type->kind = kind;
    return keep(r->types, type, kept);
}

/* m_Item1 is Item1 to those who read it. */
static const struct values_type *read_tuple(struct reading *r, const struct values_scope *scope,
                                            uintptr_t class_id)
{
    struct values_type *type;
    bool told;

    type = read_fields(r, scope, class_id, &told);
    if (!type)
        return told ? NULL : &values_reference;
    type->object = true;
    for (uint32_t i = 0; i < type->fields; i++) {
        char *name = type->field[i].name;

        if (!strncmp(name, "m_", 2))
            memmove(name, name + 2, strlen(name + 2) + 1);
    }
    return type;
}

/* ---- definitions ---- */

/* Name of a mdTypeDef or mdTypeRef; "" when the metadata does not know it. */
static void token_name(struct clr_metadata *import, uint32_t token, clr_wchar name[NAME_UNITS])
{
    uint32_t length = 0, other;
    hresult hr = E_INVALIDARG;

    name[0] = 0;
    if (clr_token_type(token) == mdtTypeDef)
        hr = import->vtbl->get_type_def_props(import, token, name, NAME_UNITS, &length, &other,
                                              NULL);
    else if (clr_token_type(token) == mdtTypeRef)
        hr = import->vtbl->get_type_ref_props(import, token, &other, name, NAME_UNITS, &length);
    if (hr < 0)
        name[0] = 0;
    name[NAME_UNITS - 1] = 0;
}

enum family { FAMILY_CLASS, FAMILY_VALUE, FAMILY_ENUM };

static enum family family_of(const struct metadata_module *module, uint32_t token,
                             const clr_wchar *own)
{
    struct clr_metadata *import = module->import;
    clr_wchar base[NAME_UNITS];
    uint32_t flags, extends = 0;

    if (import->vtbl->get_type_def_props(import, token, NULL, 0, NULL, &flags, &extends) < 0)
        return FAMILY_CLASS;
    token_name(import, extends, base);
    if (clr_utf16_same(base, u"System.Enum"))
        return FAMILY_ENUM;
    return clr_utf16_same(base, u"System.ValueType") && !clr_utf16_same(own, u"System.Enum")
               ? FAMILY_VALUE
               : FAMILY_CLASS;
}

static _Atomic(struct values_instance *) *instances_of(struct values_types *types, uint32_t token,
                                                       const uintptr_t *arg, uint32_t args)
{
    uint64_t hash = token;

    for (uint32_t i = 0; i < args; i++)
        hash = hash_word(hash ^ arg[i]);
    return &types->instances[hash >> 32 & (VALUES_BUCKETS - 1)];
}

static uintptr_t instance_find(struct values_types *types, const struct metadata_module *module,
                               uint32_t token, const uintptr_t *arg, uint32_t args)
{
    const struct values_instance *at = load_acquire(instances_of(types, token, arg, args));

    for (; at; at = at->next)
        if (at->module == module && at->token == token && at->args == args &&
            !memcmp(at->arg, arg, args * sizeof(*arg)))
            return at->class_id;
    return 0;
}

/* For hooks that come to it later. Without memory they do not find it. */
static void instance_add(struct values_types *types, const struct metadata_module *module,
                         uint32_t token, const struct values_type *const *arg, uint32_t args,
                         uintptr_t class_id)
{
    struct values_instance *instance;
    uintptr_t ids[ARGS_MAX];

    for (uint32_t i = 0; i < args; i++)
        if (!(ids[i] = arg[i]->class_id))
            return;
    if (instance_find(types, module, token, ids, args) ||
        !(instance = memory_alloc(sizeof(*instance) + args * sizeof(*ids))))
        return;
    *instance = (struct values_instance){NULL, module, token, args, class_id};
    memcpy(instance->arg, ids, args * sizeof(*ids));
    list_push(instances_of(types, token, ids, args), instance, next);
}

/* ClassID of a definition with its arguments; 0: one is not known, or cannot be loaded here. */
static uintptr_t load_class(struct reading *r, const struct metadata_module *module, uint32_t token,
                            const struct values_type *const *arg, uint32_t args)
{
    struct clr_info *info = r->types->info;
    uintptr_t ids[ARGS_MAX], class_id = 0;
    hresult hr;

    for (uint32_t i = 0; i < args; i++)
        if (!(ids[i] = arg[i]->class_id))
            return 0;
    if (r->mode == VALUES_QUIET) {
        class_id = args ? instance_find(r->types, module, token, ids, args) : 0;
        r->cut |= !class_id;
        return class_id;
    }
    if (args)
        hr = info->vtbl->get_class_from_token_and_type_args(info, module->module_id, token, args,
                                                            ids, &class_id);
    else
        hr = info->vtbl->get_class_from_token(info, module->module_id, token, &class_id);
    return hr >= 0 ? class_id : 0;
}

/* A definition with its arguments; class_id 0: not known yet. */
static const struct values_type *read_definition(struct reading *r, struct metadata_module *module,
                                                 uint32_t token, uintptr_t class_id,
                                                 const struct values_type *const *arg,
                                                 uint32_t args)
{
    struct values_scope scope = {module, arg, NULL, args, 0};
    const struct values_type *known;
    clr_wchar name[NAME_UNITS];
    enum family family;

    token_name(module->import, token, name);
    family = family_of(module, token, name);
    if (family == FAMILY_CLASS)
        return reference(r);
    for (size_t i = 0; module->corelib && i < COUNT_OF(corelib_names); i++)
        if (clr_utf16_same(name, corelib_names[i].name))
            return simple(r, &corelib_names[i]);
    if (!class_id)
        class_id = load_class(r, module, token, arg, args);
    known = class_id ? kept_type(r->types, class_id) : NULL;
    if (!known)
        known = family == FAMILY_ENUM ? read_enum(r, module, token, class_id)
                                      : read_struct(r, &scope, class_id, name);
    if (known && known->kept && args && r->mode == VALUES_LOAD)
        instance_add(r->types, module, token, arg, args, class_id);
    return known;
}

static const struct values_type *read_token_type(struct reading *r,
                                                 const struct values_scope *scope, uint32_t token,
                                                 const struct values_type *const *arg,
                                                 uint32_t args)
{
    struct metadata_module *module = scope->module;

    if (r->passing)
        return &values_unknown;
    if (clr_token_type(token) == mdtTypeRef)
        module = metadata_type_find(r->types->metadata, module, token, &token);
    if (!module || !module->import || clr_token_type(token) != mdtTypeDef || !clr_token_row(token))
        return &values_unknown;
    return read_definition(r, module, token, 0, arg, args);
}

/* ---- blobs ---- */

static const struct values_type *read_next(struct reading *r, const struct values_scope *scope,
                                           struct clr_blob *blob)
{
    const struct values_type *type = read_type(r, scope, &blob->at, blob->end);

    blob->bad |= !type || blob->at > blob->end;
    return type ? type : &values_unknown;
}

static void pass(struct reading *r, const struct values_scope *scope, struct clr_blob *blob)
{
    r->passing++;
    read_next(r, scope, blob);
    r->passing--;
}

/* What is passed by, not what it is. */
static const struct values_type *indirect(struct reading *r, enum values_kind kind,
                                          const struct values_type *target)
{
    struct values_type *type = type_new(r, kind, sizeof(uintptr_t));

    if (type)
        type->target = target;
    return type;
}

static const struct values_type *read_generic(struct reading *r, const struct values_scope *scope,
                                              struct clr_blob *blob)
{
    const struct values_type *arg[ARGS_MAX];
    uint32_t kind = clr_blob_byte(blob), token, count;

    if (kind != ELEMENT_TYPE_CLASS && kind != ELEMENT_TYPE_VALUETYPE)
        blob->bad = true;
    token = clr_blob_token(blob);
    count = clr_blob_number(blob);
    if (!count || count > ARGS_MAX)
        blob->bad = true;
    r->passing += kind == ELEMENT_TYPE_CLASS;
    for (uint32_t i = 0; i < count && !blob->bad; i++)
        arg[i] = read_next(r, scope, blob);
    r->passing -= kind == ELEMENT_TYPE_CLASS;
    if (blob->bad)
        return &values_unknown;
    return kind == ELEMENT_TYPE_CLASS ? reference(r) : read_token_type(r, scope, token, arg, count);
}

static void skip_array(struct reading *r, const struct values_scope *scope, struct clr_blob *blob)
{
    pass(r, scope, blob);
    clr_blob_number(blob);
    for (int part = 0; part < 2; part++) /* sizes, then lower bounds */
        for (uint32_t numbers = clr_blob_number(blob); numbers && !blob->bad; numbers--)
            clr_blob_number(blob);
}

static void skip_function(struct reading *r, const struct values_scope *scope,
                          struct clr_blob *blob)
{
    uint32_t convention = clr_blob_byte(blob), count;

    if (convention & IMAGE_CEE_CS_CALLCONV_GENERIC)
        clr_blob_number(blob);
    count = clr_blob_number(blob);
    pass(r, scope, blob);
    while (count-- && !blob->bad)
        pass(r, scope, blob);
}

static const struct values_type *variable(const struct values_type *const *arg, uint32_t args,
                                          uint32_t index)
{
    return index < args ? arg[index] : &values_unknown;
}

static const struct values_type *read_kind(struct reading *r, const struct values_scope *scope,
                                           struct clr_blob *blob, uint8_t kind)
{
    switch (kind) {
    case ELEMENT_TYPE_VOID:
        return &nothing;
    case ELEMENT_TYPE_STRING:
    case ELEMENT_TYPE_OBJECT:
        return reference(r);
    case ELEMENT_TYPE_CLASS:
        clr_blob_token(blob);
        return reference(r);
    case ELEMENT_TYPE_SZARRAY:
        pass(r, scope, blob);
        return reference(r);
    case ELEMENT_TYPE_ARRAY:
        skip_array(r, scope, blob);
        return reference(r);
    case ELEMENT_TYPE_VALUETYPE:
        return read_token_type(r, scope, clr_blob_token(blob), NULL, 0);
    case ELEMENT_TYPE_GENERICINST:
        return read_generic(r, scope, blob);
    case ELEMENT_TYPE_VAR:
        return variable(scope->type_arg, scope->type_args, clr_blob_number(blob));
    case ELEMENT_TYPE_MVAR:
        return variable(scope->method_arg, scope->method_args, clr_blob_number(blob));
    case ELEMENT_TYPE_BYREF:
        return indirect(r, VALUES_BYREF, read_next(r, scope, blob));
    case ELEMENT_TYPE_PTR:
        return indirect(r, VALUES_POINTER, read_next(r, scope, blob));
    case ELEMENT_TYPE_FNPTR:
        skip_function(r, scope, blob);
        return indirect(r, VALUES_POINTER, &nothing);
    case ELEMENT_TYPE_CMOD_REQD:
    case ELEMENT_TYPE_CMOD_OPT:
        clr_blob_token(blob);
        return read_next(r, scope, blob);
    case ELEMENT_TYPE_PINNED:
    case ELEMENT_TYPE_SENTINEL:
        return read_next(r, scope, blob);
    default:
        blob->bad |= kind == ELEMENT_TYPE_TYPEDBYREF || kind > ELEMENT_TYPE_MAX;
        return primitive(r, kind);
    }
}

static const struct values_type *read_type(struct reading *r, const struct values_scope *scope,
                                           const uint8_t **at, const uint8_t *end)
{
    struct clr_blob c = {*at, end, false};
    const struct values_type *type = &values_unknown;
    uint8_t kind = clr_blob_byte(&c);

    if (r->depth >= DEPTH_MAX || !r->steps) {
        r->cut = true;
        c.bad = true;
    }
    if (!c.bad) {
        r->depth++;
        r->steps--;
        type = read_kind(r, scope, &c, kind);
        r->depth--;
    }
    *at = c.bad ? end : c.at; /* nobody can say where the next one begins */
    return c.bad && !r->failed ? &values_unknown : type;
}

const struct values_type *values_type_read(struct values_types *types,
                                           const struct values_scope *scope, const uint8_t **blob,
                                           const uint8_t *end, enum values_mode mode)
{
    struct reading r = {types, 0, STEPS_MAX, 0, mode, false, false};
    const struct values_type *type = read_type(&r, scope, blob, end);

    return r.failed ? NULL : type;
}

/* ---- from records ---- */

static const struct values_type *type_of(struct reading *r, const struct metadata_class *class);

static bool args_of(struct reading *r, const struct metadata_class *class,
                    const struct values_type *arg[ARGS_MAX])
{
    bool all = true;

    r->depth++;
    r->steps--;
    for (uint32_t i = 0; i < class->args; i++) {
        arg[i] = type_of(r, class->arg[i]);
        all &= arg[i] != NULL;
    }
    r->depth--;
    return all;
}

static const struct values_type *type_of(struct reading *r, const struct metadata_class *class)
{
    const struct values_type *arg[ARGS_MAX], *known;

    if (!class || class->canon || class->rank)
        return reference(r);
    if (!class->module || !class->module->import || class->args > ARGS_MAX ||
        r->depth >= DEPTH_MAX || !r->steps)
        return &values_unknown;
    known = class->collectible ? NULL : kept_type(r->types, class->class_id);
    if (known)
        return known;
    if (!args_of(r, class, arg))
        return NULL;
    return read_definition(r, class->module, class->token, class->class_id, arg, class->args);
}

const struct values_type *values_type_of(struct values_types *types,
                                         const struct metadata_class *class, enum values_mode mode)
{
    struct reading r = {types, 0, STEPS_MAX, 0, mode, false, false};
    const struct values_type *type = type_of(&r, class);

    return r.failed ? NULL : type;
}

static bool is_tuple(const struct metadata_class *class)
{
    static const char16_t start[] = u"System.Tuple`";
    clr_wchar name[NAME_UNITS] = {0};

    if (class->canon || class->rank || !class->args || !class->module || !class->module->corelib ||
        !class->module->import || class->args > ARGS_MAX)
        return false;
    token_name(class->module->import, class->token, name);
    return !memcmp(name, start, sizeof(start) - sizeof(start[0]));
}

const struct values_type *values_type_of_objects(struct values_types *types,
                                                 const struct metadata_class *class,
                                                 enum values_mode mode)
{
    struct reading r = {types, 0, STEPS_MAX, 0, mode, false, false};
    const struct values_type *arg[ARGS_MAX], *type = NULL;
    struct values_scope scope = {class->module, arg, NULL, class->args, 0};

    if (!is_tuple(class))
        return values_type_of(types, class, mode);
    if (args_of(&r, class, arg))
        type = read_tuple(&r, &scope, class->class_id);
    return r.failed ? NULL : type;
}

const struct values_type *values_type_of_fields(struct values_types *types,
                                                const struct metadata_class *class,
                                                enum values_mode mode)
{
    struct reading r = {types, 0, STEPS_MAX, 0, mode, false, false};
    const struct values_type *arg[ARGS_MAX];
    struct values_scope scope = {class->module, arg, NULL, class->args, 0};
    struct values_type *type = NULL;
    bool told;

    if (class->args <= ARGS_MAX && class->module && class->module->import &&
        args_of(&r, class, arg))
        type = read_fields(&r, &scope, class->class_id, &told);
    if (type)
        type->object = true;
    return r.failed ? NULL : type;
}

bool values_type_is_value(const struct metadata_module *module, uint32_t token)
{
    clr_wchar name[NAME_UNITS];

    token_name(module->import, token, name);
    return family_of(module, token, name) != FAMILY_CLASS;
}
