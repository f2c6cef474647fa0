/*
 * An IMetaDataImport2 held in memory: the handful of calls that src/tracer/metadata/ makes, answered from tables that a test
 * lists. Everything else is NULL and crashes when called, so that a new call shows.
 */
#ifndef SHADOWTRACE_TESTS_FAKE_METADATA_H
#define SHADOWTRACE_TESTS_FAKE_METADATA_H

#include "base/atomics.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/metadata.h>

#include <stdlib.h>
#include <string.h>
#include <uchar.h>

struct fake_type {
    uint32_t token;
    const char16_t *name;
    uint32_t enclosing; /* 0: not nested */
};
struct fake_reference {
    uint32_t token;
    const char16_t *name;
    uint32_t scope;
};
struct fake_parameter {
    uint32_t owner, number;
    const char16_t *name;
};
struct fake_blob { /* a method, a member reference, a TypeSpec (no name), a MethodSpec (no name) */
    uint32_t token, owner;
    const char16_t *name;
    const uint8_t *blob;
    uint32_t size;
};

struct fake_metadata {
    struct clr_metadata base;
    const struct fake_type *types;
    const struct fake_reference *references;
    const struct fake_parameter *parameters; /* tokens 0x2A000001 and on, in this order */
    const struct fake_blob *blobs;           /* each list ends with a zero token or owner */
    uint32_t unmanaged_callers;              /* the method that has this attribute; 0: none */
    _Atomic(uint32_t) references_held;
};

static struct fake_metadata *fake_of(struct clr_metadata *self)
{
    return container_of(self, struct fake_metadata, base);
}

static hresult fake_name(const char16_t *name, clr_wchar *out, uint32_t max, uint32_t *length)
{
    uint32_t units = 0;

    while (name[units++])
        ;
    if (length)
        *length = units;
    for (uint32_t i = 0; i < units && i < max && out; i++)
        out[i] = i + 1 < max ? name[i] : 0;
    return out && units > max ? CLDB_S_TRUNCATION : S_OK;
}

static hresult fake_query(struct clr_metadata *self, const struct clr_guid *iid, void **out)
{
    (void)self, (void)iid;
    *out = NULL;
    return E_NOINTERFACE;
}

static uint32_t fake_add_ref(struct clr_metadata *self)
{
    return add_relaxed(&fake_of(self)->references_held, 1) + 1;
}

static uint32_t fake_release(struct clr_metadata *self)
{
    return add_relaxed(&fake_of(self)->references_held, (uint32_t)-1) - 1;
}

static hresult fake_find_type(struct clr_metadata *self, const clr_wchar *name, uint32_t enclosing,
                              uint32_t *type)
{
    for (const struct fake_type *t = fake_of(self)->types; t && t->token; t++) {
        size_t i = 0;

        while (t->name[i] && t->name[i] == name[i])
            i++;
        if (t->name[i] == name[i] && t->enclosing == enclosing) {
            *type = t->token;
            return S_OK;
        }
    }
    return CLDB_E_RECORD_NOTFOUND;
}

static hresult fake_attribute(struct clr_metadata *self, uint32_t token, const clr_wchar *name,
                              const void **value, uint32_t *size)
{
    (void)name;
    *value = NULL;
    *size = 0;
    return token == fake_of(self)->unmanaged_callers ? S_OK : S_FALSE;
}

/* {03020100-0504-0706-0809-0A0B0C0D0E0F} */
static hresult fake_scope_props(struct clr_metadata *self, clr_wchar *name, uint32_t max,
                                uint32_t *length, struct clr_guid *mvid)
{
    (void)self, (void)name, (void)max, (void)length;
    *mvid = (struct clr_guid){0x03020100, 0x0504, 0x0706, {8, 9, 10, 11, 12, 13, 14, 15}};
    return S_OK;
}

static hresult fake_type_props(struct clr_metadata *self, uint32_t token, clr_wchar *name,
                               uint32_t max, uint32_t *length, uint32_t *flags, uint32_t *extends)
{
    (void)extends;
    for (const struct fake_type *t = fake_of(self)->types; t && t->token; t++) {
        if (t->token != token)
            continue;
        if (flags)
            *flags = t->enclosing ? tdNestedPublic : 1;
        return fake_name(t->name, name, max, length);
    }
    return CLDB_E_RECORD_NOTFOUND;
}

static hresult fake_nested(struct clr_metadata *self, uint32_t token, uint32_t *enclosing)
{
    for (const struct fake_type *t = fake_of(self)->types; t && t->token; t++) {
        if (t->token == token && t->enclosing) {
            *enclosing = t->enclosing;
            return S_OK;
        }
    }
    return CLDB_E_RECORD_NOTFOUND;
}

