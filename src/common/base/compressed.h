/* base/compressed.h - the compressed integers of metadata and signatures (ECMA-335 II.23.2). */
#ifndef SHADOWTRACE_BASE_COMPRESSED_H
#define SHADOWTRACE_BASE_COMPRESSED_H

#include <stddef.h>
#include <stdint.h>

/*
 * compressed_read - one of 1, 2 or 4 bytes, below 2^29.
 * Returns: its bytes; 0, with *out 0, when it is damaged or fewer than `left` bytes hold all of it.
 */
static inline size_t compressed_read(const uint8_t *at, size_t left, uint32_t *out)
{
    *out = 0;
    if (left >= 1 && at[0] < 0x80) {
        *out = at[0];
        return 1;
    }
    if (left >= 2 && at[0] < 0xc0) {
        *out = (at[0] & 0x3fu) << 8 | at[1];
        return 2;
    }
    if (left >= 4 && at[0] >= 0xc0 && at[0] < 0xe0) {
        *out = (at[0] & 0x1fu) << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        return 4;
    }
    return 0;
}

#endif
