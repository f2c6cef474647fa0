#include "clr/importer.h"

#include "clr/com.h"
#include "clr/tables.h"

#include "base/memory.h"

#include <shadowtrace/clr/constants.h>

#include <string.h>

struct importer {
    struct clr_metadata self;
    struct clr_metadata_vtbl vtbl;
    struct clr_metadata *runtimes;
    struct clr_tables tables;
};

static struct importer *importer_of(struct clr_metadata *self)
{
    return (struct importer *)(void *)self;
}

/* The row that a token of this kind names; 0: none. */
static uint32_t row_of(const struct importer *of, uint32_t token, uint32_t kind)
{
    uint32_t row = clr_token_row(token);

    return clr_token_type(token) == kind && clr_tables_has(&of->tables, kind >> 24, row) ? row : 0;
}

/* ---- what is asked for: each NULL if it is not; false: the runtime is to answer ---- */

struct name {
    clr_wchar *to;
    uint32_t max, *length; /* units, NUL included */
};

/* The text at a place of the heap. Returns: is it plain, and whole? */
static bool text_at(const struct clr_tables *tables, uint32_t at, const char **text, uint32_t *size)
{
    const char *from = (const char *)tables->strings + at, *end;
    unsigned char bits = 0;

    if (at >= tables->strings_size || !(end = memchr(from, 0, tables->strings_size - at)))
        return false;
    for (const char *c = from; c < end; c++)
        bits |= (unsigned char)*c;
    *text = from;
    *size = (uint32_t)(end - from);
    return bits <= 0x7f;
}

/* column: of the name; space: of the namespace, 0: none. */
static bool name_in(const struct importer *of, unsigned table, uint32_t row, unsigned column,
                    unsigned space, struct clr_name *out)
{
    const struct clr_tables *tables = &of->tables;

    out->part[0].size = 0;
    return (!space || text_at(tables, clr_tables_cell(tables, table, row, space),
                              &out->part[0].text, &out->part[0].size)) &&
           text_at(tables, clr_tables_cell(tables, table, row, column), &out->part[1].text,
                   &out->part[1].size);
}

/* The same in UTF-16. */
static bool put_name(const struct importer *of, unsigned table, uint32_t row, unsigned column,
                     unsigned space, struct name name)
{
    struct clr_name plain;
    uint32_t at = 0;

    if (!name.to && !name.length)
        return true;
    if (!name.to || !name.length || !name_in(of, table, row, column, space, &plain) ||
        (uint64_t)plain.part[0].size + plain.part[1].size + 2 > name.max)
        return false;
    for (unsigned i = 0; i < COUNT_OF(plain.part); i++) {
        if (i && at)
            name.to[at++] = u'.';
        for (uint32_t k = 0; k < plain.part[i].size; k++)
            name.to[at++] = (unsigned char)plain.part[i].text[k];
    }
    name.to[at++] = u'\0';
    *name.length = at;
    return true;
}

static bool blob(const struct importer *of, unsigned table, uint32_t row, unsigned column,
                 const uint8_t **out, uint32_t *size)
{
    const struct clr_tables *tables = &of->tables;
    const uint8_t *found;
    uint32_t found_size;

    if (!out && !size)
        return true;
    found = clr_tables_blob(tables, clr_tables_cell(tables, table, row, column), &found_size);
    if (out)
        *out = found;
    if (found && size)
        *size = found_size;
    return found;
}

/* A token that is there. Global methods and fields are of the first type: they are of none. */
static bool token(const struct importer *of, unsigned table, uint32_t row, unsigned column,
                  uint32_t *out)
{
    if (!out)
        return true;
    *out = clr_tables_token(&of->tables, table, row, column);
    return *out && *out != (mdtTypeDef | 1);
}

static void cell(const struct importer *of, unsigned table, uint32_t row, unsigned column,
                 uint32_t *out)
{
    if (out)
        *out = clr_tables_cell(&of->tables, table, row, column);
}

/* ---- IMetaDataImport2 ---- */

static hresult type_def_props(struct clr_metadata *self, uint32_t type_def, clr_wchar *name,
                              uint32_t name_max, uint32_t *name_length, uint32_t *flags,
                              uint32_t *extends)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, type_def, mdtTypeDef);

    if (!row ||
        !put_name(of, TABLE_TYPE_DEF, row, TYPE_DEF_NAME, TYPE_DEF_SPACE,
                  (struct name){name, name_max, name_length}) ||
        !token(of, TABLE_TYPE_DEF, row, TYPE_DEF_EXTENDS, extends))
        return of->runtimes->vtbl->get_type_def_props(of->runtimes, type_def, name, name_max,
                                                      name_length, flags, extends);
    cell(of, TABLE_TYPE_DEF, row, TYPE_DEF_FLAGS, flags);
    return S_OK;
}

