#include "symbols/image.h"

#include "symbols/error.h"
#include "symbols/metadata.h"
#include "symbols/sha256.h"

#include <string.h>

#define SECTIONS_MAX     96 /* what the Windows loader takes */
#define SECTION_SIZE     40
#define DEBUG_ENTRY_SIZE 28
#define PORTABLE_MINOR   0x504D /* "PM" */

enum { DIRECTORY_DEBUG = 6, DIRECTORY_CLI = 14, DIRECTORIES_MAX = 16 };
enum { DEBUG_CODEVIEW = 2, DEBUG_EMBEDDED = 17, DEBUG_CHECKSUM = 19 };

struct directory {
    uint32_t rva, size;
};

struct headers {
    struct symbols_span file;
    struct symbols_span sections;                  /* SECTION_SIZE bytes each */
    struct directory directories[DIRECTORIES_MAX]; /* zero: absent */
};

static int image_headers(struct symbols_span file, struct headers *out, struct symbols_error *error)
{
    struct cursor c = symbols_read(file);
    struct symbols_span at;
    uint32_t section_count;
    uint32_t optional_size;
    uint32_t magic;
    uint32_t count;

    memset(out, 0, sizeof(*out));
    out->file = file;
    if (file.size < 2 || memcmp(file.data, "MZ", 2) != 0)
        return symbols_fail(error, SYMBOLS_NOT_MANAGED, "not a .NET assembly");
    cursor_bytes(&c, 0x3C);
    if (!symbols_cut(file, symbols_read_u32(&c), 24, &at) || c.failed)
        return symbols_fail(error, SYMBOLS_TRUNCATED, "it ends inside its PE header");
    if (memcmp(at.data, "PE\0\0", 4) != 0)
        return symbols_fail(error, SYMBOLS_NOT_MANAGED, "not a .NET assembly: it has no PE header");
    section_count = symbols_little(at.data + 6, 2);
    optional_size = symbols_little(at.data + 20, 2);
    if (section_count > SECTIONS_MAX)
        return symbols_fail(error, SYMBOLS_DAMAGED, "its PE header names %u sections",
                            section_count);
    c = symbols_read(
        (struct symbols_span){at.data + 24, file.size - (size_t)(at.data + 24 - file.data)});
    if (c.left < optional_size + section_count * SECTION_SIZE)
        return symbols_fail(error, SYMBOLS_TRUNCATED, "it ends inside its PE header");
    out->sections =
        (struct symbols_span){c.at + optional_size, (size_t)section_count * SECTION_SIZE};
    c.left = optional_size;
    magic = symbols_read_u16(&c);
    cursor_bytes(&c, magic == 0x20B ? 106 : 90); /* PE32+, PE32: up to NumberOfRvaAndSizes */
    count = symbols_read_u32(&c);
    if (c.failed || (magic != 0x10B && magic != 0x20B))
        return symbols_fail(error, SYMBOLS_DAMAGED, "its PE optional header is not one");
    for (uint32_t i = 0; i < count && i < DIRECTORIES_MAX; i++) {
        out->directories[i].rva = symbols_read_u32(&c);
        out->directories[i].size = symbols_read_u32(&c);
    }
    if (c.failed)
        return symbols_fail(error, SYMBOLS_DAMAGED, "its PE data directories are cut off");
    return 0;
}

/* size bytes at a relative virtual address, by the section that holds them. */
static bool image_at(const struct headers *headers, uint32_t rva, uint32_t size,
                     struct symbols_span *out)
{
    for (size_t i = 0; i + SECTION_SIZE <= headers->sections.size; i += SECTION_SIZE) {
        const uint8_t *section = headers->sections.data + i;
        uint32_t start = symbols_little(section + 12, 4);
        uint32_t raw_size = symbols_little(section + 16, 4);
        uint32_t raw = symbols_little(section + 20, 4);

        if (rva >= start && rva - start < raw_size)
            return size <= raw_size - (rva - start) &&
                   symbols_cut(headers->file, (uint64_t)raw + (rva - start), size, out);
    }
    return false;
}

static int image_metadata(const struct headers *headers, struct symbols_image *out,
                          struct symbols_error *error)
{
    const struct directory *cli = &headers->directories[DIRECTORY_CLI];
    struct symbols_metadata metadata;
    struct symbols_span span;
    struct cursor c;
    int err;

