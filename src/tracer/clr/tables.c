#include "clr/tables.h"

#include "base/load.h"
#include "clr/blob.h"

#include <string.h>

/*
 * What a column holds: a number of 2 or 4 bytes; a place in a heap; TO + a table: a row of it;
 * CODED + one of the kinds below: a row of one of several tables.
 */
enum { TWO = 2, FOUR = 4, STRING, GUID, BLOB, TO = 0x40, CODED = 0x80 };
enum {
    TYPE_DEF_OR_REF,
    HAS_CONSTANT,
    HAS_ATTRIBUTE,
    HAS_MARSHAL,
    HAS_SECURITY,
    MEMBER_REF_PARENT,
    HAS_SEMANTICS,
    METHOD_DEF_OR_REF,
    MEMBER_FORWARDED,
    IMPLEMENTATION,
    ATTRIBUTE_TYPE,
    RESOLUTION_SCOPE,
    TYPE_OR_METHOD_DEF
};

#define NO_TABLE 0xff

/* II.24.2.6: how many bits tell the table, and which tables, in the order of what the bits say. */
static const struct coded {
    uint8_t bits, count, table[22];
} codes[] = {
    [TYPE_DEF_OR_REF] = {2, 3, {0x02, 0x01, 0x1B}},
    [HAS_CONSTANT] = {2, 3, {0x04, 0x08, 0x17}},
    [HAS_ATTRIBUTE] = {5, 22, {0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0A, 0x00, 0x0E, 0x17, 0x14,
                               0x11, 0x1A, 0x1B, 0x20, 0x23, 0x26, 0x27, 0x28, 0x2A, 0x2C, 0x2B}},
    [HAS_MARSHAL] = {1, 2, {0x04, 0x08}},
    [HAS_SECURITY] = {2, 3, {0x02, 0x06, 0x20}},
    [MEMBER_REF_PARENT] = {3, 5, {0x02, 0x01, 0x1A, 0x06, 0x1B}},
    [HAS_SEMANTICS] = {1, 2, {0x14, 0x17}},
    [METHOD_DEF_OR_REF] = {1, 2, {0x06, 0x0A}},
    [MEMBER_FORWARDED] = {1, 2, {0x04, 0x06}},
    [IMPLEMENTATION] = {2, 3, {0x26, 0x23, 0x27}},
    [ATTRIBUTE_TYPE] = {3, 4, {NO_TABLE, NO_TABLE, 0x06, 0x0A}},
    [RESOLUTION_SCOPE] = {2, 4, {0x00, 0x1A, 0x23, 0x01}},
    [TYPE_OR_METHOD_DEF] = {1, 2, {0x02, 0x06}},
};

