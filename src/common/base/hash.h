/* base/hash.h - hashes of what is in memory: none is ever written to a file, so they may change. */
#ifndef SHADOWTRACE_BASE_HASH_H
#define SHADOWTRACE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One word, by a multiplication: take the bucket from the high bits, which depend on all of it. */
static inline uint64_t hash_word(uint64_t word)
{
    return word * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
}

/* Two words; every bit depends on all of both. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product =
        (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b ^ UINT64_C(0xd6e8feb86659fd93));

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_bytes(const void *data, size_t size)
{
    const char *at = data;
    uint64_t hash = size, word;

    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = hash_mix(hash, word);
    }
    word = 0;
    if (size)
        memcpy(&word, at, size);
    return hash_mix(hash, word ^ UINT64_C(0x2545f4914f6cdd1d));
}

#endif
