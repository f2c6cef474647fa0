/*
 * symbols/version.c - the attributes of an assembly: table CustomAttribute and what leads to it.
 * Source: ECMA-335 partition II 22 (tables), 23.3 (values), 24.2.6 (widths).
 */
#include "symbols/version.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "symbols/bundle.h"
#include "symbols/error.h"
#include "symbols/file.h"
#include "symbols/image.h"
#include "symbols/metadata.h"
#include "symbols/text.h"

#include <errno.h>
#include <string.h>

/* Tables up to the attributes; all of those that stand before it have to be measured. */
enum {
    TYPE_REF = 0x01,
    TYPE_DEF = 0x02,
    FIELD = 0x04,
    PARAM = 0x08,
    MEMBER_REF = 0x0A,
    ATTRIBUTE = 0x0C,
    PROPERTY = 0x17,
    MODULE_REF = 0x1A,
    TYPE_SPEC = 0x1B,
    ASSEMBLY = 0x20,
    ASSEMBLY_REF = 0x23
};
#define LAST ATTRIBUTE

/* How wide a column is: a fixed number of bytes, an index of a heap, of a table, of one of several
 * tables. */
enum { END, TWO, FOUR, STRING, GUID, BLOB, SEVERAL, TABLE = 0x40 };
enum { SCOPE = SEVERAL, TYPE, PARENT, CONSTANT, OWNER, CONSTRUCTOR };
#define COLUMNS_MAX 6

static const uint8_t columns[LAST + 1][COLUMNS_MAX + 1] = {
    {TWO, STRING, GUID, GUID, GUID},                           /* Module */
    {SCOPE, STRING, STRING},                                   /* TypeRef */
    {FOUR, STRING, STRING, TYPE, TABLE | FIELD, TABLE | 0x06}, /* TypeDef */
    {TABLE | FIELD},                                           /* FieldPtr */
    {TWO, STRING, BLOB},                                       /* Field */
    {TABLE | 0x06},                                            /* MethodPtr */
    {FOUR, TWO, TWO, STRING, BLOB, TABLE | PARAM},             /* MethodDef */
    {TABLE | PARAM},                                           /* ParamPtr */
    {TWO, TWO, STRING},                                        /* Param */
    {TABLE | TYPE_DEF, TYPE},                                  /* InterfaceImpl */
    {PARENT, STRING, BLOB},                                    /* MemberRef */
    {TWO, CONSTANT, BLOB},                                     /* Constant */
    {OWNER, CONSTRUCTOR, BLOB},                                /* CustomAttribute */
};

/* Of an index of one of several tables: bits that tell which, and the tables. */
static const struct coded {
    uint8_t bits, tables[22];
} coded[] = {
    {2, {0x00, MODULE_REF, ASSEMBLY_REF, TYPE_REF}},
    {2, {TYPE_DEF, TYPE_REF, TYPE_SPEC}},
    {3, {TYPE_DEF, TYPE_REF, MODULE_REF, 0x06, TYPE_SPEC}},
    {2, {FIELD, PARAM, PROPERTY}},
    {5, {0x06, FIELD,    TYPE_REF, TYPE_DEF, PARAM,      0x09,      MEMBER_REF, 0x00,
         0x0E, PROPERTY, 0x14,     0x11,     MODULE_REF, TYPE_SPEC, ASSEMBLY,   ASSEMBLY_REF,
         0x26, 0x27,     0x28,     0x2A,     0x2C,       0x2B}},
    {3, {0x06, MEMBER_REF}},
};

#define OWNER_ASSEMBLY     14 /* its place in the list above */
#define OWNER_BITS         5
#define CONSTRUCTOR_MEMBER 3 /* tag of a MemberRef */
#define CONSTRUCTOR_BITS   3
#define PARENT_TYPE_REF    1
#define PARENT_BITS        3

struct tables {
    const struct symbols_metadata *m;
    struct symbols_span rows[LAST + 1];
    unsigned width[LAST + 1];                /* of a row */
    unsigned columns[LAST + 1][COLUMNS_MAX]; /* of each column */
};

static unsigned width_of(const struct symbols_metadata *m, uint8_t column)
{
    const struct coded *of;
    uint32_t most = 0;

    if (column == TWO || column == FOUR)
        return column == TWO ? 2 : 4;
    if (column == STRING)
        return m->wide_string;
    if (column == GUID || column == BLOB)
        return column == GUID ? m->wide_guid : m->wide_blob;
    if (column & TABLE)
        return m->rows[column & ~TABLE] < 0x10000 ? 2 : 4;
    of = &coded[column - SEVERAL];
    for (size_t i = 0; i < COUNT_OF(of->tables); i++)
        if (m->rows[of->tables[i]] > most)
            most = m->rows[of->tables[i]];
    return most < UINT32_C(0x10000) >> of->bits ? 2 : 4;
}

/* Where each table lies. Returns: whether all are there. */
static bool find_tables(const struct symbols_metadata *m, struct tables *t)
{
    uint64_t offset = 0;

    *t = (struct tables){.m = m};
    for (unsigned table = 0; table <= LAST; table++) {
        for (unsigned i = 0; i < COLUMNS_MAX && columns[table][i] != END; i++)
            t->width[table] += t->columns[table][i] = width_of(m, columns[table][i]);
        if (!symbols_cut(m->rows_data, offset, (uint64_t)m->rows[table] * t->width[table],
                         &t->rows[table]))
            return false;
        offset += t->rows[table].size;
    }
    return true;
}

