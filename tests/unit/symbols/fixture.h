/*
 * A portable PDB and an assembly, made byte by byte, for the tests of src/tool/symbols.
 *
 * The PDB, of an assembly of 6 methods:
 *   document 1  "/src/A.cs", its text embedded as it is, and its SHA-256
 *   document 2  "C:\src\B.cs", its text embedded and deflated
 *   method 1    IL 0: 10,5-10,20   IL 4: hidden   IL 9: 8,1-12,2
 *   method 2    no points
 *   method 3    IL 0: document 2, 100,1-100,9   IL 3: document 1, 50,1-50,300
 *   method 4    IL 0: hidden   IL 2: hidden
 *   method 5    MoveNext of method 2; IL 0: hidden   IL 7: 70000,1-70000,2   IL 300: 3,1-3,2
 *   method 6    points that end too soon
 *   module      Source Link "{}"
 */
#ifndef SHADOWTRACE_TESTS_SYMBOLS_FIXTURE_H
#define SHADOWTRACE_TESTS_SYMBOLS_FIXTURE_H

#include "base/memory.h"

#include "symbols/image.h"
#include "symbols/metadata.h"
#include "symbols/sha256.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FIXTURE_TEXT "class A\n{\n}\n"

struct bytes {
    uint8_t data[8192];
    size_t size;
};

/* What document 1 says of itself. */
struct fixture_document {
    const char *path;   /* with '/' before each part */
    unsigned algorithm; /* of its hash: number of a GUID of the PDB; 0 none; 3 SHA-256 */
    uint8_t hash[SYMBOLS_SHA256_SIZE];
    size_t hash_size;
    bool embedded; /* its text is FIXTURE_TEXT */
};

struct fixture {
    struct bytes pdb;
    /* where things lie in it, for tests that damage them */
    size_t streams, id, rows_outside, heap_sizes, row_counts, tables, blob;
    size_t documents, methods, machines; /* first row of these tables */
    uint32_t points[7];                  /* blob index of each method's points */
};

static inline void put(struct bytes *b, const void *data, size_t size)
{
    if (size > sizeof(b->data) - b->size)
        abort();
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void put_little(struct bytes *b, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, value >>= 8)
        put(b, &(uint8_t){(uint8_t)value}, 1);
}

static inline void set_little(uint8_t *at, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++, value >>= 8)
        at[i] = (uint8_t)value;
}

static inline void put_text(struct bytes *b, const char *text)
{
    put(b, text, strlen(text));
}

static inline void pad(struct bytes *b, size_t to)
{
    while (b->size % to)
        put_little(b, 0, 1);
}

/* A blob under 128 bytes; returns its index. */
static inline uint32_t put_blob(struct bytes *heap, const void *data, size_t size)
{
    uint32_t index = (uint32_t)heap->size;

    if (size > 127)
        abort();
    put_little(heap, size, 1);
    put(heap, data, size);
    return index;
}

