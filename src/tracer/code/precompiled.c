/*
 * Which methods have code compiled ahead of time: plain ones are in a table by row of MethodDef,
 * generic ones in a list of instantiations, as in signatures, with System.__Canon for any reference
 * type.
 */
#include "code/internal.h"

#include "metadata/signature.h"

#include "clr/debug_map.h"
#include "clr/pe.h"
#include "clr/readytorun.h"
#include "clr/scope.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <string.h>

#define DEPTH_MAX 64

/* NULL for modules that may go, or change, or have none. */
static struct readytorun *ready_of(struct metadata *metadata, const struct metadata_module *module)
{
    struct metadata_module_entry *m = metadata_module_entry(module);
    const uint8_t *image;
    bool flat;

    if (m->ready_asked)
        return m->ready;
    m->ready_asked = true;
    image = clr_scope_image(metadata->config.info, module->module_id, &flat);
    m->ready = image ? readytorun_new(image, flat) : NULL;
    return m->ready;
}

/* A signature that is being read, in the terms of the module that the image is of. */
struct reading {
    struct metadata *metadata;
    const struct metadata_module *module;
    struct readytorun_signature from;
};

/* Has a type of another module the name that our TypeRef says? False for nested ones. */
static bool is_named(const struct reading *r, uint32_t type_ref, const struct metadata_class *class)
{
    struct clr_metadata *here = r->module->import, *there = class->module->import;
    clr_wchar wanted[256], name[256];
    uint32_t scope, length = 0, other = 0, flags, base;

    return here && there &&
           here->vtbl->get_type_ref_props(here, type_ref, &scope, wanted, COUNT_OF(wanted),
                                          &length) == S_OK &&
           clr_token_type(scope) != mdtTypeRef &&
           there->vtbl->get_type_def_props(there, class->token, name, COUNT_OF(name), &other,
                                           &flags, &base) == S_OK &&
           length == other && length <= COUNT_OF(name) &&
           memcmp(wanted, name, length * sizeof(*name)) == 0;
}

/* Is the token that comes next that of the class's definition? */
static bool same_definition(struct reading *r, const struct metadata_class *class)
{
    static const uint32_t tables[] = {mdtTypeDef, mdtTypeRef, mdtTypeSpec};
    uint32_t coded;

    if (!readytorun_number(&r->from, &coded) || (coded & 3) >= COUNT_OF(tables) || !class ||
        class->rank || !class->module)
        return false;
    if (tables[coded & 3] == mdtTypeDef)
        return class->module == r->module && class->token == (mdtTypeDef | coded >> 2);
    return tables[coded & 3] == mdtTypeRef && class->module != r->module &&
           is_named(r, mdtTypeRef | coded >> 2, class);
}

/* Reads a type. Is it `class`, where NULL is one that shared code does not say? */
static bool same_type(struct reading *r, struct metadata_class *class, unsigned depth)
{
    uint32_t count;
    uint8_t element;

    if (r->from.at >= r->from.end || depth > DEPTH_MAX)
        return false;
    element = *r->from.at++;
    if (element == READYTORUN_CANON)
        return !class || class->canon;
    if (!class)
        return false;
    if (signature_simple(element))
        return !class->rank && class->module && class->module->corelib &&
               strcmp(metadata_class_resolve(r->metadata, class), signature_simple(element)) == 0;
    switch (element) {
    case ELEMENT_TYPE_VALUETYPE:
    case ELEMENT_TYPE_CLASS:
        return same_definition(r, class) && !class->args;
    case ELEMENT_TYPE_SZARRAY:
        return class->rank == 1 && !class->bounded && same_type(r, class->element, depth + 1);
    case ELEMENT_TYPE_GENERICINST:
        if (r->from.at++ >= r->from.end || !same_definition(r, class) ||
            !readytorun_number(&r->from, &count) || count != class->args)
            return false;
        for (uint32_t i = 0; i < count; i++)
            if (!same_type(r, class->arg[i], depth + 1))
                return false;
        return true;
    default:
        return false;
    }
}

/* What a signature is compared with. */
struct wanted {
    struct metadata *metadata;
    const struct metadata_method *method;
    enum code_spared what;
    struct metadata_class *class;
};

static bool is_method(void *context, struct readytorun_instance *instance)
{
    const struct wanted *wanted = context;
    const struct metadata_method *m = wanted->method;
    struct reading r = {wanted->metadata, m->module, instance->signature};
    uint32_t row, count = 0;

    if (instance->async || instance->has_arguments != (m->args > 0) ||
        instance->has_owner != (m->owner && m->owner->args > 0) ||
        (instance->has_owner && !same_type(&r, m->owner, 0)) || !readytorun_number(&r.from, &row) ||
        (instance->has_arguments && !readytorun_number(&r.from, &count)) || count != m->args)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!same_type(&r, m->arg[i], 0))
            return false;
    instance->signature = r.from;
    return true;
}

