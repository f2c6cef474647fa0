/* symbols/bytes.h - bytes that nobody vouches for: checked spans, and integers at a cursor. */
#ifndef SHADOWTRACE_SYMBOLS_BYTES_H
#define SHADOWTRACE_SYMBOLS_BYTES_H

#include "base/compressed.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_span {
    const uint8_t *data; /* NULL: absent, then size is 0 */
    size_t size;
};

/* out = size bytes of span from offset on. Returns false, out untouched, if not all are there. */
static inline bool symbols_cut(struct symbols_span span, uint64_t offset, uint64_t size,
                               struct symbols_span *out)
{
    if (offset > span.size || size > span.size - offset)
        return false;
    out->data = span.data ? span.data + offset : NULL; /* NULL + 0 is undefined in C11 */
    out->size = (size_t)size;
    return true;
}

static inline struct cursor symbols_read(struct symbols_span span)
{
    return (struct cursor){span.data, span.size, false};
}

/* A little-endian integer of width bytes, 1 to 4; the bytes are there. */
static inline uint32_t symbols_little(const uint8_t *at, unsigned width)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value |= (uint32_t)at[i] << 8 * i;
    return value;
}

static inline uint32_t symbols_read_u8(struct cursor *c)
{
    return (uint32_t)cursor_little(c, 1);
}

static inline uint32_t symbols_read_u16(struct cursor *c)
{
    return (uint32_t)cursor_little(c, 2);
}

static inline uint32_t symbols_read_u32(struct cursor *c)
{
    return (uint32_t)cursor_little(c, 4);
}

/* Compressed integers, ECMA-335 II.23.2: 7, 14 or 29 bits by the leading bits of the first byte. */
static inline uint32_t symbols_read_packed(struct cursor *c, unsigned *bits)
{
    uint32_t value;
    size_t size = compressed_read(c->at, c->left, &value);

    *bits = size == 1 ? 7 : size == 2 ? 14 : 29;
    c->failed |= !size;
    cursor_bytes(c, size ? size : c->left);
    return value;
}

static inline uint32_t symbols_read_unsigned(struct cursor *c)
{
    unsigned bits;

    return symbols_read_packed(c, &bits);
}

/* The sign is the lowest bit, the rest the two's complement of the encoding's other bits. */
static inline int32_t symbols_read_signed(struct cursor *c)
{
    unsigned bits;
    uint32_t value = symbols_read_packed(c, &bits);
    int32_t rest = (int32_t)(value >> 1);

    return value & 1 ? rest - (int32_t)(1u << (bits - 1)) : rest;
}

#endif