    if (!cli->rva)
        return symbols_fail(error, SYMBOLS_NOT_MANAGED,
                            "not a .NET assembly: it has no CLI header");
    if (!image_at(headers, cli->rva, 16, &span))
        return symbols_fail(error, SYMBOLS_TRUNCATED, "its CLI header is not in the file");
    if (!image_at(headers, symbols_little(span.data + 8, 4), symbols_little(span.data + 12, 4),
                  &span))
        return symbols_fail(error, SYMBOLS_TRUNCATED, "its metadata are not in the file");
    err = symbols_metadata_parse(span, &metadata, error);
    if (err)
        return err;
    c = symbols_read(metadata.rows_data);       /* table 0, Module, comes first */
    cursor_bytes(&c, 2 + metadata.wide_string); /* generation, name */
    out->mvid = symbols_metadata_guid(&metadata, (uint32_t)cursor_little(&c, metadata.wide_guid));
    if (metadata.rows[TABLE_MODULE] != 1 || c.failed || !out->mvid)
        return symbols_fail(error, SYMBOLS_DAMAGED, "its metadata do not say which module it is");
    out->metadata = span;
    out->methods = metadata.rows[TABLE_METHOD_DEF];
    return 0;
}

/* RSDS, GUID, age, path, NUL. The stamp is the directory entry's. */
static bool image_codeview(struct symbols_span data, const uint8_t *entry,
                           struct symbols_image *out)
{
    bool portable = symbols_little(entry + 10, 2) == PORTABLE_MINOR;
    const uint8_t *end;

    if (data.size < 25 || memcmp(data.data, "RSDS", 4) != 0)
        return false;
    if (out->has_codeview && (out->portable || !portable))
        return true; /* the first portable one counts: crossgen adds one for its native PDB */
    end = memchr(data.data + 24, 0, data.size - 24);
    if (!end)
        return false;
    out->has_codeview = true;
    out->portable = portable;
    memcpy(out->id, data.data + 4, 16);
    memcpy(out->id + 16, entry + 4, 4);
    out->pdb_path = (struct symbols_span){data.data + 24, (size_t)(end - (data.data + 24))};
    return true;
}

static bool image_embedded(struct symbols_span data, struct symbols_image *out)
{
    if (data.size < 8 || memcmp(data.data, "MPDB", 4) != 0 || out->embedded.data)
        return false;
    out->embedded_size = symbols_little(data.data + 4, 4);
    out->embedded = (struct symbols_span){data.data + 8, data.size - 8};
    return out->embedded_size != 0;
}

/* The hash's name, NUL, the hash. Names that we do not know are nothing we could check. */
static bool image_checksum(struct symbols_span data, struct symbols_image *out)
{
    static const char name[] = "SHA256";

    if (data.size < sizeof(name) || memcmp(data.data, name, sizeof(name)) != 0)
        return true;
    if (data.size != sizeof(name) + SYMBOLS_SHA256_SIZE)
        return false;
    if (out->sha256_count < SYMBOLS_CHECKSUMS_MAX)
        out->sha256[out->sha256_count++] = data.data + sizeof(name);
    return true;
}

static int image_debug(const struct headers *headers, struct symbols_image *out,
                       struct symbols_error *error)
{
    const struct directory *debug = &headers->directories[DIRECTORY_DEBUG];
    struct symbols_span entries;

    if (!debug->rva || !debug->size)
        return 0;
    if (!image_at(headers, debug->rva, debug->size, &entries))
        return symbols_fail(error, SYMBOLS_TRUNCATED, "its debug directory is not in the file");
    for (size_t i = 0; i + DEBUG_ENTRY_SIZE <= entries.size; i += DEBUG_ENTRY_SIZE) {
        const uint8_t *entry = entries.data + i;
        uint32_t type = symbols_little(entry + 12, 4);
        struct symbols_span data;
        bool good = true;

        if (type != DEBUG_CODEVIEW && type != DEBUG_EMBEDDED && type != DEBUG_CHECKSUM)
            continue;
        if (!symbols_cut(headers->file, symbols_little(entry + 24, 4),
                         symbols_little(entry + 16, 4), &data))
            return symbols_fail(error, SYMBOLS_TRUNCATED,
                                "debug directory entry %zu is not in the file",
                                i / DEBUG_ENTRY_SIZE);
        if (type == DEBUG_CODEVIEW)
            good = image_codeview(data, entry, out);
        else if (type == DEBUG_EMBEDDED)
            good = image_embedded(data, out);
        else
            good = image_checksum(data, out);
        if (!good)
            return symbols_fail(error, SYMBOLS_DAMAGED, "debug directory entry %zu (type %u)",
                                i / DEBUG_ENTRY_SIZE, type);
    }
    return 0;
}

int symbols_image_parse(struct symbols_span file, struct symbols_image *out,
                        struct symbols_error *error)
{
    struct headers headers;
    int err = image_headers(file, &headers, error);

    memset(out, 0, sizeof(*out));
    if (!err)
        err = image_metadata(&headers, out, error);
    return err ? err : image_debug(&headers, out, error);
}