/* May code that has this cell make such an object? */
static bool may_make(void *context, enum readytorun_fixup fixup, struct readytorun_signature type)
{
    const struct wanted *wanted = context;
    struct reading r = {wanted->metadata, wanted->method->module, type};

    switch (fixup) {
    case READYTORUN_LOOKUP_THIS:
    case READYTORUN_LOOKUP_TYPE:
    case READYTORUN_LOOKUP_METHOD:
        return true; /* of whatever type */
    case READYTORUN_METHOD_HANDLE:
    case READYTORUN_FIELD_HANDLE:
        return wanted->what == CODE_SPARED_HANDLE;
    case READYTORUN_TYPE_HANDLE:
    case READYTORUN_NEW_OBJECT:
        return wanted->what == CODE_SPARED_HANDLE || type.at == type.end ||
               same_type(&r, wanted->class, 0);
    default:
        return false;
    }
}

static bool is_plain(const struct metadata_method *method)
{
    return !method->args && method->owner && !method->owner->args;
}

static bool code_find(struct readytorun *ready, struct wanted *wanted, uint32_t *code)
{
    const struct metadata_method *m = wanted->method;
    uint32_t row = m->token & 0x00ffffff;

    if (is_plain(m))
        return readytorun_method(ready, row, code);
    return readytorun_instance(ready, row, is_method, wanted, code);
}

bool code_precompiled(struct metadata *metadata, const struct metadata_method *method,
                      uintptr_t start)
{
    const uint8_t *image;
    bool flat;

    if (!method->module || method->collectible)
        return false;
    image = clr_scope_image(metadata->config.info, method->module->module_id, &flat);
    return image && !flat && start - (uintptr_t)image < UINT32_MAX &&
           clr_pe_raw(image, (uint32_t)(start - (uintptr_t)image));
}

bool code_image_holds(struct metadata *metadata, const struct metadata_method *method,
                      uintptr_t address)
{
    const struct readytorun *ready;

    return metadata_is_resolver(metadata) && method->module && !method->collectible &&
           (ready = ready_of(metadata, method->module)) && readytorun_holds(ready, address);
}

uintptr_t code_stored_start(struct metadata *metadata, const struct metadata_method *method,
                            uintptr_t ip)
{
    struct readytorun *ready;
    uintptr_t start;
    uint32_t code;

    if (!is_plain(method) || !code_image_holds(metadata, method, ip))
        return 0;
    ready = ready_of(metadata, method->module);
    start = readytorun_method(ready, clr_token_row(method->token), &code)
                ? readytorun_start(ready, code)
                : 0;
    return start <= ip ? start : 0;
}

bool code_stored_il(struct metadata *metadata, const struct metadata_method *method,
                    struct il_code *out)
{
    const struct metadata_module *module = method->module;
    struct clr_metadata *import = module->import;
    struct readytorun *ready;
    const uint8_t *body;
    uint32_t address = 0;
    size_t left;

    return metadata_is_resolver(metadata) && import && !method->collectible &&
           !module->corelib && /* there we replace some: select/corelib.h */
           (ready = ready_of(metadata, module)) &&
           import->vtbl->get_method_props(import, method->token, NULL, NULL, 0, NULL, NULL, NULL,
                                          NULL, &address, NULL) == S_OK &&
           address && (body = readytorun_at(ready, address, &left)) && il_parse(body, left, out);
}

bool code_stored_map(struct metadata *metadata, const struct metadata_method *method, uint32_t size,
                     struct code_body *body)
{
    struct readytorun *ready;
    const uint8_t *info;
    size_t left;

    return metadata->config.maps_stored && metadata_is_resolver(metadata) && method->module &&
           !method->collectible && (ready = ready_of(metadata, method->module)) &&
           (info = readytorun_debug(ready, body->start, &left)) &&
           debug_map_read(debug_map_format(readytorun_version(ready)), info, left, size, &body->map,
                          &body->entries);
}

bool code_precompiled_without(struct metadata *metadata, const struct metadata_method *method,
                              enum code_spared what, struct metadata_class *class)
{
    struct wanted wanted = {metadata, method, what, class};
    struct readytorun *ready;
    uint32_t code;

    return method->module && !method->collectible && (ready = ready_of(metadata, method->module)) &&
           code_find(ready, &wanted, &code) && !readytorun_cells(ready, code, may_make, &wanted);
}

