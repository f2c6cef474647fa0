#include "symbols/pdb.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "symbols/error.h"
#include "symbols/sha256.h"
#include "symbols/text.h"

#include <inttypes.h>
#include <string.h>

/* Of one document's name, and of the list of its parts; Windows allows 32,767 units. */
#define NAME_MAX_BYTES ((size_t)64 << 10)
/* Of all together: parts may be shared, so that a small file could ask for any memory and time. */
#define NAMES_MAX_BYTES ((size_t)64 << 20)

static const uint8_t guid_source_link[16] = {0x56, 0x05, 0x11, 0xCC, 0x91, 0xA0, 0x38, 0x4D,
                                             0x9F, 0xEC, 0x25, 0xAB, 0x9A, 0x35, 0x1A, 0x6A};

const struct pdb_table *symbols_table(const struct symbols *s, unsigned table)
{
    return &s->table[table - PDB_FIRST_TABLE];
}

static unsigned pdb_index_size(uint32_t rows)
{
    return rows < 0x10000 ? 2 : 4;
}

/* HasCustomDebugInformation: a coded index, 5 tag bits, over these tables in order of tags. */
static unsigned pdb_owner_size(const uint32_t rows[METADATA_TABLES])
{
    static const uint8_t owners[] = {0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0A, 0x00, 0x0E,
                                     0x17, 0x14, 0x11, 0x1A, 0x1B, 0x20, 0x23, 0x26, 0x27,
                                     0x28, 0x2A, 0x2C, 0x2B, 0x30, 0x32, 0x33, 0x34, 0x35};

    for (size_t i = 0; i < sizeof(owners); i++)
        if (rows[owners[i]] >= 1u << (16 - 5))
            return 4;
    return 2;
}

/* Row sizes need the row counts of the assembly's own tables: the #Pdb stream repeats them. */
static int pdb_tables(struct symbols *s, const uint32_t outside[METADATA_TABLES],
                      struct symbols_error *error)
{
    const struct symbols_metadata *m = &s->metadata;
    uint32_t rows[METADATA_TABLES];
    uint64_t offset = 0;

    memcpy(rows, outside, sizeof(rows));
    for (unsigned i = 0; i < PDB_TABLES; i++)
        rows[PDB_FIRST_TABLE + i] = m->rows[PDB_FIRST_TABLE + i];
    s->wide_method = pdb_index_size(rows[TABLE_METHOD_DEF]);
    s->wide_document = pdb_index_size(rows[TABLE_DOCUMENT]);
    s->wide_owner = pdb_owner_size(rows);

    const unsigned row_size[PDB_TABLES] = {
        [TABLE_DOCUMENT - PDB_FIRST_TABLE] = 2 * m->wide_blob + 2 * m->wide_guid,
        [TABLE_METHOD_DEBUG - PDB_FIRST_TABLE] = s->wide_document + m->wide_blob,
        [TABLE_LOCAL_SCOPE - PDB_FIRST_TABLE] = s->wide_method +
                                                pdb_index_size(rows[TABLE_IMPORT_SCOPE]) +
                                                pdb_index_size(rows[TABLE_LOCAL_VARIABLE]) +
                                                pdb_index_size(rows[TABLE_LOCAL_CONSTANT]) + 8,
        [TABLE_LOCAL_VARIABLE - PDB_FIRST_TABLE] = 4 + m->wide_string,
        [TABLE_LOCAL_CONSTANT - PDB_FIRST_TABLE] = m->wide_string + m->wide_blob,
        [TABLE_IMPORT_SCOPE - PDB_FIRST_TABLE] =
            pdb_index_size(rows[TABLE_IMPORT_SCOPE]) + m->wide_blob,
        [TABLE_STATE_MACHINE - PDB_FIRST_TABLE] = 2 * s->wide_method,
        [TABLE_CUSTOM - PDB_FIRST_TABLE] = s->wide_owner + m->wide_guid + m->wide_blob,
    };

    for (unsigned i = 0; i < PDB_TABLES; i++) {
        struct pdb_table *table = &s->table[i];
        struct symbols_span span;

        table->rows = rows[PDB_FIRST_TABLE + i];
        table->row_size = row_size[i];
        if (!symbols_cut(m->rows_data, offset, (uint64_t)table->rows * table->row_size, &span))
            return symbols_fail(error, SYMBOLS_DAMAGED,
                                "the %u rows of table 0x%02x do not fit into stream #~",
                                table->rows, PDB_FIRST_TABLE + i);
        table->data = span.data;
        offset += span.size;
    }
    return 0;
}

uint32_t symbols_column(const struct pdb_table *table, uint32_t row, unsigned offset,
                        unsigned width)
{
    return symbols_little(table->data + (size_t)(row - 1) * table->row_size + offset, width);
}

bool symbols_blob(const struct symbols *s, uint32_t index, struct symbols_span *out)
{
    struct symbols_span heap = s->metadata.blob;
    struct cursor c;
    uint32_t size;

    out->data = NULL;
    out->size = 0;
    if (!index)
        return true;
    if (index >= heap.size)
        return false;
    c = symbols_read((struct symbols_span){heap.data + index, heap.size - index});
    size = symbols_read_unsigned(&c);
    return !c.failed && symbols_cut((struct symbols_span){c.at, c.left}, 0, size, out);
}