static hresult fake_reference_props(struct clr_metadata *self, uint32_t token, uint32_t *scope,
                                    clr_wchar *name, uint32_t max, uint32_t *length)
{
    for (const struct fake_reference *r = fake_of(self)->references; r && r->token; r++) {
        if (r->token != token)
            continue;
        if (scope)
            *scope = r->scope;
        return fake_name(r->name, name, max, length);
    }
    return CLDB_E_RECORD_NOTFOUND;
}

static const struct fake_blob *fake_blob_of(struct clr_metadata *self, uint32_t token)
{
    for (const struct fake_blob *b = fake_of(self)->blobs; b && b->token; b++)
        if (b->token == token)
            return b;
    return NULL;
}

static hresult fake_spec(struct clr_metadata *self, uint32_t token, const uint8_t **blob,
                         uint32_t *size)
{
    const struct fake_blob *b = fake_blob_of(self, token);

    if (!b)
        return CLDB_E_RECORD_NOTFOUND;
    *blob = b->blob;
    *size = b->size;
    return S_OK;
}

static hresult fake_method_spec(struct clr_metadata *self, uint32_t token, uint32_t *parent,
                                const uint8_t **blob, uint32_t *size)
{
    const struct fake_blob *b = fake_blob_of(self, token);

    if (b && parent)
        *parent = b->owner;
    return fake_spec(self, token, blob, size);
}

static hresult fake_member_props(struct clr_metadata *self, uint32_t token, uint32_t *owner,
                                 clr_wchar *name, uint32_t max, uint32_t *length,
                                 const uint8_t **blob, uint32_t *size)
{
    const struct fake_blob *b = fake_blob_of(self, token);

    if (!b)
        return CLDB_E_RECORD_NOTFOUND;
    if (owner)
        *owner = b->owner;
    if (blob)
        *blob = b->blob;
    if (size)
        *size = b->size;
    return fake_name(b->name, name, max, length);
}

static hresult fake_method_props(struct clr_metadata *self, uint32_t token, uint32_t *owner,
                                 clr_wchar *name, uint32_t max, uint32_t *length, uint32_t *attr,
                                 const uint8_t **blob, uint32_t *size, uint32_t *rva,
                                 uint32_t *flags)
{
    (void)attr, (void)rva, (void)flags;
    return fake_member_props(self, token, owner, name, max, length, blob, size);
}

/* The enumerator counts what was given out; each test ends with all of them closed. */
static _Atomic(int) fake_enumerators;

static hresult fake_enum_parameters(struct clr_metadata *self, void **enumerator, uint32_t owner,
                                    uint32_t *tokens, uint32_t max, uint32_t *count)
{
    const struct fake_parameter *p = fake_of(self)->parameters;
    size_t *skip = *enumerator;
    size_t seen = 0;

    if (!skip) {
        *enumerator = skip = calloc(1, sizeof(*skip));
        add_relaxed(&fake_enumerators, 1);
    }
    *count = 0;
    for (uint32_t row = 0; p && p[row].owner; row++) {
        if (p[row].owner == owner && seen++ >= *skip && *count < max)
            tokens[(*count)++] = mdtGenericParam | (row + 1);
    }
    *skip += *count;
    return *count ? S_OK : S_FALSE;
}

static void fake_close(struct clr_metadata *self, void *enumerator)
{
    (void)self;
    add_relaxed(&fake_enumerators, -1);
    free(enumerator);
}

static hresult fake_parameter_props(struct clr_metadata *self, uint32_t token, uint32_t *number,
                                    uint32_t *flags, uint32_t *owner, uint32_t *reserved,
                                    clr_wchar *name, uint32_t max, uint32_t *length)
{
    const struct fake_parameter *p = fake_of(self)->parameters + clr_token_row(token) - 1;

    (void)flags, (void)owner, (void)reserved;
    if (number)
        *number = p->number;
    return fake_name(p->name, name, max, length);
}

static const struct clr_metadata_vtbl fake_metadata_vtbl = {
    .query_interface = fake_query,
    .add_ref = fake_add_ref,
    .release = fake_release,
    .get_custom_attribute_by_name = fake_attribute,
    .close_enum = fake_close,
    .get_scope_props = fake_scope_props,
    .find_type_def_by_name = fake_find_type,
    .get_type_def_props = fake_type_props,
    .get_nested_class_props = fake_nested,
    .get_type_ref_props = fake_reference_props,
    .get_type_spec_from_token = fake_spec,
    .get_sig_from_token = fake_spec,
    .get_method_props = fake_method_props,
    .get_member_ref_props = fake_member_props,
    .get_method_spec_props = fake_method_spec,
    .enum_generic_params = fake_enum_parameters,
    .get_generic_param_props = fake_parameter_props,
};

#endif