/* II.22, up to the last that is read. Those left out are of the form that is not compact. */
static const uint8_t columns[TABLES][TABLES_COLUMNS + 1] = {
    [0x00] = {TWO, STRING, GUID, GUID, GUID},
    [0x01] = {CODED + RESOLUTION_SCOPE, STRING, STRING},
    [0x02] = {FOUR, STRING, STRING, CODED + TYPE_DEF_OR_REF, TO + 0x04, TO + 0x06},
    [0x04] = {TWO, STRING, BLOB},
    [0x06] = {FOUR, TWO, TWO, STRING, BLOB, TO + 0x08},
    [0x08] = {TWO, TWO, STRING},
    [0x09] = {TO + 0x02, CODED + TYPE_DEF_OR_REF},
    [0x0A] = {CODED + MEMBER_REF_PARENT, STRING, BLOB},
    [0x0B] = {TWO, CODED + HAS_CONSTANT, BLOB},
    [0x0C] = {CODED + HAS_ATTRIBUTE, CODED + ATTRIBUTE_TYPE, BLOB},
    [0x0D] = {CODED + HAS_MARSHAL, BLOB},
    [0x0E] = {TWO, CODED + HAS_SECURITY, BLOB},
    [0x0F] = {TWO, FOUR, TO + 0x02},
    [0x10] = {FOUR, TO + 0x04},
    [0x11] = {BLOB},
    [0x12] = {TO + 0x02, TO + 0x14},
    [0x14] = {TWO, STRING, CODED + TYPE_DEF_OR_REF},
    [0x15] = {TO + 0x02, TO + 0x17},
    [0x17] = {TWO, STRING, BLOB},
    [0x18] = {TWO, TO + 0x06, CODED + HAS_SEMANTICS},
    [0x19] = {TO + 0x02, CODED + METHOD_DEF_OR_REF, CODED + METHOD_DEF_OR_REF},
    [0x1A] = {STRING},
    [0x1B] = {BLOB},
    [0x1C] = {TWO, CODED + MEMBER_FORWARDED, STRING, TO + 0x1A},
    [0x1D] = {FOUR, TO + 0x04},
    [0x20] = {FOUR, TWO, TWO, TWO, TWO, FOUR, BLOB, STRING, STRING},
    [0x21] = {FOUR},
    [0x22] = {FOUR, FOUR, FOUR},
    [0x23] = {TWO, TWO, TWO, TWO, FOUR, BLOB, STRING, STRING, BLOB},
    [0x24] = {FOUR, TO + 0x23},
    [0x25] = {FOUR, FOUR, FOUR, TO + 0x23},
    [0x26] = {FOUR, STRING, BLOB},
    [0x27] = {FOUR, FOUR, STRING, STRING, CODED + IMPLEMENTATION},
    [0x28] = {FOUR, FOUR, STRING, CODED + IMPLEMENTATION},
    [0x29] = {TO + 0x02, TO + 0x02},
    [0x2A] = {TWO, TWO, CODED + TYPE_OR_METHOD_DEF, STRING},
    [0x2B] = {CODED + METHOD_DEF_OR_REF, BLOB},
};

#define ALL_TABLES  64
#define WIDE_STRING 1 /* of the byte that tells how wide places in heaps are */
#define WIDE_GUID   2
#define WIDE_BLOB   4
#define ROWS_MAX    0xFFFFFFu /* a token has 24 bits for a row */
#define ROOT_HEAD   16        /* bytes before the version of the format */
#define TABLES_HEAD 24        /* bytes before the numbers of rows */

/* What the header says of all tables. */
struct layout {
    uint32_t rows[ALL_TABLES];
    uint8_t wide; /* WIDE_ */
};

static unsigned coded_width(const struct layout *layout, const struct coded *coded)
{
    for (unsigned i = 0; i < coded->count; i++)
        if (coded->table[i] != NO_TABLE && layout->rows[coded->table[i]] >> (16 - coded->bits))
            return 4;
    return 2;
}

static unsigned width_of(const struct layout *layout, unsigned column)
{
    if (column >= CODED)
        return coded_width(layout, &codes[column - CODED]);
    if (column >= TO)
        return layout->rows[column - TO] >> 16 ? 4 : 2;
    switch (column) {
    case STRING:
        return layout->wide & WIDE_STRING ? 4 : 2;
    case GUID:
        return layout->wide & WIDE_GUID ? 4 : 2;
    case BLOB:
        return layout->wide & WIDE_BLOB ? 4 : 2;
    default:
        return column;
    }
}

static bool tables_place(struct clr_tables *out, const struct layout *layout, const uint8_t *rows,
                         uint64_t left)
{
    for (unsigned i = 0; i < TABLES; i++) {
        struct clr_table *table = &out->table[i];

        table->count = layout->rows[i];
        table->rows = rows;
        if (table->count && !columns[i][0])
            return false;
        for (unsigned k = 0; columns[i][k]; k++) {
            table->at[k] = table->size;
            table->width[k] = (uint8_t)width_of(layout, columns[i][k]);
            table->size = (uint8_t)(table->size + table->width[k]);
        }
        if ((uint64_t)table->count * table->size > left)
            return false;
        left -= (uint64_t)table->count * table->size;
        rows += (size_t)table->count * table->size;
    }
    return true;
}

