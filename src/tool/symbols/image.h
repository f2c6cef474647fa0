/* symbols/image.h - what a .NET assembly (a PE file) says of its symbols. */
#ifndef SHADOWTRACE_SYMBOLS_IMAGE_H
#define SHADOWTRACE_SYMBOLS_IMAGE_H

#include "symbols/bytes.h"
#include "symbols/symbols.h"

#define SYMBOLS_PDB_ID_SIZE   20 /* the CodeView entry's GUID, then its time stamp */
#define SYMBOLS_CHECKSUMS_MAX 4

/* Pointers and spans lead into the file's bytes. */
struct symbols_image {
    const uint8_t *mvid;
    struct symbols_span metadata;    /* from its root on */
    uint32_t methods;                /* rows of its MethodDef table */
    bool has_codeview;               /* then: */
    bool portable;                   /* the entry says that the PDB is a portable one */
    uint8_t id[SYMBOLS_PDB_ID_SIZE]; /* of the PDB it was built with */
    struct symbols_span pdb_path;    /* as the compiler wrote it, without NUL */
    struct symbols_span embedded;    /* deflate data; data is NULL if no PDB is embedded */
    uint32_t embedded_size;          /* its claimed size when unpacked */
    size_t sha256_count;             /* if any, the PDB must have one of: */
    const uint8_t *sha256[SYMBOLS_CHECKSUMS_MAX];
};

/*
 * symbols_image_parse - read the headers, the module's id and the debug directory.
 * Returns: 0, or -errno and error filled: not managed, truncated or damaged.
 */
int symbols_image_parse(struct symbols_span file, struct symbols_image *out,
                        struct symbols_error *error);

#endif