static hresult type_ref_props(struct clr_metadata *self, uint32_t type_ref, uint32_t *scope,
                              clr_wchar *name, uint32_t name_max, uint32_t *name_length)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, type_ref, mdtTypeRef);

    return row &&
                   put_name(of, TABLE_TYPE_REF, row, TYPE_REF_NAME, TYPE_REF_SPACE,
                            (struct name){name, name_max, name_length}) &&
                   token(of, TABLE_TYPE_REF, row, TYPE_REF_SCOPE, scope)
               ? S_OK
               : of->runtimes->vtbl->get_type_ref_props(of->runtimes, type_ref, scope, name,
                                                        name_max, name_length);
}

static bool owner_of(const struct importer *of, uint32_t method, uint32_t *out)
{
    uint32_t owner = out ? clr_tables_owner(&of->tables, method) : 0;

    if (!out)
        return true;
    *out = mdtTypeDef | owner;
    return owner > 1; /* the first has the global ones */
}

static hresult method_props(struct clr_metadata *self, uint32_t member, uint32_t *owner,
                            clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                            uint32_t *attr, const uint8_t **signature, uint32_t *signature_size,
                            uint32_t *code_rva, uint32_t *impl_flags)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, member, mdtMethodDef);

    if (!row || !owner_of(of, row, owner) ||
        !put_name(of, TABLE_METHOD_DEF, row, METHOD_NAME, 0,
                  (struct name){name, name_max, name_length}) ||
        !blob(of, TABLE_METHOD_DEF, row, METHOD_SIGNATURE, signature, signature_size))
        return of->runtimes->vtbl->get_method_props(of->runtimes, member, owner, name, name_max,
                                                    name_length, attr, signature, signature_size,
                                                    code_rva, impl_flags);
    cell(of, TABLE_METHOD_DEF, row, METHOD_FLAGS, attr);
    cell(of, TABLE_METHOD_DEF, row, METHOD_RVA, code_rva);
    cell(of, TABLE_METHOD_DEF, row, METHOD_IMPL_FLAGS, impl_flags);
    return S_OK;
}

static hresult member_ref_props(struct clr_metadata *self, uint32_t member_ref, uint32_t *parent,
                                clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                                const uint8_t **signature, uint32_t *signature_size)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, member_ref, mdtMemberRef);

    return row && token(of, TABLE_MEMBER_REF, row, MEMBER_PARENT, parent) &&
                   put_name(of, TABLE_MEMBER_REF, row, MEMBER_NAME, 0,
                            (struct name){name, name_max, name_length}) &&
                   blob(of, TABLE_MEMBER_REF, row, MEMBER_SIGNATURE, signature, signature_size)
               ? S_OK
               : of->runtimes->vtbl->get_member_ref_props(of->runtimes, member_ref, parent, name,
                                                          name_max, name_length, signature,
                                                          signature_size);
}

static hresult type_spec(struct clr_metadata *self, uint32_t type_spec_token,
                         const uint8_t **signature, uint32_t *signature_size)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, type_spec_token, mdtTypeSpec);

    return row && blob(of, TABLE_TYPE_SPEC, row, 0, signature, signature_size)
               ? S_OK
               : of->runtimes->vtbl->get_type_spec_from_token(of->runtimes, type_spec_token,
                                                              signature, signature_size);
}

static hresult method_spec_props(struct clr_metadata *self, uint32_t method_spec, uint32_t *parent,
                                 const uint8_t **signature, uint32_t *signature_size)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, method_spec, mdtMethodSpec);

    return row && token(of, TABLE_METHOD_SPEC, row, SPEC_METHOD, parent) &&
                   blob(of, TABLE_METHOD_SPEC, row, SPEC_SIGNATURE, signature, signature_size)
               ? S_OK
               : of->runtimes->vtbl->get_method_spec_props(of->runtimes, method_spec, parent,
                                                           signature, signature_size);
}

static hresult nested_class_props(struct clr_metadata *self, uint32_t nested, uint32_t *enclosing)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, nested, mdtTypeDef),
             at = clr_tables_first(&of->tables, TABLE_NESTED_CLASS, NESTED_TYPE, row);

    if (!row || !enclosing || !clr_tables_has(&of->tables, TABLE_NESTED_CLASS, at) ||
        clr_tables_cell(&of->tables, TABLE_NESTED_CLASS, at, NESTED_TYPE) != row)
        return of->runtimes->vtbl->get_nested_class_props(of->runtimes, nested, enclosing);
    *enclosing =
        mdtTypeDef | clr_tables_cell(&of->tables, TABLE_NESTED_CLASS, at, NESTED_ENCLOSING);
    return S_OK;
}