#define BLOB(heap, ...) \
    put_blob((heap), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static const uint8_t fixture_id[SYMBOLS_PDB_ID_SIZE] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                        11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
static const uint8_t fixture_mvid[SYMBOLS_MVID_SIZE] = {
    0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF};
static const uint8_t fixture_guids[3 * 16] = {
    0x56, 0x05, 0x11, 0xCC, 0x91, 0xA0, 0x38, 0x4D,
    0x9F, 0xEC, 0x25, 0xAB, 0x9A, 0x35, 0x1A, 0x6A, /* Source Link */
    0x1B, 0x57, 0x8A, 0x0E, 0x26, 0x69, 0x6E, 0x46,
    0xB4, 0xAD, 0x8A, 0xB0, 0x46, 0x11, 0xF5, 0xFE, /* source */
    0x0F, 0xD0, 0x29, 0x88, 0xB8, 0x11, 0x13, 0x42,
    0x87, 0x8B, 0x77, 0x0E, 0x85, 0x97, 0xAC, 0x16, /* SHA-256 */
};

static inline void sha256(const void *data, size_t size, uint8_t digest[SYMBOLS_SHA256_SIZE])
{
    struct symbols_sha256 hash;

    symbols_sha256_init(&hash);
    symbols_sha256_add(&hash, data, size);
    symbols_sha256_fini(&hash, digest);
}

/* Raw deflate. */
static inline void put_deflated(struct bytes *b, const void *data, size_t size)
{
    z_stream stream = {0};
    uint8_t copy[8192];

    memcpy(copy, data, size);
    if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    stream.next_in = copy;
    stream.avail_in = (uInt)size;
    stream.next_out = b->data + b->size;
    stream.avail_out = (uInt)(sizeof(b->data) - b->size);
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        abort();
    b->size += stream.total_out;
    deflateEnd(&stream);
}

/*
 * Metadata root with the streams "#Pdb" (if any), "#~", "#GUID", "#Blob"; returns the offset of the
 * first header.
 */
static inline size_t put_metadata(struct bytes *b, const char *version, const struct bytes *pdb,
                                  const struct bytes *tables, const struct bytes *guid,
                                  const struct bytes *blob)
{
    const struct bytes *const contents[] = {pdb, tables, guid, blob};
    static const char names[][8] = {"#Pdb", "#~", "#GUID", "#Blob"};
    static const size_t name_sizes[] = {8, 4, 8, 8};
    size_t start = b->size;
    size_t offset;
    size_t headers;

    put_text(b, "BSJB");
    put_little(b, 1, 2);
    put_little(b, 1, 2);
    put_little(b, 0, 4);
    put_little(b, 12, 4);
    put(b, version, strlen(version));
    while ((b->size - start) % 4 || b->size - start < 28)
        put_little(b, 0, 1);
    put_little(b, 0, 2);
    put_little(b, pdb ? 4 : 3, 2);
    headers = b->size;
    offset = b->size - start + (pdb ? 16 : 0) + 12 + 16 + 16;
    for (size_t i = pdb ? 0 : 1; i < 4; i++) {
        put_little(b, offset, 4);
        put_little(b, contents[i]->size, 4);
        put(b, names[i], name_sizes[i]);
        offset += contents[i]->size;
    }
    for (size_t i = pdb ? 0 : 1; i < 4; i++)
        put(b, contents[i]->data, contents[i]->size);
    return headers;
}

static inline uint32_t put_name(struct bytes *heap, char separator, const char *const *parts)
{
    uint8_t name[32] = {(uint8_t)separator};
    size_t size = 1;

    for (; *parts; parts++)
        name[size++] = **parts ? (uint8_t)put_blob(heap, *parts, strlen(*parts))
                               : 0; /* indices stay below 128 */
    return put_blob(heap, name, size);
}

static inline void fixture_points(struct fixture *f, struct bytes *heap)
{
    /* header: local signature [, document]; then IL, lines, columns [, start line, start column] */
    f->points[1] = BLOB(heap, 0, 0, 0, 15, 10, 5, /**/ 4, 0, 0, /**/ 5, 4, 0x02, 0x7D, 0x79);
    f->points[2] = 0;
    f->points[3] =
        BLOB(heap, 0, 2, /**/ 0, 0, 8, 0x80, 100, 1, /**/ 0, 1, /**/ 3, 0, 0x81, 0x2B, /* 299 */
             0xBF, 0x9D, /* -50 in 14 bits */ 0);
    f->points[4] = BLOB(heap, 1, 0, 0, 0, 2, 0, 0);
    f->points[5] = BLOB(heap, 0, 0, 0, 0, 7, 0, 1, 0xC0, 0x01, 0x11, 0x70, 1, /**/ 0x81, 0x25, 0, 1,
                        0xDF, 0xFD, 0xDD, 0x27, /* 3 - 70000 in 29 bits */ 0);
    f->points[6] = BLOB(heap, 0, 0, 0, 15, 10);
}

static inline void fixture_tables(struct fixture *f, struct bytes *tables,
                                  const struct fixture_document *first, const uint32_t names[2],
                                  const uint32_t sources[2], uint32_t hash, uint32_t link)
{
    static const uint32_t rows[8] = {2, 6, 1, 1, 1, 1, 1, 3};

    put_little(tables, 0, 4);
    put_little(tables, 2, 2);
    put_little(tables, 0, 1); /* heap indices of 2 bytes */
    put_little(tables, 1, 1);
    put_little(tables, 0xFFull << TABLE_DOCUMENT, 8);
    put_little(tables, 0, 8);
    f->row_counts = tables->size;
    for (unsigned i = 0; i < 8; i++)
        put_little(tables, rows[i], 4);
    f->documents = tables->size;
    for (unsigned i = 0; i < 2; i++) {
        put_little(tables, names[i], 2);
        put_little(tables, i ? 0 : first->algorithm, 2);
        put_little(tables, i ? 0 : hash, 2);
        put_little(tables, 0, 2);
    }
    f->methods = tables->size;
    for (unsigned i = 1; i <= 6; i++) {
        put_little(tables, i == 2 || i == 3 ? 0 : 1, 2);
        put_little(tables, f->points[i], 2);
    }
    put(tables, (uint8_t[16]){1, 0, 1, 0, 1, 0, 1}, 16); /* LocalScope */
    put_little(tables, 0, 6);                            /* LocalVariable */
    put_little(tables, 0, 4);                            /* LocalConstant */
    put_little(tables, 0, 4);                            /* ImportScope */
    f->machines = tables->size;
    put_little(tables, 5, 2); /* MoveNext, kickoff */
    put_little(tables, 2, 2);
    put_little(tables, 1 << 5 | 7, 2); /* the module */
    put_little(tables, 1, 2);
    put_little(tables, link, 2);
    for (unsigned i = 0; i < 2; i++) {
        put_little(tables, (i + 1) << 5 | 22, 2);
        put_little(tables, i || first->embedded ? 2 : 3, 2);
        put_little(tables, sources[i], 2);
    }
    pad(tables, 4);
}

/* The parts of a path that begins with '/'. */
static inline uint32_t put_path(struct bytes *heap, const char *path)
{
    char copy[512], *rest = copy, *part;
    const char *parts[16] = {""};
    size_t count = 1;

    if (strlen(path) >= sizeof(copy))
        abort();
    strcpy(copy, path + 1);
    while (count < 15 && (part = strsep(&rest, "/")))
        parts[count++] = part;
    return put_name(heap, '/', parts);
}

static inline void fixture_make(struct fixture *f, const struct fixture_document *first)
{
    static struct bytes pdb, tables, blob, guid, source;
    uint32_t names[2];
    uint32_t sources[2];
    uint32_t hash;

    pdb.size = tables.size = blob.size = guid.size = source.size = 0;
    memset(f, 0, sizeof(*f));
    put(&pdb, fixture_id, sizeof(fixture_id));
    put_little(&pdb, 0, 4);
    put_little(&pdb, 1u << TABLE_MODULE | 1u << TABLE_METHOD_DEF, 8);
    put_little(&pdb, 1, 4);
    put_little(&pdb, 6, 4);

    put_little(&blob, 0, 1);
    names[0] = put_path(&blob, first->path);
    names[1] = put_name(&blob, '\\', (const char *const[]){"C:", "src", "B.cs", NULL});
    fixture_points(f, &blob);
    hash = put_blob(&blob, first->hash, first->hash_size);
    put_little(&source, 0, 4);
    put_text(&source, FIXTURE_TEXT);
    sources[0] = put_blob(&blob, source.data, source.size);
    source.size = 0;
    put_little(&source, strlen(FIXTURE_TEXT), 4);
    put_deflated(&source, FIXTURE_TEXT, strlen(FIXTURE_TEXT));
    sources[1] = put_blob(&blob, source.data, source.size);
    fixture_tables(f, &tables, first, names, sources, hash, put_blob(&blob, "{}", 2));
    put(&guid, fixture_guids, sizeof(fixture_guids));

    f->streams = put_metadata(&f->pdb, "PDB v1.0", &pdb, &tables, &guid, &blob);
    f->id = f->streams + 16 + 12 + 16 + 16;
    f->rows_outside = f->id + 32;
    f->tables = f->id + pdb.size;
    f->heap_sizes = f->tables + 6;
    f->row_counts += f->tables;
    f->documents += f->tables;
    f->methods += f->tables;
    f->machines += f->tables;
    f->blob = f->tables + tables.size + guid.size;
}

static inline void fixture_init(struct fixture *f)
{
    struct fixture_document first = {
        .path = "/src/A.cs", .algorithm = 3, .hash_size = SYMBOLS_SHA256_SIZE, .embedded = true};

    sha256(FIXTURE_TEXT, strlen(FIXTURE_TEXT), first.hash);
    fixture_make(f, &first);
}

/* The PDB's checksum as an assembly records it. */
static inline void fixture_checksum(const struct fixture *f, uint8_t digest[SYMBOLS_SHA256_SIZE])
{
    struct bytes copy = f->pdb;

    memset(copy.data + f->id, 0, SYMBOLS_PDB_ID_SIZE);
    sha256(copy.data, copy.size, digest);
}

struct assembly {
    const char *pdb_path;         /* CodeView; NULL: no such entry */
    unsigned minor;               /* of the CodeView entry */
    uint32_t methods;             /* rows of MethodDef */
    const struct bytes *embedded; /* PDB, or NULL */
    uint32_t embedded_size;       /* claimed; 0: the true one */
    const uint8_t *checksum;      /* or NULL */
};

static inline void put_debug_entry(struct bytes *directory, uint32_t stamp, unsigned minor,
                                   uint32_t type, const struct bytes *data, size_t *at)
{
    put_little(directory, 0, 4);
    put_little(directory, stamp, 4);
    put_little(directory, 0x100, 2);
    put_little(directory, minor, 2);
    put_little(directory, type, 4);
    put_little(directory, data->size, 4);
    put_little(directory, 0, 4);
    put_little(directory, *at, 4);
    *at += data->size;
}

/*
 * PE32+ with one section: file offset 0x200 is RVA 0x2000. CLI header, metadata, debug directory,
 * its data.
 */
static inline void assembly_put(struct bytes *b, const struct assembly *a)
{
    static struct bytes metadata, tables, blob, guid, directory, codeview, embedded, checksum;
    size_t data_at;
    uint32_t size;

    metadata.size = tables.size = blob.size = guid.size = directory.size = 0;
    codeview.size = embedded.size = checksum.size = b->size = 0;
    put_little(&tables, 0, 4);
    put_little(&tables, 2, 4);
    put_little(&tables, 1u << TABLE_MODULE | 1u << TABLE_METHOD_DEF, 8);
    put_little(&tables, 0, 8);
    put_little(&tables, 1, 4);
    put_little(&tables, a->methods, 4);
    put(&tables, (uint8_t[10]){0, 0, 0, 0, 1}, 10); /* Module: its MVID is GUID 1 */
    pad(&tables, 4);
    put(&guid, fixture_mvid, sizeof(fixture_mvid));
    put_little(&blob, 0, 4);
    put_metadata(&metadata, "v4.0.30319", NULL, &tables, &guid, &blob);

    data_at = 0x200 + 72 + metadata.size + 3 * 28;
    if (a->pdb_path) {
        put_text(&codeview, "RSDS");
        put(&codeview, fixture_id, 16);
        put_little(&codeview, 1, 4);
        put(&codeview, a->pdb_path, strlen(a->pdb_path) + 1);
        put_debug_entry(&directory, 0x14131211, a->minor, 2, &codeview, &data_at);
    }
    if (a->checksum) {
        put(&checksum, "SHA256", 7);
        put(&checksum, a->checksum, SYMBOLS_SHA256_SIZE);
        put_debug_entry(&directory, 0, 0, 19, &checksum, &data_at);
    }
    if (a->embedded) {
        put_text(&embedded, "MPDB");
        put_little(&embedded, a->embedded_size ? a->embedded_size : a->embedded->size, 4);
        put_deflated(&embedded, a->embedded->data, a->embedded->size);
        put_debug_entry(&directory, 0, 0x100, 17, &embedded, &data_at);
    }
    size = (uint32_t)directory.size;
    while (directory.size < 3 * 28)
        put_little(&directory, 0, 1);

    put_text(b, "MZ");
    while (b->size < 0x3C)
        put_little(b, 0, 1);
    put_little(b, 0x40, 4);
    put(b, "PE\0\0", 4);
    put_little(b, 0x8664, 2);
    put_little(b, 1, 2); /* sections */
    put_little(b, 0, 4 + 4);
    put_little(b, 0, 4);
    put_little(b, 240, 2);
    put_little(b, 0x2022, 2);
    put_little(b, 0x20B, 2);
    while (b->size < 0x40 + 24 + 108)
        put_little(b, 0, 1);
    put_little(b, 16, 4);
    for (unsigned i = 0; i < 16; i++) {
        uint64_t entry = 0;

        if (i == 6 && size)
            entry = (0x2000 + 72 + metadata.size) | (uint64_t)size << 32;
        if (i == 14)
            entry = 0x2000 | (uint64_t)72 << 32;
        put_little(b, entry, 8);
    }
    put(b, ".text\0\0", 8);
    put_little(b, 0x4000, 4);
    put_little(b, 0x2000, 4);
    put_little(b, 0x4000, 4); /* more than there is: like a file cut off, as far as it goes */
    put_little(b, 0x200, 4);
    while (b->size < 0x200)
        put_little(b, 0, 1);
    put_little(b, 72, 4);
    put_little(b, 0, 4);
    put_little(b, 0x2000 + 72, 4);
    put_little(b, metadata.size, 4);
    while (b->size < 0x200 + 72)
        put_little(b, 0, 1);
    put(b, metadata.data, metadata.size);
    put(b, directory.data, directory.size);
    put(b, codeview.data, codeview.size);
    put(b, checksum.data, checksum.size);
    put(b, embedded.data, embedded.size);
}

#endif
