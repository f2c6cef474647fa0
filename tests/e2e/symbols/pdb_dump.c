/*
 * What src/tool/symbols reads from an assembly's PDB, line by line as tests/e2e/symbols/PdbDump prints
 * it with the SDK's own reader. Usage: pdb_dump ASSEMBLY [FOLDER]
 */
#include "base/memory.h"

#include "symbols/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct offsets {
    uint32_t *il;
    size_t count, capacity;
};

static void fingerprint(const void *data, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
    printf("%zu/%016" PRIx64, size, hash);
}

static int dump_document(const struct symbols *symbols, uint32_t id)
{
    struct symbols_document document;
    char *text;
    size_t size;
    int err = symbols_document(symbols, id, &document);

    if (err)
        return err;
    printf("document %u %s ", id, document.file);
    for (size_t i = 0; i < document.hash_size; i++)
        printf("%02x", document.hash[i]);
    putchar(' ');
    err = symbols_source(symbols, id, &text, &size);
    if (err == -ENODATA) {
        puts("-");
        return 0;
    }
    if (err)
        return err;
    fingerprint(text, size);
    putchar('\n');
    if (symbols_source_check(symbols, id, text, size) == -ESTALE) {
        fprintf(stderr, "%s: the embedded source has not the hash recorded\n", document.file);
        err = -EBADMSG;
    }
    memory_free(text);
    return err;
}

static int add_offset(struct offsets *offsets, uint32_t il)
{
    if (offsets->count && offsets->il[offsets->count - 1] >= il)
        return 0; /* they come in order, but overlap */
    if (offsets->count == offsets->capacity) {
        size_t capacity = offsets->capacity ? 2 * offsets->capacity : 256;
        uint32_t *grown = realloc(offsets->il, capacity * sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        offsets->il = grown;
        offsets->capacity = capacity;
    }
    offsets->il[offsets->count++] = il;
    return 0;
}

struct method {
    const struct symbols *symbols;
    uint32_t token;
    struct offsets offsets;
};

static int dump_point(void *context, const struct symbols_point *point)
{
    struct method *method = context;
    struct symbols_document document;
    int err = symbols_document(method->symbols, point->document, &document);

    if (err)
        return err;
    printf("point %08x %u ", method->token, point->il);
    if (point->hidden)
        printf("hidden %s\n", document.file);
    else
        printf("%u,%u-%u,%u %s\n", point->line, point->column, point->end_line, point->end_column,
               document.file);
    for (uint32_t il = point->il ? point->il - 1 : 0; il <= point->il + 1 && !err; il++)
        err = add_offset(&method->offsets, il);
    return err;
}

static int dump_method(const struct symbols *symbols, uint32_t token)
{
    struct method method = {.symbols = symbols, .token = token};
    int err;

    err = symbols_points(symbols, token, dump_point, &method);
    for (size_t i = 0; i < method.offsets.count && !err; i++) {
        struct symbols_line line;

        err = symbols_line(symbols, token, method.offsets.il[i], &line);
        if (!err)
            printf("line %08x %u %u %s%s\n", token, method.offsets.il[i], line.line, line.file,
                   line.hidden ? " hidden" : "");
        else if (err == -ENODATA)
            printf("line %08x %u none\n", token, method.offsets.il[i]);
        err = err == -ENODATA ? 0 : err;
    }
    free(method.offsets.il);
    return err;
}

static int dump(const struct symbols *symbols)
{
    size_t size;
    const char *link = symbols_source_link(symbols, &size);
    int err = 0;

    printf("methods %u\n", symbols_method_count(symbols));
    for (uint32_t id = 1; id <= symbols_document_count(symbols) && !err; id++)
        err = dump_document(symbols, id);
    if (link) {
        printf("link ");
        fingerprint(link, size);
        putchar('\n');
    }
    for (uint32_t row = 1; row <= symbols_method_count(symbols) && !err; row++)
        err = dump_method(symbols, 0x06000000u | row);
    return err;
}

int main(int argc, char **argv)
{
    struct symbols *symbols;
    struct symbols_error error;
    const char *folder = argc > 2 ? argv[2] : NULL;
    int err;

    if (argc < 2)
        return 2;
    err = symbols_open(argv[1], &folder, folder ? 1 : 0, NULL, &symbols, &error);
    if (err) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    err = dump(symbols);
    fprintf(stderr, "%s: %s%s\n", symbols_path(symbols),
            symbols_embedded(symbols) ? "embedded" : "a file",
            symbols_verified(symbols) ? ", checksum verified" : "");
    symbols_free(symbols);
    return err || fflush(stdout) ? 1 : 0;
}