/* All at once, or the runtime enumerates them. */
static hresult enum_generic_params(struct clr_metadata *self, void **enumerator, uint32_t owner,
                                   uint32_t *params, uint32_t max, uint32_t *count)
{
    const struct importer *of = importer_of(self);
    const struct clr_tables *tables = &of->tables;
    uint32_t type = row_of(of, owner, mdtTypeDef), method = row_of(of, owner, mdtMethodDef),
             coded = type ? type << 1 : method << 1 | 1, found = 0,
             at = clr_tables_first(tables, TABLE_GENERIC_PARAM, PARAM_OWNER, coded);

    for (; clr_tables_has(tables, TABLE_GENERIC_PARAM, at) && found < max &&
           clr_tables_cell(tables, TABLE_GENERIC_PARAM, at, PARAM_OWNER) == coded;
         at++)
        params[found++] = mdtGenericParam | at;
    if (*enumerator || !count || found == max || (!type && !method))
        return of->runtimes->vtbl->enum_generic_params(of->runtimes, enumerator, owner, params, max,
                                                       count);
    *count = found;
    return found ? S_OK : S_FALSE;
}

static hresult generic_param_props(struct clr_metadata *self, uint32_t param, uint32_t *sequence,
                                   uint32_t *flags, uint32_t *owner, uint32_t *reserved,
                                   clr_wchar *name, uint32_t name_max, uint32_t *name_length)
{
    const struct importer *of = importer_of(self);
    uint32_t row = row_of(of, param, mdtGenericParam);

    if (!row || reserved || !token(of, TABLE_GENERIC_PARAM, row, PARAM_OWNER, owner) ||
        !put_name(of, TABLE_GENERIC_PARAM, row, PARAM_NAME, 0,
                  (struct name){name, name_max, name_length}))
        return of->runtimes->vtbl->get_generic_param_props(
            of->runtimes, param, sequence, flags, owner, reserved, name, name_max, name_length);
    cell(of, TABLE_GENERIC_PARAM, row, PARAM_NUMBER, sequence);
    cell(of, TABLE_GENERIC_PARAM, row, PARAM_FLAGS, flags);
    return S_OK;
}

/* ---- what the runtime's answers ---- */

static void close_enum(struct clr_metadata *self, void *enumerator)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    to->vtbl->close_enum(to, enumerator);
}

static hresult find_type_def_by_name(struct clr_metadata *self, const clr_wchar *name,
                                     uint32_t enclosing, uint32_t *type_def)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->find_type_def_by_name(to, name, enclosing, type_def);
}

static hresult get_scope_props(struct clr_metadata *self, clr_wchar *name, uint32_t name_max,
                               uint32_t *name_length, struct clr_guid *mvid)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->get_scope_props(to, name, name_max, name_length, mvid);
}

static hresult enum_methods_with_name(struct clr_metadata *self, void **enumerator,
                                      uint32_t type_def, const clr_wchar *name, uint32_t *methods,
                                      uint32_t max, uint32_t *count)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->enum_methods_with_name(to, enumerator, type_def, name, methods, max, count);
}

static hresult enum_fields(struct clr_metadata *self, void **enumerator, uint32_t type_def,
                           uint32_t *fields, uint32_t max, uint32_t *count)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->enum_fields(to, enumerator, type_def, fields, max, count);
}

static hresult enum_fields_with_name(struct clr_metadata *self, void **enumerator,
                                     uint32_t type_def, const clr_wchar *name, uint32_t *fields,
                                     uint32_t max, uint32_t *count)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->enum_fields_with_name(to, enumerator, type_def, name, fields, max, count);
}

static hresult get_field_props(struct clr_metadata *self, uint32_t member, uint32_t *owner,
                               clr_wchar *name, uint32_t name_max, uint32_t *name_length,
                               uint32_t *attr, const uint8_t **signature, uint32_t *signature_size,
                               uint32_t *element_type, const void **value, uint32_t *value_length)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->get_field_props(to, member, owner, name, name_max, name_length, attr,
                                     signature, signature_size, element_type, value, value_length);
}

static hresult get_sig_from_token(struct clr_metadata *self, uint32_t of, const uint8_t **signature,
                                  uint32_t *signature_size)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->get_sig_from_token(to, of, signature, signature_size);
}

static hresult get_param_for_method_index(struct clr_metadata *self, uint32_t method,
                                          uint32_t sequence, uint32_t *param)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->get_param_for_method_index(to, method, sequence, param);
}

