/* symbols/pdb.h - inside of struct symbols, a portable PDB: for this folder and its tests. */
#ifndef SHADOWTRACE_SYMBOLS_PDB_H
#define SHADOWTRACE_SYMBOLS_PDB_H

#include "symbols/image.h"
#include "symbols/metadata.h"

#define PDB_FIRST_TABLE 0x30 /* TABLE_DOCUMENT */
#define PDB_TABLES      8    /* up to TABLE_CUSTOM */

struct pdb_table {
    uint32_t rows, row_size;
    const uint8_t *data; /* rows * row_size bytes */
};

/*
 * I1  table[n].data spans its rows, inside image; heap contents are checked at each use.
 * I2  documents[i] is the offset in names of document i + 1's name: valid UTF-8 and a NUL.
 * I3  methods is the row count of MethodDef; MethodDebugInformation has that many rows, or none.
 */
struct symbols {
    uint8_t *image; /* owned; everything below but names and documents points into it */
    size_t size;
    struct symbols_metadata metadata;
    struct pdb_table table[PDB_TABLES];
    unsigned wide_method, wide_document; /* bytes of a row id in MethodDef, Document */
    unsigned wide_owner;                 /* of a coded HasCustomDebugInformation */
    uint32_t methods;
    char *names;
    size_t *documents;
    struct symbols_span source_link;
    char *path; /* symbols_open's */
    bool embedded;
    bool verified;
};

/*
 * symbols_new - read a portable PDB that is already in memory.
 * expected: what the assembly says of its PDB; NULL leaves out every comparison with it.
 * Returns:  0 and *out; else -errno, error filled (without a path).
 * Owns:     image is taken, even on failure, and freed with memory_free; *out is the caller's until
 *           symbols_free.
 */
int symbols_new(uint8_t *image, size_t size, const struct symbols_image *expected,
                struct symbols **out, struct symbols_error *error);

/*
 * For the look-ups: a table of the PDB; and of its row number `row` (from 1, must exist) the column
 * of width bytes at offset.
 */
const struct pdb_table *symbols_table(const struct symbols *s, unsigned table);
uint32_t symbols_column(const struct pdb_table *table, uint32_t row, unsigned offset,
                        unsigned width);

/* A blob's content; blob 0 is the empty one. Returns false if it is not all there. */
bool symbols_blob(const struct symbols *s, uint32_t index, struct symbols_span *out);

/* The blob of the first custom record of this kind and owner (a coded index); false: none. */
bool symbols_custom(const struct symbols *s, uint32_t owner, const uint8_t kind[16],
                    uint32_t *blob);

#endif