/* A column of a row, counted from 1. Returns: false if there is no such row. */
static bool column_of(const struct tables *t, unsigned table, uint32_t row, unsigned column,
                      uint32_t *out)
{
    struct symbols_span span;

    if (!row ||
        !symbols_cut(t->rows[table], (uint64_t)(row - 1) * t->width[table], t->width[table], &span))
        return false;
    for (unsigned i = 0; i < column; i++)
        span.data += t->columns[table][i];
    *out = symbols_little(span.data, t->columns[table][column]);
    return true;
}

static bool string_is(const struct symbols_metadata *m, uint32_t at, const char *text)
{
    struct symbols_span span;

    return symbols_cut(m->strings, at, strlen(text) + 1, &span) &&
           memcmp(span.data, text, span.size) == 0;
}

/* Whether the constructor is of the type System.Reflection.`name`, of another assembly. */
static bool constructs(const struct tables *t, uint32_t constructor, const char *name)
{
    uint32_t parent, type, name_at, space_at;

    if ((constructor & ((1u << CONSTRUCTOR_BITS) - 1)) != CONSTRUCTOR_MEMBER ||
        !column_of(t, MEMBER_REF, constructor >> CONSTRUCTOR_BITS, 0, &parent) ||
        (parent & ((1u << PARENT_BITS) - 1)) != PARENT_TYPE_REF)
        return false;
    type = parent >> PARENT_BITS;
    return column_of(t, TYPE_REF, type, 1, &name_at) &&
           column_of(t, TYPE_REF, type, 2, &space_at) && string_is(t->m, name_at, name) &&
           string_is(t->m, space_at, "System.Reflection");
}

/* The one text that an attribute was made with. */
static bool text_of(const struct symbols_metadata *m, uint32_t blob, char *out, size_t size)
{
    struct symbols_span span = {NULL, 0};
    struct cursor c;
    struct buffer text = BUFFER_INIT;
    uint32_t length;
    bool good;

    if (!symbols_cut(m->blob, blob, m->blob.size - (blob < m->blob.size ? blob : m->blob.size),
                     &span))
        return false;
    c = symbols_read(span);
    length = symbols_read_unsigned(&c);
    if (c.failed || !symbols_cut((struct symbols_span){c.at, c.left}, 0, length, &span))
        return false;
    c = symbols_read(span);
    if (symbols_read_u16(&c) != 1 || !c.left || *c.at == 0xff) /* 0xff: null */
        return false;
    length = symbols_read_unsigned(&c);
    span.data = cursor_bytes(&c, length);
    span.size = length;
    if (!span.data)
        return false;
    symbols_text_append(&text, span);
    good = !text.failed && text.size;
    if (good)
        symbols_text_line(out, size, text.data);
    buffer_free(&text);
    return good;
}

static void read_attributes(const struct tables *t, struct symbols_version *out)
{
    uint32_t owner, constructor, value;

    for (uint32_t row = 1; row <= t->m->rows[ATTRIBUTE]; row++) {
        if (!column_of(t, ATTRIBUTE, row, 0, &owner) ||
            owner != (1u << OWNER_BITS | OWNER_ASSEMBLY) || /* row 1, the only one */
            !column_of(t, ATTRIBUTE, row, 1, &constructor) ||
            !column_of(t, ATTRIBUTE, row, 2, &value))
            continue;
        if (constructs(t, constructor, "AssemblyFileVersionAttribute"))
            (void)text_of(t->m, value, out->file, sizeof(out->file));
        else if (constructs(t, constructor, "AssemblyInformationalVersionAttribute"))
            (void)text_of(t->m, value, out->informational, sizeof(out->informational));
    }
}

/* The SDK puts the commit behind a +, or, where there is one already, behind a full stop. */
void symbols_version_split(struct symbols_version *v)
{
    const char *plus = strchr(v->informational, '+'), *last;
    size_t before = plus ? (size_t)(plus - v->informational) : strlen(v->informational), digits;

    memcpy(v->version, v->informational, before);
    v->version[before] = v->commit[0] = '\0';
    if (!plus)
        return;
    last = strrchr(plus, '.');
    last = last ? last + 1 : plus + 1;
    digits = strspn(last, "0123456789abcdefABCDEF");
    if (!last[digits] && digits >= 7 && digits < sizeof(v->commit))
        memcpy(v->commit, last, digits + 1);
}

static int read_data(struct symbols_span file, const uint8_t *mvid, struct symbols_version *out,
                     struct symbols_error *error)
{
    struct symbols_metadata metadata;
    struct symbols_image image;
    struct tables tables;
    int err = symbols_image_parse(file, &image, error);

    if (!err && mvid && memcmp(mvid, image.mvid, SYMBOLS_MVID_SIZE) != 0)
        err = symbols_fail(error, SYMBOLS_OTHER_BUILD, "another build than the one traced");
    if (!err)
        err = symbols_metadata_parse(image.metadata, &metadata, error);
    if (err)
        return err;
    if (!find_tables(&metadata, &tables))
        return symbols_fail(error, SYMBOLS_TRUNCATED, "its tables are not in the file");
    read_attributes(&tables, out);
    symbols_version_split(out);
    return 0;
}

int symbols_version_read(const char *path, const char *bundle, const uint8_t *mvid,
                         struct symbols_version *out)
{
    struct symbols_error error;
    uint8_t *data = NULL;
    size_t size = 0;
    int err = bundle ? symbols_bundle_read(bundle, path, &data, &size, &error)
                     : symbols_file_read(path, "MZ", &data, &size, &error);

    memset(out, 0, sizeof(*out));
    if (!err)
        err = read_data((struct symbols_span){data, size}, mvid, out, &error);
    memory_free(data);
    return err;
}
