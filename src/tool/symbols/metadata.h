/* symbols/metadata.h - what assemblies and PDBs share: metadata root, streams, table header. */
#ifndef SHADOWTRACE_SYMBOLS_METADATA_H
#define SHADOWTRACE_SYMBOLS_METADATA_H

#include "symbols/bytes.h"
#include "symbols/symbols.h"

#define METADATA_TABLES   64
#define METADATA_ROWS_MAX 0xFFFFFFu /* a row id has 24 bits in a token */

/* The tables that we name. */
enum {
    TABLE_MODULE = 0x00,
    TABLE_METHOD_DEF = 0x06,
    TABLE_DOCUMENT = 0x30,
    TABLE_METHOD_DEBUG = 0x31,
    TABLE_LOCAL_SCOPE = 0x32,
    TABLE_LOCAL_VARIABLE = 0x33,
    TABLE_LOCAL_CONSTANT = 0x34,
    TABLE_IMPORT_SCOPE = 0x35,
    TABLE_STATE_MACHINE = 0x36,
    TABLE_CUSTOM = 0x37
};

/* Spans of the image, data NULL if absent. Lengths are checked, contents are not. */
struct symbols_metadata {
    char version[32]; /* cut */
    struct symbols_span pdb, strings, blob, guid;
    struct symbols_span rows_data;              /* the rows, behind the table header */
    unsigned wide_string, wide_guid, wide_blob; /* bytes of a heap index: 2 or 4 */
    uint64_t present;                           /* bit n: table n */
    uint32_t rows[METADATA_TABLES];             /* at most METADATA_ROWS_MAX each */
};

/*
 * symbols_metadata_parse - take the image, which begins with the metadata root, apart.
 * Returns: 0, or -errno and error filled: truncated or damaged.
 */
int symbols_metadata_parse(struct symbols_span image, struct symbols_metadata *out,
                           struct symbols_error *error);

/* The row counts after a bit vector of tables. Returns false if cut off or too large. */
bool symbols_metadata_rows(struct cursor *c, uint64_t present, uint32_t rows[METADATA_TABLES]);

/* The 16 bytes of GUID number index (from 1); NULL for 0 or beyond the heap. */
const uint8_t *symbols_metadata_guid(const struct symbols_metadata *metadata, uint32_t index);

#endif