/* Appends a document's name and a NUL. Its blob: a separator, then the blobs of its parts. */
static bool pdb_name(const struct symbols *s, uint32_t index, struct buffer *names)
{
    size_t start = names->size;
    struct symbols_span span;
    struct cursor c;
    uint32_t separator;

    if (!symbols_blob(s, index, &span) || !span.size || span.size > NAME_MAX_BYTES)
        return false;
    c = symbols_read(span);
    separator = symbols_read_u8(&c);
    if (separator > 0x7F)
        return false;
    for (bool first = true; c.left && !names->failed; first = false) {
        struct symbols_span part;

        if (!symbols_blob(s, symbols_read_unsigned(&c), &part) || c.failed ||
            part.size > NAME_MAX_BYTES)
            return false;
        if (separator && !first)
            buffer_char(names, (char)separator);
        symbols_text_append(names, part);
        if (names->size - start > NAME_MAX_BYTES)
            return false;
    }
    buffer_append(names, "", 1);
    return true;
}

static int pdb_documents(struct symbols *s, struct symbols_error *error)
{
    const struct pdb_table *table = symbols_table(s, TABLE_DOCUMENT);
    struct buffer names = BUFFER_INIT;
    size_t read = 0; /* bytes of name blobs, against NAMES_MAX_BYTES like the names themselves */

    /* no more than the file itself has per row */
    s->documents = memory_alloc((table->rows + (size_t)1) * sizeof(s->documents[0]));
    if (!s->documents)
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory");
    for (uint32_t row = 1; row <= table->rows && !names.failed; row++) {
        uint32_t index = symbols_column(table, row, 0, s->metadata.wide_blob);
        struct symbols_span blob;

        s->documents[row - 1] = names.size;
        if (!pdb_name(s, index, &names)) {
            buffer_free(&names);
            return symbols_fail(error, SYMBOLS_DAMAGED,
                                "the name of document %u (blob 0x%x) is not one", row, index);
        }
        symbols_blob(s, index, &blob);
        read += blob.size;
        if (names.size > NAMES_MAX_BYTES || read > NAMES_MAX_BYTES) {
            buffer_free(&names);
            return symbols_fail(error, SYMBOLS_DAMAGED, "the names of its documents are endless");
        }
    }
    if (names.failed) {
        buffer_free(&names);
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory");
    }
    s->names = names.data; /* NULL without documents */
    return 0;
}

bool symbols_custom(const struct symbols *s, uint32_t owner, const uint8_t kind[16], uint32_t *blob)
{
    const struct pdb_table *table = symbols_table(s, TABLE_CUSTOM);
    const struct symbols_metadata *m = &s->metadata;

    for (uint32_t row = 1; row <= table->rows; row++) {
        const uint8_t *guid;

        if (symbols_column(table, row, 0, s->wide_owner) != owner)
            continue;
        guid = symbols_metadata_guid(m, symbols_column(table, row, s->wide_owner, m->wide_guid));
        if (guid && !memcmp(guid, kind, 16)) {
            *blob = symbols_column(table, row, s->wide_owner + m->wide_guid, m->wide_blob);
            return true;
        }
    }
    return false;
}

/* The Module's (tag 7) only row. */
static int pdb_source_link(struct symbols *s, struct symbols_error *error)
{
    uint32_t blob;

    if (symbols_custom(s, 1u << 5 | 7, guid_source_link, &blob) &&
        !symbols_blob(s, blob, &s->source_link))
        return symbols_fail(error, SYMBOLS_DAMAGED, "its Source Link (blob 0x%x) is cut off", blob);
    return 0;
}

/* "01234567-89ab-cdef-0123-456789abcdef 01234567": GUID and stamp, as tools print them. */
static void pdb_id_text(char out[48], const uint8_t *id)
{
    static const uint8_t order[] = {3,  2,  1,  0,  5,  4,  7,  6,  8,  9,
                                    10, 11, 12, 13, 14, 15, 19, 18, 17, 16};
    static const char digits[] = "0123456789abcdef";
    size_t at = 0;

    for (size_t i = 0; i < sizeof(order); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        if (i == 16)
            out[at++] = ' ';
        out[at++] = digits[id[order[i]] >> 4];
        out[at++] = digits[id[order[i]] & 15];
    }
    out[at] = '\0';
}

