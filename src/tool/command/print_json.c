#include "command/print_json.h"

#include "base/buffer.h"
#include "base/clean.h"

#include <string.h>

/* One piece of what jansson writes: it parts no letter, and letters that need an escape stand in strings only. */
static void append_piece(struct buffer *b, const char *piece, size_t size)
{
    size_t run = 0, at = 0, length;
    bool safe;

    while (at < size) {
        length = clean_letter(piece + at, &safe);
        if (!safe && (unsigned char)piece[at] >= 0x7f) { /* below are jansson's own line breaks */
            buffer_append(b, piece + run, at - run);
            buffer_format(b, "\\u%04x", (unsigned)clean_number(piece + at));
            run = at + length;
        }
        at += length;
    }
    buffer_append(b, piece + run, size - run);
}

static int take_piece(const char *piece, size_t size, void *context)
{
    struct buffer *b = context;

    append_piece(b, piece, size);
    return b->failed ? -1 : 0;
}

static int print_piece(const char *piece, size_t size, void *context)
{
    struct buffer b = BUFFER_INIT;
    FILE *out = context;
    bool plain = true;
    int failed;

    for (size_t i = 0; i < size; i++)
        plain &= (signed char)piece[i] >= 0 && piece[i] != 0x7f;
    if (plain)
        return fwrite(piece, 1, size, out) == size ? 0 : -1;
    failed = take_piece(piece, size, &b);
    failed |= fwrite(b.data, 1, b.size, out) != b.size;
    buffer_free(&b);
    return failed ? -1 : 0;
}

int print_json_value(const json_t *json, FILE *out, size_t flags)
{
    return json_dump_callback(json, print_piece, out, flags);
}

char *print_json_text(const json_t *json, size_t flags)
{
    struct buffer b = BUFFER_INIT;

    if (json && !json_dump_callback(json, take_piece, &b, flags))
        return buffer_take(&b);
    buffer_free(&b);
    return NULL;
}
