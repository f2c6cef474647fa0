/*
 * Fuzz target: src/tool/symbols. An input is a portable PDB or, if it begins with "MZ", an assembly, the
 * PDB embedded in it included. Whatever is accepted is asked everything that can be asked.
 */
#include "must.h"

#include "base/memory.h"

#include "symbols/image.h"
#include "symbols/inflate.h"
#include "symbols/pdb.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNPACKED_MAX ((size_t)1 << 20) /* of an embedded PDB: keeps a run short */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte, so that a sanitizer sees a wrong span. */
static void touch(const void *data, size_t size)
{
    volatile uint8_t sink = 0;

    for (size_t i = 0; i < size; i++)
        sink = ((const uint8_t *)data)[i];
    (void)sink;
}

struct seen {
    const struct symbols *symbols;
    uint32_t method;
    uint32_t count, last_il;
    struct symbols_point visible; /* the last one */
    bool any;
};

static int check_point(void *context, const struct symbols_point *point)
{
    struct seen *seen = context;
    struct symbols_line line;
    int err;

    MUST(!seen->count || point->il > seen->last_il);
    MUST(point->document >= 1 && point->document <= symbols_document_count(seen->symbols));
    MUST(point->hidden || (point->line < 0x20000000 && point->end_line >= point->line));
    if (!point->hidden && point->line) {
        seen->visible = *point;
        seen->any = true;
    }
    seen->last_il = point->il;
    if (seen->count++ < 16) { /* each look-up decodes the method again */
        err = symbols_line(seen->symbols, seen->method, point->il, &line);
        MUST(err == 0 || (err == -ENODATA && !seen->any));
        MUST(err || (seen->any ? line.line == seen->visible.line && line.il == seen->visible.il
                               : line.il > point->il)); /* the first visible one */
        if (!err)
            touch(line.file, strlen(line.file) + 1);
    }
    return 0;
}

static void check_document(const struct symbols *symbols, uint32_t id)
{
    struct symbols_document document;
    char *text;
    size_t size;

    MUST(symbols_document(symbols, id, &document) == 0);
    touch(document.hash, document.hash_size);
    touch(document.file, strlen(document.file) + 1);
    if (symbols_source(symbols, id, &text, &size))
        return;
    MUST(document.embedded && text[size] == '\0');
    (void)symbols_source_check(symbols, id, text, size);
    memory_free(text);
}

static void check(const struct symbols *symbols)
{
    uint32_t documents = symbols_document_count(symbols);
    uint32_t methods = symbols_method_count(symbols);
    struct symbols_line line;
    size_t size;
    const char *link = symbols_source_link(symbols, &size);

    MUST(link || !size);
    touch(link, size);
    for (uint32_t id = 1; id <= documents && id <= 200; id++)
        check_document(symbols, id);
    if (methods > 2000)
        methods = 2000; /* counts may be claimed without rows behind them */
    for (uint32_t row = 1; row <= methods; row++) {
        struct seen seen = {.symbols = symbols, .method = 0x06000000u | row};
        int err = symbols_points(symbols, seen.method, check_point, &seen);

        MUST(err == 0 || (err == -EBADMSG && !seen.count));
        MUST(symbols_line(symbols, seen.method, UINT32_MAX, &line) < 0);
    }
    MUST(symbols_line(symbols, 0x06000000u, 0, &line) == -EINVAL);
    MUST(symbols_line(symbols, 0x02000001u, 0, &line) == -EINVAL);
}

static void check_pdb(uint8_t *copy, size_t size, const struct symbols_image *expected)
{
    struct symbols_error error = {.text = ""};
    struct symbols *symbols;
    int err = symbols_new(copy, size, expected, &symbols, &error); /* takes copy */

    MUST(err ? !symbols && error.reason != SYMBOLS_OK && *error.text : symbols != NULL);
    if (symbols)
        check(symbols);
    symbols_free(symbols);
}

/* With a checksum recorded, what is accepted has it. */
static void check_checksum(const uint8_t *pdb, const struct symbols_image *image)
{
    struct symbols_error error;
    struct symbols *symbols;
    uint8_t *copy = memory_alloc(image->embedded_size);

    if (!copy)
        return;
    memcpy(copy, pdb, image->embedded_size);
    if (!symbols_new(copy, image->embedded_size, image, &symbols, &error))
        MUST(symbols_verified(symbols) == (image->sha256_count != 0));
    symbols_free(symbols);
}

static void check_image(const uint8_t *data, size_t size)
{
    struct symbols_error error = {.text = ""};
    struct symbols_image image;
    uint8_t *pdb;

    if (symbols_image_parse((struct symbols_span){data, size}, &image, &error)) {
        MUST(error.reason != SYMBOLS_OK && *error.text);
        return;
    }
    MUST(image.mvid >= data && image.mvid + SYMBOLS_MVID_SIZE <= data + size);
    if (!image.embedded.data || image.embedded_size > UNPACKED_MAX ||
        symbols_inflate(image.embedded, image.embedded_size, &pdb))
        return;
    check_checksum(pdb, &image);
    image.sha256_count = 0; /* else nothing damaged would get past it */
    check_pdb(pdb, image.embedded_size, &image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* of the exact size: one byte too far is found */

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (size >= 2 && !memcmp(data, "MZ", 2)) {
        check_image(copy, size);
        free(copy);
    } else {
        check_pdb(copy, size, NULL);
    }
    return 0;
}
