/* symbols/bytes.h - bytes that nobody vouches for: checked spans and a cursor. */
#ifndef SHADOWTRACE_SYMBOLS_BYTES_H
#define SHADOWTRACE_SYMBOLS_BYTES_H

#include "base/compressed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_span {
    const uint8_t *data; /* NULL: absent, then size is 0 */
    size_t size;
};

/* Reads forward. Beyond the end it gives 0 and sets failed for good: look once, after the last. */
struct symbols_cursor {
    const uint8_t *at;
    size_t left;
    bool failed;
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

static inline struct symbols_cursor symbols_read(struct symbols_span span)
{
    return (struct symbols_cursor){span.data, span.size, false};
}

/* The next size bytes, or NULL if fewer are left. */
static inline const uint8_t *symbols_read_bytes(struct symbols_cursor *c, uint64_t size)
{
    const uint8_t *at = c->at;

    if (size > c->left || !at) {
        c->failed = c->failed || size != 0;
        if (c->left)
            c->at += c->left;
        c->left = 0;
        return NULL;
    }
    c->at += size;
    c->left -= (size_t)size;
    return at;
}

/* A little-endian integer of width bytes, 1 to 4; the bytes are there. */
static inline uint32_t symbols_little(const uint8_t *at, unsigned width)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value |= (uint32_t)at[i] << 8 * i;
    return value;
}

static inline uint32_t symbols_read_little(struct symbols_cursor *c, unsigned width)
{
    const uint8_t *at = symbols_read_bytes(c, width);

    return at ? symbols_little(at, width) : 0;
}

static inline uint32_t symbols_read_u8(struct symbols_cursor *c)
{
    return symbols_read_little(c, 1);
}

static inline uint32_t symbols_read_u16(struct symbols_cursor *c)
{
    return symbols_read_little(c, 2);
}

static inline uint32_t symbols_read_u32(struct symbols_cursor *c)
{
    return symbols_read_little(c, 4);
}

static inline uint64_t symbols_read_u64(struct symbols_cursor *c)
{
    uint64_t low = symbols_read_u32(c);

    return low | (uint64_t)symbols_read_u32(c) << 32;
}

/* Compressed integers, ECMA-335 II.23.2: 7, 14 or 29 bits by the leading bits of the first byte. */
static inline uint32_t symbols_read_packed(struct symbols_cursor *c, unsigned *bits)
{
    uint32_t value;
    size_t size = compressed_read(c->at, c->left, &value);

    *bits = size == 1 ? 7 : size == 2 ? 14 : 29;
    c->failed |= !size;
    symbols_read_bytes(c, size ? size : c->left);
    return value;
}

static inline uint32_t symbols_read_unsigned(struct symbols_cursor *c)
{
    unsigned bits;

    return symbols_read_packed(c, &bits);
}

/* The sign is the lowest bit, the rest the two's complement of the encoding's other bits. */
static inline int32_t symbols_read_signed(struct symbols_cursor *c)
{
    unsigned bits;
    uint32_t value = symbols_read_packed(c, &bits);
    int32_t rest = (int32_t)(value >> 1);

    return value & 1 ? rest - (int32_t)(1u << (bits - 1)) : rest;
}

#endif
