/* base/cursor.h - reads forward through bytes that nobody vouches for. */
#ifndef SHADOWTRACE_BASE_CURSOR_H
#define SHADOWTRACE_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond the end it gives 0 and sets failed for good: look once, after the last. */
struct cursor {
    const uint8_t *at;
    size_t left;
    bool failed;
};

/* The next size bytes, or NULL if fewer are left. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t size)
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

/* A little-endian integer of width bytes, 1 to 8. */
static inline uint64_t cursor_little(struct cursor *c, unsigned width)
{
    const uint8_t *at = cursor_bytes(c, width);
    uint64_t value = 0;

    for (unsigned i = 0; at && i < width; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

#endif