static bool read_tables(const uint8_t *stream, uint32_t size, struct clr_tables *out)
{
    const uint64_t in_order = UINT64_C(1) << TABLE_NESTED_CLASS | UINT64_C(1)
                                                                      << TABLE_GENERIC_PARAM;
    struct layout layout = {.rows = {0}};
    uint32_t at = TABLES_HEAD;
    uint64_t present;

    if (size < TABLES_HEAD)
        return false;
    layout.wide = stream[6];
    present = load_u64(stream + 8);
    if (layout.wide & ~(WIDE_STRING | WIDE_GUID | WIDE_BLOB) ||
        (present & in_order & ~load_u64(stream + 16)))
        return false;
    for (unsigned i = 0; i < ALL_TABLES; i++) {
        if (!(present >> i & 1))
            continue;
        if (size - at < 4)
            return false;
        layout.rows[i] = load_u32(stream + at);
        if (layout.rows[i] > ROWS_MAX)
            return false;
        at += 4;
    }
    return tables_place(out, &layout, stream + at, size - at);
}

/* Bytes of a stream's name, which ends in NUL and is padded to a multiple of 4; 0: no end. */
static uint32_t name_size(const uint8_t *name, uint32_t left)
{
    const uint8_t *end = memchr(name, 0, left < 32 ? left : 32);

    return end ? ((uint32_t)(end - name) & ~3u) + 4 : 0;
}

bool clr_tables_open(const uint8_t *metadata, uint32_t size, struct clr_tables *out)
{
    const uint8_t *tables = NULL;
    uint32_t at, streams, tables_size = 0;

    *out = (struct clr_tables){.strings = NULL};
    if (size < ROOT_HEAD || memcmp(metadata, "BSJB", 4) != 0 ||
        load_u32(metadata + 12) > size - ROOT_HEAD)
        return false;
    at = ROOT_HEAD + load_u32(metadata + 12);
    if (size - at < 4)
        return false;
    streams = load_u16(metadata + at + 2);
    at += 4;
    while (streams--) {
        uint32_t start, length, named;
        const char *name;

        if (size - at < 9 || !(named = name_size(metadata + at + 8, size - at - 8)) ||
            named > size - at - 8)
            return false;
        start = load_u32(metadata + at);
        length = load_u32(metadata + at + 4);
        name = (const char *)metadata + at + 8;
        if (start > size || length > size - start)
            return false;
        if (strcmp(name, "#~") == 0) {
            tables = metadata + start;
            tables_size = length;
        } else if (strcmp(name, "#Strings") == 0) {
            out->strings = metadata + start;
            out->strings_size = length;
        } else if (strcmp(name, "#Blob") == 0) {
            out->blobs = metadata + start;
            out->blobs_size = length;
        }
        at += 8 + named;
    }
    return tables && out->strings && out->blobs && read_tables(tables, tables_size, out);
}

uint32_t clr_tables_cell(const struct clr_tables *tables, unsigned table, uint32_t row,
                         unsigned column)
{
    const struct clr_table *of = &tables->table[table];
    const uint8_t *cell = of->rows + (size_t)(row - 1) * of->size + of->at[column];

    return of->width[column] == 2 ? load_u16(cell) : load_u32(cell);
}

uint32_t clr_tables_token(const struct clr_tables *tables, unsigned table, uint32_t row,
                          unsigned column)
{
    uint32_t cell = clr_tables_cell(tables, table, row, column), of;
    const struct coded *coded = &codes[columns[table][column] - CODED];
    uint32_t code = cell & ((1u << coded->bits) - 1);

    of = code < coded->count ? coded->table[code] : NO_TABLE;
    cell >>= coded->bits;
    return cell && of != NO_TABLE ? of << 24 | cell : 0;
}

const uint8_t *clr_tables_blob(const struct clr_tables *tables, uint32_t at, uint32_t *size)
{
    struct clr_blob blob;

    if (!at || at >= tables->blobs_size)
        return NULL;
    blob = clr_blob_of(tables->blobs + at, tables->blobs_size - at);
    *size = clr_blob_number(&blob);
    return !blob.bad && *size <= (size_t)(blob.end - blob.at) ? blob.at : NULL;
}

uint32_t clr_tables_first(const struct clr_tables *tables, unsigned table, unsigned column,
                          uint32_t least)
{
    uint32_t low = 1, high = tables->table[table].count + 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (clr_tables_cell(tables, table, middle, column) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t clr_tables_owner(const struct clr_tables *tables, uint32_t method)
{
    return clr_tables_first(tables, TABLE_TYPE_DEF, TYPE_DEF_METHODS, method + 1) - 1;
}