/* Of helpers that lead to a method of CoreLib: how its name begins. */
static const char *helper_text(enum readytorun_fixup fixup)
{
    switch (fixup) {
    case READYTORUN_IS_INSTANCE:
        return "System.Runtime.CompilerServices.CastHelpers.IsInstanceOf";
    case READYTORUN_CAST:
        return "System.Runtime.CompilerServices.CastHelpers.ChkCast";
    case READYTORUN_THREAD_STATICS:
    case READYTORUN_THREAD_OBJECTS:
        return "System.Runtime.CompilerServices.StaticsHelpers.Thread";
    default:
        return NULL;
    }
}

static bool is_member(enum readytorun_fixup fixup)
{
    return fixup >= READYTORUN_METHOD && fixup <= READYTORUN_VIRTUAL_REF;
}

/* A method's text, in the terms of the module that the image is of. Returns: is all of it known? */
static bool member_text(struct buffer *out, struct signature_scope *scope,
                        const struct readytorun_member *member)
{
    const struct readytorun_signature *owner = &member->owner, *args = &member->arguments;
    char room[BUFFER_TEXT_ROOM];
    struct buffer name = BUFFER_ON(room);
    const uint8_t *blob;
    uint32_t size, type;
    bool known =
        signature_append_member_name(&name, scope->import, member->token, &type, &blob, &size);

    if (known && owner->at < owner->end)
        known =
            signature_append_exact(out, scope, owner->at, (size_t)(owner->end - owner->at), false);
    else if (known)
        signature_append_token(out, scope, type);
    buffer_char(out, '.');
    buffer_append(out, name.data, name.size);
    if (known && args->at < args->end)
        known = signature_append_exact(out, scope, args->at, (size_t)(args->end - args->at), true);
    scope->type = known && clr_token_type(type) == mdtTypeDef ? type : 0;
    scope->method = clr_token_type(member->token) == mdtMethodDef ? member->token : 0;
    if (known)
        signature_append_parameters(out, scope, blob, size);
    known &= !out->failed && !name.failed;
    buffer_free(&name);
    return known;
}

static struct metadata_method *cell_method(struct metadata *metadata,
                                           const struct metadata_method *caller, uintptr_t cell,
                                           uint32_t token, const char *text)
{
    struct metadata_method_entry *m;
    char *copy;

    if ((!load_relaxed(&metadata->cells.slots) && metadata_table_init(&metadata->cells)) ||
        metadata_table_room(&metadata->cells) ||
        !(m = memory_pool_zalloc(&metadata->pool, 1, sizeof(*m) + strlen(text) + 1)))
        return NULL;
    copy = (char *)(m + 1);
    memcpy(copy, text, strlen(text));
    m->entry.key = cell;
    m->record.token = token;
    m->record.module = caller->module;
    store_relaxed(&m->record.text, copy);
    metadata_table_put(&metadata->cells, &m->entry);
    metadata_slots_free(metadata_table_outgrown(&metadata->cells)); /* only this thread reads */
    return &m->record;
}

enum code_cell code_cell(struct metadata *metadata, const struct metadata_method *caller,
                         uintptr_t cell, struct metadata_method **out)
{
    struct metadata_entry *known;
    struct readytorun_signature signature;
    struct readytorun_member member = {.token = 0};
    enum readytorun_fixup fixup;
    struct readytorun *ready;
    char room[BUFFER_TEXT_ROOM];
    struct buffer text = BUFFER_ON(room);
    struct signature_scope scope;

    if (!metadata_is_resolver(metadata) || !caller->module || !caller->module->import ||
        caller->collectible || !(ready = ready_of(metadata, caller->module)))
        return CODE_CELL_NONE;
    known =
        load_relaxed(&metadata->cells.slots) ? metadata_table_find(&metadata->cells, cell) : NULL;
    if (known) {
        *out = &container_of(known, struct metadata_method_entry, entry)->record;
        return CODE_CELL_METHOD;
    }
    if (!readytorun_cell(ready, cell, &fixup, &signature) || fixup == READYTORUN_HELPER)
        return CODE_CELL_NONE;
    if (!is_member(fixup) && !helper_text(fixup))
        return CODE_CELL_HELPER;
    scope = (struct signature_scope){.import = caller->module->import,
                                     .names = metadata_names(metadata)};
    *out = NULL;
    if (!is_member(fixup))
        *out = cell_method(metadata, caller, cell, 0, helper_text(fixup));
    else if (readytorun_member(fixup, signature, &member) && member_text(&text, &scope, &member))
        *out = cell_method(metadata, caller, cell, member.token, text.data);
    buffer_free(&text);
    return *out ? CODE_CELL_METHOD : CODE_CELL_NONE;
}
