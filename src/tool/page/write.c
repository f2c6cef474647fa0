#include "page/write.h"

#include "command/gzip.h"
#include "page/files.h"
#include "symbols/sha256.h"

#include "base/base64.h"

#define SCRIPT_BEGIN "\n'use strict';\n(() => {\n"
#define SCRIPT_END   "})();\n"

/* ---- Base64, piece by piece ---- */

struct pieces {
    FILE *out;
    uint8_t held[3];
    size_t count; /* of held */
};

static void put_group(struct pieces *b)
{
    char group[4];

    base64_group(b->held, b->count, group);
    fwrite(group, 1, sizeof(group), b->out);
    b->count = 0;
}

/* As gzip_sink. */
static int pieces_put(void *context, const void *data, size_t size)
{
    struct pieces *b = context;

    for (size_t i = 0; i < size; i++) {
        b->held[b->count++] = ((const uint8_t *)data)[i];
        if (b->count == 3)
            put_group(b);
    }
    return 0;
}

static void pieces_end(struct pieces *b)
{
    if (b->count)
        put_group(b);
}

/* ---- Parts ---- */

static void put_hash(FILE *out, struct symbols_sha256 *hash)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE];
    struct pieces b = {out, {0}, 0};

    symbols_sha256_fini(hash, digest);
    fputs("'sha256-", out);
    pieces_put(&b, digest, sizeof(digest));
    pieces_end(&b);
    fputs("'", out);
}

/* Text in `out`, in `hash`, or both. */
static void put_text(FILE *out, struct symbols_sha256 *hash, const char *text)
{
    if (out)
        fputs(text, out);
    if (hash)
        symbols_sha256_add(hash, text, strlen(text));
}

static void put_script(FILE *out, struct symbols_sha256 *hash)
{
    put_text(out, hash, SCRIPT_BEGIN);
    for (const struct page_file *f = page_scripts; f->text; f++)
        put_text(out, hash, f->text);
    put_text(out, hash, SCRIPT_END);
}

/* Nothing may be loaded, sent or framed; of scripts and styles only these two. */
static void put_policy(FILE *out)
{
    struct symbols_sha256 script, style;

    symbols_sha256_init(&script);
    symbols_sha256_init(&style);
    put_script(NULL, &script);
    put_text(NULL, &style, page_css.text);
    fputs("default-src 'none'; script-src ", out);
    put_hash(out, &script);
    fputs("; style-src ", out);
    put_hash(out, &style);
    fputs("; base-uri 'none'; form-action 'none'", out);
}

static void put_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"' || *text == '\'')
            fprintf(out, "&#%d;", *text);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    }
}

/* The header's size as four bytes, the lowest first, then header and columns. */
static int put_data(const struct page_columns *c, const char *head, FILE *out)
{
    static const char magic[] = "STPAGE1\n";
    struct pieces b = {out, {0}, 0};
    size_t size = strlen(head);
    const uint8_t bytes[4] = {(uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16),
                              (uint8_t)(size >> 24)};
    struct gzip *g;
    int err = gzip_new(GZIP_FRAME, GZIP_SMALLEST, pieces_put, &b, &g);

    if (err)
        return err;
    gzip_write(g, magic, sizeof(magic) - 1);
    gzip_write(g, bytes, sizeof(bytes));
    gzip_write(g, head, size);
    for (int i = 0; i < PAGE_COLUMN_COUNT; i++)
        gzip_write(g, c->column[i].bytes.data, c->column[i].bytes.size);
    err = gzip_finish(g);
    gzip_free(g);
    pieces_end(&b);
    return err;
}

int page_write(const struct page_columns *columns, const char *head, const char *title, FILE *out)
{
    const char *at = page_html.text, *mark;
    int err = 0;

    for (; !err && (mark = strstr(at, "{{")); at = strstr(mark, "}}") + 2) {
        fwrite(at, 1, (size_t)(mark - at), out);
        if (strncmp(mark, "{{policy", 8) == 0)
            put_policy(out);
        else if (strncmp(mark, "{{title", 7) == 0)
            put_escaped(out, title);
        else if (strncmp(mark, "{{style", 7) == 0)
            fputs(page_css.text, out);
        else if (strncmp(mark, "{{script", 8) == 0)
            put_script(out, NULL);
        else
            err = put_data(columns, head, out);
    }
    fputs(at, out);
    return err;
}
