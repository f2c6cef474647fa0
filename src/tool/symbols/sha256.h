/* symbols/sha256.h - SHA-256 (FIPS 180-4): assemblies and PDBs record such hashes. */
#ifndef SHADOWTRACE_SYMBOLS_SHA256_H
#define SHADOWTRACE_SYMBOLS_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SYMBOLS_SHA256_SIZE 32

struct symbols_sha256 {
    uint32_t state[8];
    uint64_t size;     /* bytes taken so far */
    uint8_t block[64]; /* the last size % 64 of them */
};

void symbols_sha256_init(struct symbols_sha256 *hash);
void symbols_sha256_add(struct symbols_sha256 *hash, const void *data, size_t size);
void symbols_sha256_fini(struct symbols_sha256 *hash, uint8_t digest[SYMBOLS_SHA256_SIZE]);

#endif
