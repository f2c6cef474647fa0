#include "symbols/metadata.h"

#include "symbols/error.h"

#include <string.h>

#define STREAM_NAME_MAX 32 /* with its NUL, ECMA-335 II.24.2.2 */

struct stream {
    uint32_t offset, size;
    char name[STREAM_NAME_MAX];
};

bool symbols_metadata_rows(struct cursor *c, uint64_t present, uint32_t rows[METADATA_TABLES])
{
    bool good = true;

    memset(rows, 0, METADATA_TABLES * sizeof(rows[0]));
    for (unsigned i = 0; i < METADATA_TABLES; i++) {
        if (present >> i & 1)
            rows[i] = symbols_read_u32(c);
        good = good && rows[i] <= METADATA_ROWS_MAX;
    }
    return good && !c->failed;
}

const uint8_t *symbols_metadata_guid(const struct symbols_metadata *metadata, uint32_t index)
{
    struct symbols_span guid;

    if (!index || !symbols_cut(metadata->guid, 16 * ((uint64_t)index - 1), 16, &guid))
        return NULL;
    return guid.data;
}

/* "#~" or, not compacted, "#-": the layout is the same. */
static int metadata_tables(struct symbols_span stream, struct symbols_metadata *out,
                           struct symbols_error *error)
{
    struct cursor c = symbols_read(stream);
    uint32_t sizes;

    cursor_bytes(&c, 6); /* reserved, versions */
    sizes = symbols_read_u8(&c);
    symbols_read_u8(&c); /* reserved */
    out->wide_string = sizes & 1 ? 4 : 2;
    out->wide_guid = sizes & 2 ? 4 : 2;
    out->wide_blob = sizes & 4 ? 4 : 2;
    out->present = cursor_little(&c, 8);
    cursor_bytes(&c, 8); /* which tables are sorted: not relied on */
    if (!symbols_metadata_rows(&c, out->present, out->rows))
        return symbols_fail(error, SYMBOLS_DAMAGED, "the table header names impossible row counts");
    if (sizes & 0x40)
        symbols_read_u32(&c); /* extra data, not in ECMA-335 but known to every reader */
    if (c.failed)
        return symbols_fail(error, SYMBOLS_DAMAGED, "the table header is cut off");
    out->rows_data = (struct symbols_span){c.at, c.left};
    return 0;
}

/* A name ends in NUL, padded with NUL to a multiple of 4. Returns false if it does not end. */
static bool metadata_stream(struct cursor *c, struct stream *out)
{
    out->offset = symbols_read_u32(c);
    out->size = symbols_read_u32(c);
    for (size_t i = 0; i < sizeof(out->name); i += 4) {
        const uint8_t *quad = cursor_bytes(c, 4);

        if (!quad)
            return false;
        memcpy(out->name + i, quad, 4);
        if (memchr(quad, 0, 4))
            return true;
    }
    return false;
}

static struct symbols_span *metadata_slot(struct symbols_metadata *out, struct symbols_span *tables,
                                          const char *name)
{
    if (!strcmp(name, "#~") || !strcmp(name, "#-"))
        return tables;
    if (!strcmp(name, "#Pdb"))
        return &out->pdb;
    if (!strcmp(name, "#Strings"))
        return &out->strings;
    if (!strcmp(name, "#Blob"))
        return &out->blob;
    return !strcmp(name, "#GUID") ? &out->guid : NULL; /* "#US" and whatever else there may be */
}

static int metadata_streams(struct symbols_span image, struct cursor *c, uint32_t count,
                            struct symbols_metadata *out, struct symbols_error *error)
{
    struct symbols_span tables = {NULL, 0};

    for (uint32_t i = 0; i < count; i++) {
        struct stream stream;
        struct symbols_span *slot;

        if (!metadata_stream(c, &stream))
            return c->failed
                       ? symbols_fail(error, SYMBOLS_TRUNCATED, "the list of streams is cut off")
                       : symbols_fail(error, SYMBOLS_DAMAGED, "a stream's name does not end");
        slot = metadata_slot(out, &tables, stream.name);
        if (!slot)
            continue;
        if (slot->data)
            return symbols_fail(error, SYMBOLS_DAMAGED, "there are two streams %s", stream.name);
        if (!symbols_cut(image, stream.offset, stream.size, slot))
            return symbols_fail(error, SYMBOLS_TRUNCATED, "stream %s ends at byte %llu of %zu",
                                stream.name, (unsigned long long)stream.offset + stream.size,
                                image.size);
    }
    if (!tables.data)
        return symbols_fail(error, SYMBOLS_DAMAGED, "it has no stream #~");
    return metadata_tables(tables, out, error);
}

int symbols_metadata_parse(struct symbols_span image, struct symbols_metadata *out,
                           struct symbols_error *error)
{
    struct cursor c = symbols_read(image);
    const uint8_t *version;
    uint32_t length;
    uint32_t count;

    memset(out, 0, sizeof(*out));
    if (image.size < 4 || memcmp(image.data, "BSJB", 4) != 0)
        return symbols_fail(error, SYMBOLS_DAMAGED, "it does not begin with metadata");
    cursor_bytes(&c, 12); /* signature, versions, reserved */
    length = symbols_read_u32(&c);
    version = cursor_bytes(&c, length);
    if (version) /* zeroed above, so that it ends */
        memcpy(out->version, version,
               length < sizeof(out->version) ? length : sizeof(out->version) - 1);
    symbols_read_u16(&c); /* flags */
    count = symbols_read_u16(&c);
    if (c.failed)
        return symbols_fail(error, SYMBOLS_TRUNCATED, "it ends inside its header, at byte %zu",
                            image.size);
    return metadata_streams(image, &c, count, out, error);
}