/* The #Pdb stream: id, entry point, then the row counts of the assembly's tables. */
static int pdb_stream(struct symbols *s, const struct symbols_image *expected,
                      uint32_t outside[METADATA_TABLES], struct symbols_error *error)
{
    struct cursor c = symbols_read(s->metadata.pdb);
    const uint8_t *id = cursor_bytes(&c, SYMBOLS_PDB_ID_SIZE);
    uint64_t tables;

    symbols_read_u32(&c); /* entry point */
    tables = cursor_little(&c, 8);
    if (!id || c.failed)
        return symbols_fail(error, SYMBOLS_DAMAGED, "its stream #Pdb is missing or cut off");
    if (expected && expected->has_codeview && memcmp(id, expected->id, SYMBOLS_PDB_ID_SIZE) != 0) {
        char found[48];
        char wanted[48];

        pdb_id_text(found, id);
        pdb_id_text(wanted, expected->id);
        return symbols_fail(error, SYMBOLS_OTHER_BUILD,
                            "belongs to another build: its id is %s, the assembly's PDB has %s",
                            found, wanted);
    }
    if (tables >> PDB_FIRST_TABLE || !symbols_metadata_rows(&c, tables, outside))
        return symbols_fail(error, SYMBOLS_DAMAGED, "its stream #Pdb names impossible row counts");
    if (s->metadata.present & ~(0xFFull << PDB_FIRST_TABLE))
        return symbols_fail(error, SYMBOLS_DAMAGED,
                            "stream #~ has tables that no PDB has (0x%" PRIx64 ")",
                            s->metadata.present);
    return 0;
}

static int pdb_counts(struct symbols *s, const struct symbols_image *expected,
                      struct symbols_error *error)
{
    uint32_t described = symbols_table(s, TABLE_METHOD_DEBUG)->rows;

    if (described && described != s->methods)
        return symbols_fail(error, SYMBOLS_DAMAGED, "it describes %u methods of an assembly of %u",
                            described, s->methods);
    if (expected && expected->methods != s->methods)
        return symbols_fail(error, SYMBOLS_DAMAGED,
                            "it is for an assembly of %u methods, this one has %u", s->methods,
                            expected->methods);
    return 0;
}

/* The checksum is that of the PDB with its id zeroed. */
static int pdb_checksum(struct symbols *s, const struct symbols_image *expected,
                        struct symbols_error *error)
{
    static const uint8_t no_id[SYMBOLS_PDB_ID_SIZE];
    size_t before = (size_t)(s->metadata.pdb.data - s->image);
    size_t after = before + sizeof(no_id);
    uint8_t digest[SYMBOLS_SHA256_SIZE];
    struct symbols_sha256 hash;

    if (!expected || !expected->sha256_count)
        return 0;
    symbols_sha256_init(&hash);
    symbols_sha256_add(&hash, s->image, before);
    symbols_sha256_add(&hash, no_id, sizeof(no_id));
    symbols_sha256_add(&hash, s->image + after, s->size - after);
    symbols_sha256_fini(&hash, digest);
    for (size_t i = 0; i < expected->sha256_count; i++)
        s->verified = s->verified || !memcmp(digest, expected->sha256[i], sizeof(digest));
    if (!s->verified)
        return symbols_fail(error, SYMBOLS_FORGED,
                            "altered since the build: the assembly records another checksum of it");
    return 0;
}

/* In the order that says best what is wrong: what it is, whose, whether whole, whether genuine. */
static int pdb_parse(struct symbols *s, const struct symbols_image *expected,
                     struct symbols_error *error)
{
    struct symbols_span image = {s->image, s->size};
    uint32_t outside[METADATA_TABLES] = {0};
    int err;

    if (image.size >= 12 && !memcmp(image.data, "Microsoft C/", 12))
        return symbols_fail(error, SYMBOLS_WINDOWS,
                            "a Windows PDB, which is not supported: build with DebugType portable");
    if (image.size < 4)
        return symbols_fail(error, SYMBOLS_TRUNCATED, "it has %zu bytes", image.size);
    if (memcmp(image.data, "BSJB", 4) != 0)
        return symbols_fail(error, SYMBOLS_DAMAGED, "it does not begin as a PDB does");
    err = symbols_metadata_parse(image, &s->metadata, error);
    if (err)
        return err;
    if (strncmp(s->metadata.version, "PDB v1.", 7) != 0) {
        bool newer = !strncmp(s->metadata.version, "PDB v", 5);

        return symbols_fail(error, newer ? SYMBOLS_UNSUPPORTED : SYMBOLS_DAMAGED,
                            newer ? "of a format that is not supported: '%s'"
                                  : "its format is '%s'",
                            s->metadata.version);
    }
    err = pdb_stream(s, expected, outside, error);
    if (err)
        return err;
    s->methods = outside[TABLE_METHOD_DEF];
    err = pdb_tables(s, outside, error);
    if (!err)
        err = pdb_counts(s, expected, error);
    if (!err)
        err = pdb_checksum(s, expected, error);
    if (!err)
        err = pdb_documents(s, error);
    return err ? err : pdb_source_link(s, error);
}

int symbols_new(uint8_t *image, size_t size, const struct symbols_image *expected,
                struct symbols **out, struct symbols_error *error)
{
    struct symbols *s = memory_zalloc(1, sizeof(*s));
    int err;

    *out = NULL;
    if (!s) {
        memory_free(image);
        return symbols_fail(error, SYMBOLS_MEMORY, "out of memory");
    }
    s->image = image;
    s->size = size;
    err = pdb_parse(s, expected, error);
    if (err)
        symbols_free(s);
    else
        *out = s;
    return err;
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    memory_free_all(symbols->image, symbols->names, symbols->documents, symbols->path, symbols);
}