static hresult get_param_props(struct clr_metadata *self, uint32_t param, uint32_t *method,
                               uint32_t *sequence, clr_wchar *name, uint32_t name_max,
                               uint32_t *name_length, uint32_t *attr, uint32_t *element_type,
                               const void **value, uint32_t *value_length)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->get_param_props(to, param, method, sequence, name, name_max, name_length, attr,
                                     element_type, value, value_length);
}

static hresult get_custom_attribute_by_name(struct clr_metadata *self, uint32_t parent,
                                            const clr_wchar *name, const void **data,
                                            uint32_t *data_size)
{
    struct clr_metadata *to = importer_of(self)->runtimes;

    return to->vtbl->get_custom_attribute_by_name(to, parent, name, data, data_size);
}

/* There is one reference. */
static uint32_t release(struct clr_metadata *self)
{
    clr_release(importer_of(self)->runtimes);
    memory_free(importer_of(self));
    return 0;
}

/* A function that this project has not called before. */
static hresult not_here(struct clr_metadata *self)
{
    (void)self;
    return E_NOTIMPL;
}

static void vtbl_fill(struct clr_metadata_vtbl *vtbl)
{
    hresult (*const none)(struct clr_metadata *) = not_here;
    char *slots = (char *)vtbl;

    for (size_t at = 0; at < sizeof(*vtbl); at += sizeof(none)) {
        void *slot;

        memcpy(&slot, slots + at, sizeof(slot));
        if (!slot)
            memcpy(slots + at, &none, sizeof(none));
    }
}

struct clr_metadata *clr_importer_new(struct clr_metadata *runtimes, const uint8_t *metadata,
                                      uint32_t size)
{
    static const struct clr_metadata_vtbl ours = {
        .release = release,
        .close_enum = close_enum,
        .find_type_def_by_name = find_type_def_by_name,
        .get_scope_props = get_scope_props,
        .get_type_def_props = type_def_props,
        .get_type_ref_props = type_ref_props,
        .enum_methods_with_name = enum_methods_with_name,
        .enum_fields = enum_fields,
        .enum_fields_with_name = enum_fields_with_name,
        .get_method_props = method_props,
        .get_member_ref_props = member_ref_props,
        .get_sig_from_token = get_sig_from_token,
        .get_type_spec_from_token = type_spec,
        .get_param_for_method_index = get_param_for_method_index,
        .get_field_props = get_field_props,
        .get_param_props = get_param_props,
        .get_custom_attribute_by_name = get_custom_attribute_by_name,
        .get_nested_class_props = nested_class_props,
        .enum_generic_params = enum_generic_params,
        .get_generic_param_props = generic_param_props,
        .get_method_spec_props = method_spec_props,
    };
    struct importer *of = memory_zalloc(1, sizeof(*of));

    if (!of || !clr_tables_open(metadata, size, &of->tables)) {
        memory_free(of);
        return runtimes;
    }
    of->vtbl = ours;
    vtbl_fill(&of->vtbl);
    of->self.vtbl = &of->vtbl;
    of->runtimes = runtimes;
    return &of->self;
}

/* ---- names as they lie ---- */

bool clr_importer_name(struct clr_metadata *self, uint32_t token_of, struct clr_name *out,
                       uint32_t *more)
{
    const struct importer *of = importer_of(self);
    uint32_t kind = clr_token_type(token_of), row;

    if (self->vtbl->release != release || kind >> 24 >= TABLES ||
        !(row = row_of(of, token_of, kind)))
        return false;
    switch (kind) {
    case mdtTypeDef:
        cell(of, TABLE_TYPE_DEF, row, TYPE_DEF_FLAGS, more);
        return name_in(of, TABLE_TYPE_DEF, row, TYPE_DEF_NAME, TYPE_DEF_SPACE, out);
    case mdtTypeRef:
        return token(of, TABLE_TYPE_REF, row, TYPE_REF_SCOPE, more) &&
               name_in(of, TABLE_TYPE_REF, row, TYPE_REF_NAME, TYPE_REF_SPACE, out);
    case mdtMethodDef:
        return owner_of(of, row, more) && name_in(of, TABLE_METHOD_DEF, row, METHOD_NAME, 0, out);
    case mdtMemberRef:
        return token(of, TABLE_MEMBER_REF, row, MEMBER_PARENT, more) &&
               name_in(of, TABLE_MEMBER_REF, row, MEMBER_NAME, 0, out);
    case mdtGenericParam:
        cell(of, TABLE_GENERIC_PARAM, row, PARAM_NUMBER, more);
        return name_in(of, TABLE_GENERIC_PARAM, row, PARAM_NAME, 0, out);
    default:
        return false;
    }
}
