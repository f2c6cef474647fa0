/*
 * base/hash128.h - FNV-1a of 128 bits, which is defined for all time: what it gives lies in files
 * and is compared between machines. Not against somebody who makes collisions on purpose.
 *
 *     hash128 id = hash128_text(HASH128_BEGIN, name);
 */
#ifndef SHADOWTRACE_BASE_HASH128_H
#define SHADOWTRACE_BASE_HASH128_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef unsigned __int128 hash128;

#define HASH128_BEGIN ((hash128)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d))

static inline hash128 hash128_bytes(hash128 hash, const void *data, size_t size)
{
    const hash128 prime = (hash128)1 << 88 | 0x13b;
    const unsigned char *at = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * prime;
    return hash;
}

/* With the NUL, so that no two lists of texts are alike. */
static inline hash128 hash128_text(hash128 hash, const char *text)
{
    return hash128_bytes(hash, text, strlen(text) + 1);
}

/* The lowest `size` bytes, little-endian whatever the machine is. */
static inline hash128 hash128_number(hash128 hash, uint64_t number, size_t size)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    return hash128_bytes(hash, bytes, size);
}

static inline uint64_t hash128_high(hash128 hash)
{
    return (uint64_t)(hash >> 64);
}

static inline uint64_t hash128_low(hash128 hash)
{
    return (uint64_t)hash;
}

#endif
