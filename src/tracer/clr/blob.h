/*
 * clr/blob.h - reads signatures as metadata keeps them (ECMA-335 II.23.2). Others made them: every
 * read is bounded. One that fails gives 0 and marks the blob; readers look once, at the end.
 */
#ifndef SHADOWTRACE_CLR_BLOB_H
#define SHADOWTRACE_CLR_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clr_blob {
    const uint8_t *at, *end;
    bool bad; /* damaged, or too short for a read; for good */
};

struct clr_blob clr_blob_of(const uint8_t *blob, size_t size); /* blob may be NULL: empty */

uint8_t clr_blob_byte(struct clr_blob *b);
uint32_t clr_blob_number(struct clr_blob *b); /* compressed: 1, 2 or 4 bytes, below 2^29 */
uint32_t
clr_blob_token(struct clr_blob *b); /* TypeDefOrRefOrSpec as mdTypeDef, mdTypeRef or mdTypeSpec */

#endif
